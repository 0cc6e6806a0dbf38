// `tarn inspect export`: the records in forms that other programs read.

import ArgumentParser
import Foundation
import TarnInspect

struct ExportCommand: InspectingCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Export the records to SQLite, SQL, CSV or lines of JSON.",
        discussion: """
            Each root entity becomes a table, each entity below it a view, each to-many relationship a table with \
            owner, position and target; references are foreign keys, and indexes are those of the store. --full-text \
            also makes a table ENTITY_fts for each table with texts, an index of SQLite's module FTS5, which datasette \
            uses by itself. --sqlite needs the program sqlite3. The store may be in use, and is read as of one commit. \
            Damaged records are reported on standard error and left out; the exit code is then 6.

            Of an LMDB file of another program, each table becomes one with the columns key and value: INTEGER in a \
            table of integers, TEXT for readable texts, else BLOB.

            Examples:
              tarn inspect export forge.tarn --sqlite forge.db
              tarn inspect export forge.tarn --sqlite forge.db --full-text
              tarn inspect export forge.tarn --sql | sqlite3 forge.db
              tarn inspect export forge.tarn --csv tables
              tarn inspect export forge.tarn --ndjson > forge.ndjson
              tarn inspect export other.mdb --sqlite other.db
            """)

    @Argument(help: "Store directory, or its data.mdb.") var store: String
    @Option(help: ArgumentHelp("Write a new SQLite database.", valueName: "file")) var sqlite: String?
    @Flag(help: "With --sqlite or --sql: index the texts of each table, for searches with MATCH.") var fullText = false
    @Flag(help: "Write statements of SQL for SQLite on standard output.") var sql = false
    @Option(help: ArgumentHelp("Write a file of CSV for each table into a new directory.", valueName: "directory"))
    var csv: String?
    @Flag(help: "With --csv: put an apostrophe before cells that a spreadsheet would run as formulas.")
    var csvSafe = false
    @Flag(help: "Write every record as one line of JSON, as `tarn inspect dump` does.") var ndjson = false

    func validate() throws {
        let forms = [sqlite != nil, sql, csv != nil, ndjson].count { $0 }
        if forms != 1 { throw ValidationError("use one of --sqlite FILE, --sql, --csv DIRECTORY and --ndjson") }
        if fullText, sqlite == nil, !sql { throw ValidationError("--full-text is only for --sqlite and --sql") }
        if csvSafe, csv == nil { throw ValidationError("--csv-safe is only for --csv") }
    }

    func run(on inspector: StoreInspector) throws {
        let tables = try TableQuestions(store, inspector, unfit: [("--full-text", fullText)])
        if ndjson, let tables { return try tables.export() }
        var damaged = 0
        func say(_ damage: StoreInspector.Damage) {
            damaged += damage.count
            Output.error("\(store): \(damage)")
        }
        if ndjson {
            try noteWithoutLocks(store, inspector.writeRecords(line: Output.json, damaged: say))
        } else if sql {
            try note(inspector.exportSQL(line: { Output.data($0) }, hasFullText: fullText, damaged: say))
        } else if let sqlite {
            try show(inspector.exportSQLite(to: sqlite, hasFullText: fullText, damaged: say))
        } else if let csv {
            try show(inspector.exportCSV(toDirectory: csv, isSpreadsheetSafe: csvSafe, damaged: say))
        }
        guard damaged == 0 else {
            let noun = tables == nil ? "records" : "entries"
            throw Failure(.store, "\(countText(damaged, "damaged part")); the readable \(noun) were exported")
        }
    }

    private func note(_ result: StoreExport) {
        noteWithoutLocks(store, result.aloneBecause)
        guard result.unknownValues > 0 else { return }
        Output.error(
            "\(store): \(countText(result.unknownValues, "value")) of fields that the catalog does not know: left out")
    }

    private func show(_ result: StoreExport) {
        note(result)
        for table in result.rows { Output.line("\(table.name): \(countText(table.count, "row"))") }
        for name in result.fullTextTables { Output.line("\(name): full-text index") }
    }
}
