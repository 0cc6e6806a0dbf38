// Files of other programs: how they are told from stores, and the entries of their tables.

import LMDBPages
import TarnStore

extension StoreFile {
    /// Whether the file is an LMDB file of another program.
    ///
    /// If damage hides some of the tables, the names of the others decide: the file may be a store.
    var isForeign: Bool {
        guard !isStore else { return false }
        return findings.counts.isEmpty || StoreFile.areForeign(snapshot.names + snapshot.ownKeys)
    }

    /// Whether names of tables are those of another program.
    static func areForeign(_ names: [String]) -> Bool {
        let own = names.count { TableName.all.contains($0) || $0.hasPrefix("r/") || $0.hasPrefix("i/") }
        return own < names.count && 2 * own <= names.count
    }

    /// Returns the tables that are asked for, in the order of the file; nil stands for the table
    /// without a name, which is one of them if it has entries of its own.
    ///
    /// - Parameter given: A name, `(main)` for the table without a name; nil for all.
    /// - Throws: `RecordSelectionError.unknownTable`.
    func tables(named given: String?) throws(RecordSelectionError) -> [String?] {
        let main: [String?] = snapshot.ownEntries > 0 ? [nil] : []
        guard let given else { return main + snapshot.names }
        if let name = snapshot.name(given) { return [name] }
        guard given == StoreInspector.mainTable else {
            throw .unknownTable(name: given, known: snapshot.names + main.map { _ in StoreInspector.mainTable })
        }
        return [nil]
    }

    /// Returns the record of a table; nil stands for the table without a name.
    func tableRecord(_ table: String?) -> TableRecord? {
        table == nil ? snapshot.meta.main : table.flatMap { snapshot.tables[$0] }
    }

    /// Visits the entries of a table in its order; nil stands for the table without a name.
    ///
    /// Of a key with several values, each is an entry.
    func forEachTableEntry(of table: String?, _ body: (TableEntry) throws -> Void) rethrows {
        guard let record = tableRecord(table) else { return }
        guard let table else {
            return try forEachMainEntry(lostValue: scan.lostValue) { key, value, isTable in
                if !isTable { try body(TableEntry(key, value, table: nil, record)) }
            }
        }
        func entry(_ key: Bytes, _ value: Bytes) throws { try body(TableEntry(key, value, table: table, record)) }
        // A table `meta` was scanned when the file was opened: a second scan would report its pages
        // as reached twice.
        if counts[table] != nil {
            try again(table, asStored: true, entry)
        } else {
            try forEachEntry(inAnyTable: table, asStored: true, entry)
        }
    }
}
