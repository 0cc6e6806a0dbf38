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

            The creation of a record that was never sent is withdrawn with its other changes, and queued changes of \
            other records lose their references to it: the output names all of them, also with --dry-run.

            Examples:
              tarn delete Comment --where 'issue is missing' --dry-run
              tarn delete Issue --where 'state = closed and closedAt < 2020-01-01'
              tarn delete Comment --where 'id = 5' --queue
            """)

    @Argument(help: "Name of the entity in the description.") var entity: String
    @OptionGroup var options: WriteOptions

    func run() async throws {
        if try options.goesThroughQueue() { return try await queue() }
        try options.run(entity, "deleted") { store, query in
            try options.asServer
                ? store.delete(query, step: options.step) : store.deleteLocally(query, step: options.step)
        }
    }

    /// Queues the deletions, and tells what they change of the outbox.
    private func queue() async throws {
        let isDryRun = options.dryRun
        try await options.queue(entity, .delete) { outbox, query in
            let result = try await outbox.deletions(query, step: options.step, isDryRun: isDryRun)
            return WriteOptions.Queued(
                matched: result.matched, operations: result.operations,
                json: json("withdrawn", result.withdrawn) + json("changed", result.changed),
                lines: result.withdrawn.map {
                    "\(isDryRun ? "would withdraw" : "withdrew") \($0.id): \($0.kind.rawValue) \($0.record)"
                }
                    + result.changed.map {
                        "\(isDryRun ? "would change" : "changed") \($0.id): \($0.kind.rawValue) \($0.record), "
                            + "without the reference to a deleted record"
                    })
        }
    }

    /// A further member of the JSON object; empty without operations.
    private func json(_ name: String, _ operations: [OutboxOperation]) -> String {
        guard !operations.isEmpty else { return "" }
        let elements = operations.map { operation in
            var text = "{\"id\":\(operation.id),\"change\":\"\(operation.kind.rawValue)\",\"record\":"
            text.appendJSONString("\(operation.record)")
            return text + "}"
        }
        return ",\"\(name)\":[\(elements.joined(separator: ","))]"
    }
}
