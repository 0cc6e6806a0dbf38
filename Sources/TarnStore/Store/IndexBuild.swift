// Filling a new index from the rows that are there.

internal import LMDB

enum IndexBuild {
    /// Fills the index from every record that is of the entity that declares it. `access` may still have the catalog from
    /// before; `catalog` is the new one.
    ///
    /// - Throws: `.damagedRow`, `.damagedDictionary`.
    static func run(
        _ access: StoreAccess, _ catalog: Catalog, _ new: Catalog.NewIndex, from records: Table, to table: Table
    ) throws {
        let raw = access.raw
        let cursor = try raw.cursor(records)
        defer { cursor.close() }
        let rules = Dictionary(
            uniqueKeysWithValues: catalog.entities.filter { catalog.isKind($0.id, of: new.entity) }.map {
                ($0.id, EntityRules($0, catalog))
            })
        var scratch = ByteWriter(), entries: [[UInt8]] = []
        var entry = try cursor.first()
        while let (key, value) = entry {
            let mark = access.rowMark
            defer { access.release(to: mark) }
            if value.count >= RowFormat.headerSize, let rules = rules[value.load(6)] {
                if rules.members.contains(new.index) {
                    entries.append(Array(key))
                } else if let index = rules.indexes.first(where: { $0.id == new.index }) {
                    let row = try access.view(value, rules.entity, key)
                    IndexEntry.forEach(index, row.body, owner: key, scratch: &scratch) { entry, _ in
                        entries.append(Array(entry))
                    }
                    // A long list has no entries by itself.
                    if case .field(let field) = index.source, case .reference(let reference) = field.kind,
                        let value = row.body.value(of: field.id), value.tag == ValueTag.edges
                    {
                        try access.forEachReference(value) { target in
                            scratch.removeAll()
                            IndexEntry.append(target, reference, key, to: &scratch)
                            entries.append(Array(scratch.bytes))
                            return true
                        }
                    }
                }
            }
            entry = try cursor.next()
        }
        entries.sort { a, b in a.withUnsafeBytes { a in b.withUnsafeBytes { b in Bytes.compare(a, b) < 0 } } }
        var appender = try Appender(raw, table)
        for entry in entries {
            try entry.withUnsafeBytes { key in
                try raw.put(table, key, .empty, append: appender.isPastTheEnd(key))
            }
        }
    }
}
