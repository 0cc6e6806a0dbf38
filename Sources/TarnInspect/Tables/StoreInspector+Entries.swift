// The entries of LMDB files of other programs, whose tables have no entities.

import TarnStore

extension StoreInspector {
    /// Whether the file is an LMDB file of another program. One whose tables cannot all be found
    /// may be a damaged store.
    ///
    /// - Throws: As ``statistics()``.
    package var isForeign: Bool { get throws { try open { !$0.isStore && $0.findings.counts.isEmpty } } }

    /// Calls `visit` with the entries of a table, or of all tables, each in its order.
    ///
    /// - Parameters:
    ///   - given: The name of the table, `(main)` for the table without a name; nil for all.
    ///   - visit: A closure that returns whether to continue.
    /// - Returns: The reason why no read transaction held the state; nil if one did.
    /// - Throws: `RecordSelectionError.unknownTable`; otherwise as ``dumpTables(line:damaged:)``.
    @discardableResult
    package func entries(
        ofTable given: String?, damaged: (Damage) -> Void, visit: (TableEntry) throws -> Bool
    ) throws -> String? {
        struct Finished: Error {}
        return try open { file in
            let snapshot = file.snapshot
            let (hasMain, names) = try StoreInspector.tables(named: given, snapshot)
            do {
                if hasMain {
                    try file.forEachMainEntry { key, value, isTable in
                        guard !isTable else { return }
                        let entry = TableEntry(key, value, table: nil, snapshot.meta.main)
                        if try !visit(entry) { throw Finished() }
                    }
                }
                for name in names {
                    guard let record = snapshot.tables[name] else { continue }
                    func entry(_ key: Bytes, _ value: Bytes) throws {
                        if try !visit(TableEntry(key, value, table: name, record)) { throw Finished() }
                    }
                    // A table `meta` was scanned when the file was opened: a second scan would
                    // report its pages as reached twice.
                    if file.counts[name] != nil {
                        try file.again(name, asStored: true, entry)
                    } else {
                        try file.forEachEntry(inAnyTable: name, asStored: true, entry)
                    }
                }
            } catch is Finished {}
            file.reportFindings(to: damaged)
            return file.aloneBecause
        }
    }

    /// The name of the table without a name, as in the statistics of a file.
    package static let mainTable = "(main)"

    /// Returns whether entries of the table without a name are asked for, and the named tables.
    private static func tables(
        named given: String?, _ snapshot: FileSnapshot
    ) throws -> (hasMain: Bool, names: [String]) {
        guard let given else { return (true, snapshot.names) }
        if let name = snapshot.name(given) { return (false, [name]) }
        guard given == mainTable else {
            let known = snapshot.names + (snapshot.ownEntries > 0 ? [mainTable] : [])
            throw RecordSelectionError.unknownTable(name: given, known: known)
        }
        return (true, [])
    }

    /// Calls `match` with every key and every value that has a text, table by table.
    ///
    /// - Parameter match: A closure that is called with the entry, `key` or `value`, and the text
    ///   around the match.
    /// - Returns: The numbers of matching entries, as records, and of matches, as fields.
    /// - Throws: As ``entries(ofTable:damaged:visit:)``.
    package func searchEntries(
        for text: String, _ options: SearchOptions, damaged: (Damage) -> Void,
        match: (TableEntry, _ part: String, _ excerpt: String) throws -> Void
    ) throws -> SearchSummary {
        let pattern = TextPattern(text, ignoresCase: options.ignoresCase)
        var summary = SearchSummary()
        summary.aloneBecause = try entries(ofTable: options.entity, damaged: damaged) { entry in
            var isCounted = false
            for found in [entry.match(inKey: pattern), entry.match(inValue: pattern)] {
                guard let found else { continue }
                if !isCounted { summary.records += 1 }
                isCounted = true
                summary.fields += 1
                try match(entry, found.field, found.before + found.match + found.after)
                if summary.fields >= options.limit { return false }
            }
            return true
        }
        return summary
    }
}
