// Rules for declared indexes.

extension SchemaValidation {
    // MARK: Declared indexes

    mutating func checkIndexes(of entity: EntityDefinition) {
        var names: Set<String> = []
        for owner in schema.ancestors(of: entity) { names.formUnion(owner.indexes.map(\.name)) }
        for index in entity.indexes {
            let place = SchemaProblem.Part.index(index.name)
            if !isName(index.name, underscoreFirst: true) {
                report(
                    entity, place, index.name,
                    "invalid index name: use the letters a–z and A–Z, digits and _, starting with a letter or _")
            }
            if !names.insert(index.name).inserted {
                report(entity, place, index.name, "another index has this name: rename one of them")
            }
            if let problem = index.problem {
                report(entity, place, index.name, problem)
                continue
            }
            if index.components.isEmpty {
                report(entity, place, index.name, "an index needs at least one attribute")
            }
            var fields: Set<String> = []
            for component in index.components {
                if !fields.insert(component.field).inserted {
                    report(entity, place, index.name, "\"\(component.field)\" is listed twice: remove one")
                } else {
                    check(component, of: index, of: entity)
                }
            }
            for condition in index.conditions { check(condition, of: index, of: entity) }
        }
    }

    private mutating func check(
        _ component: IndexDefinition.Component, of index: IndexDefinition, of entity: EntityDefinition
    ) {
        let place = SchemaProblem.Part.index(index.name)
        if let (relationship, owner) = schema.relationship(component.field, of: entity) {
            if relationship.isToMany || relationship.join != nil || !schema.isStored(relationship, of: owner) {
                report(
                    entity, place, index.name,
                    "\"\(component.field)\" is not a to-one relationship stored in this entity: only these can be indexed together with attributes"
                )
            } else if component.ignoresCase {
                report(
                    entity, place, index.name,
                    "\"\(component.field)\" is a relationship: only text can be case-insensitive")
            }
            return
        }
        guard let attribute = schema.attribute(component.field, of: entity) else {
            return report(
                entity, place, index.name,
                Spelling.unknown("attribute", component.field, among: schema.attributeNames(of: entity)))
        }
        let type = attribute.type
        if case .array = type {
            report(
                entity, place, index.name, "\"\(component.field)\" is a list: indexes of lists are not supported"
            )
        } else if !type.isIndexable {
            report(entity, place, index.name, "\"\(component.field)\" is \(type), which cannot be indexed")
        } else if component.ignoresCase, !type.isText {
            report(
                entity, place, index.name, "\"\(component.field)\" is \(type): only text can be case-insensitive")
        }
    }

    private mutating func check(_ condition: IndexCondition, of index: IndexDefinition, of entity: EntityDefinition) {
        let place = SchemaProblem.Part.index(index.name)
        guard let attribute = schema.attribute(condition.attribute, of: entity) else {
            return report(
                entity, place, index.name,
                "in the condition: "
                    + Spelling.unknown("attribute", condition.attribute, among: schema.attributeNames(of: entity)))
        }
        guard attribute.type.isIndexable else {
            return report(
                entity, place, index.name,
                "\"\(condition.attribute)\" is \(attribute.type), which cannot be compared"
            )
        }
        if case .null = condition.value {
            if condition.comparison != .equal, condition.comparison != .notEqual {
                report(entity, place, index.name, "null can only be compared with == and !=")
            }
        } else if !condition.value.withEncoded({ $0.fits(attribute.type) }) {
            report(
                entity, place, index.name,
                "cannot compare \(condition.value.jsonText) with \"\(condition.attribute)\", which is \(attribute.type)"
            )
        }
    }
}
