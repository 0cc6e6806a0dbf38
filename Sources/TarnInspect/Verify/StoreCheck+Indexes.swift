// The check of indexes: each has exactly the entries of the rows, and unique values occur once.
//
// Inverse relationships and their positions are read from these entries, too.

import TarnStore

extension StoreCheck {
    func checkIndexes() throws {
        for id in catalog.indexIDs {
            let table = TableName.index(id), name = self.name(of: id)
            guard let owner = self.owner(of: id) else { continue }
            guard file.snapshot.tables[table] != nil else {
                findings.add(.tableMissing, table, "missing table of the \(name)")
                continue
            }
            var found = EntrySet(), unique = UniqueCheck(self, id, owner)
            let isWhole = try file.forEach(in: table) { key, value in
                found.add(key)
                if !value.isEmpty { findings.add(.indexForm, name, "an entry has a value of \(value.count) bytes") }
                try unique.take(key)
            }
            indexEntries += found.count
            guard isWhole, hasAllRows(owner.root) else {
                notCompared.append("the \(name): some of its entries or rows are unreadable")
                continue
            }
            let wanted = expected[id]
            guard found != wanted || file.marks[id]?.phase == .building else { continue }
            try nameDifferences(id, name, owner, table)
        }
    }

    /// The topmost entity that has an index, and the index itself.
    struct IndexOwner {
        var entity: Catalog.Entity
        var rules: EntityRules
        /// The index; nil for the index of an entity's members.
        var index: CompiledIndex?
        var root: UInt16 { entity.root }
    }

    func owner(of id: UInt32) -> IndexOwner? {
        // Parents have smaller ids than their descendants.
        for entity in catalog.entities.sorted(by: { $0.id < $1.id }) {
            guard let rules = file.rules[entity.id] else { continue }
            if let index = rules.indexes.first(where: { $0.id == id }) {
                return IndexOwner(entity: entity, rules: rules, index: index)
            }
            if entity.members == id { return IndexOwner(entity: entity, rules: rules, index: nil) }
        }
        return nil
    }

    func name(of id: UInt32) -> String {
        "index \(catalog.fullName(ofIndex: id))"
    }

    /// Compares each entry with the rows, and reports the missing and the extra ones.
    private func nameDifferences(_ id: UInt32, _ name: String, _ owner: IndexOwner, _ table: String) throws {
        let builtUpTo = file.marks[id].flatMap { $0.phase == .building ? $0.key : nil }
        try file.again(TableName.records(owner.root)) { key, value in
            // A row that the index build has not reached has an entry only if it was written since.
            if let builtUpTo, builtUpTo.withUnsafeBytes({ Bytes.compare(key, $0) > 0 }) { return }
            try withRow(owner.root, value) { entity, rules, row in
                try file.forEachEntry(rules, key, row.body) { index, entry, _ in
                    guard index == id, file.value(entry, in: table) == nil else { return }
                    findings.add(
                        .indexMissing, name, "\(entity.name) \(RecordKey.describe(storageKey: key)) has no entry")
                }
            }
        }
        let memory = EntryMemory()
        try file.again(table) { entry, _ in
            guard let key = recordKey(in: entry, owner) else {
                return findings.add(
                    .indexForm, name, "malformed entry: \(RecordKey.describe(storageKey: entry))")
            }
            guard try !has(owner.root, key, id, entry, memory) else { return }
            findings.add(
                .indexExtra, name,
                "the entry of \(owner.entity.name) \(RecordKey.describe(storageKey: key)) does not match its row"
            )
        }
    }

    /// The index entries of records with long lists, each of which is looked up many times.
    private final class EntryMemory {
        var entries: [[UInt8]: Set<[UInt8]>] = [:]
    }

    /// Returns the storage key at the end of an entry.
    func recordKey(in entry: Bytes, _ owner: IndexOwner) -> Bytes? {
        guard let index = owner.index else { return entry }
        return index.recordKey(in: entry, catalog)
    }

    private func has(_ root: UInt16, _ key: Bytes, _ id: UInt32, _ entry: Bytes, _ memory: EntryMemory) throws -> Bool {
        let name = Array(key), wanted = Array(entry)
        if let known = memory.entries[name] { return known.contains(wanted) }
        guard let value = file.value(key, in: TableName.records(root)) else { return false }
        var entries: Set<[UInt8]> = []
        try value.withUnsafeBytes { value in
            try withRow(root, value) { _, rules, row in
                try file.forEachEntry(rules, key, row.body) { index, entry, _ in
                    if index == id { entries.insert(Array(entry)) }
                }
            }
        }
        if entries.count > 100, memory.entries.count < 1000 { memory.entries[name] = entries }
        return entries.contains(wanted)
    }

    func withRow(_ root: UInt16, _ value: Bytes, _ body: (Catalog.Entity, EntityRules, EncodedRow) throws -> Void)
        throws
    {
        try file.decoder.lending {
            guard value.count >= RowFormat.headerSize, let row = try? file.decoder.view(value),
                let entity = file.entity(of: row, root: root), let rules = file.rules[entity.id]
            else { return }
            try body(entity, rules, row)
        }
    }
}
