// The tables of the indexes: entries of values, of references and of the members of an entity.

internal import LMDB

/// The tables of the indexes in a transaction.
package struct IndexTable {
    private let records: RecordTable

    init(_ records: RecordTable) { self.records = records }

    private var raw: RawTransaction { records.raw }
    private var state: StoreState { records.state }

    /// Iterates over the records that refer to a target, until the closure returns false.
    /// The closure gets storage keys, in the order of the relationship.
    package func forEachReferrer(
        of target: Bytes, through index: UInt32, positioned: Bool, _ body: (Bytes) throws -> Bool
    ) throws {
        let cursor = try raw.cursor(state.index(index))
        defer { cursor.close() }
        var entry = try cursor.seek(target)
        while let (key, _) = entry, key.hasPrefix(target) {
            // 00 FF inside an encoded text is a NUL, so the entry belongs to a longer target. No
            // storage key begins with FF.
            if key.count > target.count, key[target.count] == 0xFF {
                entry = try cursor.next()
                continue
            }
            guard let owner = IndexEntry.owner(in: key, afterValuesOf: target.count, positioned: positioned) else {
                throw StoreError.damagedCatalog(
                    path: "", detail: "malformed entry in \(TableName.index(index))")
            }
            guard try body(owner) else { return }
            entry = try cursor.next()
        }
    }

    /// Iterates over the rows of an entity that have given values in one of its indexes.
    func forEachRow(
        _ entity: Catalog.Entity, index name: String, equalTo values: [Value],
        _ body: (Bytes, EncodedRow) throws -> Bool
    ) throws {
        let rules = try state.rules(of: entity.id)
        guard let index = rules.indexes.first(where: { $0.name == name && $0.isOfValues }) else {
            let known = rules.indexes.filter(\.isOfValues).map(\.name)
            throw StoreError.unknownField(entity: entity.name, name: "index \(name)", known: known)
        }
        let wanted = try sought(values, index, entity)
        try wanted.withUnsafeBytes { try forEachRow(entity, index, beginningWith: $0, components: values.count, body) }
    }

    /// Iterates over the rows of an entity whose values in an index begin with encoded values.
    ///
    /// - Parameters:
    ///   - wanted: The encoding of the values, not cut.
    ///   - components: The number of these values.
    func forEachRow(
        _ entity: Catalog.Entity, _ index: CompiledIndex, beginningWith wanted: Bytes, components: Int,
        _ body: (Bytes, EncodedRow) throws -> Bool
    ) throws {
        try checkComplete(index.id, index.name, entity)
        let isExact = wanted.count < IndexEntry.longestValue
        let cursor = try raw.cursor(state.index(index.id)), table = try state.records(of: entity.root)
        defer { cursor.close() }
        let start = wanted.slice(0..<min(wanted.count, IndexEntry.longestValue))
        var entry = start.isEmpty ? try cursor.first() : try cursor.seek(start)
        while let (key, _) = entry, key.hasPrefix(start) {
            if !isExact || IndexEntry.begins(key, with: wanted) {
                let goesOn = try records.lending {
                    guard let owner = index.owner(in: key),
                        let bytes = try records.stored(owner, in: table, root: entity.root)
                    else {
                        throw StoreError.damagedCatalog(
                            path: "", detail: "an entry of \(TableName.index(index.id)) refers to a missing record")
                    }
                    let row = try records.view(bytes, entity, owner)
                    guard try records.isOf(entity, row),
                        isExact || index.begins(row.body, with: wanted, count: components)
                    else { return true }
                    return try body(owner, row)
                }
                guard goesOn else { return }
            }
            entry = try cursor.next()
        }
    }

    /// Requires that an index is complete.
    ///
    /// - Throws: `.indexIncomplete`.
    func checkComplete(_ id: UInt32, _ name: String, _ entity: Catalog.Entity) throws {
        guard !state.isComplete(id) else { return }
        throw StoreError.indexIncomplete(
            entity: entity.name, index: name, done: try IndexMark.of(id, raw, state.meta)?.count ?? 0,
            total: try raw.statistics(state.records(of: entity.root)).entries)
    }

    /// Returns the encoding of the values for an index, not cut.
    private func sought(_ values: [Value], _ index: CompiledIndex, _ entity: Catalog.Entity) throws -> [UInt8] {
        var writer = ByteWriter()
        let components = index.components
        guard values.count <= components.count else {
            throw StoreError.wrongType(
                entity: entity.name, field: index.name, expected: "at most \(components.count) values",
                found: "\(values.count) values")
        }
        for (value, component) in zip(values, components) {
            guard let field = entity.field(id: component.field) else { continue }
            try value.withEncoded { encoded in
                try state.catalog.check(encoded, fits: field, of: entity)
                IndexEntry.append(encoded.isNull ? nil : encoded, component, to: &writer, limit: .max / 8)
            }
        }
        return Array(writer.bytes)
    }

    /// Returns the index of an attribute. Nil if the attribute has none.
    func ofAttribute(_ field: UInt16, _ entity: Catalog.Entity) -> UInt32? {
        (try? state.rules(of: entity.id))?.index(of: field)?.id
    }

    /// Empties the table of an index.
    ///
    /// liblmdb frees its pages without reading the leaves (mdb.c, `mdb_drop0`).
    func removeAll(_ index: UInt32) throws {
        try raw.removeAll(state.index(index))
        try IndexMark.remove(index, raw, state.meta)
    }
}
