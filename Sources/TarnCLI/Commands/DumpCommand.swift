import ArgumentParser
import Foundation
import Tarn
import TarnInspect

/// The command `tarn inspect dump`.
struct DumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: "Write records as lines of JSON, by entity and key, or as JSON, CSV or YAML.",
        discussion: """
            Conditions are those of `tarn list`, by the catalog in the store. Damaged rows are reported on standard \
            error, and all others are written; the exit code is then 6. Without permission to lock, the file is read \
            without locks; if another process committed meanwhile, the output may mix several commits, and the exit \
            code is 9.

            Examples:
              tarn inspect dump forge.tarn > forge.ndjson
              tarn inspect dump forge.tarn --entity Issue --where 'state = open' --fields number,title
              tarn inspect dump forge.tarn --entity Issue --from 100 --to 199 --reverse --limit 10
              tarn inspect dump forge.tarn --entity Label --prefix bug --format csv > bugs.csv
              tarn inspect dump forge.tarn --redact User.email --redact body > shareable.ndjson
              diff <(tarn inspect dump a.tarn --no-versions) <(tarn inspect dump b.tarn --no-versions)
              tarn inspect dump forge.tarn --tables > forge.lmdb     as mdb_dump writes it, for mdb_load
            """)

    @Argument(help: "Store directory.") var store: String
    @Option(help: "Only records of this entity.") var entity: String?
    @OptionGroup var selection: SelectionOptions
    @Option(help: "Output format: ndjson (one object per line), json, csv or yaml.")
    var format: RecordDumper.Format = .ndjson
    @Flag(help: "Leave out versions, so that stores with equal records give equal output.")
    var noVersions = false
    @Flag(
        help:
            "Write LMDB tables instead of records, in the format of `mdb_dump -a`. Works for any LMDB file."
    )
    var tables = false

    func validate() throws {
        if tables, entity != nil || noVersions || !selection.isEverything || format != .ndjson {
            throw ValidationError("--tables cannot be combined with options for records")
        }
        if selection.needsEntity, entity == nil {
            throw ValidationError("--where, --partials, --from, --to and --prefix need --entity")
        }
    }

    func run() throws {
        let report = DamageReport(store)
        let inspector = StoreInspector(at: store)
        try noteWithoutLocks(
            store,
            tables
                ? inspector.dumpTables(line: Output.data, damaged: { report.add($0) })
                : selection.isEverything && format == .ndjson
                    ? inspector.writeRecords(
                        of: entity, withVersions: !noVersions, line: Output.json, damaged: { report.add($0) })
                    : dumpSelection(inspector, report))
        try report.end("written")
    }

    private func dumpSelection(_ inspector: StoreInspector, _ report: DamageReport) throws -> String? {
        var dumper: RecordDumper?
        do {
            let reason = try inspector.selectRecords(
                of: entity,
                { catalog in
                    let entity = try entity.map { try catalog.requireEntity($0) }
                    let selection = try selection.selection(entity, catalog)
                    dumper = try RecordDumper(
                        format, entity, catalog, fields: selection.fields, withVersions: !noVersions)
                    return selection
                }, record: { dumper?.write($0) }, damaged: { report.add($0) })
            dumper?.end()
            return reason
        } catch let error as RecordSelectionError {
            throw Failure(.usage, error.description)
        }
    }
}

extension RecordDumper.Format: ExpressibleByArgument {}
