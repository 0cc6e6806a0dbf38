// The checks between the parts of an entity and those of its ancestors and descendants, which the
// schemas of several programs may have declared.

extension Catalog.Change {
    /// Returns the descendants' own indexes of a name, which a new one of their ancestor replaces.
    func replacedIndexes(named name: String, below e: Int) -> [UInt32] {
        descendants(of: catalog.entities[e].id).flatMap { entity in
            entity.indexes.filter { $0.name == name && catalog.declares(entity, index: $0.id) }.map(\.id)
        }
    }

    /// Checks that no ancestor or descendant of an entity has another join of one name: records of
    /// the descendant would follow only that of the ancestor.
    func checkFamily(of join: Catalog.Join, at e: Int) throws(SchemaError) {
        let entity = catalog.entities[e], ancestors = catalog.ancestors(of: entity.id)
        func isAnother(_ other: Catalog.Join) -> Bool {
            var other = other
            // Programs may differ in the delete rules.
            (other.was, other.rule, other.inverseRule) = (join.was, join.rule, join.inverseRule)
            return other.name == join.name && other != join
        }
        for ancestor in ancestors where catalog.entity(id: ancestor)?.joins.contains(where: isAnother) ?? false {
            throw anotherRelationship(entity, join.name, of: "an ancestor of this entity")
        }
        for other in descendants(of: entity.id) {
            guard other.joins.contains(where: { isAnother($0) && catalog.declares(other, $0) }) else { continue }
            throw anotherRelationship(entity, join.name, of: "the descendant \(other.name)")
        }
    }

    /// Checks that no entity has two fields of one name.
    ///
    /// A descendant may have had a field before its ancestor got one of the same name.
    func checkInheritedNames() throws(SchemaError) {
        for entity in catalog.entities where entity.parent != nil {
            var names: Set<String> = []
            for field in entity.fields where !names.insert(field.name).inserted {
                throw SchemaError(
                    entity: entity.name, field: field.name,
                    "the entity and one of its ancestors have a field of this name; rename one of them"
                )
            }
        }
    }

    /// Returns the refusal of a new stored relationship if an ancestor or a descendant has a join
    /// of its name.
    func familyConflict(ofStored name: String, at e: Int) -> SchemaError? {
        let entity = catalog.entities[e]
        for ancestor in catalog.ancestors(of: entity.id)
        where catalog.entity(id: ancestor)?.joins.contains(where: { $0.name == name }) ?? false {
            return anotherRelationship(entity, name, of: "an ancestor of this entity")
        }
        for other in descendants(of: entity.id) {
            guard other.joins.contains(where: { $0.name == name && catalog.declares(other, $0) }) else { continue }
            return anotherRelationship(entity, name, of: "the descendant \(other.name)")
        }
        return nil
    }

    private func descendants(of id: UInt16) -> [Catalog.Entity] {
        // Most entities have no parent: these are not copied.
        catalog.entities.indices.filter { position in
            catalog.entities[position].parent != nil && catalog.isKind(catalog.entities[position].id, of: id)
                && catalog.entities[position].id != id
        }.map { catalog.entities[$0] }
    }

    private func anotherRelationship(_ entity: Catalog.Entity, _ name: String, of other: String) -> SchemaError {
        SchemaError(
            entity: entity.name, field: name,
            "in this store, \(other) has another relationship of this name: rename one of them")
    }
}
