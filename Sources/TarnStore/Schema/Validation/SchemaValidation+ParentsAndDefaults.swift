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
            report(entity, .parent, nil, "it descends from itself: one of the parents has to go")
            return
        }
        for ancestor in ancestors {
            let taken = Set(ancestor.attributes.map(\.name) + ancestor.relationships.map(\.name))
            for attribute in entity.attributes where taken.contains(attribute.name) {
                report(
                    entity, .attribute(attribute.name, .name), attribute.name,
                    "\(ancestor.name), from which it descends, has it already: remove it here, or rename it")
            }
            for relationship in entity.relationships where taken.contains(relationship.name) {
                report(
                    entity, .relationship(relationship.name, .name), relationship.name,
                    "\(ancestor.name), from which it descends, has it already: remove it here, or rename it")
            }
        }
    }

    // MARK: Defaults

    mutating func checkDefault(of attribute: AttributeDefinition, of entity: EntityDefinition) {
        guard let value = attribute.defaultValue else { return }
        let place = SchemaProblem.Part.attribute(attribute.name, .initial)
        if entity.key.contains(attribute.name) {
            report(entity, place, attribute.name, "an attribute of the key has no default: remove it")
        } else if attribute.isUnique {
            report(
                entity, place, attribute.name,
                "a unique attribute has no default, which could stand in one record only: remove it")
        } else if case .null = value {
            if !attribute.isOptional {
                report(
                    entity, place, attribute.name,
                    "null is no default of an attribute that is not optional: remove it, or make the type optional")
            }
        } else if !value.withEncoded({ $0.fits(attribute.type) }) {
            report(
                entity, place, attribute.name, "the default \(value.jsonText) is not of the type \(attribute.type.word)"
            )
        }
    }
}
