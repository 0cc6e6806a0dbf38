// Declared indexes: over one attribute or several, unique or not, over all records or some.

/// An index of an entity, from the values of its components, in their order, to the records.
///
/// For the plain index of one attribute `AttributeDefinition.isIndexed` is enough; this is for combinations, for indexes
/// that are unique, that hold only some records, or that ignore case.
public struct IndexDefinition: Sendable, Hashable {
    /// Unique among the indexes and fields of the entity and of those that it descends from.
    public var name: String
    /// What its entries are sorted by, the first before the second. At least one.
    public var components: [Component]
    /// Whether no two records may have the same values. Records of which a component is null or absent are not compared
    /// (nulls are distinct). It is checked at the end of a write.
    public var isUnique: Bool
    /// The index holds the records that meet all of these; every record if there are none.
    public var conditions: [IndexCondition]
    /// The name that it had before, if it was renamed: what is stored stays, under the new name. Ignored once that is done.
    public var renamedFrom: String?

    /// A field of which the values stand in the index.
    public struct Component: Sendable, Hashable {
        /// The name of an attribute, or of a stored to-one relationship.
        public var field: String
        /// Whether texts that differ only in case are the same (Unicode's default caseless matching, D144; the table is
        /// fixed, see ``CaseFolding``).
        public var ignoresCase: Bool

        public init(_ field: String, ignoringCase: Bool = false) {
            self.field = field
            self.ignoresCase = ignoringCase
        }
    }

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
