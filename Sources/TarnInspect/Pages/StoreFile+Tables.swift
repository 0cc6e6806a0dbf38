// The entries of tables: scans with findings.

import LMDBPages
import TarnStore

extension StoreFile {
    /// Scans a table for the first time, in key order, and compares the counts with its record.
    ///
    /// If values have a checksum behind them, the closure gets their content, and damaged ones are
    /// findings.
    ///
    /// - Parameter asStored: Whether the closure gets values as they are stored, with any checksum.
    /// - Returns: Whether the whole table is readable; false also if it does not exist.
    @discardableResult
    func forEach(in table: String, asStored: Bool = false, _ body: (Bytes, Bytes) throws -> Void) rethrows -> Bool {
        guard let record = snapshot.tables[table] else { return false }
        guard record.flags == 0 else {
            if isStore {
                findings.add(
                    .tableRecord, table, "it has the options \(record.flags), as no table of Tarn: it is left out")
            }
            return false
        }
        let name = asStored ? nil : checksumName(of: table)
        var isSound = true
        let isWhole = try scan(record, table, ordersBytes: true) { key, value, flags in
            guard flags & (PageLayout.tree | PageLayout.duplicates) == 0 else {
                return findings.add(.tableRecord, table, "an entry has the flags \(flags), as none of Tarn")
            }
            guard let name else { return try body(key, value) }
            guard let content = ValueChecksum.content(value, table: name, key: key) else {
                isSound = false
                return findings.add(StoreFile.damageCode(table), "\(table) \(describe(key))", "the checksum is wrong")
            }
            try body(key, content)
        }
        return isWhole && isSound
    }

    /// Scans a table of any kind, without a check of the key order, which may be custom.
    @discardableResult
    func forEachEntry(inAnyTable table: String, asStored: Bool = false, _ body: (Bytes, Bytes) throws -> Void) rethrows
        -> Bool
    {
        guard !isStore, let record = snapshot.tables[table] else {
            return try forEach(in: table, asStored: asStored, body)
        }
        return try scan(record, table, ordersBytes: false) { key, value, flags in
            guard flags & (PageLayout.tree | PageLayout.duplicates) == 0 else {
                return findings.add(
                    .tableRecord, table, "an entry has the flags \(flags), which no entry of its table can have")
            }
            try body(key, value)
        }
    }

    /// Visits the entries of the table of tables: those of other programs, and those of tables.
    ///
    /// - Parameter lostValue: A closure that is called with each key whose value is unreadable.
    func forEachMainEntry(
        lostValue: ((_ key: Bytes, _ table: String) -> Void)? = nil,
        _ body: (_ key: Bytes, _ value: Bytes, _ isTable: Bool) throws -> Void
    ) rethrows {
        var scan = TreeScan(snapshot.file, lastPage: snapshot.meta.lastPage, Findings(limit: 0))
        scan.lostValue = lostValue
        _ = try scan.scan(snapshot.meta.main, "the table of tables", ordersBytes: false) { key, value, flags in
            try body(key, value, flags & PageLayout.tree != 0)
        }
    }

    func scan(
        _ record: TableRecord, _ table: String, ordersBytes: Bool, _ body: (Bytes, Bytes, UInt16) throws -> Void
    ) rethrows -> Bool {
        // Moved out meanwhile, so that it is not copied with every page.
        var scan = scan
        self.scan = TreeScan(snapshot.file, lastPage: 0, findings)
        defer { self.scan = scan }
        let counts = try scan.scan(record, table, ordersBytes: ordersBytes, body)
        self.counts[table] = counts
        compare(counts, record, table)
        return counts.isWhole
    }

    /// Scans a table again, without a check of its pages, and without findings.
    func again(_ table: String, asStored: Bool = false, _ body: (Bytes, Bytes) throws -> Void) rethrows {
        guard let record = snapshot.tables[table], record.flags == 0 || !isStore else { return }
        let name = asStored ? nil : checksumName(of: table)
        var scan = TreeScan(snapshot.file, lastPage: snapshot.meta.lastPage, Findings(limit: 0))
        _ = try scan.scan(record, table) { key, value, _ in
            guard let name else { return try body(key, value) }
            if let content = ValueChecksum.content(value, table: name, key: key) { try body(key, content) }
        }
    }

    /// Returns the finding code for a wrong checksum in a table.
    static func damageCode(_ table: String) -> Finding.Code {
        switch table {
        case TableName.changes: .changeForm
        case TableName.edges: .list
        case TableName.scans: .scan
        case TableName.meta: .setting
        default: .responseForm
        }
    }

    func compare(_ counts: TreeScan.Counts, _ record: TableRecord, _ table: String) {
        // The counts of an unreadable table are incomplete.
        guard counts.isWhole else { return }
        let counted = (counts.branchPages, counts.leafPages, counts.overflowPages, counts.entries)
        let said = (record.branchPages, record.leafPages, record.overflowPages, record.entries)
        guard counted != said else { return }
        // The table's record is no measure of the pages of a table with several values for a key:
        // liblmdb 0.9.24 does not count the pages of the values' trees there; newer versions do,
        // but do not subtract them with a deleted key. Both may have written to one file.
        if record.hasDuplicates, said.2 == counted.2, said.3 == counted.3 { return }
        findings.add(
            .tableCounts, table,
            "it should have \(said.0) branches, \(said.1) leaves, \(said.2) pages of long values and \(said.3) entries, and has \(counted.0), \(counted.1), \(counted.2) and \(counted.3)"
        )
    }
}
