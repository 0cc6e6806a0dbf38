import ArgumentParser
import Foundation
import Tarn
import TarnInspect

/// The command `tarn inspect dump`.
struct DumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: "Write every record as one JSON object a line, entity by entity, in the order of keys.",
        discussion: """
            Rows that cannot be read are named on standard error, the others are written all the same; the exit code is
            then 6. Without permission to lock the file is read as it is; the exit code is 9 if commits came in between, and
            what was written may be of several of them.

            Examples:
              tarn inspect dump forge.tarn > forge.ndjson
              tarn inspect dump forge.tarn --entity Issue | jq .fields.title
              diff <(tarn inspect dump a.tarn --no-versions) <(tarn inspect dump b.tarn --no-versions)
              tarn inspect dump forge.tarn --tables > forge.lmdb     as mdb_dump writes it, for mdb_load
            """)

    @Argument(help: "The store's directory.") var store: String
    @Option(help: "Only this entity.") var entity: String?
    @Flag(help: "Leave out versions, which count commits: stores with the same records then have the same lines.")
    var noVersions = false
    @Flag(
        help:
            "Write the tables of LMDB instead of records, in the format of `mdb_dump -a`; the file need not be a store."
    )
    var tables = false

    func validate() throws {
        if tables, entity != nil || noVersions {
            throw ValidationError("--tables and options of records exclude each other")
        }
    }

    func run() throws {
        var rows = 0, pages = 0
        func say(_ damage: StoreDump.Damage) {
            if damage.isOfPages { pages += 1 } else { rows += 1 }
            Output.error("\(store): \(damage)")
        }
        if tables {
            noteWithoutLocks(store, try TableDump(fileAt: store).tables(line: Output.data, damaged: say))
        } else {
            let dump = try StoreDump(storeAt: store)
            noteWithoutLocks(store, dump.aloneBecause)
            try dump.records(of: entity, withVersions: !noVersions, line: Output.json, damaged: say)
        }
        guard rows + pages > 0 else { return }
        throw Failure(
            .store,
            pages == 0
                ? "\(rows) damaged rows; the others are complete"
                : "\(rows) damaged rows and \(pages) faults of pages; what could be read was written")
    }
}
