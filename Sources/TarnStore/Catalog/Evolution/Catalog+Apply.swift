// The application of a schema to a store's catalog: new parts get ids, changes are allowed or
// refused.

extension Catalog {
    /// The effect of a schema on the catalog and the tables.
    struct Change {
        var catalog: Catalog
        /// Indexes that did not exist before.
        var newIndexes: [NewIndex] = []
        /// Entities that did not exist before, so have no rows.
        var newEntities: Set<UInt16> = []
        /// Indexes that are no longer used, and whose tables are emptied.
        var oldIndexes: [UInt32] = []
        /// Indexes that have to be checked for duplicate values.
        var newlyUnique: [NewIndex] = []

        /// The new indexes that have to be built from existing rows.
        ///
        /// A new reference is in no row yet, and a new entity has no records, so their indexes are
        /// complete. A new attribute does need a build: records without it have entries, too.
        var indexesToBuild: [NewIndex] {
            newIndexes.filter { new in
                guard let entity = catalog.entity(id: new.entity), entity.members != new.index else { return false }
                if case .reference? = new.field.flatMap({ entity.field(id: $0)?.kind }) { return false }
                return !newEntities.contains(new.entity)
            }
        }

        /// Returns whether the schema has an entity, a field, an index or a join that is new.
        ///
        /// Properties in which programs may differ do not count: compression, defaults, delete
        /// rules, optionality, values of an enumeration.
        func addsAnything(to catalog: Catalog) -> Bool {
            !newIndexes.isEmpty || self.catalog.entities.count != catalog.entities.count
                || zip(self.catalog.entities, catalog.entities).contains { new, old in
                    new.fields.count != old.fields.count || new.joins.count != old.joins.count
                }
        }

        /// Returns whether a join of the schema leads to other records than that of the catalog.
        func redirectsJoins(of catalog: Catalog) -> Bool {
            zip(self.catalog.entities, catalog.entities).contains { new, old in
                !new.joins.allSatisfy { join in old.joins.contains(where: join.leadsLike) }
            }
        }
    }

    /// An index of the catalog, with its owner.
    struct NewIndex: Hashable {
        /// The entity that declares the index.
        var entity: UInt16
        /// The attribute or reference of the index; nil for a declared one.
        var field: UInt16?
        var index: UInt32
    }

    /// Returns the catalog after the application of a schema.
    ///
    /// Entities and fields that the schema does not name stay: another program may use them.
    ///
    /// - Throws: `SchemaError` if the schema is not sound, or if it changes the parent or the key
    ///   of an entity, the type of an attribute, or the destination or stored side of a
    ///   relationship.
    func applying(_ schema: Schema) throws(SchemaError) -> Change {
        var change = Change(catalog: self)
        if let problem = schema.problems().first { throw problem }
        let definitions = schema.parentsFirst
        for definition in definitions {
            try change.rename(definition)
            try change.add(definition)
        }
        for definition in definitions {
            for attribute in definition.attributes { try change.apply(attribute, to: definition.name) }
            for relationship in definition.relationships {
                try change.apply(relationship, of: definition, in: schema)
            }
            try change.applyKey(definition)
            change.applyCompression(definition)
            // Descendants get the inherited fields before their own.
            change.catalog.resolveFamily(at: change.position(of: definition.name))
        }
        for definition in definitions {
            try change.applyIndexes(definition)
            try change.applyJoins(definition, in: schema)
            change.catalog.resolveFamily(at: change.position(of: definition.name))
        }
        change.catalog.resolve()
        try change.checkInheritedNames()
        return change
    }
}

extension Catalog.Change {
    fileprivate func position(of entity: String) -> Int {
        guard let position = catalog.entities.firstIndex(where: { $0.name == entity }) else {
            preconditionFailure("applying(_:) must add every entity first")
        }
        return position
    }

    /// Adds an entity if it is new; the parent of an existing one has to be the same.
    fileprivate mutating func add(_ definition: EntityDefinition) throws(SchemaError) {
        let parent = definition.parent.flatMap { catalog.entity($0)?.id }
        if let known = catalog.entity(definition.name) {
            guard known.parent == parent else {
                let was = known.parent.flatMap { catalog.entity(id: $0)?.name }
                throw SchemaError(
                    entity: definition.name, field: nil,
                    "the parent changed from \(was ?? "none") to \(definition.parent ?? "none"), but records are stored in the old table; keep the parent, or start a new store"
                )
            }
            return
        }
        try checkNotFormer(definition)
        let id = catalog.nextEntity
        newEntities.insert(id)
        var entity = Catalog.Entity(id: id, name: definition.name, parent: parent, root: id, key: [], fields: [])
        catalog.nextEntity += 1
        if parent != nil {
            entity.members = catalog.nextIndex
            newIndexes.append(Catalog.NewIndex(entity: id, field: nil, index: catalog.nextIndex))
            catalog.nextIndex += 1
        }
        catalog.entities.append(entity)
        noteFormer(definition)
        catalog.resolveFamily(at: catalog.entities.count - 1)
    }

    /// Sets the compression of new rows; `Store.rewrite` applies it to existing ones.
    fileprivate mutating func applyCompression(_ definition: EntityDefinition) {
        catalog.entities[position(of: definition.name)].compression = definition.compression
    }

    fileprivate mutating func applyKey(_ definition: EntityDefinition) throws(SchemaError) {
        guard definition.parent == nil else { return }
        let e = position(of: definition.name)
        let key = definition.key.compactMap { catalog.entities[e].field($0)?.id }
        if catalog.entities[e].key.isEmpty {
            catalog.entities[e].key = key
        } else if catalog.entities[e].key != key {
            let stored = catalog.entities[e].key.compactMap { catalog.entities[e].field(id: $0)?.name }
            throw SchemaError(
                entity: definition.name, field: nil,
                "records are stored under the key (\(stored.joined(separator: ", "))); keep the key, or start a new store"
            )
        }
    }

    fileprivate mutating func apply(_ attribute: AttributeDefinition, to entity: String) throws(SchemaError) {
        let e = position(of: entity)
        let constant = attribute.defaultValue.map { Catalog.Constant($0) }
        let unique = attribute.isUnique ? true : nil
        try rename(field: attribute.renamedFrom, to: attribute.name, of: e)
        if let f = catalog.entities[e].fields.firstIndex(where: { $0.name == attribute.name }) {
            let stored = catalog.entities[e].fields[f]
            guard case .attribute(let type) = stored.kind, attribute.type.holdsValues(of: type) else {
                let was = if case .attribute(let type) = stored.kind { "\(type)" } else { "a relationship" }
                throw SchemaError(
                    entity: entity, field: attribute.name,
                    "the type changed from \(was) to \(attribute.type), but records have values of the old type; use another name, or start a new store"
                )
            }
            guard catalog.declares(catalog.entities[e], stored.id) || !attribute.needsIndex(besides: stored) else {
                throw SchemaError(
                    entity: entity, field: attribute.name,
                    "in this store, an ancestor of this entity has the attribute, \(stored.index == nil ? "without an index" : "and it is not unique"): declare it there, or use another name"
                )
            }
            catalog.entities[e].fields[f].kind = .attribute(attribute.type)
            catalog.entities[e].fields[f].isOptional = attribute.isOptional
            catalog.entities[e].fields[f].constant = constant
            catalog.entities[e].fields[f].unique = unique
            if attribute.isIndexed && stored.index == nil { addIndex(entity: e, field: f) }
            noteUnique(entity: e, field: f, was: stored.isUnique)
        } else {
            try checkNotFormer(field: attribute.name, of: e)
            add(
                attribute.name, .attribute(attribute.type), optional: attribute.isOptional,
                indexed: attribute.isIndexed, to: e)
            let f = catalog.entities[e].fields.count - 1
            catalog.entities[e].fields[f].constant = constant
            catalog.entities[e].fields[f].unique = unique
            noteFormer(field: attribute.renamedFrom, of: attribute.name, e)
            noteUnique(entity: e, field: f, was: false)
        }
    }

    private mutating func noteUnique(entity: Int, field: Int, was: Bool) {
        let stored = catalog.entities[entity].fields[field]
        guard stored.isUnique, !was, let index = stored.index else { return }
        newlyUnique.append(Catalog.NewIndex(entity: catalog.entities[entity].id, field: stored.id, index: index))
    }

    /// Adds new indexes, and rebuilds changed ones under another id.
    fileprivate mutating func applyIndexes(_ definition: EntityDefinition) throws(SchemaError) {
        let e = position(of: definition.name)
        for index in definition.indexes {
            try rename(index, of: e)
            var compiled = Catalog.Index(
                id: 0, name: index.name, components: [], isUnique: index.isUnique, conditions: [])
            for component in index.components {
                guard let field = catalog.entities[e].field(component.field) else { continue }
                compiled.components.append(
                    Catalog.Index.Component(field: field.id, folding: component.ignoresCase ? CaseFolding.version : nil)
                )
            }
            for condition in index.conditions {
                guard let field = catalog.entities[e].field(condition.attribute) else { continue }
                compiled.conditions.append(
                    Catalog.Index.Condition(
                        field: field.id, comparison: condition.comparison, constant: Catalog.Constant(condition.value)))
            }
            let known = catalog.entities[e].indexes.firstIndex { $0.name == index.name }
            if let known {
                let old = catalog.entities[e].indexes[known]
                (compiled.id, compiled.was) = (old.id, old.was)
                guard catalog.declares(catalog.entities[e], index: old.id) || compiled == old else {
                    throw SchemaError(
                        entity: definition.name, field: index.name,
                        "in this store, an ancestor of this entity has another index of this name: rename one of them")
                }
                if compiled.components == old.components, compiled.conditions == old.conditions {
                    // The entries are the same, so the table stays.
                    catalog.entities[e].indexes[known] = compiled
                    if compiled.isUnique, !old.isUnique {
                        newlyUnique.append(
                            Catalog.NewIndex(entity: catalog.entities[e].id, field: nil, index: compiled.id))
                    }
                    continue
                }
                oldIndexes.append(compiled.id)
            } else {
                oldIndexes += replacedIndexes(named: index.name, below: e)
            }
            compiled.id = catalog.nextIndex
            catalog.nextIndex += 1
            if let known {
                catalog.entities[e].indexes[known] = compiled
            } else {
                catalog.entities[e].indexes.append(compiled)
            }
            let new = Catalog.NewIndex(entity: catalog.entities[e].id, field: nil, index: compiled.id)
            newIndexes.append(new)
            if compiled.isUnique { newlyUnique.append(new) }
        }
    }

    fileprivate mutating func applyJoins(_ definition: EntityDefinition, in schema: Schema) throws(SchemaError) {
        let e = position(of: definition.name)
        for relationship in definition.relationships {
            guard let declared = relationship.join, schema.isStored(relationship, of: definition),
                let destination = catalog.entity(relationship.destination),
                let own = catalog.entities[e].field(declared.own), let theirs = destination.field(declared.theirs)
            else { continue }
            let partner = schema.partner(of: relationship, in: definition)
            try rename(join: relationship, of: e)
            var join = Catalog.Join(
                name: relationship.name, destination: destination.id, own: own.id, theirs: theirs.id,
                isToMany: relationship.isToMany, inverse: relationship.inverse,
                inverseIsToMany: partner?.isToMany ?? true,
                rule: relationship.deleteRule, inverseRule: partner?.deleteRule ?? .none)
            try checkFamily(of: join, at: e)
            // A join stores nothing, so it may change.
            if let known = catalog.entities[e].joins.firstIndex(where: { $0.name == relationship.name }) {
                join.was = catalog.entities[e].joins[known].was
                catalog.entities[e].joins[known] = join
            } else {
                catalog.entities[e].joins.append(join)
            }
        }
    }

    fileprivate mutating func apply(
        _ relationship: RelationshipDefinition, of definition: EntityDefinition, in schema: Schema
    ) throws(SchemaError) {
        guard let destination = catalog.entity(relationship.destination) else { return }
        let partner = schema.partner(of: relationship, in: definition)
        let e = position(of: definition.name)
        if relationship.join == nil { try rename(field: relationship.renamedFrom, to: relationship.name, of: e) }
        let stored = catalog.entities[e].field(relationship.name)
        let conflict = stored == nil ? familyConflict(ofStored: relationship.name, at: e) : nil
        if relationship.join == nil {
            // A join stores nothing, so its relationship may become a stored one. Descendants have
            // copies.
            for other in catalog.entities.indices
            where !catalog.entities[other].joins.isEmpty
                && catalog.isKind(catalog.entities[other].id, of: catalog.entities[e].id)
            {
                catalog.entities[other].joins.removeAll { $0.name == relationship.name }
            }
        }
        guard try isStored(relationship, of: definition, in: schema, stored != nil) else { return }
        try checkSide(relationship, of: definition, destination, isDeclaredThere: partner != nil)
        let reference = Catalog.Reference(
            destination: destination.id, isToMany: relationship.isToMany, isOrdered: relationship.isOrdered,
            inverse: relationship.inverse, inverseIsToMany: partner?.isToMany ?? true,
            inverseIsOrdered: partner?.isOrdered ?? false,
            rule: relationship.deleteRule == .none ? nil : relationship.deleteRule,
            inverseRule: partner.flatMap { $0.deleteRule == .none ? nil : $0.deleteRule })
        guard let stored, let f = catalog.entities[e].fields.firstIndex(where: { $0.id == stored.id }) else {
            if let conflict { throw conflict }
            try checkNotFormer(field: relationship.name, of: e)
            add(relationship.name, .reference(reference), optional: true, indexed: true, to: e)
            noteFormer(field: relationship.renamedFrom, of: relationship.name, e)
            return
        }
        guard case .reference(let old) = stored.kind, old.destination == reference.destination,
            old.isToMany == reference.isToMany, old.inverseIsOrdered == reference.inverseIsOrdered
        else {
            throw SchemaError(
                entity: definition.name, field: relationship.name,
                "the destination, the arity or the order of the inverse changed, but records have the old references; use another name, or start a new store"
            )
        }
        catalog.entities[e].fields[f].kind = .reference(reference)
    }

    /// Returns whether an entity stores a relationship.
    ///
    /// - Throws: If it was stored and would no longer be.
    private func isStored(
        _ relationship: RelationshipDefinition, of definition: EntityDefinition, in schema: Schema, _ wasStored: Bool
    ) throws(SchemaError) -> Bool {
        guard relationship.join == nil else {
            if wasStored {
                throw SchemaError(
                    entity: definition.name, field: relationship.name,
                    "the stored relationship would become a join by \(relationship.join?.own ?? ""); use another name, or start a new store"
                )
            }
            return false
        }
        guard schema.isStored(relationship, of: definition) else {
            if wasStored {
                throw SchemaError(
                    entity: definition.name, field: relationship.name,
                    "the stored relationship would move to \(relationship.destination).\(relationship.inverse ?? ""); keep it on this side, or start a new store"
                )
            }
            return false
        }
        return true
    }

    /// Checks that the other side of a relationship did not store it.
    private func checkSide(
        _ relationship: RelationshipDefinition, of definition: EntityDefinition, _ destination: Catalog.Entity,
        isDeclaredThere: Bool
    ) throws(SchemaError) {
        if let inverse = relationship.inverse, let other = destination.field(inverse),
            case .reference(let old) = other.kind,
            old.destination == catalog.entity(definition.name)?.id, old.inverse == relationship.name
        {
            throw SchemaError(
                entity: definition.name, field: relationship.name,
                !isDeclaredThere
                    ? "the relationship is stored as \(destination.name).\(inverse), and would be stored a second time; declare \(destination.name).\(inverse) as well, or start a new store"
                    : "the relationship is stored as \(destination.name).\(inverse), and would move here; keep it on that side, or start a new store"
            )
        }
    }

    private mutating func add(_ name: String, _ kind: Catalog.Kind, optional: Bool, indexed: Bool, to entity: Int) {
        let root = catalog.entities.firstIndex { $0.id == catalog.entities[entity].root } ?? entity
        let id = catalog.entities[root].nextField
        catalog.entities[root].nextField += 1
        catalog.entities[entity].fields.append(Catalog.Field(id: id, name: name, kind: kind, isOptional: optional))
        if indexed { addIndex(entity: entity, field: catalog.entities[entity].fields.count - 1) }
    }

    private mutating func addIndex(entity: Int, field: Int) {
        catalog.entities[entity].fields[field].index = catalog.nextIndex
        newIndexes.append(
            Catalog.NewIndex(
                entity: catalog.entities[entity].id, field: catalog.entities[entity].fields[field].id,
                index: catalog.nextIndex))
        catalog.nextIndex += 1
    }
}

extension Catalog {
    /// Checks that a store can have the tables of the catalog.
    func checkTableCount() throws(SchemaError) {
        let own = TableName.all.count, needed = own + entities.count { $0.root == $0.id } + indexIDs.count
        guard needed > TableName.limit else { return }
        throw SchemaError(
            entity: nil, field: nil,
            "the schema needs \(needed) tables (one for each entity without a parent, each index, and each stored relationship, and \(own) of the store itself), but a store can have \(TableName.limit): use several stores, or fewer indexes"
        )
    }
}

extension AttributeDefinition {
    /// Returns whether a stored attribute lacks the index, or its uniqueness.
    fileprivate func needsIndex(besides stored: Catalog.Field) -> Bool {
        isIndexed && stored.index == nil || isUnique && !stored.isUnique
    }
}

extension AttributeType {
    /// Returns whether every stored value of another type is a value of this type as well.
    fileprivate func holdsValues(of other: AttributeType) -> Bool {
        if case .enumeration = self, case .enumeration = other { return true }
        // The values of an enumeration are stored and indexed as strings.
        if case .enumeration = other, self == .string { return true }
        if case .array(let element) = self, case .array(let old) = other { return element.holdsValues(of: old) }
        return self == other
    }
}

extension Schema {
    /// The entities in the order of declaration, but every entity after its parent.
    var parentsFirst: [EntityDefinition] {
        var result: [EntityDefinition] = [], done: Set<String> = []
        // Each round takes at least one entity, unless parents form a cycle: that is a problem of
        // the schema.
        while result.count < entities.count {
            let next = entities.filter { !done.contains($0.name) && ($0.parent.map(done.contains) ?? true) }
            if next.isEmpty { break }
            for definition in next { done.insert(definition.name) }
            result += next
        }
        return result
    }

    /// Returns the declaration of a relationship at the other side, if there is one.
    func partner(of relationship: RelationshipDefinition, in definition: EntityDefinition) -> RelationshipDefinition? {
        guard let inverse = relationship.inverse,
            let destination = entities.first(where: { $0.name == relationship.destination }),
            !(destination.name == definition.name && inverse == relationship.name)
        else { return nil }
        return destination.relationships.first { $0.name == inverse && $0.destination == definition.name }
    }

    /// Returns whether this side of a pair is the stored one.
    ///
    /// That is the to-one side. If both sides are alike, it is the one in a key, else the ordered
    /// one, else the one declared first.
    func isStored(_ relationship: RelationshipDefinition, of definition: EntityDefinition) -> Bool {
        guard let partner = partner(of: relationship, in: definition) else { return true }
        if relationship.isToMany != partner.isToMany { return !relationship.isToMany }
        if definition.key.contains(relationship.name) { return true }
        if entities.contains(where: { $0.name == relationship.destination && $0.key.contains(partner.name) }) {
            return false
        }
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

extension Catalog {
    /// Creates the catalog of a store that has only this schema; nil if the schema is not sound.
    ///
    /// It serves checks that need a catalog before a store exists.
    package init?(_ schema: Schema) {
        guard let change = try? Catalog().applying(schema) else { return nil }
        self = change.catalog
    }
}
