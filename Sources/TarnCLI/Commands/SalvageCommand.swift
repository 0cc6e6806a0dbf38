import ArgumentParser
import Foundation
import Tarn
import TarnInspect

/// The command `tarn inspect salvage`.
struct SalvageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "salvage",
        abstract: "Bring every row of a damaged store that can be read into a new store.",
        discussion: """
            The damaged store is only read. Rows that no tree leads to any more are found by their checksums. If anything was
            lost, the new store has no responses and no progress, so that the next sync fetches everything again; the exit code
            is then 3. If programs write to the damaged store meanwhile, no new store is made; the exit code is then 9.

            Example:
              tarn inspect salvage damaged.tarn forge.tarn
            """)

    @Argument(help: "The damaged store's directory, or its data.mdb.") var damaged: String
    @Argument(help: "The new store's directory, which must not exist.") var new: String
    @Flag(help: "Show how far it is, on standard error; by default if that is a terminal.") var progress = false

    func run() throws {
        let meter = ProgressMeter(isShown: progress || Output.errorIsTerminal)
        let report = try SalvageReport.salvage(damaged, to: new) { meter.show($0.pages, of: $0.total, "pages") }
        meter.clear()
        noteWithoutLocks(damaged, report.aloneBecause)
        for damage in report.lost { Output.error("\(damaged): \(damage)") }
        let records = report.records.reduce(0) { $0 + $1.count }
        Output.line(
            "\(new): \(records) records (\(report.records.filter { $0.count > 0 }.map { "\($0.count) \($0.entity)" }.joined(separator: ", "))), "
                + "\(report.responses) responses, \(report.localChanges) local changes, as of commit \(report.sequence)"
        )
        if report.found > 0 {
            Output.line(
                "\(report.found) of them were found on pages that nothing leads to"
                    + (report.mayBeOld ? "; some may be older than what was lost, or may have been deleted" : ""))
        }
        guard report.lostCount > 0 else { return }
        throw Failure(
            .partly,
            "\(damaged): \(report.lostCount) rows or pages could not be read; run `tarn sync` on the new store to fetch what is missing"
        )
    }
}
