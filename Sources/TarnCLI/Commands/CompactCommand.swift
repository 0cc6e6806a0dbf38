import ArgumentParser
import Foundation
import Tarn
import TarnInspect

/// The command `tarn store compact`.
struct CompactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Make the file of a store as small as what it holds. Needs the store alone.",
        discussion: """
            Whoever has the store open is named, and nothing is done. There must be room for a second file beside the first.
            `rewrite` before it fills pages that are half empty.

            Example:
              tarn store compact forge.tarn
            """)

    @Argument(help: "The store's directory.") var store: String

    func run() throws {
        let report = try Store.compact(at: store)
        Output.line("\(store): \(byteText(report.bytesBefore)) before, \(byteText(report.bytesAfter)) now")
    }
}
