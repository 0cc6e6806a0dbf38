// The schema with the ids that the store gave. It stands in the store as JSON, so that a store opens without its model.

/// The entities of a store with their ids. Ids are never reused.
public struct Catalog: Sendable, Hashable, Codable {
    public internal(set) var entities: [Entity] = []
    var nextEntity: UInt16 = 1
    var nextIndex: UInt32 = 1

    public struct Entity: Sendable, Hashable, Codable {
        /// Also the id of its table. 0 is the store's own.
        public internal(set) var id: UInt16
        public internal(set) var name: String
        /// Ids of the key's attributes, in order.
        public internal(set) var key: [UInt16]
        /// In ascending order of ids.
        public internal(set) var fields: [Field]
        var nextField: UInt16 = 1
        /// Nil in a store from before there was a choice, and means `.zstd`.
        var compression: EntityDefinition.Compression?

        public func field(_ name: String) -> Field? { fields.first { $0.name == name } }
        public func field(id: UInt16) -> Field? { fields.first { $0.id == id } }
    }

    public struct Field: Sendable, Hashable, Codable {
        public internal(set) var id: UInt16
        public internal(set) var name: String
        public internal(set) var kind: Kind
        public internal(set) var isOptional: Bool
        /// The id of its index: of an attribute's values, or of a reference's targets.
        public internal(set) var index: UInt32?
    }

    public enum Kind: Sendable, Hashable {
        case attribute(AttributeType)
        case reference(Reference)
    }

    /// The stored side of a relationship.
    public struct Reference: Sendable, Hashable, Codable {
        public internal(set) var destination: UInt16
        public internal(set) var isToMany: Bool
        public internal(set) var isOrdered: Bool
        /// The name of the derived side, at the destination.
        public internal(set) var inverse: String?
        /// Whether the derived side is to-many, and whether it is ordered: then each reference carries a position.
        public internal(set) var inverseIsToMany: Bool
        public internal(set) var inverseIsOrdered: Bool
    }

    /// A relationship as it is seen from an entity.
    public struct Relationship: Sendable, Hashable {
        public var name: String
        /// Where it is stored: the entity and the field.
        public var owner: UInt16
        public var field: UInt16
        /// Whether it is stored at the entity from which it is seen; otherwise it is derived from the index.
        public var isStored: Bool
        /// The entity that it leads to.
        public var destination: UInt16
        public var isToMany: Bool
        public var isOrdered: Bool
    }

    public func entity(_ name: String) -> Entity? { entities.first { $0.name == name } }
    public func entity(id: UInt16) -> Entity? { entities.first { $0.id == id } }

    /// Every relationship of an entity, stored and derived, in the order of their names.
    public func relationships(of entity: Entity) -> [Relationship] {
        var result: [Relationship] = []
        for owner in entities {
            for field in owner.fields {
                guard case .reference(let reference) = field.kind, let index = field.index, index > 0 else { continue }
                if owner.id == entity.id {
                    result.append(
                        Relationship(
                            name: field.name, owner: owner.id, field: field.id, isStored: true,
                            destination: reference.destination, isToMany: reference.isToMany, isOrdered: reference.isOrdered))
                }
                if reference.destination == entity.id, let inverse = reference.inverse {
                    // A relationship that is its own inverse is stored on both sides; only a different name is derived.
                    if owner.id == entity.id && inverse == field.name { continue }
                    result.append(
                        Relationship(
                            name: inverse, owner: owner.id, field: field.id, isStored: false, destination: owner.id,
                            isToMany: reference.inverseIsToMany, isOrdered: reference.inverseIsOrdered))
                }
            }
        }
        return result.sorted { $0.name < $1.name }
    }

    public func relationship(_ name: String, of entity: Entity) -> Relationship? {
        relationships(of: entity).first { $0.name == name }
    }
}

extension Catalog.Kind: Codable {
    private enum CodingKeys: String, CodingKey { case type, values, of, reference }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let reference = try container.decodeIfPresent(Catalog.Reference.self, forKey: .reference) {
            self = .reference(reference)
            return
        }
        func type(_ name: String) throws -> AttributeType {
            if name == "enum" { return .enumeration(try container.decode([String].self, forKey: .values)) }
            guard let type = AttributeType(simpleName: name) else {
                throw DecodingError.dataCorruptedError(forKey: .type, in: container, debugDescription: "type \(name)")
            }
            return type
        }
        let name = try container.decode(String.self, forKey: .type)
        self = .attribute(name == "array" ? .array(try type(try container.decode(String.self, forKey: .of))) : try type(name))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .reference(let reference): try container.encode(reference, forKey: .reference)
        case .attribute(let type):
            var element = type
            if case .array(let inner) = type {
                try container.encode("array", forKey: .type)
                element = inner
            }
            try container.encode(element.name, forKey: type == element ? .type : .of)
            if case .enumeration(let values) = element { try container.encode(values, forKey: .values) }
        }
    }
}

extension AttributeType: CustomStringConvertible {
    private static let simple: [(String, AttributeType)] = [
        ("bool", .bool), ("int", .int), ("uint", .uint), ("double", .double),
        ("decimal", .decimal), ("string", .string), ("bytes", .bytes), ("date", .date),
        ("uuid", .uuid), ("url", .url), ("json", .json),
    ]

    /// The type of that name, for the types that a name is enough for.
    public init?(simpleName name: String) {
        guard let found = AttributeType.simple.first(where: { $0.0 == name }) else { return nil }
        self = found.1
    }

    /// The names that `init(simpleName:)` knows.
    public static var simpleNames: [String] { simple.map(\.0) }

    var name: String {
        switch self {
        case .enumeration: "enum"
        case .array: "array"
        default: AttributeType.simple.first { $0.1 == self }?.0 ?? ""
        }
    }

    /// As in a description file: `int`, `enum`, `[string]`.
    public var description: String {
        if case .array(let element) = self { return "[\(element)]" }
        return name
    }
}
