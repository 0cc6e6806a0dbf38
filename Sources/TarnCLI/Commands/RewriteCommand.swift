import ArgumentParser
import Foundation
import Tarn
import TarnInspect

/// The command `tarn store rewrite`.
struct RewriteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rewrite",
        abstract: "Store all rows again: newly compressed, and in pages that are full.",
        discussion: """
            Records stay what they are. Others may read and write meanwhile. If it is interrupted, it goes on from there when it
            is run again.

            Examples:
              tarn store rewrite forge.tarn
              tarn store rewrite forge.tarn --entity Issue
            """)

    @Argument(help: "The store's directory.") var store: String
    @Option(help: "Only this entity, and those that share its table.") var entity: String?
    @Flag(help: "Show how far it is, on standard error; by default if that is a terminal.") var progress = false

    func run() throws {
        let meter = ProgressMeter(isShown: progress || Output.errorIsTerminal)
        let report = try Store.open(at: store).rewrite(entity, progress: { meter.show($0.rows, of: $0.total, "rows") })
        meter.clear()
        Output.line(
            "\(report.rows) rows, \(report.rewritten) written anew: \(byteText(report.bytesBefore)) before, \(byteText(report.bytesAfter)) now"
                + (report.dictionariesDropped > 0 ? "; \(report.dictionariesDropped) dictionaries dropped" : ""))
    }
}
