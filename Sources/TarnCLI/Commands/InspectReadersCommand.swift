// `tarn inspect readers`: the processes that read a store.

import ArgumentParser

struct InspectReadersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "readers",
        abstract: "Show the processes that read a store, and how far their snapshots lag behind.",
        discussion: """
            While a snapshot is held, pages that were freed since then cannot be reused, and the file grows: "behind" \
            is the number of transactions committed since, and "running" the age of the process. Nothing is changed \
            without --clear, which frees the slots of killed processes in the lock file. The store may be any LMDB \
            environment.

            Examples:
              tarn inspect readers forge.tarn
              tarn inspect readers forge.tarn --json
              tarn inspect readers forge.tarn --clear
            """)

    @Argument(help: "Store directory.") var store: String
    @Flag(help: "Free the reader slots of dead processes.") var clear = false
    @Flag(help: "Print one JSON object per line (default: only in a pipe).") var json = false
    // As `tarn store readers` has it.
    @Option(help: .hidden) var format: ReportFormat = .default

    func run() throws { try ReaderReport.show(store, clear: clear, json ? .json : format) }
}
