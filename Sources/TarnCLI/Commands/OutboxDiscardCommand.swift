import ArgumentParser
import Tarn

/// The command `tarn outbox discard`.
struct OutboxDiscardCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard",
        abstract: "Discard queued changes, and roll the local changes back.",
        discussion: """
            Fields get the server's values, a created record is deleted with everything that depends on it, and a \
            deleted record is restored. A change whose push was killed can be discarded, too: the server may have it.

            Examples:
              tarn outbox discard 12
            """)

    @Argument(help: "Numbers of the changes.") var ids: [UInt64]
    @OptionGroup var store: StoreOptions

    func run() throws {
        let store = try store.open(forWriting: true)
        let claim = self.store.outboxClaim(store)
        let discarded = try store.write { writer in
            var discarded: [OutboxOperation] = []
            for id in ids where !discarded.contains(where: { $0.id == id }) {
                discarded += try writer.discardOperation(id, evenIfSending: claim != nil).operations
            }
            return discarded
        }
        withExtendedLifetime(claim) {}
        for operation in discarded {
            Output.line("discarded \(operation.id): \(operation.kind.rawValue) \(operation.record)")
            guard operation.state == .sending else { continue }
            Output.note(
                "warning: operation \(operation.id) was being sent when its push was killed: the server may have it")
        }
    }
}

extension StoreOptions {
    /// Claims the outbox of a store; nil if a push is running, or if there is no description.
    ///
    /// Nothing is being sent while the claim is held, whatever an operation's state is.
    func outboxClaim(_ store: Store) -> OutboxClaim? {
        guard let base = try? description.load().api.base else { return nil }
        return OutboxClaim(base: base, directory: store.path)
    }
}
