import ArgumentParser
import Foundation
import Tarn
import TarnInspect

/// The command `tarn inspect dump`.
struct DumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: "Write every record as one line of JSON, by entity and key.",
        discussion: """
            Damaged rows are reported on standard error, and all others are written; the exit code is then 6. Without \
            permission to lock, the file is read without locks; if another process committed meanwhile, the output may \
            mix several commits, and the exit code is 9.

            Examples:
              tarn inspect dump forge.tarn > forge.ndjson
              tarn inspect dump forge.tarn --entity Issue | jq .fields.title
              diff <(tarn inspect dump a.tarn --no-versions) <(tarn inspect dump b.tarn --no-versions)
              tarn inspect dump forge.tarn --tables > forge.lmdb     as mdb_dump writes it, for mdb_load
            """)

    @Argument(help: "Store directory.") var store: String
    @Option(help: "Only records of this entity.") var entity: String?
    @Flag(help: "Leave out versions, so that stores with equal records give equal output.")
    var noVersions = false
    @Flag(
        help:
            "Write LMDB tables instead of records, in the format of `mdb_dump -a`. Works for any LMDB file."
    )
    var tables = false

    func validate() throws {
        if tables, entity != nil || noVersions {
            throw ValidationError("--tables cannot be combined with --entity or --no-versions")
        }
    }

    func run() throws {
        var rows = 0, pages = 0
        func say(_ damage: StoreInspector.Damage) {
            if damage.isOfPages { pages += 1 } else { rows += 1 }
            Output.error("\(store): \(damage)")
        }
        let inspector = StoreInspector(at: store)
        try noteWithoutLocks(
            store,
            tables
                ? inspector.dumpTables(line: Output.data, damaged: say)
                : inspector.dumpRecords(of: entity, withVersions: !noVersions, line: Output.json, damaged: say))
        guard rows + pages > 0 else { return }
        throw Failure(
            .store,
            pages == 0
                ? "\(countText(rows, "damaged row")); all others were written"
                : "\(countText(rows, "damaged row")) and \(countText(pages, "page fault")); the readable records were written"
        )
    }
}
