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
            can be discarded, too: the server may have it. The server keeps a record whose creation it has \
            accepted, also if its deletion is queued: fetch it, and delete it again.

            Changes that are named one by one are discarded all or none. Those of a range, and all with --all, \
            are discarded in steps, the last one first; an interrupted command leaves the others queued. Changes \
            that a push is sending stay (exit code 3).

            Examples:
              tarn outbox discard 12
              tarn outbox discard 12-40
              tarn outbox discard --all --state dead
            """)

    /// The most changes of one step.
    private static let step = 500

    @Argument(help: QueuedNumbers.help) var ids: [QueuedNumbers] = []
    @Flag(help: "All queued changes.") var all = false
    @Option(help: ArgumentHelp("With --all or a range: only changes in this state.", valueName: "state"))
    var state: OutboxOperation.State?
    @OptionGroup var store: WritableStoreOptions

    func validate() throws {
        if ids.isEmpty != all { throw ValidationError("name the changes, or write --all") }
        if state != nil, !all, ids.ranges.isEmpty { throw ValidationError("--state is for --all and for ranges") }
    }

    func run() throws {
        let named = try ids.named(), store = try store.open()
        if !named.isEmpty { try discard(named, in: store) }
        let ranges = all ? [0...UInt64.max] : ids.ranges
        guard !ranges.isEmpty else { return }
        let queued = try store.read { try $0.outbox.queued(ranges, in: state) { _ in true } }
        var busy = 0
        for end in stride(from: queued.count, to: 0, by: -Self.step) {
            busy += try discardQueued(queued[max(0, end - Self.step)..<end], in: store)
        }
        guard busy > 0 else { return }
        throw Failure(
            .partly, countText(busy, "change") + (busy == 1 ? " is" : " are") + " being sent, and not discarded")
    }

    /// Discards all changes or none.
    private func discard(_ ids: [UInt64], in store: Store) throws {
        let discarded = try store.write { writer in
            let isFree = OutboxLock.isFree(directory: store.directory)
            var discarded: [OutboxOperation] = [], done: Set<UInt64> = []
            for id in ids where !done.contains(id) {
                let operations = try writer.discardOperation(id, evenIfSending: isFree).operations
                done.formUnion(operations.map(\.id))
                discarded += operations
            }
            return discarded
        }
        show(discarded)
    }

    /// Discards those changes that are still queued, the last one first.
    ///
    /// - Returns: the number of those that are being sent.
    private func discardQueued(_ ids: ArraySlice<UInt64>, in store: Store) throws -> Int {
        let (discarded, busy) = try store.write { writer -> ([OutboxOperation], Int) in
            let isFree = OutboxLock.isFree(directory: store.directory)
            var discarded: [OutboxOperation] = [], busy = 0
            for id in ids.reversed() {
                guard let operation = try writer.outbox.operation(id) else { continue }
                guard operation.state != .sending || isFree else {
                    if state == nil || state == .sending { busy += 1 }
                    continue
                }
                if let state, operation.state != state { continue }
                discarded += try writer.discardOperation(id, evenIfSending: isFree).operations
            }
            return (discarded, busy)
        }
        show(discarded)
        return busy
    }

    private func show(_ discarded: [OutboxOperation]) {
        for operation in discarded {
            Output.line("discarded \(operation.id): \(operation.kind.rawValue) \(operation.record)")
            if operation.isAccepted || operation.location != nil {
                Output.note(
                    "warning: the server has accepted the creation \(operation.id), and keeps the record: fetch it, and "
                        + "delete it again if its deletion was queued")
            }
            guard operation.state == .sending else { continue }
            Output.note(
                "warning: operation \(operation.id) was being sent when its push was killed: the server may have it")
        }
    }
}
