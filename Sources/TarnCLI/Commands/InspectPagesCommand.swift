// `tarn inspect pages`: what the pages of a file are used for.

import ArgumentParser
import TarnInspect

struct InspectPagesCommand: InspectingCommand {
    static let configuration = CommandConfiguration(
        commandName: "pages",
        abstract: "Show the use of the pages by table: kinds, fill, fragmentation, and the free list.",
        discussion: """
            Reads all pages, of a store or of any other LMDB file. `fill` is the used part of the pages. \
            `scattered` is the part of the steps from leaf to leaf that leave the order of the file. Free pages are \
            reusable once no reader and no later state of the file needs them. Damage is reported on standard error, \
            and the exit code is then 6.

            Examples:
              tarn inspect pages forge.tarn
              tarn inspect pages forge.tarn --json | jq '.free'
            """)

    @Argument(help: "Store directory, or any LMDB data file.") var store: String
    @Flag(help: "Print one JSON object.") var json = false

    func run(on inspector: StoreInspector) throws {
        let use = try inspector.pageUse()
        noteWithoutLocks(store, use.aloneBecause)
        if json { Output.json(use.json) } else { show(use) }
        try StatCommand.end(store, use.findings)
    }

    private func show(_ use: PageUse) {
        let all = max(1, use.usedRange)
        Output.line(
            "\(store)  \(countText(use.filePages, "page")) of \(use.pageSize) bytes, \(use.usedRange) in use or free, "
                + "transaction \(use.transaction)")
        Output.line("")
        var table = Table(
            ["table", "what", "branch", "leaf", "overflow", "fill", "scattered", "share"],
            rightAligned: [2, 3, 4, 5, 6, 7])
        var bars: [Double] = []
        func add(_ cells: [String], share: Double) {
            table.add(cells + [percent(share)])
            bars.append(share)
        }
        for t in use.tables where t.pages > 0 {
            add(
                [
                    t.name, t.meaning + (t.options.isEmpty ? "" : " [\(t.options.joined(separator: ", "))]"),
                    "\(t.branchPages)", "\(t.leafPages)", "\(t.overflowPages)", percent(t.fill(pageSize: use.pageSize)),
                    percent(t.fragmentation),
                ], share: Double(t.pages) / Double(all))
        }
        add(
            ["", "free pages", "", "", "\(use.free.pages)", "", ""], share: Double(use.free.pages) / Double(all))
        if use.unaccounted > 0 {
            add(
                ["", "in no table, not free", "", "", "\(use.unaccounted)", "", ""],
                share: Double(use.unaccounted) / Double(all))
        }
        let most = max(bars.max() ?? 0, .leastNormalMagnitude)
        table.lines(width: Output.summaryWidth, bars: bars.map { $0 / most }).forEach { Output.line($0) }
        Output.line("")
        Output.line(freeText(use))
    }

    private func freeText(_ use: PageUse) -> String {
        guard use.free.pages > 0 else { return "free list: empty" }
        func age(_ transaction: UInt64?) -> String {
            let transaction = transaction ?? 0
            let age = use.transaction >= transaction ? use.transaction - transaction : 0
            return "\(countText(Int(clamping: age), "transaction")) ago"
        }
        return "free list: \(countText(use.free.pages, "page")), \(use.free.reusable) reusable now; freed from "
            + "\(age(use.free.oldest)) to \(age(use.free.newest))"
            + (use.free.oldestReader.map { "; the oldest reader is of transaction \($0)" } ?? "")
    }

    private func percent(_ part: Double) -> String { "\((part * 1000).rounded() / 10) %" }
}
