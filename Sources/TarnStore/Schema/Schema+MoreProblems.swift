// More rules of a schema: parents, keys that hold a parent's, defaults, joins, delete rules, declared indexes.

extension SchemaValidation {
    /// The entities that one descends from, the nearest first. Ends where a name is not known or comes again.
    func ancestors(of entity: EntityDefinition) -> [EntityDefinition] {
        var result: [EntityDefinition] = [], next = entity.parent
        while let name = next, let parent = entities[name], name != entity.name,
            !result.contains(where: { $0.name == name })
        {
            result.append(parent)
            next = parent.parent
        }
        return result
    }

    /// An attribute of an entity or of one that it descends from.
    func attribute(_ name: String, of entity: EntityDefinition) -> AttributeDefinition? {
        ([entity] + ancestors(of: entity)).lazy.compactMap { $0.attributes.first { $0.name == name } }.first
    }

    private func relationship(_ name: String, of entity: EntityDefinition) -> (RelationshipDefinition, EntityDefinition)? {
        for owner in [entity] + ancestors(of: entity) {
            if let found = owner.relationships.first(where: { $0.name == name }) { return (found, owner) }
        }
        return nil
    }

    private func attributeNames(of entity: EntityDefinition) -> [String] {
        ([entity] + ancestors(of: entity)).flatMap { $0.attributes.map(\.name) }
    }

    // MARK: Parents

    mutating func checkParent(of entity: EntityDefinition) {
        guard let parent = entity.parent else { return }
        guard entities[parent] != nil else {
            report(entity, .parent, nil, Spelling.unknown("entity", parent, among: schema.entities.map(\.name)))
            return
        }
        let ancestors = ancestors(of: entity)
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

    // MARK: Keys that hold a parent's

    mutating func checkOwner(_ relationship: RelationshipDefinition, of entity: EntityDefinition) {
        let name = relationship.name
        if relationship.isToMany {
            report(entity, .key, name, "\"\(name)\" leads to many records and cannot be part of a key: make it to-one")
        } else if relationship.join != nil {
            report(entity, .key, name, "\"\(name)\" is joined by an attribute: name that attribute in the key instead")
        } else if !schema.isStored(relationship, of: entity) {
            report(
                entity, .key, name,
                "\"\(name)\" is stored as \(relationship.destination).\(relationship.inverse ?? ""): a key can only hold what is stored here")
        } else if leadsBack(from: relationship.destination, to: entity.name) {
            report(entity, .key, name, "the key of \(relationship.destination) needs the key of \(entity.name): one of them has to do without")
        }
    }

    private func leadsBack(from start: String, to goal: String) -> Bool {
        var pending = [start], seen: Set<String> = []
        while let name = pending.popLast() {
            if name == goal { return true }
            guard seen.insert(name).inserted, var entity = entities[name] else { continue }
            if let root = ancestors(of: entity).last { entity = root }
            if entity.name == goal { return true }
            pending += entity.relationships.filter { entity.key.contains($0.name) }.map(\.destination)
        }
        return false
    }

    // MARK: Defaults

    mutating func checkDefault(of attribute: AttributeDefinition, of entity: EntityDefinition) {
        guard let value = attribute.defaultValue else { return }
        let place = SchemaProblem.Part.attribute(attribute.name, .initial)
        if entity.key.contains(attribute.name) {
            report(entity, place, attribute.name, "an attribute of the key has no default: remove it")
        } else if attribute.isUnique {
            report(entity, place, attribute.name, "a unique attribute has no default, which could stand in one record only: remove it")
        } else if case .null = value {
            if !attribute.isOptional {
                report(entity, place, attribute.name, "null is no default of an attribute that is not optional: remove it, or make the type optional")
            }
        } else if !value.withEncoded({ $0.fits(attribute.type) }) {
            report(entity, place, attribute.name, "the default \(value.jsonText) is not of the type \(attribute.type.word)")
        }
    }

    // MARK: Joins and delete rules

    mutating func checkJoinsAndRules(of entity: EntityDefinition) {
        for relationship in entity.relationships {
            let partner = schema.partner(of: relationship, in: entity)
            if relationship.deleteRule == .nullify, let partner, let destination = entities[relationship.destination],
                (ancestors(of: destination).last ?? destination).key.contains(partner.name)
            {
                report(
                    entity, .relationship(relationship.name, .rule), relationship.name,
                    "the key of \(destination.name) holds \(partner.name), which nothing can take out: use cascade, deny or none")
            }
            if let join = relationship.join {
                checkJoin(join, relationship, partner, of: entity)
            } else if partner?.join != nil {
                report(
                    entity, .relationship(relationship.name, .join), relationship.name,
                    "\(relationship.destination).\(partner?.name ?? ""), its inverse, is joined by attributes: join it here too")
            }
        }
    }

    private mutating func checkJoin(
        _ join: RelationshipDefinition.Join, _ relationship: RelationshipDefinition, _ partner: RelationshipDefinition?,
        of entity: EntityDefinition
    ) {
        let name = relationship.name, place = SchemaProblem.Part.relationship(relationship.name, .join)
        guard let destination = entities[relationship.destination] else { return }
        guard let own = attribute(join.own, of: entity) else {
            return report(entity, place, name, Spelling.unknown("attribute", join.own, among: attributeNames(of: entity)))
        }
        guard let theirs = attribute(join.theirs, of: destination) else {
            return report(
                entity, place, name,
                "\(destination.name): " + Spelling.unknown("attribute", join.theirs, among: attributeNames(of: destination)))
        }
        func sort(_ type: AttributeType) -> AttributeType { if case .enumeration = type { .string } else { type } }
        if sort(own.type) != sort(theirs.type) {
            report(
                entity, place, name,
                "\(join.own) is \(own.type.word) and \(destination.name).\(join.theirs) is \(theirs.type.word): joined attributes are of one type")
        }
        if !own.isIndexed {
            report(entity, place, name, "the attribute \(join.own) needs an index: a relationship is joined through it")
        }
        let key = (ancestors(of: destination).last ?? destination).key
        if !theirs.isIndexed, key != [join.theirs] {
            report(
                entity, place, name, "the attribute \(destination.name).\(join.theirs) needs an index: a relationship is joined through it")
        } else if !relationship.isToMany, !theirs.isUnique, key != [join.theirs] {
            report(
                entity, place, name,
                "a to-one relationship leads to one record at most: \(destination.name).\(join.theirs) has to be unique, or the key")
        }
        if relationship.isOrdered {
            report(entity, .relationship(name, .ordered), name, "a joined relationship has no order of its own: remove ordered")
        }
        if relationship.deleteRule == .nullify || relationship.deleteRule == .cascade {
            report(
                entity, .relationship(name, .rule), name,
                "the delete rule of a joined relationship is none or deny: its attributes are data of the records")
        }
        if let partner, partner.join != RelationshipDefinition.Join(join.theirs, equals: join.own) {
            report(
                entity, place, name,
                "\(destination.name).\(partner.name), its inverse, has to be joined by the same attributes: \(join.theirs) equals \(join.own)")
        }
    }

    // MARK: Declared indexes

    mutating func checkIndexes(of entity: EntityDefinition) {
        var names: Set<String> = []
        for owner in ancestors(of: entity) { names.formUnion(owner.indexes.map(\.name)) }
        for index in entity.indexes {
            let place = SchemaProblem.Part.index(index.name)
            if !isName(index.name, underscoreFirst: true) {
                report(entity, place, index.name, "an index's name has only the letters a–z and A–Z, digits and _, and begins with a letter or _")
            }
            if !names.insert(index.name).inserted {
                report(entity, place, index.name, "there is an index of this name already: rename one of them")
            }
            if index.components.isEmpty {
                report(entity, place, index.name, "an index needs at least one attribute")
            }
            var fields: Set<String> = []
            for component in index.components {
                if !fields.insert(component.field).inserted {
                    report(entity, place, index.name, "it names \"\(component.field)\" twice: remove one")
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
        if let (relationship, owner) = relationship(component.field, of: entity) {
            if relationship.isToMany || relationship.join != nil || !schema.isStored(relationship, of: owner) {
                report(
                    entity, place, index.name,
                    "\"\(component.field)\" is not a to-one relationship that is stored here: only such ones can be indexed together with attributes")
            } else if component.ignoresCase {
                report(entity, place, index.name, "\"\(component.field)\" is a relationship and has no case to ignore")
            }
            return
        }
        guard let attribute = attribute(component.field, of: entity) else {
            return report(
                entity, place, index.name, Spelling.unknown("attribute", component.field, among: attributeNames(of: entity)))
        }
        switch attribute.type {
        case .json:
            report(entity, place, index.name, "\"\(component.field)\": json has no order and cannot be indexed")
        case .array:
            report(entity, place, index.name, "\"\(component.field)\": an index of a list is not supported by this version")
        case .string, .url, .enumeration: break
        default:
            if component.ignoresCase {
                report(entity, place, index.name, "\"\(component.field)\" is \(attribute.type.word) and has no case to ignore")
            }
        }
    }

    private mutating func check(_ condition: IndexCondition, of index: IndexDefinition, of entity: EntityDefinition) {
        let place = SchemaProblem.Part.index(index.name)
        guard let attribute = attribute(condition.attribute, of: entity) else {
            return report(
                entity, place, index.name,
                "in its condition: " + Spelling.unknown("attribute", condition.attribute, among: attributeNames(of: entity)))
        }
        switch attribute.type {
        case .json, .array:
            report(entity, place, index.name, "\"\(condition.attribute)\" is \(attribute.type.word) and cannot be compared")
            return
        default: break
        }
        if case .null = condition.value {
            if condition.comparison != .equal, condition.comparison != .notEqual {
                report(entity, place, index.name, "null is neither less nor greater than a value: use == or !=")
            }
        } else if !condition.value.withEncoded({ $0.fits(attribute.type) }) {
            report(
                entity, place, index.name,
                "\(condition.value.jsonText) is compared with \"\(condition.attribute)\", which is \(attribute.type.word)")
        }
    }
}
