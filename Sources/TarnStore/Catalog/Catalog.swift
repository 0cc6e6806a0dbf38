// The schema with the ids that the store gave. It stands in the store as JSON, so that a store opens without its model.

/// The entities of a store with their ids. Ids are never reused.
public struct Catalog: Sendable, Hashable {
    package init() {}

    public internal(set) var entities: [Entity] = []
    package var nextEntity: UInt16 = 1
    package var nextIndex: UInt32 = 1

    public struct Entity: Sendable, Hashable {
        public internal(set) var id: UInt16
        public internal(set) var name: String
        /// The entity that this one is a special kind of.
        public internal(set) var parent: UInt16?
        /// The topmost of its ancestors, or itself: its rows stand in that entity's table, under keys of its own.
        public internal(set) var root: UInt16
        /// Ids of the key's attributes and relationships, in order.
        public internal(set) var key: [UInt16]
        /// The types of the components of a key: of a relationship in it, those of the record that it leads to.
        public internal(set) var keyTypes: [AttributeType] = []
        /// The fields of the key, with the share of its components that each has.
        package internal(set) var keyParts: [KeyPart] = []
        /// In ascending order of ids, those of the ancestors among them. Ids are unique among all that have the same root.
        public internal(set) var fields: [Field]
        /// The declared indexes, those of the ancestors among them.
        public internal(set) var indexes: [Index] = []
        /// The relationships that are joined by attributes, those of the ancestors among them.
        public internal(set) var joins: [Join] = []
        /// The index of the records that are of this entity, if it has a parent.
        public internal(set) var members: UInt32?
        /// Of a root: for itself and all that descend from it.
        package var nextField: UInt16 = 1
        /// Nil in a store from before there was a choice, and means `.zstd`.
        var compression: EntityDefinition.Compression?
        /// The names that it had before.
        var was: [String]?
        /// Of a root: ids of fields that were removed from it, or from what descends from it. Rows may still have values of them.
        package var removed: [UInt16]?

        /// Whether rows are compressed once there is a dictionary.
        var isCompressed: Bool { compression != EntityDefinition.Compression.none }

        public func field(_ name: String) -> Field? { fields.first { $0.name == name } }
        public func field(id: UInt16) -> Field? { fields.first { $0.id == id } }
        /// The declared index of that name.
        public func index(_ name: String) -> Index? { indexes.first { $0.name == name } }
    }

    public struct Field: Sendable, Hashable, Codable {
        public internal(set) var id: UInt16
        public internal(set) var name: String
        public internal(set) var kind: Kind
        public internal(set) var isOptional: Bool
        /// The id of its index: of an attribute's values, or of a reference's targets.
        public internal(set) var index: UInt32?
        var unique: Bool?
        var constant: Constant?
        /// The names that it had before.
        var was: [String]?

        /// Whether the index of the attribute allows no value twice.
        public var isUnique: Bool { unique ?? false }
        /// What a complete record gets that says nothing of the attribute.
        public var defaultValue: Value? { constant?.value }
    }

    /// A declared index.
    public struct Index: Sendable, Hashable, Codable {
        public internal(set) var id: UInt32
        public internal(set) var name: String
        public internal(set) var components: [Component]
        public internal(set) var isUnique: Bool
        public internal(set) var conditions: [Condition]
        /// The names that it had before.
        var was: [String]?

        /// A field by its id.
        public struct Component: Sendable, Hashable, Codable {
            public internal(set) var field: UInt16
            /// The version of the table by which case is folded; nil if it counts.
            public internal(set) var folding: Int?
        }

        /// A condition that every record in the index meets.
        public struct Condition: Sendable, Hashable, Codable {
            public internal(set) var field: UInt16
            public internal(set) var comparison: IndexCondition.Comparison
            var constant: Constant

            /// What the field is compared with.
            public var value: Value { constant.value }
        }
    }

    /// A relationship that is joined by attributes.
    public struct Join: Sendable, Hashable, Codable {
        public internal(set) var name: String
        public internal(set) var destination: UInt16
        /// The attribute here, and the one there.
        public internal(set) var own: UInt16
        public internal(set) var theirs: UInt16
        public internal(set) var isToMany: Bool
        public internal(set) var inverse: String?
        public internal(set) var inverseIsToMany: Bool
        var rule: RelationshipDefinition.DeleteRule
        var inverseRule: RelationshipDefinition.DeleteRule
        /// The names that it had before.
        var was: [String]?
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
        /// The delete rules of the two sides; nil for none.
        var rule: RelationshipDefinition.DeleteRule?
        var inverseRule: RelationshipDefinition.DeleteRule?
    }

    /// A relationship as it is seen from an entity.
    public struct Relationship: Sendable, Hashable {
        public var name: String
        /// Where it is stored: the entity and the field. Of a join: the entity that declares it, and its attribute.
        public var owner: UInt16
        public var field: UInt16
        /// Whether it is stored at the entity from which it is seen; otherwise it is derived from the index.
        public var isStored: Bool
        /// The entity that it leads to.
        public var destination: UInt16
        public var isToMany: Bool
        public var isOrdered: Bool
        /// What happens to the records that it leads to when a record of the entity is deleted.
        public var deleteRule: RelationshipDefinition.DeleteRule = .none
        /// How it is joined, if it is; seen from the entity: `own` is its own attribute.
        public var join: Join?
    }

    public func entity(_ name: String) -> Entity? { entities.first { $0.name == name } }
    public func entity(id: UInt16) -> Entity? { entities.first { $0.id == id } }

    /// Whether an entity is another one, or descends from it.
    public func isKind(_ id: UInt16, of ancestor: UInt16) -> Bool {
        if id == ancestor { return true }
        return ancestors(of: id).contains(ancestor)
    }

    /// The parent of an entity, its parent, and so on.
    public func ancestors(of id: UInt16) -> [UInt16] {
        var result: [UInt16] = [], next = entity(id: id)?.parent
        // A damaged catalog might go round in circles.
        while let parent = next, !result.contains(parent), parent != id {
            result.append(parent)
            next = entity(id: parent)?.parent
        }
        return result
    }

    /// Whether a field is declared by the entity itself, not by one that it descends from.
    func declares(_ entity: Entity, _ field: UInt16) -> Bool {
        guard let parent = entity.parent else { return true }
        return self.entity(id: parent)?.field(id: field) == nil
    }

    /// Every relationship of an entity, stored, derived and joined, in the order of their names.
    public func relationships(of entity: Entity) -> [Relationship] {
        let kinds = [entity.id] + (entity.parent == nil ? [] : ancestors(of: entity.id))
        var result: [Relationship] = []
        for owner in entities {
            for field in owner.fields {
                guard case .reference(let reference) = field.kind, let index = field.index, index > 0 else { continue }
                if owner.id == entity.id {
                    result.append(
                        Relationship(
                            name: field.name, owner: owner.id, field: field.id, isStored: true,
                            destination: reference.destination, isToMany: reference.isToMany, isOrdered: reference.isOrdered,
                            deleteRule: reference.rule ?? .none))
                }
                if kinds.contains(reference.destination), let inverse = reference.inverse, declares(owner, field.id) {
                    // A relationship that is its own inverse is stored on both sides; only a different name is derived.
                    if owner.id == entity.id && inverse == field.name { continue }
                    result.append(
                        Relationship(
                            name: inverse, owner: owner.id, field: field.id, isStored: false, destination: owner.id,
                            isToMany: reference.inverseIsToMany, isOrdered: reference.inverseIsOrdered,
                            deleteRule: reference.inverseRule ?? .none))
                }
            }
            for join in owner.joins {
                if owner.id == entity.id {
                    result.append(
                        Relationship(
                            name: join.name, owner: owner.id, field: join.own, isStored: false,
                            destination: join.destination, isToMany: join.isToMany, isOrdered: false,
                            deleteRule: join.rule, join: join))
                }
                if kinds.contains(join.destination), let inverse = join.inverse, declares(owner, join) {
                    var seen = join
                    (seen.own, seen.theirs) = (join.theirs, join.own)
                    result.append(
                        Relationship(
                            name: inverse, owner: owner.id, field: join.own, isStored: false, destination: owner.id,
                            isToMany: join.inverseIsToMany, isOrdered: false, deleteRule: join.inverseRule, join: seen))
                }
            }
        }
        return result.sorted { $0.name < $1.name }
    }

    private func declares(_ entity: Entity, _ join: Join) -> Bool {
        guard let parent = entity.parent.flatMap({ self.entity(id: $0) }) else { return true }
        return !parent.joins.contains { $0.name == join.name }
    }

    public func relationship(_ name: String, of entity: Entity) -> Relationship? {
        relationships(of: entity).first { $0.name == name }
    }

    /// The ids of all indexes, each once, in ascending order.
    package var indexIDs: [UInt32] {
        Set(entities.flatMap { $0.fields.compactMap(\.index) + $0.indexes.map(\.id) + [$0.members].compactMap(\.self) }).sorted()
    }

    /// Fills in what follows from the rest: what is inherited, roots, the types of keys.
    mutating func resolve() {
        // Parents have smaller ids than what descends from them.
        for e in entities.indices.sorted(by: { entities[$0].id < entities[$1].id }) {
            entities[e].root = ancestors(of: entities[e].id).last ?? entities[e].id
            guard let parent = entities[e].parent.flatMap({ entity(id: $0) }), parent.id < entities[e].id else { continue }
            let inherited = Set(parent.fields.map(\.id))
            entities[e].fields = (parent.fields + entities[e].fields.filter { !inherited.contains($0.id) }).sorted { $0.id < $1.id }
            let indexes = Set(parent.indexes.map(\.name)), joins = Set(parent.joins.map(\.name))
            // By ids as well: the parent's may have another name than when they were inherited.
            let ids = Set(parent.indexes.map(\.id))
            entities[e].indexes = parent.indexes + entities[e].indexes.filter { !indexes.contains($0.name) && !ids.contains($0.id) }
            entities[e].joins = parent.joins + entities[e].joins.filter { !joins.contains($0.name) }
            entities[e].key = parent.key
            entities[e].compression = parent.compression
        }
        for e in entities.indices { entities[e].keyTypes = keyTypes(of: entities[e], depth: 0) }
        for e in entities.indices {
            entities[e].keyParts = entities[e].key.map { id in
                guard case .reference(let reference)? = entities[e].field(id: id)?.kind else {
                    return KeyPart(field: id, count: 1, isReference: false)
                }
                return KeyPart(field: id, count: entity(id: reference.destination)?.keyTypes.count ?? 0, isReference: true)
            }
        }
    }

    private func keyTypes(of entity: Entity, depth: Int) -> [AttributeType] {
        entity.key.flatMap { id -> [AttributeType] in
            switch entity.field(id: id)?.kind {
            case .attribute(let type): [type]
            case .reference(let reference) where depth < 16:
                self.entity(id: reference.destination).map { keyTypes(of: $0, depth: depth + 1) } ?? []
            default: []
            }
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
