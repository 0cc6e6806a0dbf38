import ArgumentParser
import Foundation
import Tarn
import TarnInspect

/// The command `tarn inspect stat`.
struct StatCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stat",
        abstract: "Show the content and the size of a store, table by table.",
        discussion: """
            Reads the statistics that LMDB keeps of each table, also of a damaged file or one that is not a store. \
            Damage that it meets is reported on standard error, and the exit code is then 6; `tarn inspect verify` \
            checks everything. Without permission to lock, the file is read without locks; the exit code is 9 if \
            another process committed meanwhile.

            Examples:
              tarn inspect stat forge.tarn
              tarn inspect stat forge.tarn r/1 i/2           these tables only
            """)

    @Argument(help: "Store directory.") var store: String
    @Argument(help: "Names of tables to show (default: the whole store).") var tables: [String] = []

    func run() throws {
        let statistics = try StoreInspector(at: store).statistics()
        for name in tables where !statistics.tables.contains(where: { $0.name == name }) {
            throw Failure(
                .usage, "\(store): " + Spelling.unknown("table", name, among: statistics.tables.map(\.name)))
        }
        if tables.isEmpty { writeSummary(statistics) }
        noteWithoutLocks(store, statistics.aloneBecause)
        var table = Table(["table", "what", "entries", "depth", "pages", "size"], rightAligned: [2, 3, 4, 5])
        for t in statistics.tables where tables.isEmpty || tables.contains(t.name) {
            table.add([t.name, t.meaning, "\(t.entries)", "\(t.depth)", "\(t.pages)", size(t.bytes)])
        }
        table.lines(width: Output.width).forEach { Output.line($0) }
        guard !statistics.findings.isEmpty else { return }
        for finding in statistics.findings {
            Output.error("\(store): \(finding.place): \(finding.detail) [\(finding.code.rawValue)]")
        }
        throw Failure(.store, "\(store): the store is damaged; `tarn inspect verify` checks everything")
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
        Output.line(
            "\(countText(records.total, "record")): \(records.text); \(countText(statistics.responses, "response"))")
        // The checkpoints of whole syncs are named `*`, those of failures begin with `!` or `?`.
        let walked = statistics.checkpoints.filter { !["*", "!", "?"].contains($0.name.prefix(1)) }
        for walks in Dictionary(grouping: walked, by: { $0.name.prefix { $0 != " " } }).values
            .sorted(by: { $0[0].name < $1[0].name })
        {
            // An endpoint with `for_each` has a checkpoint for each parent record.
            let name = walks[0].name.prefix { $0 != " " }, complete = walks.filter { $0.checkpoint.state == .complete }
            let times = complete.compactMap(\.checkpoint.completedAt)
            let state = times.max().map { "complete at \($0)" } ?? "not complete yet"
            let underWay = walks.count - complete.count
            Output.line(
                "endpoint \(name): " + (walks.count > 1 ? "\(complete.count) of \(walks.count) scans " : "") + state
                    + (underWay > 0 ? ", \(underWay) in progress" : ""))
        }
        Output.line("")
    }

    private func size(_ bytes: Int) -> String { byteText(bytes) }
}
