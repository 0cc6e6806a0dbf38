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
    /// - Parameters:
    ///   - count: returns the number of stored records of an entity.
    ///   - refusal: returns the refusal of an index that the changed catalog makes unique.
    func evolution(
        to schema: Schema, count: (String) throws -> Int, refusal: (Catalog, NewIndex) throws -> SchemaError?
    ) throws -> SchemaEvolution {
        var evolution = SchemaEvolution(), rest = schema
        // A refusal hides those after it: its part of the schema is left out to find the next one.
        while evolution.refusals.count < SchemaEvolution.limit {
            let change: Change
            do throws(SchemaError) {
                change = try applying(rest)
                try change.catalog.checkTableCount()
            } catch {
                guard !evolution.refusals.contains(error) else { break }
                evolution.refusals.append(error)
                guard rest.removePart(of: error), rest.problems().isEmpty else { break }
                continue
            }
            for new in change.newlyUnique where !change.newEntities.contains(new.entity) {
                if let found = try refusal(change.catalog, new) { evolution.refusals.append(found) }
            }
            evolution.changes = try SchemaEvolution.changes(from: self, to: change.catalog, count: count).filter {
                change in
                !evolution.refusals.contains { $0.entity == change.entity && $0.field == change.field }
            }
            break
        }
        return evolution
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
            try reader.catalog.evolution(to: schema) {
                try reader.count($0)
            } refusal: { catalog, index in
                try DuplicateSearch(access: reader.access, catalog: catalog).refusal(of: index)
            }
        }
    }
}

extension SchemaEvolution {
    /// Returns the effect of a schema on a new store.
    package static func ofNewStore(_ schema: Schema) -> SchemaEvolution {
        (try? Catalog().evolution(to: schema, count: { _ in 0 }, refusal: { _, _ in nil })) ?? SchemaEvolution()
    }
}
