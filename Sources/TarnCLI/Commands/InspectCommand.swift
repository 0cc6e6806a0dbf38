// `tarn inspect`: looks into a store file without the description it was made with, and without changing it.

import ArgumentParser
import Foundation
import Tarn
import TarnInspect

struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Look into a store, without its description file and without changing it.",
        discussion: """
            Examples:
              tarn inspect stat forge.tarn
              tarn inspect dump forge.tarn | head -3
              tarn inspect verify forge.tarn
            """,
        subcommands: [StatCommand.self, DumpCommand.self, VerifyCommand.self, SalvageCommand.self])
}

struct StatCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stat",
        abstract: "Show what a store holds and how much room it takes, table by table.",
        discussion: """
            Shows what LMDB says of each table, also of a damaged file and of one that is no store; what is found to be
            wrong on the way is named on standard error, and the exit code is then 6. `verify` looks at everything.
            Without permission to lock the file is read as it is; the exit code is 9 if commits came in between.

            Example:
              tarn inspect stat forge.tarn
            """)

    @Argument(help: "The store's directory.") var store: String

    func run() throws {
        let statistics = try StoreStatistics(ofStoreAt: store)
        let records = RecordCounts(entities: statistics.entities.map { .init(name: $0.name, count: $0.records, parent: $0.parent) })
        noteWithoutLocks(store, statistics.aloneBecause)
        Output.line(
            statistics.incarnation.isEmpty
                ? "\(statistics.path)  no store of Tarn, transaction \(statistics.lastTransaction)"
                : "\(statistics.path)  incarnation \(statistics.incarnation), commit \(statistics.sequence)")
        Output.line(
            "file \(size(statistics.fileBytes)), pages of \(statistics.pageSize) bytes, \(statistics.freePages) free"
                + (statistics.readers.map { ", \($0.used) of \($0.all) reader slots used" } ?? ""))
        Output.line(
            "\(records.total) records: \(records.text); \(statistics.responses) responses")
        // Those of whole syncs are named `*`.
        let walked = statistics.checkpoints.filter { !$0.name.hasPrefix("*") }
        for walks in Dictionary(grouping: walked, by: { $0.name.prefix { $0 != " " } }).values
            .sorted(by: { $0[0].name < $1[0].name })
        {
            // An endpoint that is walked for every record of an entity has a checkpoint for each.
            let name = walks[0].name.prefix { $0 != " " }, complete = walks.filter { $0.checkpoint.state == .complete }
            let times = complete.compactMap(\.checkpoint.completedAt)
            let state = times.max().map { "complete at \($0)" } ?? "not complete yet"
            let underWay = walks.count - complete.count
            Output.line(
                "endpoint \(name): " + (walks.count > 1 ? "\(complete.count) of \(walks.count) walks " : "") + state
                    + (underWay > 0 ? ", \(underWay) under way" : ""))
        }
        Output.line("")
        var table = Table(["table", "what", "entries", "depth", "pages", "size"], rightAligned: [2, 3, 4, 5])
        for t in statistics.tables { table.add([t.name, t.meaning, "\(t.entries)", "\(t.depth)", "\(t.pages)", size(t.bytes)]) }
        table.lines(width: Output.width).forEach(Output.line)
        guard !statistics.findings.isEmpty else { return }
        for finding in statistics.findings { Output.error("\(store): \(finding.place): \(finding.detail) [\(finding.code.rawValue)]") }
        throw Failure(.store, "\(store): it is damaged; `tarn inspect verify` looks at everything")
    }

    private func size(_ bytes: Int) -> String { byteText(bytes) }
}

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
    @Flag(help: "Leave out versions, which count commits: stores with the same records then have the same lines.") var noVersions = false
    @Flag(help: "Write the tables of LMDB instead of records, in the format of `mdb_dump -a`; the file need not be a store.")
    var tables = false

    func validate() throws {
        if tables, entity != nil || noVersions { throw ValidationError("--tables and options of records exclude each other") }
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
            .store, pages == 0
                ? "\(rows) damaged rows; the others are complete"
                : "\(rows) damaged rows and \(pages) faults of pages; what could be read was written")
    }
}

/// Says on standard error that a file was read without locks, and why. A commit that came in between is an error by itself.
func noteWithoutLocks(_ store: String, _ reason: String?) {
    if let reason { Output.error("\(store): read without locks: \(reason)") }
}
