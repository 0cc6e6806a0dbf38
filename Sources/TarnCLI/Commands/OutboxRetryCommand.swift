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

            Changes that are named one by one are queued all or none. Those of a range, and all with --all, are \
            queued in steps; an interrupted command leaves the others as they are.

            Examples:
              tarn outbox retry 12 13
              tarn outbox retry 12-40
              tarn outbox retry --all
              tarn outbox retry 12 --accepted     for a server that honours idempotency keys
            """)

    private static let step = 500

    @Argument(help: QueuedNumbers.help) var ids: [QueuedNumbers] = []
    @Flag(help: "All dead changes.") var all = false
    @Flag(help: "Also creations that the server has accepted: it may create a second record.") var accepted = false
    @OptionGroup var store: WritableStoreOptions

    func validate() throws {
        if ids.isEmpty != all { throw ValidationError("name the changes, or write --all") }
    }

    func run() throws {
        let named = try ids.named(), store = try store.open()
        var count = 0, withdrawn = 0, left: [UInt64] = []
        func retry(_ ids: ArraySlice<UInt64>, areNamed: Bool = false) throws {
            let (queued, gone) = try store.write { writer -> (Int, Int) in
                let isFree = OutboxLock.isFree(directory: store.directory)
                var queued = 0, gone = 0
                for id in ids {
                    // Another process may have sent or discarded it since.
                    let isStillMeant = try writer.outbox.operation(id).map { isMeant($0, isFree) } ?? false
                    guard isStillMeant || areNamed else { continue }
                    let next = try writer.retryOperation(id, evenIfSending: isFree, evenIfAccepted: accepted)
                    if next == nil { gone += 1 } else { queued += 1 }
                }
                return (queued, gone)
            }
            (count, withdrawn) = (count + queued, withdrawn + gone)
        }
        if !named.isEmpty { try retry(named[...], areNamed: true) }
        let found = try others(than: Set(named), in: store, &left)
        for start in stride(from: 0, to: found.count, by: Self.step) {
            try retry(found[start..<min(start + Self.step, found.count)])
        }
        let shown = withdrawn == 0 ? "" : "; \(withdrawn) withdrawn: later changes of the same records have been sent"
        Output.line("\(countText(count, "change")) queued again\(shown)")
        warn(leftOut: left)
    }

    /// Finds the changes of the ranges, or all dead ones with `--all`.
    ///
    /// - Parameter left: takes the accepted creations among them, which are left out.
    private func others(than named: Set<UInt64>, in store: Store, _ left: inout [UInt64]) throws -> [UInt64] {
        let ranges = all ? [0...UInt64.max] : ids.ranges
        guard !ranges.isEmpty else { return [] }
        let isFree = OutboxLock.isFree(directory: store.directory)
        var accepted: [UInt64] = []
        let found = try store.read { reader in
            try reader.outbox.queued(ranges, in: all ? .dead : nil) { operation in
                guard !named.contains(operation.id), isStopped(operation, isFree) else { return false }
                if isMeant(operation, isFree) { return true }
                accepted.append(operation.id)
                return false
            }
        }
        left = Array(Set(accepted)).sorted()
        return found
    }

    private func isStopped(_ operation: OutboxOperation, _ isFree: Bool) -> Bool {
        if all { return operation.state == .dead }
        return operation.state == .sending ? isFree : operation.failure != nil
    }

    private func isMeant(_ operation: OutboxOperation, _ isFree: Bool) -> Bool {
        isStopped(operation, isFree) && (accepted || !operation.isAccepted)
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
