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
/// One side of a pair is stored: the to-one side, else the side that is declared. The other is derived from an index. A
/// relationship that is joined by attributes is stored on neither side.
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
    /// What happens to the records that it leads to when the record that has it is deleted.
    public var deleteRule: DeleteRule
    /// If the relationship is joined by attributes, and not stored: which.
    public var join: Join?
    /// The name that it had before, if it was renamed: what is stored stays, under the new name. Ignored once that is done.
    public var renamedFrom: String?

    /// What happens at the other end when a record is deleted.
    public enum DeleteRule: String, Sendable, Hashable, Codable, CaseIterable {
        /// Nothing: references to the record stay, and their target is missing.
        case none
        /// References to the record are taken out.
        case nullify
        /// The records that the relationship leads to are deleted as well, by their rules.
        case cascade
        /// The record is not deleted as long as the relationship leads to one that is there, and is not deleted with it.
        case deny
    }

    /// A foreign key in the payload: the relationship leads to the records whose attribute has the value of one's own.
    /// The attributes are the only truth; both are indexed, and of one type.
    public struct Join: Sendable, Hashable {
        /// The attribute of the entity that has the relationship.
        public var own: String
        /// The attribute at the destination: unique, or the key, for a to-one relationship.
        public var theirs: String

        public init(_ own: String, equals theirs: String) {
            self.own = own
            self.theirs = theirs
        }
    }

    public init(
        _ name: String, to destination: String, many: Bool = false, ordered: Bool = false, inverse: String? = nil,
        onDelete deleteRule: DeleteRule = .none, joinedBy join: Join? = nil, renamedFrom: String? = nil
    ) {
        self.name = name
        self.renamedFrom = renamedFrom
        self.deleteRule = deleteRule
        self.join = join
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
