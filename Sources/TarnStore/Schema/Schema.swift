// What a program declares about its records, by name. `Catalog` is the same with the ids that the store gave.

/// The entities of a store: what their records hold, how they are identified, how they relate.
///
/// A schema names things; ids are given by the store when the schema is first applied and never change after that.
public struct Schema: Sendable, Hashable {
    public var entities: [EntityDefinition]

    public init(_ entities: [EntityDefinition] = []) {
        self.entities = entities
    }
}

/// One kind of record.
public struct EntityDefinition: Sendable, Hashable {
    /// Unique in the schema. By convention a singular noun that begins with a capital: `Issue`.
    public var name: String
    /// The names of the attributes that identify a record, in order. More than one makes a composite key.
    /// Key attributes are `int`, `string` or `uuid`, and not optional.
    public var key: [String]
    public var attributes: [AttributeDefinition]
    public var relationships: [RelationshipDefinition]
    public var compression: Compression

    /// How rows are stored.
    public enum Compression: String, Sendable, Hashable, Codable, CaseIterable {
        /// Rows above 256 bytes with zstd and a dictionary that is trained from the entity's own rows.
        case zstd
        /// As they are: reading a field copies nothing.
        case none
    }

    public init(
        _ name: String, key: [String], attributes: [AttributeDefinition], relationships: [RelationshipDefinition] = [],
        compression: Compression = .zstd
    ) {
        self.name = name
        self.compression = compression
        self.key = key
        self.attributes = attributes
        self.relationships = relationships
    }
}

/// A typed value of a record.
public struct AttributeDefinition: Sendable, Hashable {
    public var name: String
    public var type: AttributeType
    /// Whether a complete record may lack it.
    public var isOptional: Bool
    /// Whether the store keeps an index from its values to the records.
    public var isIndexed: Bool

    public init(_ name: String, _ type: AttributeType, optional: Bool = false, indexed: Bool = false) {
        self.name = name
        self.type = type
        self.isOptional = optional
        self.isIndexed = indexed
    }
}

/// What an attribute's values are.
public indirect enum AttributeType: Sendable, Hashable {
    case bool
    /// A signed 64-bit integer.
    case int
    /// An unsigned 64-bit integer.
    case uint
    /// An IEEE 754 double.
    case double
    /// A decimal number of any length, exact.
    case decimal
    case string
    /// Bytes; in JSON as base64.
    case bytes
    /// A point in time, in microseconds since 1970-01-01T00:00:00Z.
    case date
    case uuid
    /// An absolute or relative URL, kept as the text that came.
    case url
    /// Any JSON value, kept as compact JSON text.
    case json
    /// One of a fixed list of strings.
    case enumeration([String])
    /// A list of scalars of one type.
    case array(AttributeType)
}

/// A named reference to records of another entity (or the same one).
///
/// One side of a pair is stored: the to-one side, else the side that is declared. The other is derived from an index.
public struct RelationshipDefinition: Sendable, Hashable {
    public var name: String
    /// The name of the entity that it points to.
    public var destination: String
    public var isToMany: Bool
    /// Whether the order of a to-many relationship is part of it.
    public var isOrdered: Bool
    /// The name of the same relationship seen from the destination. It need not be declared there; if it is, both
    /// declarations must name each other.
    public var inverse: String?

    public init(
        _ name: String, to destination: String, many: Bool = false, ordered: Bool = false, inverse: String? = nil
    ) {
        self.name = name
        self.destination = destination
        self.isToMany = many
        self.isOrdered = ordered
        self.inverse = inverse
    }
}

/// A schema that cannot be, with the place and the way out.
public struct SchemaError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The entity concerned, if it is about one.
    public var entity: String?
    /// The attribute or relationship concerned, if it is about one.
    public var field: String?
    /// What is wrong and what to do.
    public var message: String

    public init(entity: String?, field: String?, _ message: String) {
        self.entity = entity
        self.field = field
        self.message = message
    }

    public var description: String {
        let place = [entity, field].compactMap(\.self).joined(separator: ".")
        return place.isEmpty ? message : "\(place): \(message)"
    }
}
