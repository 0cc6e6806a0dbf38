/// The definition of an entity, a kind of record.
public struct EntityDefinition: Sendable, Hashable {
    /// The name, unique in the schema. By convention a singular noun with a capital: `Issue`.
    package var name: String
    /// The parent entity.
    ///
    /// The entity has everything that the parent has, and its records are the parent's as well.
    /// Both share one table and one key space.
    package var parent: String?
    /// The names of the attributes that identify a record, in order; several form a composite key.
    ///
    /// Key attributes are `int`, `string` or `uuid`, and not optional. A to-one relationship may be
    /// part of the key, too: it contributes the components of its target's key (a child identified
    /// by its parent). An entity with a parent has the parent's key, and this list is empty.
    package var key: [String]
    /// The attributes.
    package var attributes: [AttributeDefinition]
    /// The relationships, stored or derived.
    package var relationships: [RelationshipDefinition]
    /// The indexes, except those of single attributes.
    package var indexes: [IndexDefinition]
    /// The compression of rows. An entity with a parent has that of its topmost ancestor.
    package var compression: Compression
    /// The former name of a renamed entity. Stored records stay, under the new name.
    ///
    /// It is ignored once the entity is renamed.
    package var renamedFrom: String?

    /// The compression of rows.
    public enum Compression: String, Sendable, Hashable, Codable, CaseIterable {
        /// zstd with a dictionary trained from the entity's own rows.
        ///
        /// It applies to rows above 512 bytes, and after a `rewrite` to those above 256.
        case zstd
        /// No compression: reading a field copies nothing.
        case none
    }

    /// Creates an entity definition.
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
