import ArgumentParser
import Tarn

/// The command `tarn related`.
struct RelatedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "related",
        abstract: "Show the records of a relationship of one record.",
        discussion: """
            Both directions work: with `author: { to: User, inverse: issues }` on Issue,
              tarn related Issue 7 author
              tarn related User 3 issues --limit 10
            A record that was never fetched is shown as missing.
            """)

    @Argument(help: "Name of the entity in the description.") var entity: String
    @Argument(help: "Key of the record.") var key: String
    @Argument(help: "Name of the relationship, or of its inverse.") var relationship: String
    @Option(help: ArgumentHelp("Fields to show, separated by commas (default: all).", valueName: "name,name"))
    var fields = ""
    @Option(help: "Number of records to show (default: all).") var limit: Int?
    @OptionGroup var format: FormatOption
    @OptionGroup var store: StoreOptions

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit must not be negative") }
    }

    func run() throws {
        let store = try store.open()
        let catalog = store.catalog
        let entity = try catalog.requireEntity(entity)
        let key = try RecordKey(argument: key, of: entity)
        guard let found = catalog.relationship(relationship, of: entity),
            let destination = catalog.entity(id: found.destination)
        else {
            throw StoreError.unknownField(
                entity: entity.name, name: relationship, known: catalog.relationships(of: entity).map(\.name))
        }
        let printer = RecordPrinter(
            entity: destination, catalog: catalog, format: format.format, fields: RecordPrinter.names(in: fields))
        try printer.check()
        try store.read { reader in
            guard try reader.record(entity.name, key) != nil else {
                throw Failure(.failed, "\(entity.name) \(key) is not in the store")
            }
            var table = Table(printer.columns), count = 0
            if limit != 0 {
                try reader.forEachRelated(entity.name, key, relationship) { target in
                    count += 1
                    switch (format.format, target.record) {
                    case (.json, let record?): Output.json(try printer.json(record, reader))
                    case (.json, nil): Output.json("{\"missing\":\(RecordPrinter.json(target))}")
                    case (.table, let record?): table.add(try printer.cells(record, reader))
                    case (.table, nil):
                        table.add(
                            [RecordPrinter.label(target)] + Array(repeating: "", count: printer.columns.count - 1))
                    }
                    return count < limit ?? .max
                }
            }
            if format.format == .table {
                for line in table.lines(width: Output.width) { Output.line(line) }
                Output.note("\(countText(count, "record")): \(relationship) of \(entity.name) \(key)")
            }
        }
    }
}
