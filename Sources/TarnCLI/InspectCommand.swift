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
            """,
        subcommands: [StatCommand.self, DumpCommand.self])
}

struct StatCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stat",
        abstract: "Show what a store holds and how much room it takes, table by table.",
        discussion: """
            Example:
              tarn inspect stat forge.tarn
            """)

    @Argument(help: "The store's directory.") var store: String

    func run() throws {
        let statistics = try StoreStatistics(ofStoreAt: store)
        let environment = statistics.environment
        Output.line("\(statistics.path)  incarnation \(statistics.incarnation), commit \(statistics.sequence)")
        Output.line(
            "file \(size(statistics.fileBytes)), pages of \(environment.pageSize) bytes, \(environment.freePages) free, "
                + "\(environment.readerSlotsUsed) of \(environment.maximumReaders) reader slots used")
        Output.line(
            "\(statistics.entities.reduce(0) { $0 + $1.records }) records: "
                + statistics.entities.map { "\($0.records) \($0.name)" }.joined(separator: ", ")
                + "; \(statistics.responses) responses")
        for walks in Dictionary(grouping: statistics.checkpoints, by: { $0.name.prefix { $0 != " " } }).values
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
    }

    private func size(_ bytes: Int) -> String {
        var value = Double(bytes), unit = 0
        let units = ["B", "KiB", "MiB", "GiB", "TiB"]
        while value >= 1024, unit < units.count - 1 {
            value /= 1024
            unit += 1
        }
        return unit == 0 ? "\(bytes) B" : "\((value * 10).rounded() / 10) \(units[unit])"
    }
}

struct DumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: "Write every record as one JSON object a line, entity by entity, in the order of keys.",
        discussion: """
            Rows that cannot be read are named on standard error, the others are written all the same; the exit code is
            then 6.

            Examples:
              tarn inspect dump forge.tarn > forge.ndjson
              tarn inspect dump forge.tarn --entity Issue | jq .fields.title
            """)

    @Argument(help: "The store's directory.") var store: String
    @Option(help: "Only this entity.") var entity: String?

    func run() throws {
        var damaged = 0
        try StoreDump(storeAt: store).records(of: entity, line: Output.line) { row in
            damaged += 1
            Output.error("\(store): \(row.entity) \(row.key): \(row.reason)")
        }
        if damaged > 0 { throw Failure(.store, "\(damaged) damaged rows; the others are complete") }
    }
}
