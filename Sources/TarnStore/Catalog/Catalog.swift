// The schema with the ids of the store. It is stored as JSON, so that a store opens without its
// model.

/// The entities of a store with their ids. Ids are never reused.
public struct Catalog: Sendable, Hashable {
    package init() {}

    /// The entities, in the order in which they were added.
    package internal(set) var entities: [Entity] = [] { didSet { known = KnownRelationships() } }
    package var nextEntity: UInt16 = 1
    package var nextIndex: UInt32 = 1
    /// Set in the catalog of an open store, so that a read does not collect them.
    private var known = KnownRelationships()

    /// The names of the entities.
    public var entityNames: [String] { entities.map(\.name) }

    /// A kind of record.
    package struct Entity: Sendable, Hashable {
        /// The id of the entity.
        package internal(set) var id: UInt16
        /// The name, unique in the store.
        package internal(set) var name: String
        /// The parent entity; its records include those of this one.
        package internal(set) var parent: UInt16?
        /// The topmost ancestor, or the entity itself.
        ///
        /// All entities of the tree share its table and key space.
        package internal(set) var root: UInt16
        /// The ids of the key's attributes and relationships, in order.
        package internal(set) var key: [UInt16]
        /// The types of the key's components. A relationship contributes those of its target's key.
        package internal(set) var keyTypes: [AttributeType] = []
        /// The fields of the key, with the number of components of each.
        var keyParts: [KeyPart] = []
        /// The fields in ascending order of ids, including inherited ones.
        ///
        /// Ids are unique in the entity's tree.
        package internal(set) var fields: [Field]
        /// The declared indexes, including inherited ones.
        package internal(set) var indexes: [Index] = []
        /// The relationships joined by attributes, including inherited ones.
        package internal(set) var joins: [Join] = []
        /// The index of the entity's members; nil for a root.
        package internal(set) var members: UInt32?
        /// The next field id of the whole tree; used in a root only.
        package var nextField: UInt16 = 1
        /// The compression; nil in a store of an older version, where it means `.zstd`.
        package internal(set) var compression: EntityDefinition.Compression?
        /// The former names.
        package internal(set) var was: [String]?
        /// The ids of fields removed from the tree, whose values rows may still have.
        ///
        /// It is used in a root only.
        package internal(set) var removed: [UInt16]?

        /// Whether rows are compressed once a dictionary exists.
        package var isCompressed: Bool { compression != EntityDefinition.Compression.none }

        /// Returns the field with a name.
        package func field(_ name: String) -> Field? { fields.first { $0.name == name } }
        /// Returns the field with an id.
        package func field(id: UInt16) -> Field? {
            var low = 0, high = fields.count
            // Very many are halved; a few are looked through.
            while high - low > 16 {
                let middle = (low + high) / 2
                if fields[middle].id <= id { low = middle } else { high = middle }
            }
            return fields[low..<high].first { $0.id == id }
        }
        /// The ids of the fields by name.
        var fieldIDs: [String: UInt16] { Dictionary(fields.map { ($0.name, $0.id) }) { first, _ in first } }
        /// Returns the declared index with a name.
        func index(_ name: String) -> Index? { indexes.first { $0.name == name } }
    }

    /// An attribute or a stored relationship.
    package struct Field: Sendable, Hashable, Codable {
        /// The id of the field, unique in the entity's tree.
        package internal(set) var id: UInt16
        /// The name of the field.
        package internal(set) var name: String
        /// The type of an attribute, or the properties of a stored relationship.
        package internal(set) var kind: Kind
        /// Whether a complete record may lack the field.
        package internal(set) var isOptional: Bool
        /// The id of the index of the attribute's values or the reference's targets.
        package internal(set) var index: UInt32?
        var unique: Bool?
        var constant: Constant?
        /// The former names.
        package internal(set) var was: [String]?

        /// Whether no two records may have the same value of the attribute.
        package var isUnique: Bool { unique ?? false }
        /// The value that a complete record gets if it lacks the attribute.
        package var defaultValue: Value? { constant?.value }
    }

    /// A declared index.
    package struct Index: Sendable, Hashable, Codable {
        /// The id of the index.
        package internal(set) var id: UInt32
        /// The name of the index.
        package internal(set) var name: String
        /// The fields that the index is sorted by.
        package internal(set) var components: [Component]
        /// Whether no two records may have the same values.
        package internal(set) var isUnique: Bool
        /// The conditions of a partial index; every record in it meets all of them.
        package internal(set) var conditions: [Condition]
        /// The former names.
        package internal(set) var was: [String]?

        /// A field of an index.
        package struct Component: Sendable, Hashable, Codable {
            /// The id of the field.
            package internal(set) var field: UInt16
            /// The version of the case folding table; nil if case is significant.
            package internal(set) var folding: Int?
        }

        /// A condition that every record in the index meets.
        package struct Condition: Sendable, Hashable, Codable {
            /// The id of the attribute.
            package internal(set) var field: UInt16
            /// The comparison of the attribute with the value.
            package internal(set) var comparison: IndexCondition.Comparison
            var constant: Constant

            /// The value that the attribute is compared with.
            package var value: Value { constant.value }
        }
    }

    /// A relationship joined by attributes.
    package struct Join: Sendable, Hashable, Codable {
        /// The name of the relationship.
        package internal(set) var name: String
        /// The id of the destination entity.
        package internal(set) var destination: UInt16
        /// The attribute of the owner, by id.
        package internal(set) var own: UInt16
        /// The attribute of the destination, by id.
        package internal(set) var theirs: UInt16
        /// Whether a record may have several targets.
        package internal(set) var isToMany: Bool
        /// The name of the inverse at the destination.
        package internal(set) var inverse: String?
        /// Whether the inverse is to-many.
        package internal(set) var inverseIsToMany: Bool
        package internal(set) var rule: RelationshipDefinition.DeleteRule
        package internal(set) var inverseRule: RelationshipDefinition.DeleteRule
        /// The former names.
        package internal(set) var was: [String]?

        /// Whether another join of this name leads from each record to the same records.
        func leadsLike(_ other: Join) -> Bool {
            (name, destination, own, theirs, isToMany)
                == (other.name, other.destination, other.own, other.theirs, other.isToMany)
        }
    }

    /// The kind of a field.
    package enum Kind: Sendable, Hashable {
        case attribute(AttributeType)
        case reference(Reference)
    }

    /// The stored side of a relationship.
    package struct Reference: Sendable, Hashable, Codable {
        /// The id of the destination entity.
        package internal(set) var destination: UInt16
        /// Whether the stored side is to-many.
        package internal(set) var isToMany: Bool
        /// Whether the order of the stored side is significant.
        package internal(set) var isOrdered: Bool
        /// The name of the derived side at the destination.
        package internal(set) var inverse: String?
        /// Whether the derived side is to-many.
        package internal(set) var inverseIsToMany: Bool
        /// Whether the derived side is ordered; then each reference has a position.
        package internal(set) var inverseIsOrdered: Bool
        /// The delete rules of both sides; nil for none.
        package internal(set) var rule: RelationshipDefinition.DeleteRule?
        package internal(set) var inverseRule: RelationshipDefinition.DeleteRule?

        /// Whether a target belongs to one record only, which both sides name.
        package var isOneToOne: Bool { !isToMany && inverse != nil && !inverseIsToMany }
    }

    /// A relationship from the point of view of one entity.
    package struct Relationship: Sendable, Hashable {
        /// The name on this side.
        package var name: String
        /// The entity that stores it; for a join, the entity that declares it.
        package var owner: UInt16
        /// The field that stores it; for a join, the attribute of the declaring entity.
        package var field: UInt16
        /// Whether this side is stored; otherwise it is derived from the index.
        package var isStored: Bool
        /// The destination entity.
        package var destination: UInt16
        /// Whether a record may have several targets.
        package var isToMany: Bool
        /// Whether the order of the targets is significant.
        var isOrdered: Bool
        /// The effect on the targets when a record of the entity is deleted.
        package var deleteRule: RelationshipDefinition.DeleteRule = .none
        /// The join as seen from the entity, whose attribute is `own`; nil if there is none.
        package var join: Join?
    }

    /// The relationships of each entity, by the position of the entity. They follow from the
    /// entities: catalogs are equal with or without.
    private struct KnownRelationships: Sendable, Hashable {
        var lists: [[Relationship]] = []

        static func == (_: Self, _: Self) -> Bool { true }
        func hash(into _: inout Hasher) {}
    }

    /// Returns the entity with a name.
    package func entity(_ name: String) -> Entity? {
        // `first(where:)` copies every entity that it looks at.
        for position in entities.indices where entities[position].name == name { return entities[position] }
        return nil
    }

    /// Returns the entity with an id.
    package func entity(id: UInt16) -> Entity? { position(of: id).map { entities[$0] } }

    private func position(of id: UInt16) -> Int? {
        for position in entities.indices where entities[position].id == id { return position }
        return nil
    }

    /// Returns whether an entity is another one or a descendant of it.
    package func isKind(_ id: UInt16, of ancestor: UInt16) -> Bool {
        if id == ancestor { return true }
        return ancestors(of: id).contains(ancestor)
    }

    /// Returns the ancestors of an entity, the nearest first.
    package func ancestors(of id: UInt16) -> [UInt16] {
        var result: [UInt16] = [], next = entity(id: id)?.parent
        // A damaged catalog may have a cycle.
        while let parent = next, !result.contains(parent), parent != id {
            result.append(parent)
            next = entity(id: parent)?.parent
        }
        return result
    }

    /// Returns whether a field is declared by the entity itself, not by an ancestor.
    func declares(_ entity: Entity, _ field: UInt16) -> Bool {
        guard let parent = entity.parent else { return true }
        return self.entity(id: parent)?.field(id: field) == nil
    }

    /// Returns whether an index is declared by the entity itself, not by an ancestor.
    func declares(_ entity: Entity, index: UInt32) -> Bool {
        guard let parent = entity.parent.flatMap({ self.entity(id: $0) }) else { return true }
        return !parent.indexes.contains { $0.id == index }
    }

    /// Returns every relationship of an entity, stored, derived and joined, sorted by name.
    package func relationships(of entity: Entity) -> [Relationship] {
        if !known.lists.isEmpty, let position = position(of: entity.id) { return known.lists[position] }
        return collectRelationships(of: entity)
    }

    /// Collects the relationships of all entities once, for ``relationships(of:)``.
    mutating func knowRelationships() {
        known = KnownRelationships(lists: entities.map { collectRelationships(of: $0) })
    }

    private func collectRelationships(of entity: Entity) -> [Relationship] {
        let kinds = [entity.id] + (entity.parent == nil ? [] : ancestors(of: entity.id))
        var result: [Relationship] = []
        for owner in entities {
            for field in owner.fields {
                guard case .reference(let reference) = field.kind, let index = field.index, index > 0 else { continue }
                if owner.id == entity.id {
                    result.append(
                        Relationship(
                            name: field.name, owner: owner.id, field: field.id, isStored: true,
                            destination: reference.destination, isToMany: reference.isToMany,
                            isOrdered: reference.isOrdered,
                            deleteRule: reference.rule ?? .none))
                }
                if kinds.contains(reference.destination), let inverse = reference.inverse, declares(owner, field.id) {
                    // A relationship that is its own inverse is stored on both sides, and nothing
                    // is derived.
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

    /// Returns whether a join is declared by the entity itself, not by an ancestor.
    func declares(_ entity: Entity, _ join: Join) -> Bool {
        guard let parent = entity.parent.flatMap({ self.entity(id: $0) }) else { return true }
        return !parent.joins.contains { $0.name == join.name }
    }

    /// Returns the relationship of an entity with a name.
    package func relationship(_ name: String, of entity: Entity) -> Relationship? {
        let relationships = relationships(of: entity)
        for position in relationships.indices where relationships[position].name == name {
            return relationships[position]
        }
        return nil
    }

    /// The ids of all indexes, distinct and ascending.
    package var indexIDs: [UInt32] {
        Set(entities.flatMap { $0.fields.compactMap(\.index) + $0.indexes.map(\.id) + [$0.members].compactMap(\.self) })
            .sorted()
    }

    /// Sets the derived properties: inherited parts, roots, key types.
    mutating func resolve() {
        let positions = Dictionary(entities.indices.map { (entities[$0].id, $0) }) { first, _ in first }
        for e in parentsFirst { inherit(at: e, entities[e].parent.flatMap { positions[$0] }) }
        for e in entities.indices { entities[e].keyTypes = keyTypes(of: entities[e], depth: 0) }
        for e in entities.indices {
            entities[e].keyParts = entities[e].key.map { id in
                guard case .reference(let reference)? = entities[e].field(id: id)?.kind else {
                    return KeyPart(field: id, count: 1, isReference: false)
                }
                return KeyPart(
                    field: id, count: entity(id: reference.destination)?.keyTypes.count ?? 0, isReference: true)
            }
        }
    }

    /// Sets what an entity and its descendants inherit, after a change of it; not their key types.
    mutating func resolveFamily(at position: Int) {
        inherit(at: position, entities[position].parent.flatMap { self.position(of: $0) })
        var family = [entities[position].id: position]
        for e in parentsFirst {
            guard let parent = entities[e].parent, let above = family[parent], e != position else { continue }
            family[entities[e].id] = e
            inherit(at: e, above)
        }
    }

    /// The positions of the entities in the order of ids: parents have smaller ones than their
    /// descendants.
    private var parentsFirst: [Int] {
        let isSorted = zip(entities.indices, entities.indices.dropFirst()).allSatisfy {
            entities[$0].id < entities[$1].id
        }
        return isSorted ? Array(entities.indices) : entities.indices.sorted { entities[$0].id < entities[$1].id }
    }

    /// Sets the root of an entity and what it inherits from its parent, which is resolved.
    private mutating func inherit(at e: Int, _ above: Int?) {
        guard let above, entities[above].id < entities[e].id else {
            entities[e].root = ancestors(of: entities[e].id).last ?? entities[e].id
            return
        }
        let parent = entities[above]
        entities[e].root = parent.root
        let inherited = Set(parent.fields.map(\.id))
        entities[e].fields = (parent.fields + entities[e].fields.filter { !inherited.contains($0.id) }).sorted {
            $0.id < $1.id
        }
        // The parent's index may have been renamed since it was inherited, and rebuilt with other
        // attributes. A descendant has no own index under a former name: `rename` refuses it.
        let indexes = Set(parent.indexes.flatMap { [$0.name] + ($0.was ?? []) }), joins = Set(parent.joins.map(\.name))
        let ids = Set(parent.indexes.map(\.id))
        entities[e].indexes =
            parent.indexes + entities[e].indexes.filter { !indexes.contains($0.name) && !ids.contains($0.id) }
        entities[e].joins = parent.joins + entities[e].joins.filter { !joins.contains($0.name) }
        entities[e].key = parent.key
        entities[e].compression = parent.compression
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
