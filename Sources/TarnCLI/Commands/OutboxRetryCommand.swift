import ArgumentParser
import Tarn

/// The command `tarn outbox retry`.
struct OutboxRetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Queue dead changes again, or end a delay; the next push sends them.",
        discussion: """
            A change whose push was killed is queued again, too, with the same idempotency key.
            A change is withdrawn if later changes of the same fields or members have been sent, and a deletion if the \
            record was created again since. A range means the dead and the delayed changes in it.

            A creation that the server has accepted, or a part of it, is an error, because it could create a \
            second record: discard it, and fetch the record. With --all and in ranges it is left out. \
            --accepted sends it again, with the same idempotency key and body.

            Examples:
              tarn outbox retry 12 13
              tarn outbox retry 12-40
              tarn outbox retry --all
              tarn outbox retry 12 --accepted     for a server that honours idempotency keys
            """)

    @Argument(help: QueuedNumbers.help) var ids: [QueuedNumbers] = []
    @Flag(help: "All dead changes.") var all = false
    @Flag(help: "Also creations that the server has accepted: it may create a second record.") var accepted = false
    @OptionGroup var store: WritableStoreOptions

    func validate() throws {
        if ids.isEmpty != all { throw ValidationError("name the changes, or write --all") }
    }

    func run() throws {
        let named = try ids.named(), ranges = ids.ranges, store = try store.open()
        let (count, withdrawn, left) = try store.write { writer -> (Int, Int, [UInt64]) in
            let isFree = OutboxLock.isFree(directory: store.directory)
            var wanted = named, left: [UInt64] = []
            let known = Set(named)
            func isWanted(_ operation: OutboxOperation) -> Bool {
                guard operation.isAccepted, !accepted else { return true }
                left.append(operation.id)
                return false
            }
            if all { wanted = try writer.outbox.queued([0...UInt64.max], in: .dead, where: isWanted) }
            wanted += try writer.outbox.queued(ranges) { operation in
                let isStopped = operation.state == .sending ? isFree : operation.failure != nil
                return isStopped && !known.contains(operation.id) && isWanted(operation)
            }
            var count = 0
            for id in wanted
            where try writer.retryOperation(id, evenIfSending: isFree, evenIfAccepted: accepted) != nil { count += 1 }
            return (count, wanted.count - count, Array(Set(left)).sorted())
        }
        let others = withdrawn == 0 ? "" : "; \(withdrawn) withdrawn: later changes of the same records have been sent"
        Output.line("\(countText(count, "change")) queued again\(others)")
        warn(leftOut: left)
    }

    /// Warns of accepted creations that a range or `--all` leaves out.
    private func warn(leftOut ids: [UInt64]) {
        guard !ids.isEmpty else { return }
        let shown = ids.prefix(20).map(String.init).joined(separator: ", ") + (ids.count > 20 ? ", …" : "")
        Output.note(
            "\(countText(ids.count, "accepted creation")) left out (\(shown)): sent again, each could create a second "
                + "record; discard it, and fetch the record, or add --accepted")
    }
}
