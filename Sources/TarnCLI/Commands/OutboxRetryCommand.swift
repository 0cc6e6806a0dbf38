import ArgumentParser
import Tarn

/// The command `tarn outbox retry`.
struct OutboxRetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Queue dead changes again, or end a delay; the next push sends them.",
        discussion: """
            A change whose push was killed is queued again, too, with the same idempotency key.

            Examples:
              tarn outbox retry 12 13
              tarn outbox retry --all
            """)

    @Argument(help: "Numbers of the changes.") var ids: [UInt64] = []
    @Flag(help: "All dead changes.") var all = false
    @OptionGroup var store: WritableStoreOptions

    func validate() throws {
        if ids.isEmpty != all { throw ValidationError("name the changes, or write --all") }
    }

    func run() throws {
        let store = try store.open()
        let count = try store.write { writer in
            var wanted = ids
            if all {
                try writer.outbox.forEach(in: .dead) { operation in
                    wanted.append(operation.id)
                    return true
                }
            }
            let isFree = OutboxLock.isFree(directory: store.path)
            for id in wanted { try writer.retryOperation(id, evenIfSending: isFree) }
            return wanted.count
        }
        Output.line("\(countText(count, "change")) queued again")
    }
}
