import ArgumentParser
import Tarn
import TarnInspect

/// The command `related` of the shell: the records of a relationship.
struct ShellRelatedCommand: InspectingCommand {
    static let configuration = CommandConfiguration(
        commandName: "related", abstract: "Show the records of a relationship of one record, in either direction.",
        discussion: """
            Examples:
              related Issue 7 author
              related User 3 issues --limit 10
            """)

    @Argument(help: "Store directory.") var store: String
    @Argument(help: "Name of the entity.") var entity: String
    @Argument(help: "Key of the record.") var key: String
    @Argument(help: "Name of the relationship, or of its inverse.") var relationship: String
    @Option(help: "Number of records to show (default: all).") var limit: Int?
    @OptionGroup var format: FormatOption

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit must not be negative") }
    }

    func run(on inspector: StoreInspector) throws {
        let damage = DamageReport(store), style = format.style
        format.beginOutput()
        var rows = RowWriter(["entity", "key", "name"], style)
        let isStored = try inspector.related(
            entity, relationship, limit: limit ?? .max, key: { try RecordKey(argument: key, of: $0) },
            damaged: damage.add
        ) { related in
            guard let record = related.record else {
                var key = ""
                related.key.appendJSON(to: &key)
                return rows.add(
                    members: [("missing", .json(key))],
                    cells: [.text("missing"), .value(.reference(related.key)), .absent])
            }
            rows.add(
                members: [("entity", .text(record.entity))] + ShellListCommand.members(record),
                cells: [.text(record.entity), .value(.reference(related.key)), Self.name(of: record)])
        }
        rows.end()
        try damage.end("read")
        guard isStored else { throw Failure(.failed, "\(entity) \(key) is not in the store") }
    }

    /// The value by which people know a record.
    private static func name(of record: Record) -> OutputValue {
        let names = ["name", "title", "login", "label", "slug"]
        return names.lazy.compactMap { record[$0] }.first.map(OutputValue.value) ?? .absent
    }
}
