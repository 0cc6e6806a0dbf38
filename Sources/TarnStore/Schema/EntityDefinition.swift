/// One kind of record.
public struct EntityDefinition: Sendable, Hashable {
    /// Unique in the schema. By convention a singular noun that begins with a capital: `Issue`.
    public var name: String
    /// The entity that this one is a special kind of. It has all that the parent has, its records are the parent's as
    /// well, and they share one table and one space of keys.
    public var parent: String?
    /// The names of the attributes that identify a record, in order. More than one makes a composite key.
    /// Key attributes are `int`, `string` or `uuid`, and not optional. A to-one relationship may be part of the key too:
    /// then the key of the record that it leads to is, component by component (a child identified by its parent).
    /// Empty for an entity with a parent, whose key it has.
    public var key: [String]
    public var attributes: [AttributeDefinition]
    public var relationships: [RelationshipDefinition]
    /// Indexes beside those of single attributes.
    public var indexes: [IndexDefinition]
    /// Of an entity with a parent it is that of the topmost one.
    public var compression: Compression
    /// The name that it had before, if it was renamed: what is stored stays, under the new name. Ignored once that is done.
    public var renamedFrom: String?

    /// How rows are stored.
    public enum Compression: String, Sendable, Hashable, Codable, CaseIterable {
        /// Rows above 512 bytes, and after a `rewrite` those above 256, with zstd and a dictionary that is trained from the
        /// entity's own rows.
        case zstd
        /// As they are: reading a field copies nothing.
        case none
    }

    public init(
        _ name: String, parent: String? = nil, key: [String] = [], attributes: [AttributeDefinition],
        relationships: [RelationshipDefinition] = [], indexes: [IndexDefinition] = [], compression: Compression = .zstd,
        renamedFrom: String? = nil
    ) {
        self.name = name
        self.renamedFrom = renamedFrom
        self.parent = parent
        self.indexes = indexes
        self.compression = compression
        self.key = key
        self.attributes = attributes
        self.relationships = relationships
    }
}
