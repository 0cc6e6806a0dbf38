import ArgumentParser
import Tarn

/// The command `tarn create`.
struct CreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create a record in the store, and queue its creation at the server.",
        discussion: """
            The record is there at once, with a temporary key until the server has assigned its own. `tarn push` sends \
            it, and so does --send. --queue is the default; scripts may name it, as for update and delete. Prints the \
            key, a composite one as a JSON array.

            Examples:
              tarn create Issue --set 'title="Rust"' --set repository=7
              tarn create Comment --set issue=17 --set text=Done --send
              tarn create Label --key bug --set color=red      a key that the program chooses
            """)

    @Argument(help: "Name of the entity in the description.") var entity: String
    @Option(
        parsing: .singleValue,
        help: ArgumentHelp("Field and its value, as field=value. May be repeated.", valueName: "field=value"))
    var set: [String] = []
    @Option(help: ArgumentHelp("Key of the record (default: a temporary one).", valueName: "key")) var key: String?
    @Flag(help: "Queue the creation for `tarn push`: the default.") var queue = false
    @Flag(help: "Send all queued changes afterwards.") var send = false
    @OptionGroup var sending: SendingOptions

    func run() async throws {
        let outbox = try sending.outbox(for: entity, .create), catalog = outbox.store.catalog
        let entity = try catalog.requireEntity(entity)
        let key = try key.map { try RecordKey(argument: $0, of: entity) }
        let values = try Assignment.values(set, entity: entity.name, catalog)
        let fields = values.sorted { $0.key < $1.key }.map { Record.Field($0.key, $0.value) }
        let made = try await outbox.create(entity.name, fields, key: key)
        if made.components.count > 1 {
            // As `get` and --key take it.
            var text = ""
            made.appendJSON(to: &text)
            Output.json(text)
        } else {
            Output.line("\(made)")
        }
        try outbox.warnOfUnsent(.create, entity.name, fields.map(\.name))
        guard send else { return }
        let record = OutboxRecord(entity.name, made)
        try await outbox.sendAndReport(isJSON: false) { $0.record == record }
    }
}

extension Assignment {
    /// Reads the values of `--set`.
    static func values(_ texts: [String], entity: String, _ catalog: Catalog) throws -> [String: Value] {
        var values: [String: Value] = [:]
        for text in texts {
            let assignment = try namingOption("--set") {
                try Assignment(text: text, entity: entity, catalog: catalog)
            }
            guard values.updateValue(assignment.value, forKey: assignment.field) == nil else {
                throw Failure(.usage, "--set \(text): \(assignment.field) is set more than once")
            }
        }
        return values
    }
}
