import ArgumentParser
import Tarn

/// The command `tarn outbox retry`.
struct OutboxRetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Queue dead changes again, or end a delay; the next push sends them.",
        discussion: """
            A change whose push was killed is queued again, too, with the same idempotency key.
            A change is withdrawn if later changes of the same fields have been sent. A range means the dead and \
            the delayed changes in it.

            Examples:
              tarn outbox retry 12 13
              tarn outbox retry 12-40
              tarn outbox retry --all
            """)

    @Argument(help: QueuedNumbers.help) var ids: [QueuedNumbers] = []
    @Flag(help: "All dead changes.") var all = false
    @OptionGroup var store: WritableStoreOptions

    func validate() throws {
        if ids.isEmpty != all { throw ValidationError("name the changes, or write --all") }
    }

    func run() throws {
        let named = try ids.named(), ranges = ids.ranges, store = try store.open()
        let (count, withdrawn) = try store.write { writer -> (Int, Int) in
            let isFree = OutboxLock.isFree(directory: store.directory)
            var wanted = named
            if all { wanted = try writer.outbox.queued([0...UInt64.max], in: .dead) { _ in true } }
            let known = Set(named)
            wanted += try writer.outbox.queued(ranges) { operation in
                let isStopped = operation.state == .sending ? isFree : operation.failure != nil
                return isStopped && !known.contains(operation.id)
            }
            var count = 0
            for id in wanted where try writer.retryOperation(id, evenIfSending: isFree) != nil { count += 1 }
            return (count, wanted.count - count)
        }
        let others = withdrawn == 0 ? "" : "; \(withdrawn) withdrawn: later changes of the same fields have been sent"
        Output.line("\(countText(count, "change")) queued again\(others)")
    }
}
