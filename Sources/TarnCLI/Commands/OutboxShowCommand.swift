import ArgumentParser
import Tarn

/// The command `tarn outbox show`.
struct OutboxShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show one queued change: its values, those that are not sent, and why it waits or has failed.",
        discussion: """
            Examples:
              tarn outbox show 12
            """)

    @Argument(help: "Number of the change, as `tarn outbox list` shows it.") var id: UInt64
    @OptionGroup var store: StoreOptions

    func run() throws {
        // The outbox is shown without a description, too.
        let description = try? store.description.load()
        try store.open().read { reader in
            guard let entry = try reader.outbox.entry(id) else { throw OutboxError.unknownOperation(id: id) }
            let operation = entry.operation
            Output.line("\(operation.kind.rawValue) \(operation.record)")
            Output.line("state: \(operation.state.rawValue), \(countText(operation.attempts, "attempt"))")
            Output.line("queued: \(operation.queuedAt)")
            if let relationship = operation.relationship {
                Output.line("\(relationship): \(operation.members.map(\.description).joined(separator: ", "))")
            }
            for change in operation.changes {
                Output.line("\(change.name): \(change.before?.jsonText ?? "absent") → \(change.after.jsonText)")
            }
            for (fields, fate) in [
                (operation.unsent, "not sent, stay local changes"),
                (operation.serverFields ?? [], "left to the server"),
            ] where !fields.isEmpty {
                Output.line("\(fate): \(fields.joined(separator: ", "))")
            }
            var waits = Dictionary(entry.waitsFor.map { ($0.operation, $0.isDead) }) { $0 || $1 }
            if operation.state != .dead, let description {
                for wait in try description.requestWaits(of: id, reader) where waits[wait.operation] == nil {
                    waits[wait.operation] = wait.isDead
                }
            }
            for (other, isDead) in waits.sorted(by: { $0.key < $1.key }) {
                Output.line("waits for operation \(other)" + (isDead ? ", which is dead" : ""))
            }
            if operation.state != .dead, let description, let entity = reader.catalog.entity(operation.entity),
                description.writes(of: entity, in: reader.catalog) == nil
            {
                Output.line("waits for a request: \(description.file) has no entities.\(operation.entity).write")
            }
            if let location = operation.location { Output.line("created at: \(location)") }
            if let notBefore = entry.notBefore { Output.line("next attempt: \(notBefore)") }
            if let failure = operation.failure {
                Output.line("failed: \(failure.at): \(failure.message)")
                if let excerpt = failure.excerpt { Output.line("answer: \(excerpt)") }
            }
            Output.line("idempotency key: \(operation.idempotencyKey.lowercasedText)")
        }
    }
}
