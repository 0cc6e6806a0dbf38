// `tarn inspect readers`: the processes that read a store.

import ArgumentParser

struct InspectReadersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "readers",
        abstract: "Show the processes that read a store, and how far their snapshots lag behind.",
        discussion: """
            While a snapshot is held, pages that were freed since then cannot be reused, and the file grows: "behind" \
            is the number of transactions committed since, and "running" the age of the process. Nothing is changed \
            without --clear, which frees the slots of killed processes in the lock file.

            Examples:
              tarn inspect readers forge.tarn
              tarn inspect readers forge.tarn --clear
            """)

    @Argument(help: "Store directory.") var store: String
    @Flag(help: "Free the reader slots of dead processes.") var clear = false
    @OptionGroup var format: ReportFormatOption

    func run() throws { try ReaderReport.show(store, clear: clear, format.format) }
}
