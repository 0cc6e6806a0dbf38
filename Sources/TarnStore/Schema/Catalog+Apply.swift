// A schema meets the catalog of a store: what is new gets an id, what changed is allowed or refused.

extension Catalog {
    /// What applying a schema means for the tables.
    struct Change {
        var catalog: Catalog
        /// Indexes that have to be built because their entity may have rows: (entity id, field id).
        var newIndexes: [(entity: UInt16, field: UInt16)] = []
    }

    /// The catalog after a schema was applied. Entities and fields that the schema does not name stay as they are: another
    /// program may use them.
    ///
    /// - Throws: `SchemaError` if the schema is not sound, or if it changes the key of an entity, the type of an attribute,
    ///   or the destination or stored side of a relationship.
    func applying(_ schema: Schema) throws(SchemaError) -> Change {
        var change = Change(catalog: self)
        if let problem = schema.problems().first { throw problem }
        for definition in schema.entities where change.catalog.entity(definition.name) == nil {
            change.catalog.entities.append(Entity(id: change.catalog.nextEntity, name: definition.name, key: [], fields: []))
            change.catalog.nextEntity += 1
        }
        for definition in schema.entities {
            for attribute in definition.attributes {
                try change.apply(attribute, to: definition.name)
            }
            for relationship in definition.relationships {
                try change.apply(relationship, of: definition, in: schema)
            }
            try change.applyKey(definition)
            change.applyCompression(definition)
        }
        return change
    }
}

extension Catalog.Change {
    private func position(of entity: String) -> Int {
        guard let position = catalog.entities.firstIndex(where: { $0.name == entity }) else {
            preconditionFailure("applying(_:) adds every entity first")
        }
        return position
    }

    /// Only rows that are written from now on are concerned.
    fileprivate mutating func applyCompression(_ definition: EntityDefinition) {
        catalog.entities[position(of: definition.name)].compression = definition.compression
    }

    fileprivate mutating func applyKey(_ definition: EntityDefinition) throws(SchemaError) {
        let e = position(of: definition.name)
        let key = definition.key.compactMap { catalog.entities[e].field($0)?.id }
        if catalog.entities[e].key.isEmpty {
            catalog.entities[e].key = key
        } else if catalog.entities[e].key != key {
            let stored = catalog.entities[e].key.compactMap { catalog.entities[e].field(id: $0)?.name }
            throw SchemaError(
                entity: definition.name, field: nil,
                "the key was (\(stored.joined(separator: ", "))) and records are stored under it; keep it, or start a new store")
        }
    }

    fileprivate mutating func apply(_ attribute: AttributeDefinition, to entity: String) throws(SchemaError) {
        let e = position(of: entity)
        if let f = catalog.entities[e].fields.firstIndex(where: { $0.name == attribute.name }) {
            let stored = catalog.entities[e].fields[f]
            guard case .attribute(let type) = stored.kind, type.holdsValues(of: attribute.type) else {
                let was = if case .attribute(let type) = stored.kind { "\(type)" } else { "a relationship" }
                throw SchemaError(
                    entity: entity, field: attribute.name,
                    "it was \(was) and is now \(attribute.type), and records hold the old values; give it another name, or start a new store")
            }
            catalog.entities[e].fields[f].kind = .attribute(attribute.type)
            catalog.entities[e].fields[f].isOptional = attribute.isOptional
            if attribute.isIndexed && stored.index == nil { addIndex(entity: e, field: f) }
        } else {
            add(attribute.name, .attribute(attribute.type), optional: attribute.isOptional, indexed: attribute.isIndexed, to: e)
        }
    }

    fileprivate mutating func apply(
        _ relationship: RelationshipDefinition, of definition: EntityDefinition, in schema: Schema
    ) throws(SchemaError) {
        guard let destination = catalog.entity(relationship.destination) else { return }
        let partner = schema.partner(of: relationship, in: definition)
        let e = position(of: definition.name)
        let stored = catalog.entities[e].field(relationship.name)
        guard schema.isStored(relationship, of: definition) else {
            if stored != nil {
                throw SchemaError(
                    entity: definition.name, field: relationship.name,
                    "it was stored here and would now be stored as \(relationship.destination).\(relationship.inverse ?? ""); keep the old side, or start a new store")
            }
            return
        }
        if let inverse = relationship.inverse, let other = destination.field(inverse), case .reference(let old) = other.kind,
            old.destination == catalog.entities[e].id, old.inverse == relationship.name
        {
            throw SchemaError(
                entity: definition.name, field: relationship.name,
                "it is stored as \(destination.name).\(inverse) and would now be stored here as well; declare \(destination.name).\(inverse) too, or start a new store")
        }
        let reference = Catalog.Reference(
            destination: destination.id, isToMany: relationship.isToMany, isOrdered: relationship.isOrdered,
            inverse: relationship.inverse, inverseIsToMany: partner?.isToMany ?? true,
            inverseIsOrdered: partner?.isOrdered ?? false)
        guard let stored, let f = catalog.entities[e].fields.firstIndex(where: { $0.id == stored.id }) else {
            add(relationship.name, .reference(reference), optional: true, indexed: true, to: e)
            return
        }
        guard case .reference(let old) = stored.kind, old.destination == reference.destination,
            old.isToMany == reference.isToMany, old.inverseIsOrdered == reference.inverseIsOrdered
        else {
            throw SchemaError(
                entity: definition.name, field: relationship.name,
                "its destination, its arity or the order of its inverse changed, and records hold the old references; give it another name, or start a new store")
        }
        catalog.entities[e].fields[f].kind = .reference(reference)
    }

    private mutating func add(_ name: String, _ kind: Catalog.Kind, optional: Bool, indexed: Bool, to entity: Int) {
        let id = catalog.entities[entity].nextField
        catalog.entities[entity].nextField += 1
        catalog.entities[entity].fields.append(Catalog.Field(id: id, name: name, kind: kind, isOptional: optional))
        if indexed { addIndex(entity: entity, field: catalog.entities[entity].fields.count - 1) }
    }

    private mutating func addIndex(entity: Int, field: Int) {
        catalog.entities[entity].fields[field].index = catalog.nextIndex
        catalog.nextIndex += 1
        newIndexes.append((catalog.entities[entity].id, catalog.entities[entity].fields[field].id))
    }
}

extension AttributeType {
    /// Whether every stored value of another type is one of this type as well.
    fileprivate func holdsValues(of other: AttributeType) -> Bool {
        if case .enumeration = self, case .enumeration = other { return true }
        return self == other
    }
}

extension Schema {
    /// The same relationship as it is declared at the other side, if it is.
    func partner(of relationship: RelationshipDefinition, in definition: EntityDefinition) -> RelationshipDefinition? {
        guard let inverse = relationship.inverse,
            let destination = entities.first(where: { $0.name == relationship.destination }),
            !(destination.name == definition.name && inverse == relationship.name)
        else { return nil }
        return destination.relationships.first { $0.name == inverse && $0.destination == definition.name }
    }

    /// Which side of a pair is stored: the to-one; if both are alike, the ordered one, else the one declared first.
    func isStored(_ relationship: RelationshipDefinition, of definition: EntityDefinition) -> Bool {
        guard let partner = partner(of: relationship, in: definition) else { return true }
        if relationship.isToMany != partner.isToMany { return !relationship.isToMany }
        if relationship.isOrdered != partner.isOrdered { return relationship.isOrdered }
        for entity in entities {
            for candidate in entity.relationships {
                if entity.name == definition.name && candidate.name == relationship.name { return true }
                if entity.name == relationship.destination && candidate.name == partner.name { return false }
            }
        }
        return true
    }
}
