/// An attribute of an entity: a typed value of its records.
public struct AttributeDefinition: Sendable, Hashable {
    /// The name, unique among the fields of the entity.
    package var name: String
    /// The type of the values.
    package var type: AttributeType
    /// Whether a complete record may lack it.
    package var isOptional: Bool
    /// Whether the store has an index from the values to the records.
    package var isIndexed: Bool
    /// Whether no two records may have the same value (nulls are distinct); implies an index.
    package var isUnique: Bool
    /// The value that a record gets if it is first stored completely without the attribute.
    ///
    /// A partial record does not get it: there, an absent attribute is not known yet.
    package var defaultValue: Value?
    /// The former name of a renamed attribute. Stored values stay, under the new name.
    ///
    /// It is ignored once the attribute is renamed.
    package var renamedFrom: String?

    /// Creates an attribute.
    public init(
        _ name: String, _ type: AttributeType, optional: Bool = false, indexed: Bool = false, unique: Bool = false,
        default defaultValue: Value? = nil, renamedFrom: String? = nil
    ) {
        self.name = name
        self.renamedFrom = renamedFrom
        self.type = type
        self.isOptional = optional
        self.isIndexed = indexed || unique
        self.isUnique = unique
        self.defaultValue = defaultValue
    }
}
