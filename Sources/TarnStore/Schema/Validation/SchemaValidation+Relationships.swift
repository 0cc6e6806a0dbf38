// Rules for keys that hold a parent's key, for joins, and for delete rules.

extension SchemaValidation {
    // MARK: Keys that hold a parent's

    mutating func checkOwner(_ relationship: RelationshipDefinition, of entity: EntityDefinition) {
        let name = relationship.name
        if relationship.isToMany {
            report(entity, .key, name, "\"\(name)\" is to-many and cannot be part of a key: make it to-one")
        } else if relationship.join != nil {
            report(entity, .key, name, "\"\(name)\" is joined by an attribute: use that attribute in the key instead")
        } else if !schema.isStored(relationship, of: entity) {
            report(
                entity, .key, name,
                "\"\(name)\" is stored as \(relationship.destination).\(relationship.inverse ?? ""): a key can only use relationships stored in its own entity"
            )
        } else if leadsBack(from: relationship.destination, to: entity.name) {
            report(
                entity, .key, name,
                "the key of \(relationship.destination) depends on the key of \(entity.name): remove one of the two dependencies"
            )
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
                    "the key of \(destination.name) contains \(partner.name), which cannot be cleared: use cascade, deny or none"
                )
            }
            if let join = relationship.join {
                checkJoin(join, relationship, partner, of: entity)
            } else if partner?.join != nil {
                report(
                    entity, .relationship(relationship.name, .join), relationship.name,
                    "\(relationship.destination).\(partner?.name ?? ""), the inverse, is joined by attributes: declare the join here, too"
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
                "\(join.own) is \(own.type) and \(destination.name).\(join.theirs) is \(theirs.type): joined attributes must have the same type"
            )
        }
        if !own.isIndexed {
            report(entity, place, name, "the attribute \(join.own) needs an index, because the join uses it")
        }
        let key = (schema.ancestors(of: destination).last ?? destination).key
        if !theirs.isIndexed, key != [join.theirs] {
            report(
                entity, place, name,
                "the attribute \(destination.name).\(join.theirs) needs an index, because the join uses it")
        } else if !relationship.isToMany, !theirs.isUnique, key != [join.theirs] {
            report(
                entity, place, name,
                "a to-one relationship has at most one target: \(destination.name).\(join.theirs) must be unique, or the key"
            )
        }
        if relationship.isOrdered {
            report(
                entity, .relationship(name, .ordered), name,
                "a joined relationship cannot be ordered: remove ordered")
        }
        if relationship.deleteRule == .nullify || relationship.deleteRule == .cascade {
            report(
                entity, .relationship(name, .rule), name,
                "the delete rule of a joined relationship must be none or deny")
        }
        if let partner, partner.join != RelationshipDefinition.Join(join.theirs, equals: join.own) {
            report(
                entity, place, name,
                "\(destination.name).\(partner.name), the inverse, must be joined by the same attributes: \(join.theirs) equals \(join.own)"
            )
        }
    }
}
