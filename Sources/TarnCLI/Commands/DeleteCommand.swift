import ArgumentParser
import Tarn

/// The command `tarn delete`.
struct DeleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete the records that meet a condition, in the store only, and apply delete rules.",
        discussion: """
            The records are marked as deleted locally: a sync does not bring them back, and reports them, until a \
            program clears the mark. Records that a delete rule deletes are not marked. With --as-server, nothing is \
            marked.

            Examples:
              tarn delete Comment --where 'issue is missing' --dry-run
              tarn delete Issue --where 'state = closed and closedAt < 2020-01-01'
            """)

    @Argument(help: "Name of the entity in the description.") var entity: String
    @OptionGroup var options: WriteOptions

    func run() throws {
        try options.run(entity, "deleted") { store, query in
            try options.asServer
                ? store.delete(query, step: options.step) : store.deleteLocally(query, step: options.step)
        }
    }
}
