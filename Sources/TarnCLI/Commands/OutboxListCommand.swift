import ArgumentParser
import Tarn

/// The command `tarn outbox list`.
struct OutboxListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the queued local changes, in the order in which they are sent.",
        discussion: """
            Examples:
              tarn outbox list
              tarn outbox list --state dead --format ndjson
            """)

    @Option(help: ArgumentHelp("Only changes in this state: pending, sending or dead.", valueName: "state"))
    var state: OutboxOperation.State?
    @OptionGroup var format: FormatOption
    @OptionGroup var store: StoreOptions

    func run() throws {
        format.beginOutput()
        var rows = RowWriter(
            ["id", "change", "record", "fields", "state", "attempts", "failure"], format.style, rightAligned: [0, 5])
        try store.open().read { reader in
            try reader.outbox.forEach(in: state) { operation in
                rows.add([
                    .number(Int(clamping: operation.id)), .text(operation.kind.rawValue), .text("\(operation.record)"),
                    .text(operation.summary), .text(operation.state.rawValue), .number(operation.attempts),
                    operation.failure.map { .text($0.message) } ?? .absent,
                ])
                return true
            }
        }
        rows.end()
        if rows.count == 0, format.style.format == .table {
            Output.note(state.map { "no queued change is \($0.rawValue)" } ?? "the outbox is empty")
        }
    }
}

extension OutboxOperation {
    /// The changed fields, or the members of a relationship.
    var summary: String {
        if let relationship { return "\(relationship): " + members.map(\.description).joined(separator: ", ") }
        return changes.map(\.name).joined(separator: ", ")
    }
}

extension OutboxOperation.State: ExpressibleByArgument {}
