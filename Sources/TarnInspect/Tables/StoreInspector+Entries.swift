// The entries of LMDB files of other programs, whose tables have no entities.

import TarnStore

extension StoreInspector {
    /// Whether the file is an LMDB file of another program, also a damaged one.
    ///
    /// - Throws: As ``statistics()``.
    package var isForeign: Bool { get throws { try open { $0.isForeign } } }

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
            do {
                for table in try file.tables(named: given) {
                    try file.forEachTableEntry(of: table) { if try !visit($0) { throw Finished() } }
                }
            } catch is Finished {}
            file.reportFindings(to: damaged)
            return file.aloneBecause
        }
    }

    /// The name of the table without a name, as in the statistics of a file.
    package static let mainTable = "(main)"

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
