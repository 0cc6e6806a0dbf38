// Declared indexes: on one field or several, unique or not, full or partial.

/// An index of an entity, from the values of its components, in order, to the records.
///
/// For a plain index of one attribute, `AttributeDefinition.isIndexed` is enough. This definition
/// is for combinations, and for indexes that are unique, partial, or ignore case.
public struct IndexDefinition: Sendable, Hashable {
    /// The name, unique among the indexes of the entity and its ancestors.
    package var name: String
    /// The fields that the entries are sorted by; the first takes precedence. At least one.
    var components: [Component]
    /// Whether no two records may have the same values. Checked at the end of a write.
    ///
    /// Records with a component that is null or absent are not compared (nulls are distinct).
    package var isUnique: Bool
    /// The conditions of a partial index: it has the records that meet all of them.
    package var conditions: [IndexCondition]
    /// The former name of a renamed index. Its entries stay, under the new name.
    ///
    /// It is ignored once the index is renamed.
    package var renamedFrom: String?
    /// The reason why a typed declaration is unsuitable; nil if it is sound.
    var problem: String?

    /// A field whose values are in the index.
    public struct Component: Sendable, Hashable {
        /// The name of an attribute, or of a stored to-one relationship.
        var field: String
        /// Whether texts that differ only in case are equal.
        ///
        /// This is Unicode's default caseless matching, D144; for the fixed table see
        /// ``CaseFolding``.
        var ignoresCase: Bool

        /// Creates a component.
        public init(_ field: String, ignoringCase: Bool = false) {
            self.field = field
            self.ignoresCase = ignoringCase
        }
    }

    /// Creates an index of components.
    public init(
        _ name: String, on components: [Component], unique: Bool = false, where conditions: [IndexCondition] = [],
        renamedFrom: String? = nil
    ) {
        self.name = name
        self.renamedFrom = renamedFrom
        self.components = components
        self.isUnique = unique
        self.conditions = conditions
    }

    /// Creates an index of a typed record, whose declaration may be unsuitable.
    init(
        _ name: String, on components: [Component], unique: Bool, where conditions: [IndexCondition],
        renamedFrom: String?, problem: String?
    ) {
        self.init(name, on: components, unique: unique, where: conditions, renamedFrom: renamedFrom)
        self.problem = problem
    }

    /// Creates an index of fields, in which case is significant.
    public init(
        _ name: String, on fields: String..., unique: Bool = false, where conditions: [IndexCondition] = [],
        renamedFrom: String? = nil
    ) {
        self.init(name, on: fields.map { Component($0) }, unique: unique, where: conditions, renamedFrom: renamedFrom)
    }
}

extension IndexDefinition.Component: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(value) }
}
