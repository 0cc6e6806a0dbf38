import ArgumentParser
import Tarn

/// The command `tarn outbox discard`.
struct OutboxDiscardCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard",
        abstract: "Discard queued changes, and roll the local changes back.",
        discussion: """
            Fields get the server's values, a created record is deleted with everything that depends on it, \
            unless a response has brought it, and a deleted record is restored. A change whose push was killed \
            can be discarded, too: the server may have it.

            Examples:
              tarn outbox discard 12
            """)

    @Argument(help: "Numbers of the changes.") var ids: [UInt64]
    @OptionGroup var store: WritableStoreOptions

    func run() throws {
        let store = try store.open()
        let discarded = try store.write { writer in
            var discarded: [OutboxOperation] = []
            for id in ids where !discarded.contains(where: { $0.id == id }) {
                discarded += try writer.discardOperation(id, evenIfSending: OutboxLock.isFree(directory: store.path))
                    .operations
            }
            return discarded
        }
        for operation in discarded {
            Output.line("discarded \(operation.id): \(operation.kind.rawValue) \(operation.record)")
            guard operation.state == .sending else { continue }
            Output.note(
                "warning: operation \(operation.id) was being sent when its push was killed: the server may have it")
        }
    }
}
