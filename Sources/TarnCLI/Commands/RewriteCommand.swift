import ArgumentParser
import Foundation
import Tarn
import TarnInspect

/// The command `tarn store rewrite`.
struct RewriteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rewrite",
        abstract: "Store all rows again: newly compressed, in full pages.",
        discussion: """
            The records do not change. Other processes may read and write meanwhile. An interrupted rewrite resumes \
            when the command runs again. If pages of the file are damaged, nothing is changed.

            Examples:
              tarn store rewrite forge.tarn
              tarn store rewrite forge.tarn --entity Issue
            """)

    @Argument(help: "Store directory.") var store: String
    @Option(help: "Only this entity, and those that share its table.") var entity: String?
    @Flag(help: "Show progress on standard error (default: only on a terminal).") var progress = false

    func run() throws {
        let meter = ProgressMeter(isShown: progress || Output.errorIsDrawable)
        // Damage can hide rows, or list pages as free that are in use: a rewrite would lose them.
        let findings = try StoreInspector(at: store).pageFindings { meter.show($0.pages, of: $0.total, "pages") }
        meter.clear()
        if let finding = findings.first { throw Failure(damagedPages: finding, of: store) }
        let report = try Failure.ofLocking { try Store.open(at: store) }.rewrite(
            entity, progress: { meter.show($0.rows, of: $0.total, "rows") })
        meter.clear()
        Output.line(
            "\(countText(report.rows, "row")), \(report.rewritten) rewritten: "
                + "\(byteText(report.bytesBefore)) before, \(byteText(report.bytesAfter)) now"
                + (report.dictionariesDropped > 0
                    ? "; \(countText(report.dictionariesDropped, "dictionary", plural: "dictionaries")) dropped"
                    : ""))
    }
}
