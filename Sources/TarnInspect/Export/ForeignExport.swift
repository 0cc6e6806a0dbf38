// The tables of other programs in forms that other programs read: SQL for SQLite, and CSV.

import LMDBPages
import TarnStore

/// An export of a file of another program: each table has the columns `key` and `value`.
struct ForeignExport {
    private let file: StoreFile
    /// The tables of the file, nil for the one without a name, and their names in the export.
    private let tables: [(source: String?, name: String)]

    init(_ file: StoreFile) {
        self.file = file
        var names = UniqueNames()
        // Named tables first: the one without a name gets what is left.
        let named = file.snapshot.names.map { table in (String?.some(table), names.name(ForeignExport.name(table))) }
        tables = (file.snapshot.ownEntries > 0 ? [(nil, names.name("main"))] : []) + named
    }

    /// Returns a name without line breaks and NUL, which ``ExportCell/identifier(_:)`` replaces.
    private static func name(_ table: String) -> String {
        table.isEmpty ? "_" : String(table.map { $0.isNewline || $0 == "\0" ? "_" : $0 })
    }

    /// Calls `line` with the statements of SQL. Each is one line.
    ///
    /// Keys have an index that is not unique: the values of a key are several rows.
    func writeSQL(
        line: @escaping (String) throws -> Void, damaged: (StoreInspector.Damage) -> Void
    ) throws -> StoreExport {
        try line("PRAGMA foreign_keys=OFF;")
        try line("BEGIN;")
        for (source, name) in tables {
            let record = file.tableRecord(source)
            let types = [record?.hasIntegerKeys, record?.hasIntegerValues].map { $0 == true ? " INTEGER" : "" }
            try line("CREATE TABLE \(ExportCell.identifier(name)) (\"key\"\(types[0]), \"value\"\(types[1]));")
        }
        var rows = SQLRows(tables.map(\.name), line: line)
        var last = 0
        let result = try write(
            { number, cells in
                if number != last { try rows.end(last) }
                last = number
                try rows.add(cells, number)
            }, damaged)
        try rows.flush()
        var names = UniqueNames()
        for (_, name) in tables { _ = names.name(name) }
        for (_, name) in tables {
            let index = ExportCell.identifier(names.name("\(name)_key"))
            try line("CREATE INDEX \(index) ON \(ExportCell.identifier(name)) (\"key\");")
        }
        try line("COMMIT;")
        return result
    }

    /// Calls `row` with the cells of each row, first with the names of the columns.
    ///
    /// Bytes that are no text are hexadecimal digits behind `0x`, as in the answers to questions.
    func writeCSV(
        _ row: (_ table: String, [ExportCell]) throws -> Void, damaged: (StoreInspector.Damage) -> Void
    ) throws -> StoreExport {
        for (_, name) in tables { try row(name, [.text("key"), .text("value")]) }
        return try write(
            { number, cells in
                try row(
                    tables[number].name,
                    cells.map { cell in
                        guard case .blob(let bytes) = cell else { return cell }
                        return .text("0x" + bytes.withUnsafeBytes { StoreInspector.hexadecimal($0) })
                    })
            }, damaged)
    }

    private func write(
        _ row: (_ table: Int, [ExportCell]) throws -> Void, _ damaged: (StoreInspector.Damage) -> Void
    ) throws -> StoreExport {
        var result = StoreExport()
        for (number, (source, name)) in tables.enumerated() {
            var count = 0
            try file.forEachTableEntry(of: source) { entry in
                count += 1
                try row(
                    number,
                    [
                        ForeignExport.cell(entry.keyBytes, entry.record.hasIntegerKeys),
                        ForeignExport.cell(entry.valueBytes, entry.record.hasIntegerValues),
                    ])
            }
            result.rows.append(.init(name: name, count: count))
        }
        file.reportFindings {
            result.damaged += 1
            damaged($0)
        }
        result.aloneBecause = file.aloneBecause
        return result
    }

    /// Returns an integer of a table of integers, the text of bytes, or the bytes.
    ///
    /// An integer above `Int64.max` stays bytes: SQLite would make a text in a column of integers a
    /// number that is not exact.
    private static func cell(_ bytes: Bytes, _ isInteger: Bool) -> ExportCell {
        if isInteger {
            guard let number = TableLines.number(bytes, isInteger: true), Int64(number) != nil else {
                return .blob(Array(bytes))
            }
            return .integer(number)
        }
        return TableLines.string(bytes).map { .text($0) } ?? .blob(Array(bytes))
    }
}
