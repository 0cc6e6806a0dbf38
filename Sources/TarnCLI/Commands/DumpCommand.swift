import ArgumentParser
import Foundation
import Tarn
import TarnInspect

/// The command `tarn inspect dump`.
struct DumpCommand: InspectingCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: "Write records as lines of JSON, by entity and key, or as JSON, CSV or YAML.",
        discussion: """
            Conditions are those of `tarn list`, by the catalog in the store. Damaged rows are reported on standard \
            error, and all others are written; the exit code is then 6. Without permission to lock, the file is read \
            without locks; if another process committed meanwhile, the output may mix several commits, and the exit \
            code is 9. Of an LMDB file of another program, the entries of all tables are written as lines of JSON.

            Examples:
              tarn inspect dump forge.tarn > forge.ndjson
              tarn inspect dump forge.tarn --entity Issue --where 'state = open' --fields number,title
              tarn inspect dump forge.tarn --entity Issue --from 100 --to 199 --reverse --limit 10
              tarn inspect dump forge.tarn --entity Label --prefix bug --format csv > bugs.csv
              tarn inspect dump forge.tarn --redact User.email --redact body > shareable.ndjson
              diff <(tarn inspect dump a.tarn --no-versions) <(tarn inspect dump b.tarn --no-versions)
              tarn inspect dump forge.tarn --renew | slow-upload
              tarn inspect dump forge.tarn --mdb | mdb_load -n forge.lmdb    every table, for another LMDB file
              tarn inspect dump forge.tarn --table i/2                       one table, as `mdb_dump -s i/2`
              tarn inspect dump other.mdb --table names --format text        as `mdb_dump -p -s names`
              tarn inspect dump other.mdb --main --format ndjson | head      the table without a name
            """)

    @Argument(help: "Store directory, or any LMDB data file.") var store: String
    @Option(help: "Only records of this entity.") var entity: String?
    @OptionGroup var selection: SelectionOptions
    @Option(
        help:
            "Output format: ndjson (one object per line), json, csv or yaml; of tables hex, text, ndjson or json (default: ndjson; of tables hex)."
    )
    var format: DumpFormat?
    @Flag(help: "With csv: put an apostrophe before cells that a spreadsheet would run as formulas.")
    var csvSafe = false
    @Flag(help: "Leave out versions, so that stores with equal records give equal output.")
    var noVersions = false
    @Flag(
        help:
            "Take a new snapshot whenever twenty commits were made, so that writers can reuse pages; the records are then of several commits."
    )
    var renew = false
    @Flag(
        name: [.customLong("mdb"), .customLong("tables")],
        help: "Write all LMDB tables instead of records, as `mdb_dump -a`, for mdb_load. Works for any LMDB file.")
    var mdb = false
    @Option(help: ArgumentHelp("Write one LMDB table instead of records, as `mdb_dump -s`.", valueName: "name"))
    var table: String?
    @Flag(help: "Write the table without a name, as `mdb_dump`: its entries, and the records of the named tables.")
    var main = false

    /// The tables to write; nil for records.
    private var tables: DumpedTables? { mdb ? .all : main ? .main : table.map(DumpedTables.named) }

    func validate() throws {
        if [mdb, main, table != nil].count(where: \.self) > 1 {
            throw ValidationError("use one of --mdb, --main and --table")
        }
        if tables != nil {
            if entity != nil || noVersions || renew || !selection.isEverything {
                throw ValidationError("--mdb, --main and --table cannot be combined with options for records")
            }
            if let format, format.ofTables == nil {
                throw ValidationError("--format of tables must be hex, text, ndjson or json")
            }
        } else if let format, format.ofRecords == nil {
            throw ValidationError("--format \(format.rawValue) is only for --mdb, --main and --table")
        }
        if csvSafe, format != .csv { throw ValidationError("--csv-safe is only for --format csv") }
        if selection.needsEntity, entity == nil {
            throw ValidationError("--where, --partials, --from, --to and --prefix need --entity")
        }
    }

    func run(on inspector: StoreInspector) throws {
        if tables == nil {
            let unfit = [
                ("--entity", entity != nil), ("--no-versions", noVersions), ("--renew", renew),
                ("the selection of records", !selection.isEverything), ("--format", ![nil, .ndjson].contains(format)),
            ]
            if let tables = try TableQuestions(store, inspector, unfit: unfit) { return try tables.export() }
        }
        let report = DamageReport(store)
        if let tables {
            try noteWithoutLocks(store, dumpTables(tables, inspector, report))
        } else {
            try noteWithoutLocks(
                store,
                selection.isEverything && !renew && (format ?? .ndjson) == .ndjson
                    ? inspector.writeRecords(
                        of: entity, withVersions: !noVersions, line: Output.json, damaged: { report.add($0) })
                    : dumpSelection(inspector, report))
        }
        try report.end("written")
    }

    private func dumpTables(
        _ tables: DumpedTables, _ inspector: StoreInspector, _ report: DamageReport
    ) throws -> String? {
        let form = format?.ofTables ?? .hex, isList = format == .json
        var count = 0
        do {
            let reason = try inspector.dumpTables(
                tables, as: form,
                line: { line in
                    guard form == .json else { return Output.data(line) }
                    Output.json(line, after: !isList ? "" : count == 0 ? "[\n" : ",\n", terminator: isList ? "" : "\n")
                    count += 1
                }, damaged: { report.add($0) })
            if isList { Output.json(count == 0 ? "[]" : "]", after: count == 0 ? "" : "\n") }
            return reason
        } catch let error as RecordSelectionError {
            throw Failure(.usage, "\(store): \(error.description)")
        }
    }

    private func dumpSelection(_ inspector: StoreInspector, _ report: DamageReport) throws -> String? {
        var dumper: RecordDumper?
        do {
            let reason = try inspector.selectRecords(
                of: entity, renewal: renew ? 20 : nil,
                { catalog in
                    let entity = try entity.map { try catalog.requireEntity($0) }
                    let selection = try selection.selection(entity, catalog)
                    dumper = try RecordDumper(
                        format?.ofRecords ?? .ndjson, entity, catalog, fields: selection.fields,
                        withVersions: !noVersions, isSpreadsheetSafe: csvSafe)
                    return selection
                }, record: { dumper?.write($0) }, damaged: { report.add($0) })
            dumper?.end()
            return reason
        } catch let error as RecordSelectionError {
            throw Failure(.usage, error.description)
        }
    }
}
