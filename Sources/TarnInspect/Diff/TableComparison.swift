// The merge of the tables of two files of other programs, in the order of their entries.

import LMDBPages
import TarnStore

/// The state of a comparison of two files of other programs. For one run.
final class TableComparison {
    private let files: [StoreFile]
    private let difference: (EntryDifference) throws -> Void
    private let damaged: (Int, StoreInspector.Damage) -> Void
    private var isComplete = true
    private var tables: [StoreDifferences.Entity] = []
    private var schema: [SchemaDifference] = []

    init(
        _ first: StoreFile, _ second: StoreFile, difference: @escaping (EntryDifference) throws -> Void,
        damaged: @escaping (Int, StoreInspector.Damage) -> Void
    ) {
        (files, self.difference, self.damaged) = ([first, second], difference, damaged)
    }

    /// - Parameter given: The name of the table that is compared; nil for all.
    /// - Throws: The error of `difference`; `RecordSelectionError.unknownTable` if neither file has
    ///   the table.
    func run(of given: String?) throws -> StoreDifferences {
        for table in try names(of: given) { try compare(table) }
        for (number, file) in files.enumerated() {
            file.reportFindings { report($0, number) }
        }
        var result = StoreDifferences(
            entities: tables, schema: schema, isComplete: isComplete, aloneBecause: files.map(\.aloneBecause))
        result.isOfTables = true
        return result
    }

    private func report(_ damage: StoreInspector.Damage, _ number: Int) {
        isComplete = false
        damaged(number, damage)
    }

    /// Returns the tables of both files: those of the first one, then the others.
    private func names(of given: String?) throws -> [String?] {
        let found = files.map { file in Result { try file.tables(named: given) } }
        guard let first = try? found[0].get() else { return try found[1].get() }
        let known = Set(first.map { $0.map { Array($0.utf8) } })
        return first + ((try? found[1].get()) ?? []).filter { !known.contains($0.map { Array($0.utf8) }) }
    }

    /// Returns the record of a table; nil if the file does not have it.
    private func record(_ table: String?, _ file: StoreFile) -> TableRecord? {
        table == nil && file.snapshot.ownEntries == 0 ? nil : file.tableRecord(table)
    }

    private func compare(_ table: String?) throws {
        let records = files.map { record(table, $0) }, name = table ?? StoreInspector.mainTable
        let texts = records.map { record in record.map { $0.optionNames.joined(separator: ", ") } }
        if texts[0] != texts[1] {
            let described = texts.map { text in text.map { $0.isEmpty ? "table" : "table with \($0)" } }
            schema.append(SchemaDifference(path: name, from: described[0], to: described[1]))
        }
        var counts = StoreDifferences.Entity(name: name)
        if let first = records[0], let second = records[1], EntryOrder(first) == EntryOrder(second) {
            try merge(table, first, &counts)
        } else {
            // A table with another order is another table.
            if let record = records[0] { try each(table, record, .removed, 0) { counts.removed += 1 } }
            if let record = records[1] { try each(table, record, .added, 1) { counts.added += 1 } }
        }
        tables.append(counts)
    }

    /// Reports all entries of a table of one of the files.
    private func each(
        _ table: String?, _ record: TableRecord, _ kind: RecordDifference.Kind, _ file: Int, _ count: () -> Void
    ) throws {
        try files[file].forEachTableEntry(of: table) { entry in
            count()
            let copy = CopiedEntry(key: Array(entry.keyBytes), value: Array(entry.valueBytes))
            try difference(EntryDifference(kind: kind, table: table, entry: copy, other: nil, record: record))
        }
    }

    private func merge(_ table: String?, _ record: TableRecord, _ counts: inout StoreDifferences.Entity) throws {
        let order = EntryOrder(record), others = EntryStream(files[1], table, order)
        defer { others.stop() }
        var filter = OrderFilter(order), other = others.take(), found = counts
        func add(_ kind: RecordDifference.Kind, _ entry: CopiedEntry, _ changed: CopiedEntry? = nil) throws {
            try difference(EntryDifference(kind: kind, table: table, entry: entry, other: changed, record: record))
        }
        func take(_ entry: CopiedEntry) throws {
            while let added = other, order.compare(added, entry) < 0 {
                found.added += 1
                try add(.added, added)
                other = others.take()
            }
            guard let same = other, order.compare(same, entry) == 0 else {
                found.removed += 1
                return try add(.removed, entry)
            }
            other = others.take()
            if same.value == entry.value {
                found.same += 1
            } else {
                found.changed += 1
                try add(.changed, entry, same)
            }
        }
        try files[0].forEachTableEntry(of: table) { entry in
            let copy = CopiedEntry(key: Array(entry.keyBytes), value: Array(entry.valueBytes))
            if let entry = filter.add(copy) { try take(entry) }
        }
        if let last = filter.end() { try take(last) }
        while let added = other {
            found.added += 1
            try add(.added, added)
            other = others.take()
        }
        found.unreadable = filter.misplaced + others.misplaced
        for (number, misplaced) in [filter.misplaced, others.misplaced].enumerated() where misplaced > 0 {
            let damage = StoreInspector.Damage(
                place: found.name,
                reason: "entries that are not in the order of the table's options and were not compared: \(misplaced). "
                    + "A key is damaged, or the program has an order of its own", isOfPages: true)
            report(damage, number)
        }
        counts = found
    }
}

extension StoreInspector {
    /// Compares the tables with those of another file, both of other programs.
    ///
    /// As ``differences(from:of:progress:difference:damaged:)``, with tables in place of entities:
    /// the schema has the options of the tables.
    ///
    /// - Parameter table: The table that is compared, `(main)` for the one without a name; nil for
    ///   all.
    /// - Throws: The error of `difference`; `RecordSelectionError.unknownTable`; otherwise as
    ///   ``dumpTables(line:damaged:)``, for either file.
    package func tableDifferences(
        from other: StoreInspector, of table: String? = nil, progress: ((Progress) -> Void)? = nil,
        difference: (EntryDifference) throws -> Void, damaged: (_ store: Int, Damage) -> Void
    ) throws -> StoreDifferences {
        try withoutActuallyEscaping(difference) { difference in
            try withoutActuallyEscaping(damaged) { damaged in
                try other.open(progress: progress) { first in
                    try open { second in
                        try TableComparison(first, second, difference: difference, damaged: damaged).run(of: table)
                    }
                }
            }
        }
    }
}
