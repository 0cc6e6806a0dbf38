// Rules for parents and defaults.

extension SchemaValidation {
    // MARK: Parents

    mutating func checkParent(of entity: EntityDefinition) {
        guard let parent = entity.parent else { return }
        guard entities[parent] != nil else {
            report(entity, .parent, nil, Spelling.unknown("entity", parent, among: schema.entities.map(\.name)))
            return
        }
        let ancestors = schema.ancestors(of: entity)
        guard ancestors.last?.parent == nil, parent != entity.name else {
            report(entity, .parent, nil, "the entity is its own ancestor: remove one of the parents")
            return
        }
        for ancestor in ancestors {
            let taken = Set(ancestor.attributes.map(\.name) + ancestor.relationships.map(\.name))
            for attribute in entity.attributes where taken.contains(attribute.name) {
                report(
                    entity, .attribute(attribute.name, .name), attribute.name,
                    "the ancestor \(ancestor.name) already declares it: remove it here, or rename it")
            }
            for relationship in entity.relationships where taken.contains(relationship.name) {
                report(
                    entity, .relationship(relationship.name, .name), relationship.name,
                    "the ancestor \(ancestor.name) already declares it: remove it here, or rename it")
            }
        }
    }

    // MARK: Defaults

    mutating func checkDefault(of attribute: AttributeDefinition, of entity: EntityDefinition) {
        guard let value = attribute.defaultValue else { return }
        let place = SchemaProblem.Part.attribute(attribute.name, .initial)
        if entity.key.contains(attribute.name) {
            report(entity, place, attribute.name, "a key attribute cannot have a default: remove it")
        } else if attribute.isUnique {
            report(
                entity, place, attribute.name,
                "a unique attribute cannot have a default, which only one record could have: remove it")
        } else if case .null = value {
            if !attribute.isOptional {
                report(
                    entity, place, attribute.name,
                    "null cannot be the default of a required attribute: remove it, or make the type optional")
            }
        } else if !value.withEncoded({ $0.fits(attribute.type) && $0.jsonProblem(attribute.type) == nil }) {
            report(
                entity, place, attribute.name, "the default \(value.jsonText) is not a valid \(attribute.type)"
            )
        }
    }
}
