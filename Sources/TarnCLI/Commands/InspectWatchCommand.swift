// `tarn inspect watch`: what is committed to a store.

import ArgumentParser
import Tarn
import TarnInspect

struct InspectWatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show every change as it is committed, by whichever process.",
        discussion: """
            Runs until it is interrupted. No snapshot is held between two commits, so writers are not delayed and the \
            file does not grow. If changes were trimmed from the log before they could be shown, or the store was \
            replaced, a line on standard error says so.

            Of an LMDB file of another program, each commit is shown with the tables that it has changed, and how many \
            entries more or less they have; --entity names a table, or (main) for the one without a name. Commits \
            within a tenth of a second are one line for each table.

            Examples:
              tarn inspect watch forge.tarn
              tarn inspect watch forge.tarn --entity Issue --format ndjson | jq .key
              tarn inspect watch other.mdb
              tarn inspect watch forge.tarn --since 120 --limit 5     stop after five changes
            """)

    @Argument(help: "Store directory, or its data.mdb.") var store: String
    @Option(help: ArgumentHelp("Begin after this commit (default: the newest one).", valueName: "commit"))
    var since: UInt64?
    @Option(
        name: .customLong("entity"), parsing: .singleValue,
        help: ArgumentHelp("Only this entity. May be repeated.", valueName: "entity"))
    var entities: [String] = []
    @Option(help: "Number of changes to show (default: until interrupted).") var limit: Int?
    @Option(
        help: ArgumentHelp(
            "Output format: table, or ndjson with one object per line (default: table on a terminal, else ndjson)."))
    var format = Format(.default)

    /// The formats of changes that are shown one by one.
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case table, ndjson

        /// The format nearest to another one.
        init(_ format: OutputFormat) { self = format == .table ? .table : .ndjson }

        var output: OutputFormat { self == .table ? .table : .ndjson }
    }

    /// The time between two looks at the file.
    private static let interval = Duration.milliseconds(100)

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
    }

    func run() async throws {
        let style = OutputStyle(format.output), damage = DamageReport(store)
        if let tables = try TableQuestions(store, StoreInspector(at: store), unfit: [("--since", since != nil)]) {
            return try await tables.watch(entities, limit: limit, style, interval: Self.interval)
        }
        nonisolated(unsafe) var left = limit ?? .max
        var follower = try ChangeFollower(
            StoreInspector(at: store), since: since, of: entities.isEmpty ? nil : entities)
        noteWithoutLocks(store, follower.aloneBecause)
        try await FollowedTask.run {
            while left > 0 {
                var rows = RowWriter(Change.columns, style)
                try follower.step(damaged: damage.add, notice: { Output.note("\(store): \($0)") }) { change in
                    guard left > 0 else { return }
                    left -= 1
                    rows.add(members: change.members(style), cells: change.cells(style))
                }
                if rows.count > 0 { rows.end() }
                Output.flush()
                if left > 0 { try? await Task.sleep(for: Self.interval) }
                if Task.isCancelled { break }
            }
        }
        try damage.end("read")
    }
}
