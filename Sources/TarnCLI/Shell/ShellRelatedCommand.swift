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
              related User 3 issues --limit 10 --fields number,title
            """)

    @Argument(help: "Store directory.") var store: String
    @Argument(help: "Name of the entity.") var entity: String
    @Argument(help: "Key of the record.") var key: String
    @Argument(help: "Name of the relationship, or of its inverse.") var relationship: String
    @Option(help: "Number of records to show (default: all).") var limit: Int?
    @Option(help: ArgumentHelp("Fields to show, separated by commas.", valueName: "name,name")) var fields = ""
    @OptionGroup var format: FormatOption

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit must not be negative") }
    }

    func run(on inspector: StoreInspector) throws {
        try TableQuestions.refuseRecords(store, inspector)
        let damage = DamageReport(store), style = format.style
        let names = fields.isEmpty ? nil : try fieldNames(inspector)
        format.beginOutput()
        var rows = RowWriter(["entity", "key"] + (names ?? ["name"]), style)
        let isStored = try inspector.related(
            entity, relationship, limit: limit ?? .max, key: { try RecordKey(argument: key, of: $0) },
            damaged: damage.add
        ) { related in
            guard let record = related.record else {
                var key = ""
                related.key.appendJSON(to: &key)
                return rows.add(
                    members: [("missing", .json(key))],
                    cells: [.text("missing"), .value(.reference(related.key))]
                        + Array(repeating: .absent, count: names?.count ?? 1))
            }
            let members = ShellListCommand.members(record).filter { names?.contains($0.name) ?? true }
            let cells = names?.map { record[$0].map(OutputValue.value) ?? .absent } ?? [Self.name(of: record)]
            rows.add(
                members: [("entity", .text(record.entity))] + members,
                cells: [.text(record.entity), .value(.reference(related.key))] + cells)
        }
        rows.end()
        try damage.end("read")
        guard isStored else { throw Failure(.failed, "\(entity) \(key) is not in the store") }
    }

    /// The names of `--fields`: fields of the records that the relationship leads to.
    private func fieldNames(_ inspector: StoreInspector) throws -> [String] {
        let catalog = try inspector.storedCatalog(), names = RecordPrinter.names(in: fields)
        guard let owner = catalog.entity(entity), let found = catalog.relationship(relationship, of: owner),
            let destination = catalog.entity(id: found.destination)
        else { return names }
        // The records may be of a kind with more fields.
        let kinds = catalog.entities.filter { catalog.isKind($0.id, of: destination.id) }
        let known = Set(kinds.flatMap { $0.fields.map(\.name) })
        for name in names where !known.contains(name) {
            throw Failure(.usage, Spelling.unknown("field", name, among: known.sorted()))
        }
        return names
    }

    /// The value by which people know a record.
    private static func name(of record: Record) -> OutputValue {
        let names = ["name", "title", "login", "label", "slug"]
        return names.lazy.compactMap { record[$0] }.first.map(OutputValue.value) ?? .absent
    }
}
