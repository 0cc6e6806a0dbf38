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
    ///   - given: The name of the table; nil for all, and the entries beside them.
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
            let names = try given.map { given in
                guard let name = snapshot.name(given) else {
                    throw RecordSelectionError.unknownTable(name: given, known: snapshot.names)
                }
                return [name]
            }
            do {
                if names == nil {
                    try file.forEachMainEntry { key, value, isTable in
                        guard !isTable else { return }
                        let entry = TableEntry(key, value, table: nil, snapshot.meta.main)
                        if try !visit(entry) { throw Finished() }
                    }
                }
                for name in names ?? snapshot.names {
                    guard let record = snapshot.tables[name] else { continue }
                    try file.forEachEntry(inAnyTable: name, asStored: true) { key, value in
                        if try !visit(TableEntry(key, value, table: name, record)) { throw Finished() }
                    }
                }
            } catch is Finished {}
            file.reportFindings(to: damaged)
            return file.aloneBecause
        }
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
            for (part, text) in [("key", entry.keyText), ("value", entry.valueText)] {
                guard let range = pattern.firstRange(in: text) else { continue }
                if !isCounted { summary.records += 1 }
                isCounted = true
                summary.fields += 1
                let found = TextMatch(part, text, range, context: 40)
                try match(entry, part, found.before + found.match + found.after)
                if summary.fields >= options.limit { return false }
            }
            return true
        }
        return summary
    }
}
