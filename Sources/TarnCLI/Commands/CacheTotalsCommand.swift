import ArgumentParser
import Foundation
import Tarn

/// The command `tarn cache totals`.
struct CacheTotalsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "totals",
        abstract: "Say how many answers caches keep, and how large they are.",
        discussion: """
            As the limits of the description (`cache: { entries, bytes }`) count them: without those of mirrors.

            Example:
              tarn cache totals forge.tarn
            """)

    @OptionGroup var store: StoreArgument
    @OptionGroup var format: FormatOption

    func run() throws {
        let totals = try store.open().read { try $0.cacheTotals }
        if format.format == .json { return try Output.json(["entries": totals.entries, "bytes": totals.bytes]) }
        Output.line("\(totals.entries) entries, \(byteText(totals.bytes))")
    }
}
