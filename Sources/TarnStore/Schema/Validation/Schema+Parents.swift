// What an entity of a schema has from those that it descends from.

extension Schema {
    /// The entities that one descends from, the nearest first. Ends where a name is not known or comes again.
    package func ancestors(of entity: EntityDefinition) -> [EntityDefinition] {
        var result: [EntityDefinition] = [], next = entity.parent
        while let name = next, name != entity.name, !result.contains(where: { $0.name == name }),
            let parent = entities.first(where: { $0.name == name })
        {
            result.append(parent)
            next = parent.parent
        }
        return result
    }

    /// An attribute of an entity or of one that it descends from.
    package func attribute(_ name: String, of entity: EntityDefinition) -> AttributeDefinition? {
        ([entity] + ancestors(of: entity)).lazy.compactMap { $0.attributes.first { $0.name == name } }.first
    }

    /// A relationship of an entity or of one that it descends from, with the entity that declares it.
    func relationship(_ name: String, of entity: EntityDefinition) -> (RelationshipDefinition, EntityDefinition)? {
        for owner in [entity] + ancestors(of: entity) {
            if let found = owner.relationships.first(where: { $0.name == name }) { return (found, owner) }
        }
        return nil
    }

    package func attributeNames(of entity: EntityDefinition) -> [String] {
        ([entity] + ancestors(of: entity)).flatMap { $0.attributes.map(\.name) }
    }
}
