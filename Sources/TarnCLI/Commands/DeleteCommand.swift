import ArgumentParser
import Tarn

/// The command `tarn delete`.
struct DeleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete all records that meet a condition, and what delete rules say, in the store only.",
        discussion: """
            The records are marked as deleted here: a sync does not bring them back and reports that, until a program clears the mark. What \
            delete rules take with them is not marked. With --as-server nothing is.

            Examples:
              tarn delete Comment --where 'issue is missing' --dry-run
              tarn delete Issue --where 'state = closed and closedAt < 2020-01-01'
            """)

    @Argument(help: "The entity, as in the description file.") var entity: String
    @OptionGroup var options: WriteOptions

    func run() throws {
        try options.run(entity, "deleted") { store, query in
            try options.asServer
                ? store.delete(query, step: options.step) : store.deleteLocally(query, step: options.step)
        }
    }
}
