// The search for records with equal values in an index that a schema would make unique.

/// A search among the records of a store. Nothing is written.
struct DuplicateSearch {
    let access: StoreAccess
    /// The catalog after the change.
    let catalog: Catalog

    /// Returns the refusal of a unique index; nil if no two records have the same values.
    ///
    /// It reads all rows of the entity, and keeps 8 bytes of each.
    func refusal(of place: Catalog.NewIndex) throws -> SchemaError? {
        guard let entity = access.catalog.entity(id: place.entity), let changed = catalog.entity(id: place.entity),
            let index = EntityRules(changed, catalog).indexes.first(where: { $0.id == place.index })
        else { return nil }
        var hashes: Set<Int> = [], repeated: Int?
        try forEach(entity, index) { values, _ in
            let hash = values.hashValue
            if !hashes.insert(hash).inserted { repeated = hash }
            return repeated == nil
        }
        guard let repeated else { return nil }
        var first: (values: [UInt8], key: [UInt8])?, keys: [[UInt8]] = []
        try forEach(entity, index) { values, key in
            guard values.hashValue == repeated else { return true }
            guard let known = first else {
                first = (values, key)
                return true
            }
            if known.values == values { keys = [known.key, key] }
            return keys.isEmpty
        }
        guard !keys.isEmpty else { return nil }
        let names = keys.map { RecordKey.describe(storageKey: $0) }.joined(separator: " and ")
        return SchemaError(
            entity: changed.name, field: index.name,
            "records \(names) have the same values, which must be unique; change or delete one of them first")
    }

    /// Calls the closure with the values and the storage key of each record whose values must be
    /// unique, until it returns false.
    private func forEach(
        _ entity: Catalog.Entity, _ index: CompiledIndex, _ body: ([UInt8], [UInt8]) -> Bool
    ) throws {
        var scratch = ByteWriter()
        try access.records.scan(entity) { key, row in
            var mustBeUnique = false, goesOn = true
            IndexEntry.forEach(index, row.body, owner: key, scratch: &scratch) { mustBeUnique = $1 > 0 }
            if mustBeUnique { goesOn = body(UniqueIndex.wholeValues(of: row.body, index), Array(key)) }
            return goesOn
        }
    }
}
