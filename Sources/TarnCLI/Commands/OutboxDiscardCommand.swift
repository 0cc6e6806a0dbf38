import ArgumentParser
import Tarn

/// The command `tarn outbox discard`.
struct OutboxDiscardCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard",
        abstract: "Discard queued changes, and roll the local changes back.",
        discussion: """
            Fields get the server's values, a created record is deleted with everything that depends on it, and a \
            deleted record is restored.

            Examples:
              tarn outbox discard 12
            """)

    @Argument(help: "Numbers of the changes.") var ids: [UInt64]
    @OptionGroup var store: StoreOptions

    func run() throws {
        let store = try store.open(forWriting: true)
        let discarded = try store.write { writer in
            var discarded: [OutboxOperation] = []
            for id in ids where !discarded.contains(where: { $0.id == id }) {
                discarded += try writer.discardOperation(id).operations
            }
            return discarded
        }
        for operation in discarded {
            Output.line("discarded \(operation.id): \(operation.kind.rawValue) \(operation.record)")
        }
    }
}
