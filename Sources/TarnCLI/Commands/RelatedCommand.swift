import ArgumentParser
import Tarn

/// The command `tarn related`.
struct RelatedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "related",
        abstract: "Show the records of a relationship of one record.",
        discussion: """
            Both directions work, as here with `author: { to: User, inverse: issues }` on Issue. A record that was \
            never fetched is shown as missing; csv and tsv have only its key.

            Examples:
              tarn related Issue 7 author
              tarn related User 3 issues --limit 10 --fields number,title,milestone.title
              tarn related User 3 issues --format csv > issues.csv
            """)

    @Argument(help: "Name of the entity in the description.") var entity: String
    @Argument(help: "Key of the record.") var key: String
    @Argument(help: "Name of the relationship, or of its inverse.") var relationship: String
    @Option(
        help: ArgumentHelp(
            "Fields to show, separated by commas; paths such as author.login follow relationships (all: every field).",
            valueName: "name,name"))
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
        let printer = try RecordPrinter(destination, catalog, format.style, fields: fields)
        try store.read { reader in
            guard try reader.record(entity.name, key) != nil else {
                throw Failure(.failed, "\(entity.name) \(key) is not in the store")
            }
            format.beginOutput()
            var rows = printer.writer(), hasMore = false
            try reader.forEachRelated(entity.name, key, relationship, only: printer.shownFields) { target in
                guard rows.count < limit ?? .max else {
                    hasMore = true
                    return false
                }
                if let record = target.record {
                    try printer.write(record, to: &rows, reader)
                } else {
                    rows.add(
                        members: [("missing", .json(RecordPrinter.keyJSON(target)))],
                        cells: printer.cells(missing: target))
                }
                return true
            }
            rows.end()
            if format.format.isForPeople {
                Output.note(
                    "\(countText(rows.count, "record")): \(relationship) of \(entity.name) \(key)"
                        + (hasMore ? "; there are more: repeat with a larger `--limit`" : ""))
                if let line = printer.hiddenLine { Output.note(line) }
            }
        }
    }
}
