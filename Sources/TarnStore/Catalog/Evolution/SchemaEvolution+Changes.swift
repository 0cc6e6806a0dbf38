// The safe changes of a schema, as sentences.

extension SchemaEvolution {
    /// Returns the differences between two catalogs, in the order of the entities.
    ///
    /// - Parameter count: returns the number of stored records of an entity.
    static func changes(
        from catalog: Catalog, to changed: Catalog, count: (String) throws -> Int
    ) throws -> [Change] {
        try changed.entities.flatMap { entity -> [Change] in
            guard let old = catalog.entity(id: entity.id) else {
                return [Change(entity: entity.name, field: nil, message: "new entity")]
            }
            let difference = EntityDifference(
                old: old, new: entity, catalog: changed, records: try count(old.name),
                parent: entity.parent.flatMap { changed.entity(id: $0) })
            return difference.changes
        }
    }
}

/// The differences of one entity between two catalogs.
private struct EntityDifference {
    let old: Catalog.Entity
    let new: Catalog.Entity
    let catalog: Catalog
    /// The number of stored records.
    let records: Int
    /// The parent in the new catalog. Its parts are inherited, and are its own differences.
    let parent: Catalog.Entity?

    private typealias Change = SchemaEvolution.Change
    private typealias Rule = RelationshipDefinition.DeleteRule

    var changes: [SchemaEvolution.Change] {
        var changes: [Change] = []
        if old.name != new.name { changes.append(change(nil, "renamed from \(old.name)")) }
        if old.compression != new.compression, let compression = new.compression {
            changes.append(
                change(
                    nil,
                    "compression becomes \(compression.rawValue) for new rows; `tarn store rewrite` applies it to "
                        + "stored ones"))
        }
        for field in new.fields where catalog.declares(new, field.id) {
            changes += texts(of: field).map { change(field.name, $0) }
        }
        for index in new.indexes where !(parent?.indexes.contains { $0.id == index.id } ?? false) {
            changes += texts(of: index).map { change(index.name, $0) }
        }
        for join in new.joins where !(parent?.joins.contains(join) ?? false) {
            changes += texts(of: join).map { change(join.name, $0) }
        }
        return changes
    }

    private func change(_ field: String?, _ message: String) -> Change {
        Change(entity: new.name, field: field, message: message)
    }

    private func texts(of field: Catalog.Field) -> [String] {
        guard let stored = old.field(id: field.id) else {
            let kind = if case .attribute(let type) = field.kind { "attribute (\(type))" } else { "relationship" }
            let unique = field.isUnique ? ", unique" : ""
            guard records > 0 else { return ["new \(kind)\(unique)"] }
            // Only new records get a default: a sync changes nothing where responses lack it.
            let until = field.defaultValue == nil ? "`tarn sync`" : "a response has it; its default is for new records"
            return ["new \(kind)\(unique): \(records) stored records lack it until \(until)"]
        }
        var texts = stored.name != field.name ? ["renamed from \(stored.name)"] : []
        switch (stored.kind, field.kind) {
        case (.attribute(let was), .attribute(let type)) where stored.kind != field.kind:
            let change = "\(was)" == "\(type)" ? "other values are allowed" : "the type changes from \(was) to \(type)"
            texts.append(change + ": stored values stay, also those that are no longer listed")
        case (.reference(let was), .reference(let reference)): texts += self.texts(from: was, to: reference)
        default: break
        }
        if stored.isOptional != field.isOptional {
            texts.append(field.isOptional ? "becomes optional" : "becomes required: stored records stay")
        }
        if stored.constant != field.constant {
            let change = field.defaultValue == nil ? "no longer has a default" : "another default"
            texts.append(change + ": for records that are stored from then on")
        }
        if stored.index == nil, field.index != nil { texts.append("new index: is built from \(records) records") }
        return texts + uniqueness(from: stored.isUnique, to: field.isUnique)
    }

    private func texts(from was: Catalog.Reference, to reference: Catalog.Reference) -> [String] {
        var texts: [String] = []
        if was.isOrdered != reference.isOrdered {
            texts.append(reference.isOrdered ? "becomes ordered" : "is no longer ordered")
        }
        if was.inverse != reference.inverse { texts.append(inverse(reference.inverse)) }
        if was.inverseIsToMany != reference.inverseIsToMany {
            texts.append("the inverse becomes \(reference.inverseIsToMany ? "to-many" : "to-one")")
        }
        if was.rule ?? Rule.none != reference.rule ?? Rule.none { texts.append(deleteRule(reference.rule)) }
        if was.inverseRule ?? Rule.none != reference.inverseRule ?? Rule.none {
            texts.append(deleteRule(reference.inverseRule) + " at the inverse")
        }
        return texts
    }

    private func inverse(_ name: String?) -> String {
        name.map { "the inverse becomes \($0)" } ?? "no inverse any more"
    }

    private func deleteRule(_ rule: Rule?) -> String { "the delete rule becomes \((rule ?? Rule.none).rawValue)" }

    private func uniqueness(from was: Bool, to isUnique: Bool) -> [String] {
        guard was != isUnique else { return [] }
        return [isUnique ? "becomes unique: all \(records) records are checked" : "is no longer unique"]
    }

    private func texts(of index: Catalog.Index) -> [String] {
        guard let stored = old.indexes.first(where: { $0.id == index.id }) else {
            let names = [index.name] + (index.was ?? [])
            let isNew = !old.indexes.contains { names.contains($0.name) }
            return [
                (isNew ? "new" : "changed") + (index.isUnique ? " unique" : "")
                    + " index: is built from \(records) records"
            ]
        }
        return (stored.name != index.name ? ["renamed from \(stored.name)"] : [])
            + uniqueness(from: stored.isUnique, to: index.isUnique)
    }

    private func texts(of join: Catalog.Join) -> [String] {
        if old.joins.contains(join) { return [] }
        guard let stored = old.joins.first(where: { $0.name == join.name || join.was?.contains($0.name) == true })
        else { return ["new relationship, by a join"] }
        var texts = stored.name != join.name ? ["renamed from \(stored.name)"] : []
        let isSame =
            (stored.own, stored.theirs, stored.destination) == (join.own, join.theirs, join.destination)
            && stored.isToMany == join.isToMany
        if !isSame { texts.append("another join") }
        if stored.inverse != join.inverse { texts.append(inverse(join.inverse)) }
        if stored.rule != join.rule { texts.append(deleteRule(join.rule)) }
        return texts
    }
}
