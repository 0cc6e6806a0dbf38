import ArgumentParser
import Foundation
import Tarn
import TarnInspect

/// The command `tarn inspect stat`.
struct StatCommand: InspectingCommand {
    static let configuration = CommandConfiguration(
        commandName: "stat",
        abstract: "Show the content and the size of a store, table by table.",
        discussion: """
            Reads the statistics that LMDB keeps of each table, also of a damaged file or one that is not a store. \
            Damage that it meets is reported on standard error, and the exit code is then 6; `tarn inspect verify` \
            checks everything. The endpoints are those that were scanned, with their last failures. Without permission \
            to lock, the file is read without locks; the exit code is 9 if another process committed meanwhile.

            Below is a row for each table, with a bar for its size. --sizes and --bigkeys read all pages.

            Examples:
              tarn inspect stat forge.tarn
              tarn inspect stat forge.tarn r/1 i/2           these tables only
              tarn inspect stat forge.tarn --sizes --bigkeys 20
              tarn inspect stat forge.tarn --json | jq '.tables[] | [.meaning, .bytes]'
              tarn inspect stat forge.tarn --plot sizes.svg
            """)

    @Argument(help: "Store directory.") var store: String
    @Argument(help: "Names of tables to show (default: the whole store).") var tables: [String] = []
    @Flag(help: "Print one JSON object.") var json = false
    @Flag(help: "Show the mean and the largest size of keys and values.") var sizes = false
    @Option(help: ArgumentHelp("Show the largest entries, at most 1,000.", valueName: "number")) var bigkeys: Int?
    @Option(help: ArgumentHelp("Write a bar chart of the sizes (SVG) into a new file.", valueName: "file.svg"))
    var plot: String?

    func validate() throws {
        if let bigkeys, !(1...1000).contains(bigkeys) { throw ValidationError("--bigkeys must be from 1 to 1000") }
        if json, sizes || bigkeys != nil || plot != nil || !tables.isEmpty {
            throw ValidationError("--json cannot be combined with tables, --sizes, --bigkeys and --plot")
        }
    }

    func run(on inspector: StoreInspector) throws {
        let statistics = try inspector.statistics()
        if json {
            noteWithoutLocks(store, statistics.aloneBecause)
            Output.json(statistics.json)
            return try StatCommand.end(store, statistics.findings)
        }
        for name in tables where !statistics.tables.contains(where: { $0.name == name }) {
            throw Failure(
                .usage, "\(store): " + Spelling.unknown("table", name, among: statistics.tables.map(\.name)))
        }
        if let plot { try write(statistics.plot, to: plot) }
        if tables.isEmpty { writeSummary(statistics) }
        noteWithoutLocks(store, statistics.aloneBecause)
        var table = Table(
            ["table", "what", "entries", "depth", "pages", "size", "share"], rightAligned: [2, 3, 4, 5, 6])
        let shown = statistics.tables.filter { tables.isEmpty || tables.contains($0.name) }
        for t in shown {
            let share = statistics.fileBytes > 0 ? Double(t.bytes) / Double(statistics.fileBytes) : 0
            table.add([
                t.name, t.meaning, "\(t.entries)", "\(t.depth)", "\(t.pages)", size(t.bytes),
                "\((share * 1000).rounded() / 10) %",
            ])
        }
        // As in the picture, the longest bar is that of the largest table.
        let most = Double(max(1, shown.map(\.bytes).max() ?? 1))
        table.lines(width: Output.summaryWidth, bars: shown.map { Double($0.bytes) / most }).forEach { Output.line($0) }
        var findings = statistics.findings
        if sizes || bigkeys != nil {
            let use = try inspector.pageUse(largest: bigkeys ?? 0)
            writeSizes(use)
            findings += use.findings.filter { !findings.contains($0) }
        }
        try StatCommand.end(store, findings)
    }

    /// Ends a command with the exit code 6 if the file is damaged.
    static func end(_ store: String, _ findings: [Finding]) throws {
        guard !findings.isEmpty else { return }
        for finding in findings {
            Output.error("\(store): \(finding.place): \(finding.detail) [\(finding.code.rawValue)]")
        }
        throw Failure(.store, "\(store): the store is damaged; `tarn inspect verify` checks everything")
    }

    private func writeSizes(_ use: PageUse) {
        if sizes {
            Output.line("")
            var table = Table(
                ["table", "what", "keys", "mean key", "longest", "values", "mean value", "longest"],
                rightAligned: [2, 3, 4, 5, 6, 7])
            for t in use.tables where t.entries > 0 && (tables.isEmpty || tables.contains(t.name)) {
                table.add([
                    t.name, t.meaning, size(t.keyBytes), "\(t.keyBytes / t.entries) B", size(t.longestKey),
                    size(t.valueBytes), "\(t.valueBytes / t.entries) B", size(t.longestValue),
                ])
            }
            table.lines(width: Output.width).forEach { Output.line($0) }
        }
        guard bigkeys != nil else { return }
        Output.line("")
        var table = Table(["table", "largest entries", "key", "value"], rightAligned: [2, 3])
        for entry in use.largest where tables.isEmpty || tables.contains(entry.table) {
            table.add([entry.table, entry.key, size(entry.keyBytes), size(entry.valueBytes)])
        }
        table.lines(width: Output.width).forEach { Output.line($0) }
    }

    private func write(_ text: String, to path: String) throws {
        do {
            try OutputFile.create(path, Data(text.utf8))
        } catch {
            throw Failure(.failed, "\(path): cannot be written: \(Failure.reason(error))")
        }
    }

    /// Writes the records, the responses and the scans of the whole store.
    private func writeSummary(_ statistics: StoreStatistics) {
        let records = RecordCounts(
            entities: statistics.entities.map { .init(name: $0.name, count: $0.records, parent: $0.parent) })
        Output.line(
            statistics.incarnation.isEmpty
                ? "\(statistics.path)  not a Tarn store, transaction \(statistics.lastTransaction)"
                : "\(statistics.path)  incarnation \(statistics.incarnation), commit \(statistics.sequence)")
        Output.line(
            "file \(size(statistics.fileBytes)), pages of \(statistics.pageSize) bytes, \(statistics.freePages) free"
                + (statistics.readers.map { ", \($0.used) of \($0.all) reader slots used" } ?? ""))
        let counts = records.entities.isEmpty ? "" : ": \(records.text)"
        // A file of another program has tables only.
        let hasRecords = !statistics.incarnation.isEmpty || !statistics.findings.isEmpty || records.total > 0
        if hasRecords {
            Output.line(
                "\(countText(records.total, "record"))\(counts); \(countText(statistics.responses, "response"))")
        }
        // The checkpoints of whole syncs are named `*`, those of failures begin with `!` or `?`.
        let walked = statistics.checkpoints.filter { !["*", "!", "?"].contains($0.name.prefix(1)) }
        for walks in Dictionary(grouping: walked, by: { $0.name.prefix { $0 != " " } }).values
            .sorted(by: { $0[0].name < $1[0].name })
        {
            // An endpoint with `for_each` has a checkpoint for each parent record.
            let name = walks[0].name.prefix { $0 != " " }, complete = walks.filter { $0.checkpoint.state == .complete }
            let last = complete.compactMap(\.checkpoint.completedAt).max()
            // A further scan may have been interrupted: its progress keeps the time.
            let before = walks.compactMap(\.checkpoint.completedAt).max()
            let state =
                last.map { "complete at \($0)" } ?? before.map { "last complete at \($0)" } ?? "not complete yet"
            let unfinished = walks.count - complete.count
            Output.line(
                "endpoint \(name): " + (walks.count > 1 ? "\(complete.count) of \(walks.count) scans " : "") + state
                    + (unfinished > 0 ? ", \(unfinished) unfinished" : ""))
            if walks.count == 1 { writeDetails(walks[0].checkpoint) }
        }
        // Those of a scan and of a request outside of one.
        for (name, checkpoint) in statistics.checkpoints where name.hasPrefix("! ") || name.hasPrefix("? ") {
            guard let failure = checkpoint.lastFailure else { continue }
            Output.line("failed at \(failure.at): \(name.dropFirst(2)): \(failure.text)")
        }
        if let outbox = statistics.outbox, !outbox.isEmpty {
            var parts = ["\(outbox.pending &+ outbox.sending) to send"]
            if outbox.failed > 0 { parts.append("\(outbox.failed) failed") }
            if outbox.dead > 0 { parts.append("\(outbox.dead) dead") }
            Output.line("outbox: " + parts.joined(separator: ", "))
        }
        Output.line("")
    }

    /// Writes the position of an unfinished scan, and the value of the next incremental one.
    ///
    /// The store does not know whether a process scans the endpoint now.
    private func writeDetails(_ checkpoint: Checkpoint) {
        if checkpoint.state == .underWay {
            Output.line(
                "  under way, or stopped after \(countText(checkpoint.pages, "page")), "
                    + "\(countText(checkpoint.records, "record")); begun \(checkpoint.startedAt)"
                    + (checkpoint.nextURL.map { "; next: \(Redaction.shown($0))" } ?? ""))
        }
        if let since = checkpoint.since { Output.line("  the next sync requests what changed since \(since)") }
    }

    private func size(_ bytes: Int) -> String { byteText(bytes) }
}
