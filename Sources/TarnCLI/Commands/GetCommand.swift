import ArgumentParser
import Tarn

/// The command `tarn get`.
struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Show one record.",
        discussion: """
            Examples:
              tarn get Issue 7
              tarn get Membership '["acme", 12]'       a composite key is a JSON array
            """)

    @Argument(help: "Name of the entity in the description.") var entity: String
    @Argument(help: "Key of the record.") var key: String
    @Option(
        parsing: .singleValue,
        help: ArgumentHelp("Relationship to include. May be repeated.", valueName: "relationship"))
    var include: [String] = []
    @OptionGroup var format: FormatOption
    @OptionGroup var store: StoreOptions

    func run() throws {
        let store = try store.open()
        let catalog = store.catalog
        let entity = try catalog.requireEntity(entity)
        let key = try RecordKey(argument: key, of: entity)
        let printer = RecordPrinter(entity: entity, catalog: catalog, format: format.format, included: include)
        try printer.check()
        try store.read { reader in
            guard let record = try reader.record(entity.name, key) else {
                throw Failure(.failed, "\(entity.name) \(key) is not in the store")
            }
            guard format.format == .table else { return Output.json(try printer.json(record, reader)) }
            var table = Table(["\(entity.name)", record.isPartial ? "\(key) (partial)" : "\(key)"])
            for field in record.fields where !include.contains(field.name) {
                table.add([field.name, field.value == .null ? "null" : field.value.plainText])
            }
            for name in include {
                var labels: [String] = []
                try reader.forEachRelated(entity.name, key, name) { target in
                    labels.append(RecordPrinter.label(target))
                    return true
                }
                table.add([name, labels.joined(separator: ", ")])
            }
            for line in table.lines(width: Output.width) { Output.line(line) }
        }
    }
}
