import ArgumentParser
import Foundation

/// The command `tarn store readers`.
struct ReadersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "readers",
        abstract: "Show the processes that read a store, and how far their snapshots lag behind.",
        discussion: """
            While a snapshot is held, pages that were freed since then cannot be reused, and the file grows. The \
            reader slots of killed processes are freed when any process opens the store, and by --clear.

            Examples:
              tarn store readers forge.tarn
              tarn store readers forge.tarn --clear
            """)

    @Argument(help: "Store directory.") var store: String
    @Flag(help: "Free the reader slots of dead processes.") var clear = false
    @OptionGroup var format: ReportFormatOption

    func run() throws {
        try ReaderReport.show(store, clear: clear, format.format)
    }
}
