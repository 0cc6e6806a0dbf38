// The preview of a changed schema: what opening the store with it would do.

/// The effect that a schema would have on a store that has records.
package struct SchemaEvolution: Sendable, Hashable {
    /// A change that opening the store with the schema makes.
    package struct Change: Sendable, Hashable {
        /// The entity concerned.
        package var entity: String
        /// The field or index concerned; nil if the whole entity is.
        package var field: String?
        /// The change, and what follows for stored records.
        package var message: String
    }

    /// The safe changes, which are made when the store is opened with the schema.
    package var changes: [Change] = []
    /// The unsafe changes: while there is one, the store cannot be opened with the schema.
    package var refusals: [SchemaError] = []

    /// The limit on ``refusals``.
    static let limit = 20
}

extension Catalog {
    /// Returns the effect of a schema on the catalog, which stays as it is.
    ///
    /// - Parameter count: returns the number of stored records of an entity.
    func evolution(to schema: Schema, count: (String) throws -> Int) throws -> SchemaEvolution {
        var evolution = SchemaEvolution(), rest = schema
        // A refusal hides those after it: its part of the schema is left out to find the next one.
        while evolution.refusals.count < SchemaEvolution.limit {
            let change: Change
            do throws(SchemaError) {
                change = try applying(rest)
            } catch {
                guard !evolution.refusals.contains(error) else { break }
                evolution.refusals.append(error)
                guard rest.removePart(of: error), rest.problems().isEmpty else { break }
                continue
            }
            evolution.changes = try changes(change, count: count)
            break
        }
        return evolution
    }

    private func changes(_ change: Change, count: (String) throws -> Int) throws -> [SchemaEvolution.Change] {
        var changes: [SchemaEvolution.Change] = []
        for entity in change.catalog.entities {
            guard let old = self.entity(id: entity.id) else {
                changes.append(.init(entity: entity.name, field: nil, message: "new entity"))
                continue
            }
            if old.name != entity.name {
                changes.append(.init(entity: entity.name, field: nil, message: "renamed from \(old.name)"))
            }
            if old.compression != entity.compression, let compression = entity.compression {
                changes.append(
                    .init(
                        entity: entity.name, field: nil,
                        message: "compression becomes \(compression.rawValue) for new rows; `tarn store rewrite` "
                            + "applies it to stored ones"))
            }
            let records = try count(old.name)
            for field in entity.fields where change.catalog.declares(entity, field.id) {
                changes += self.changes(of: field, in: entity, old, records)
            }
            for index in entity.indexes where old.indexes.first(where: { $0.name == index.name })?.id != index.id {
                let isNew = !old.indexes.contains { $0.name == index.name }
                changes.append(
                    .init(
                        entity: entity.name, field: index.name,
                        message: (isNew ? "new index" : "changed index") + ": is built from \(records) records"))
            }
        }
        return changes
    }

    private func changes(
        of field: Field, in entity: Entity, _ old: Entity, _ records: Int
    ) -> [SchemaEvolution.Change] {
        func change(_ message: String) -> SchemaEvolution.Change {
            .init(entity: entity.name, field: field.name, message: message)
        }
        guard let stored = old.field(id: field.id) else {
            let kind = if case .attribute(let type) = field.kind { "attribute (\(type))" } else { "relationship" }
            guard records > 0 else { return [change("new \(kind)")] }
            return [change("new \(kind): \(records) stored records lack it until `tarn sync --refetch`")]
        }
        var changes: [SchemaEvolution.Change] = []
        if stored.name != field.name { changes.append(change("renamed from \(stored.name)")) }
        if stored.kind != field.kind, case .attribute(let was) = stored.kind, case .attribute(let type) = field.kind {
            changes.append(
                change(
                    "the values change from \(was) to \(type): stored values stay, also those that are no longer listed"
                ))
        }
        if stored.isOptional != field.isOptional {
            changes.append(change(field.isOptional ? "becomes optional" : "becomes required: stored records stay"))
        }
        if stored.index == nil, field.index != nil {
            changes.append(change("new index: is built from \(records) records"))
        }
        if field.isUnique, !stored.isUnique {
            changes.append(
                change("becomes unique: opening the store fails if two of its \(records) records have the same value"))
        }
        return changes
    }
}

extension Schema {
    /// Removes the part that an error names. Returns whether there was one.
    fileprivate mutating func removePart(of error: SchemaError) -> Bool {
        guard let position = entities.firstIndex(where: { $0.name == error.entity }) else { return false }
        guard let field = error.field else { return false }
        let before = entities[position]
        entities[position].attributes.removeAll { $0.name == field }
        entities[position].relationships.removeAll { $0.name == field }
        entities[position].indexes.removeAll { $0.name == field || $0.components.contains { $0.field == field } }
        return entities[position] != before
    }
}

extension Store {
    /// Returns what opening the store with a schema would change. Nothing is written.
    ///
    /// - Throws: `StoreError` if the store cannot be read.
    package func evolution(to schema: Schema) throws -> SchemaEvolution {
        try read { reader in
            try reader.catalog.evolution(to: schema) { try reader.count($0) }
        }
    }
}
