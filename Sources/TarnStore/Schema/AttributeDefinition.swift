/// A typed value of a record.
public struct AttributeDefinition: Sendable, Hashable {
    public var name: String
    public var type: AttributeType
    /// Whether a complete record may lack it.
    public var isOptional: Bool
    /// Whether the store keeps an index from its values to the records.
    public var isIndexed: Bool
    /// Whether no two records may have the same value (nulls are distinct); implies an index.
    public var isUnique: Bool
    /// What a record gets when it is stored completely for the first time and nothing is said of the attribute. A record
    /// that is partial does not get it: there, an absent attribute is one that is not known yet.
    public var defaultValue: Value?
    /// The name that it had before, if it was renamed: what is stored stays, under the new name. Ignored once that is done.
    public var renamedFrom: String?

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
