// Renaming. Ids stay, so only the catalog changes. It keeps the former names: a program that still
// uses one gets an error, and not a new, empty field under the old name.

extension Catalog.Change {
    mutating func rename(_ definition: EntityDefinition) throws(SchemaError) {
        guard let old = definition.renamedFrom, let e = catalog.entities.firstIndex(where: { $0.name == old }) else {
            return noteFormer(definition)
        }
        if catalog.entity(definition.name) != nil {
            throw bothNames(definition.name, nil, "entities", old, definition.name)
        }
        catalog.entities[e].name = definition.name
        catalog.entities[e].was = former(catalog.entities[e].was, old, now: definition.name)
    }

    /// - Parameter e: the position of the entity that declares the field.
    mutating func rename(field old: String?, to name: String, of e: Int) throws(SchemaError) {
        let entity = catalog.entities[e]
        guard let old, let f = entity.fields.firstIndex(where: { $0.name == old }) else {
            return noteFormer(field: old, of: name, e)
        }
        if entity.field(name) != nil { throw bothNames(entity.name, name, "fields", old, name) }
        guard catalog.declares(entity, entity.fields[f].id) else {
            throw SchemaError(
                entity: entity.name, field: name,
                "an ancestor of this entity declares \(old): rename it there")
        }
        catalog.entities[e].fields[f].name = name
        catalog.entities[e].fields[f].was = former(entity.fields[f].was, old, now: name)
    }

    mutating func rename(_ index: IndexDefinition, of e: Int) throws(SchemaError) {
        let entity = catalog.entities[e]
        if let old = index.renamedFrom, let i = entity.indexes.firstIndex(where: { $0.name == old }) {
            if entity.index(index.name) != nil { throw bothNames(entity.name, index.name, "indexes", old, index.name) }
            guard catalog.declares(entity, index: entity.indexes[i].id) else {
                throw SchemaError(
                    entity: entity.name, field: index.name,
                    "an ancestor of this entity declares \(old): rename it there")
            }
            // `inherit` would take it for a copy of the ancestor's index.
            if let now = entity.indexes.first(where: {
                isFormer(index.name, in: $0.was) && !catalog.declares(entity, index: $0.id)
            }) {
                throw wasRenamed(entity.name, index.name, to: now.name)
            }
            catalog.entities[e].indexes[i].name = index.name
            catalog.entities[e].indexes[i].was = former(entity.indexes[i].was, old, now: index.name)
        } else if entity.index(index.name) == nil,
            let now = entity.indexes.first(where: { $0.was?.contains(index.name) ?? false })
        {
            throw wasRenamed(entity.name, index.name, to: now.name)
        }
    }

    mutating func rename(join relationship: RelationshipDefinition, of e: Int) throws(SchemaError) {
        let entity = catalog.entities[e], name = relationship.name
        if let old = relationship.renamedFrom, entity.joins.contains(where: { $0.name == old }) {
            if entity.joins.contains(where: { $0.name == name }) {
                throw bothNames(entity.name, name, "relationships", old, name)
            }
            // A join has no id, so descendants have copies under the old name.
            for other in catalog.entities.indices where catalog.isKind(catalog.entities[other].id, of: entity.id) {
                for j in catalog.entities[other].joins.indices where catalog.entities[other].joins[j].name == old {
                    catalog.entities[other].joins[j].name = name
                    catalog.entities[other].joins[j].was = former(catalog.entities[other].joins[j].was, old, now: name)
                }
            }
        } else if !entity.joins.contains(where: { $0.name == name }),
            let now = entity.joins.first(where: { $0.was?.contains(name) ?? false })
        {
            throw wasRenamed(entity.name, name, to: now.name)
        }
    }

    // MARK: Former names

    // They are recorded also in a store that never had them: a program that uses one would add it
    // as a second name.

    func isFormer(_ name: String, in names: [String]?) -> Bool { names?.contains(name) ?? false }

    mutating func noteFormer(_ definition: EntityDefinition) {
        guard let old = definition.renamedFrom,
            let e = catalog.entities.firstIndex(where: { $0.name == definition.name }),
            !isFormer(old, in: catalog.entities[e].was)
        else { return }
        catalog.entities[e].was = former(catalog.entities[e].was, old, now: definition.name)
    }

    mutating func noteFormer(field old: String?, of name: String, _ e: Int) {
        guard let old, let f = catalog.entities[e].fields.firstIndex(where: { $0.name == name }),
            !isFormer(old, in: catalog.entities[e].fields[f].was),
            catalog.declares(catalog.entities[e], catalog.entities[e].fields[f].id)
        else { return }
        catalog.entities[e].fields[f].was = former(catalog.entities[e].fields[f].was, old, now: name)
    }

    /// Checks that a new entity does not have a former name of another one.
    func checkNotFormer(_ definition: EntityDefinition) throws(SchemaError) {
        if let now = catalog.entities.first(where: { $0.was?.contains(definition.name) ?? false }) {
            throw wasRenamed(definition.name, nil, to: now.name)
        }
    }

    func checkNotFormer(field name: String, of e: Int) throws(SchemaError) {
        if let now = catalog.entities[e].fields.first(where: { $0.was?.contains(name) ?? false }) {
            throw wasRenamed(catalog.entities[e].name, name, to: now.name)
        }
    }

    private func former(_ names: [String]?, _ old: String, now: String) -> [String] {
        (names ?? []).filter { $0 != now && $0 != old } + [old]
    }

    private func wasRenamed(_ entity: String, _ field: String?, to now: String) -> SchemaError {
        SchemaError(
            entity: entity, field: field,
            "another program has renamed it to \(now); use that name, or declare `was: \(now)` to rename it back, or, "
                + "for something else, use a name that was never used"
        )
    }

    private func bothNames(_ entity: String, _ field: String?, _ what: String, _ old: String, _ name: String)
        -> SchemaError
    {
        SchemaError(
            entity: entity, field: field,
            "cannot rename it from \(old): the store has \(what) of both names; remove the new one first, or choose another name"
        )
    }
}

extension SchemaValidation {
    /// Checks that a former name is not in use: stored values could belong to either of the two.
    mutating func checkFormerNames(of entity: EntityDefinition) {
        if let old = entity.renamedFrom, entities[old] != nil {
            report(entity, .entity, nil, taken(old))
        }
        let names = Set(entity.attributes.map(\.name) + entity.relationships.map(\.name))
        for attribute in entity.attributes {
            guard let old = attribute.renamedFrom, names.contains(old) else { continue }
            report(entity, .attribute(attribute.name, .former), attribute.name, taken(old))
        }
        for relationship in entity.relationships {
            guard let old = relationship.renamedFrom, names.contains(old) else { continue }
            report(entity, .relationship(relationship.name, .former), relationship.name, taken(old))
        }
        for index in entity.indexes {
            guard let old = index.renamedFrom, entity.indexes.contains(where: { $0.name == old }) else { continue }
            report(entity, .index(index.name), index.name, taken(old))
        }
    }

    private func taken(_ old: String) -> String {
        "renamed from \"\(old)\", but that name is still declared: remove one of the two, or the former name"
    }
}
