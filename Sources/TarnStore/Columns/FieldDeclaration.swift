/// A field of a typed record: an attribute or a relationship, with its place in the entity's key.
public struct FieldDeclaration: Sendable {
    let name: String
    let isKey: Bool
    let attribute: AttributeDefinition?
    let relationship: RelationshipDefinition?
    /// The index of a single field that a flag of the attribute cannot declare.
    let index: IndexDefinition?
    /// The entity that stores an inverse; nil for a field, and for an inverse with a delete rule.
    var storedBy: String?

    /// The index of one attribute.
    public struct Index: Sendable, Hashable {
        /// Whether no two records may have the same value; nulls are distinct.
        var isUnique: Bool
        /// Whether texts that differ only in case are equal.
        var ignoresCase: Bool

        /// Creates an index of one attribute.
        public init(unique: Bool = false, ignoringCase: Bool = false) {
            isUnique = unique
            ignoresCase = ignoringCase
        }
    }

    /// Returns the index of the field as a definition of its own; nil if it has none, or if one of
    /// these declarations of the same field has it, too.
    func index(notAmong others: [FieldDeclaration]) -> IndexDefinition? {
        if let index { return others.contains { $0.index == index } ? nil : index }
        guard let attribute, attribute.isIndexed else { return nil }
        let isKnown = others.contains { other in
            guard let found = other.attribute else { return false }
            return found.isIndexed && (found.isUnique || !attribute.isUnique)
        }
        let kind = attribute.isUnique ? "Unique" : "Index"
        return isKnown ? nil : IndexDefinition("\(name)\(kind)", on: [.init(name)], unique: attribute.isUnique)
    }

    /// Declares an attribute whose type is that of its values.
    ///
    /// - Parameters:
    ///   - stored: the type in the store, if the type of the values does not determine it: a text
    ///     may be a URL, a list of texts JSON.
    ///   - defaultValue: the value that a record gets if it is first stored completely without one.
    ///     Records that are stored without it are *missing* the value in conditions.
    ///   - formerName: the former name of a renamed attribute; its values stay.
    public static func attribute<Value: AttributeValue>(
        _ name: String, _ type: Value.Type, as stored: AttributeType? = nil, isKey: Bool = false, index: Index? = nil,
        default defaultValue: Value? = nil, renamedFrom formerName: String? = nil
    ) -> FieldDeclaration {
        let isFolded = index?.ignoresCase == true, stored = stored ?? type.attributeType
        let attribute = AttributeDefinition(
            name, stored, optional: type.isOptional, indexed: index != nil && !isFolded,
            unique: index?.isUnique == true && !isFolded,
            default: defaultValue.map { stored.value(of: TarnStore.Value($0)) }, renamedFrom: formerName)
        let folded = IndexDefinition(
            "\(name)IgnoringCase", on: [.init(name, ignoringCase: true)], unique: index?.isUnique == true)
        return FieldDeclaration(
            name: name, isKey: isKey, attribute: attribute, relationship: nil, index: isFolded ? folded : nil)
    }

    /// Declares a to-one relationship.
    ///
    /// - Parameters:
    ///   - index: the index of the references. References can be looked up without one.
    ///   - inverse: the name of the relationship as seen from the target.
    ///   - deleteRule: the effect on the target when the record is deleted.
    ///   - formerName: the former name of a renamed relationship; its references stay.
    public static func toOne<Value: ToOneValue>(
        _ name: String, _ type: Value.Type, isKey: Bool = false, index: Index? = nil, inverse: String? = nil,
        onDelete deleteRule: RelationshipDefinition.DeleteRule = .none, renamedFrom formerName: String? = nil
    ) -> FieldDeclaration {
        let relationship = RelationshipDefinition(
            name, to: Value.Target.entity, inverse: inverse, onDelete: deleteRule, renamedFrom: formerName)
        let unique = IndexDefinition("\(name)Unique", on: [.init(name)], unique: true)
        return FieldDeclaration(
            name: name, isKey: isKey, attribute: nil, relationship: relationship,
            index: index?.isUnique == true ? unique : nil)
    }

    /// Declares a to-many relationship.
    ///
    /// - Parameters:
    ///   - isOrdered: whether the order of the targets is significant.
    ///   - inverse: the name of the relationship as seen from the targets.
    ///   - deleteRule: the effect on the targets when the record is deleted.
    ///   - formerName: the former name of a renamed relationship; its references stay.
    public static func toMany<Value: ToManyValue>(
        _ name: String, _ type: Value.Type, ordered isOrdered: Bool = false, inverse: String? = nil,
        onDelete deleteRule: RelationshipDefinition.DeleteRule = .none, renamedFrom formerName: String? = nil
    ) -> FieldDeclaration {
        let relationship = RelationshipDefinition(
            name, to: Value.Target.entity, many: true, ordered: isOrdered, inverse: inverse, onDelete: deleteRule,
            renamedFrom: formerName)
        return FieldDeclaration(name: name, isKey: false, attribute: nil, relationship: relationship, index: nil)
    }

    /// Declares a relationship that another entity stores.
    ///
    /// The schema has it from the other side, unless this side has a delete rule.
    /// ``Store/validate(_:)`` checks that there is such another side.
    ///
    /// - Parameters:
    ///   - inverse: the name of the relationship that is stored; nil for any that names this one.
    ///   - deleteRule: the effect on the targets when the record is deleted.
    public static func inverse<Target: StoredRecord>(
        _ name: String, _ type: Inverse<Target>.Type, of inverse: String? = nil,
        onDelete deleteRule: RelationshipDefinition.DeleteRule = .none
    ) -> FieldDeclaration {
        guard let inverse else {
            return FieldDeclaration(
                name: name, isKey: false, attribute: nil, relationship: nil, index: nil, storedBy: Target.entity)
        }
        let relationship = RelationshipDefinition(
            name, to: Target.entity, many: true, inverse: inverse, onDelete: deleteRule)
        return FieldDeclaration(name: name, isKey: false, attribute: nil, relationship: relationship, index: nil)
    }
}

extension AttributeType {
    /// Returns a value of a property as one of this type: the text of a URL is a URL.
    ///
    /// A value that the type does not have stays as it is, for the schema's validation to report.
    func value(of value: Value) -> Value {
        guard case .array(let element) = self, case .array(let values) = value else {
            return converting(value) ?? value
        }
        return .array(values.map { element.value(of: $0) })
    }
}

/// The value of a to-one relationship: a ``Reference``, or an optional one.
public protocol ToOneValue: StoredValue {
    /// The record type of the target.
    associatedtype Target: StoredRecord
}

extension Reference: ToOneValue {}
extension Optional: ToOneValue where Wrapped: ToOneValue {
    public typealias Target = Wrapped.Target
}

/// The value of a to-many relationship: ``References``, or optional ones.
public protocol ToManyValue: StoredValue {
    /// The record type of the targets.
    associatedtype Target: StoredRecord
}

extension References: ToManyValue {}
extension Optional: ToManyValue where Wrapped: ToManyValue {
    public typealias Target = Wrapped.Target
}
