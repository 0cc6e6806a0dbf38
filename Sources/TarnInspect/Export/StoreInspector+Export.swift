// The records of a store in forms that other programs read: SQL for SQLite, and CSV.

import Foundation
import LMDB
import TarnStore

extension StoreInspector {
    /// Calls `line` with the statements of SQL that make the store's records a database of SQLite.
    ///
    /// Each root entity is a table, with the columns `_partial` and `_version`, and `_entity` if it
    /// has sub-entities, which are views. References are foreign keys; a reference to a composite
    /// key has a column for each component. To-many relationships are tables with `owner`,
    /// `position` and `target`. Indexes follow the rows. Each statement is one line.
    ///
    /// Dates, decimals, UUIDs, JSON and lists are texts; integers above `Int64.max` are texts, too;
    /// NaN is null. Foreign keys of missing records are not valid: `PRAGMA foreign_key_check` lists
    /// them.
    ///
    /// Of an LMDB file of another program, each table becomes a table with the columns `key` and
    /// `value`.
    ///
    /// - Throws: As ``dumpRecords(of:withVersions:line:damaged:)``.
    public func exportSQL(
        line: @escaping (String) throws -> Void, damaged: (Damage) -> Void
    ) throws -> StoreExport { try exportSQL(line: line, hasFullText: false, damaged: damaged) }

    /// Calls `line` with the statements of ``exportSQL(line:damaged:)``.
    ///
    /// - Parameter hasFullText: whether each table with texts gets an index of them, in a table
    ///   `TABLE_fts` of SQLite's module FTS5.
    package func exportSQL(
        line: @escaping (String) throws -> Void, hasFullText: Bool, damaged: (Damage) -> Void
    ) throws -> StoreExport {
        try open { file in
            if file.isForeign { return try ForeignExport(file).writeSQL(line: line, damaged: damaged) }
            try checkIsReadable(file)
            let layout = ExportLayout(file.catalog)
            var sql = SQLExport(layout, hasFullText: hasFullText, line: line)
            try sql.begin()
            var result = try StoreInspector.export(file, layout, damaged) { try sql.add($0, table: $1) }
            try sql.end()
            result.fullTextTables = sql.fullTextTables
            return result
        }
    }

    /// Writes a file of CSV (RFC 4180) for each table of ``exportSQL(line:damaged:)``.
    ///
    /// Null is an empty field, the empty text is `""`, bytes are base64. The first line has the
    /// names of the columns. Lines end with CR LF.
    ///
    /// - Parameter text: A closure that is called with the name of a table, and a text to append to
    ///   its file; first once for each table.
    /// - Throws: As ``dumpRecords(of:withVersions:line:damaged:)``.
    public func exportCSV(
        text: (_ table: String, _ text: String) throws -> Void, damaged: (Damage) -> Void
    ) throws -> StoreExport { try exportCSV(text: text, isSpreadsheetSafe: false, damaged: damaged) }

    /// Writes the files of ``exportCSV(text:damaged:)``.
    ///
    /// - Parameter isSpreadsheetSafe: whether texts that a spreadsheet would run are marked with an
    ///   apostrophe.
    package func exportCSV(
        text: (_ table: String, _ text: String) throws -> Void, isSpreadsheetSafe: Bool, damaged: (Damage) -> Void
    ) throws -> StoreExport {
        try open { file in
            func write(_ name: String, _ cells: [ExportCell]) throws {
                var line = ""
                for (index, cell) in cells.enumerated() {
                    if index > 0 { line += "," }
                    cell.appendCSV(isSpreadsheetSafe: isSpreadsheetSafe, to: &line)
                }
                line += "\r\n"
                try text(name, line)
            }
            if file.isForeign { return try ForeignExport(file).writeCSV(write, damaged: damaged) }
            try checkIsReadable(file)
            let layout = ExportLayout(file.catalog)
            let tables = layout.tables.map { ($0.name, $0.columns) } + layout.joins.map { ($0.name, $0.columns) }
            for (name, columns) in tables { try write(name, columns.map { .text($0.name) }) }
            return try StoreInspector.export(file, layout, damaged) { row, table in
                try write(layout.tables[table].name, row.cells)
                for (join, cells) in row.joins { try write(layout.joins[join].name, cells) }
            }
        }
    }

    /// Calls the closure with every readable record as rows, and counts them.
    private static func export(
        _ file: StoreFile, _ layout: ExportLayout, _ damaged: (Damage) -> Void,
        _ body: (ExportRow, _ table: Int) throws -> Void
    ) throws -> StoreExport {
        var result = StoreExport(), records: [String: Int] = [:]
        var rows = Array(repeating: 0, count: layout.tables.count),
            joins = Array(repeating: 0, count: layout.joins.count)
        func report(_ damage: Damage) {
            result.damaged += 1
            damaged(damage)
        }
        for (number, table) in layout.tables.enumerated() {
            try forEachRecord(of: table.root, file, damaged: report) { record in
                let row = ExportRow(record, table, layout)
                records[record.entity, default: 0] += 1
                rows[number] += 1
                for (join, _) in row.joins { joins[join] += 1 }
                result.unknownValues += row.unknown.count
                try body(row, number)
            }
        }
        file.reportFindings(to: report)
        result.records = file.catalog.entities.map { .init(name: $0.name, count: records[$0.name, default: 0]) }
        result.rows =
            zip(layout.tables, rows).map { .init(name: $0.name, count: $1) }
            + zip(layout.joins, joins).map { .init(name: $0.name, count: $1) }
        result.aloneBecause = file.aloneBecause
        return result
    }
}

extension StoreInspector {
    /// Writes the store's records into a new database of SQLite, through the program `sqlite3`.
    ///
    /// The database gets its name when it is complete. Its content is that of
    /// ``exportSQL(line:damaged:)``.
    ///
    /// - Parameter path: A path at which no file exists.
    /// - Throws: As ``exportSQL(line:damaged:)``; `StoreMaintenanceError.destinationExists`; an
    ///   error with the program's message if it fails or is not installed.
    public func exportSQLite(to path: String, damaged: (Damage) -> Void) throws -> StoreExport {
        try exportSQLite(to: path, hasFullText: false, damaged: damaged)
    }

    /// Writes the database of ``exportSQLite(to:damaged:)``.
    ///
    /// - Parameter hasFullText: whether each table with texts gets an index of them.
    package func exportSQLite(to path: String, hasFullText: Bool, damaged: (Damage) -> Void) throws -> StoreExport {
        var status = stat()
        guard lstat(path, &status) != 0 else { throw StoreMaintenanceError.destinationExists(path: path) }
        let unfinished = StoreInspector.unfinishedName(path)
        defer { unlink(unfinished) }
        let program = try SQLiteProgram(database: unfinished, path: path)
        // The database is deleted if anything fails: it needs no journal.
        try program.send("PRAGMA journal_mode=OFF;")
        try program.send("PRAGMA synchronous=OFF;")
        let result = try exportSQL(line: { try program.send($0) }, hasFullText: hasFullText, damaged: damaged)
        try program.finish()
        // Not a hard link, which disks with the file systems of other machines lack.
        let code = FileCalls.renameExclusively(unfinished, to: path)
        guard code == 0 else {
            throw SQLiteProgram.Failure(description: "\(path): \(String(cString: strerror(code)))")
        }
        return result
    }
}
