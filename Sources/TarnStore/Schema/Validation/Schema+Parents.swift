// Parts of an entity that are inherited from its ancestors.

extension Schema {
    /// Returns the ancestors of an entity, the nearest first, up to an unknown or repeated name.
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

    /// Returns an attribute of an entity or of an ancestor.
    package func attribute(_ name: String, of entity: EntityDefinition) -> AttributeDefinition? {
        ([entity] + ancestors(of: entity)).lazy.compactMap { $0.attributes.first { $0.name == name } }.first
    }

    /// Returns a relationship of an entity or of an ancestor, with the entity that declares it.
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
