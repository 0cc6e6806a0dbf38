import ArgumentParser
import Foundation
import Tarn

/// The command `tarn cache totals`.
struct CacheTotalsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "totals",
        abstract: "Show the number and the size of the cached responses.",
        discussion: """
            Counted as for the limits of the description (`cache: { entries, bytes }`): without the responses of \
            mirrors.

            Example:
              tarn cache totals forge.tarn
            """)

    @OptionGroup var store: StoreArgument
    @OptionGroup var format: ReportFormatOption

    func run() throws {
        let totals = try store.open().read { try $0.cacheTotals }
        if format.format == .json { return try Output.json(["entries": totals.entries, "bytes": totals.bytes]) }
        Output.line("\(countText(totals.entries, "response")), \(byteText(totals.bytes))")
    }
}
