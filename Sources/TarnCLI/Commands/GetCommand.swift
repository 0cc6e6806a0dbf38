import ArgumentParser
import Tarn

/// The command `tarn get`.
struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Show one record.",
        discussion: """
            On a terminal, each field has a line; texts are whole, with their line breaks.

            Examples:
              tarn get Issue 7
              tarn get Issue 7 --fields title,author.login,body
              tarn get Issue 7 --include comments --format yaml
              tarn get Membership '["acme", 12]'       a composite key is a JSON array
              tarn get Issue -- -5                     a key that begins with - is written behind --
            """)

    @Argument(help: "Name of the entity in the description.") var entity: String
    @Argument(help: "Key of the record.") var key: String
    @Option(
        parsing: .singleValue,
        help: ArgumentHelp("Relationship to include. May be repeated.", valueName: "relationship"))
    var include: [String] = []
    @Option(
        help: ArgumentHelp(
            "Fields to show, separated by commas; paths such as author.login follow relationships (default: all).",
            valueName: "name,name"))
    var fields = ""
    @OptionGroup var format: FormatOption
    @OptionGroup var store: StoreOptions

    func run() throws {
        let store = try store.open(), catalog = store.catalog
        let entity = try catalog.requireEntity(entity)
        let key = try RecordKey(argument: key, of: entity)
        let printer = try RecordPrinter(entity, catalog, format.style, fields: fields, included: include)
        try store.read { reader in
            guard let record = try reader.record(entity.name, key) else {
                throw Failure(.failed, "\(entity.name) \(key) is not in the store")
            }
            format.beginOutput()
            guard format.format.isForPeople else {
                var rows = printer.writer(isSingle: true)
                try printer.write(record, to: &rows, reader)
                return rows.end()
            }
            let view = RecordView(try printer.views(record, reader), style: format.style)
            view.write(title: record.entity, record.isPartial ? "\(key) (partial)" : "\(key)")
        }
    }
}
