// Rules for keys that hold a parent's key, for joins, and for delete rules.

extension SchemaValidation {
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
                "\"\(name)\" is stored as \(relationship.destination).\(relationship.inverse ?? ""): a key can only hold what is stored here"
            )
        } else if leadsBack(from: relationship.destination, to: entity.name) {
            report(
                entity, .key, name,
                "the key of \(relationship.destination) needs the key of \(entity.name): one of them has to do without")
        }
    }

    private func leadsBack(from start: String, to goal: String) -> Bool {
        var pending = [start], seen: Set<String> = []
        while let name = pending.popLast() {
            if name == goal { return true }
            guard seen.insert(name).inserted, var entity = entities[name] else { continue }
            if let root = schema.ancestors(of: entity).last { entity = root }
            if entity.name == goal { return true }
            pending += entity.relationships.filter { entity.key.contains($0.name) }.map(\.destination)
        }
        return false
    }

    // MARK: Joins and delete rules

    mutating func checkJoinsAndRules(of entity: EntityDefinition) {
        for relationship in entity.relationships {
            let partner = schema.partner(of: relationship, in: entity)
            if relationship.deleteRule == .nullify, let partner, let destination = entities[relationship.destination],
                (schema.ancestors(of: destination).last ?? destination).key.contains(partner.name)
            {
                report(
                    entity, .relationship(relationship.name, .rule), relationship.name,
                    "the key of \(destination.name) holds \(partner.name), which nothing can take out: use cascade, deny or none"
                )
            }
            if let join = relationship.join {
                checkJoin(join, relationship, partner, of: entity)
            } else if partner?.join != nil {
                report(
                    entity, .relationship(relationship.name, .join), relationship.name,
                    "\(relationship.destination).\(partner?.name ?? ""), its inverse, is joined by attributes: join it here too"
                )
            }
        }
    }

    private mutating func checkJoin(
        _ join: RelationshipDefinition.Join, _ relationship: RelationshipDefinition, _ partner: RelationshipDefinition?,
        of entity: EntityDefinition
    ) {
        let name = relationship.name, place = SchemaProblem.Part.relationship(relationship.name, .join)
        guard let destination = entities[relationship.destination] else { return }
        guard let own = schema.attribute(join.own, of: entity) else {
            return report(
                entity, place, name, Spelling.unknown("attribute", join.own, among: schema.attributeNames(of: entity)))
        }
        guard let theirs = schema.attribute(join.theirs, of: destination) else {
            return report(
                entity, place, name,
                "\(destination.name): "
                    + Spelling.unknown("attribute", join.theirs, among: schema.attributeNames(of: destination)))
        }
        func sort(_ type: AttributeType) -> AttributeType { if case .enumeration = type { .string } else { type } }
        if sort(own.type) != sort(theirs.type) {
            report(
                entity, place, name,
                "\(join.own) is \(own.type.word) and \(destination.name).\(join.theirs) is \(theirs.type.word): joined attributes are of one type"
            )
        }
        if !own.isIndexed {
            report(entity, place, name, "the attribute \(join.own) needs an index: a relationship is joined through it")
        }
        let key = (schema.ancestors(of: destination).last ?? destination).key
        if !theirs.isIndexed, key != [join.theirs] {
            report(
                entity, place, name,
                "the attribute \(destination.name).\(join.theirs) needs an index: a relationship is joined through it")
        } else if !relationship.isToMany, !theirs.isUnique, key != [join.theirs] {
            report(
                entity, place, name,
                "a to-one relationship leads to one record at most: \(destination.name).\(join.theirs) has to be unique, or the key"
            )
        }
        if relationship.isOrdered {
            report(
                entity, .relationship(name, .ordered), name,
                "a joined relationship has no order of its own: remove ordered")
        }
        if relationship.deleteRule == .nullify || relationship.deleteRule == .cascade {
            report(
                entity, .relationship(name, .rule), name,
                "the delete rule of a joined relationship is none or deny: its attributes are data of the records")
        }
        if let partner, partner.join != RelationshipDefinition.Join(join.theirs, equals: join.own) {
            report(
                entity, place, name,
                "\(destination.name).\(partner.name), its inverse, has to be joined by the same attributes: \(join.theirs) equals \(join.own)"
            )
        }
    }
}
