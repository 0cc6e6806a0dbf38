import ArgumentParser
import Tarn

/// The command `tarn delete`.
struct DeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete the records that meet a condition: in the store, and with --send at the server.",
        discussion: """
            The records are marked as deleted locally: a sync does not bring them back, and reports them, until a \
            program clears the mark. Records that a delete rule deletes are not marked. With --queue, `tarn push` sends \
            the deletion; --send sends it at once, with everything that is queued. With --as-server, nothing is marked.

            Examples:
              tarn delete Comment --where 'issue is missing' --dry-run
              tarn delete Issue --where 'state = closed and closedAt < 2020-01-01'
              tarn delete Comment --where 'id = 5' --queue
            """)

    @Argument(help: "Name of the entity in the description.") var entity: String
    @OptionGroup var options: WriteOptions

    func run() async throws {
        if options.isQueued {
            return try await options.queue(entity) { try await $0.delete($1, step: options.step) }
        }
        try options.run(entity, "deleted") { store, query in
            try options.asServer
                ? store.delete(query, step: options.step) : store.deleteLocally(query, step: options.step)
        }
    }
}
