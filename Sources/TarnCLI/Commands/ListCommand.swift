// `tarn list`: the records of an entity, read from the store alone.

import ArgumentParser
import Tarn

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the records of an entity: all, or those that meet a condition.",
        discussion: """
            Examples:
              tarn list Issue --limit 10
              tarn list Issue --where state=open --include author --fields number,title
              tarn list Issue --where 'author.login = ada and not (title like "%wip%" or labels contains 7)'
              tarn list Issue --where 'updatedAt >= 2025-01-01' --sort 'updatedAt desc, number' --limit 20
              tarn list Issue --where 'milestone is missing' --explain
              tarn list User --format json | jq .login
            Quote text that contains spaces or operators: --where 'title = "a = b"'.
            """)

    @Argument(help: "Name of the entity in the description.") var entity: String
    @OptionGroup var query: QueryOptions
    @Flag(help: "Show the plan of the query instead of records.") var explain = false
    @Option(
        parsing: .singleValue,
        help: ArgumentHelp("Relationship to include. May be repeated.", valueName: "relationship"))
    var include: [String] = []
    @Option(help: ArgumentHelp("Fields to show, separated by commas (default: all).", valueName: "name,name"))
    var fields = ""
    @OptionGroup var format: FormatOption
    @OptionGroup var store: StoreOptions

    func run() throws {
        let store = try store.open()
        let catalog = store.catalog
        let entity = try catalog.requireEntity(entity)
        let printer = RecordPrinter(
            entity: entity, catalog: catalog, format: format.format,
            fields: RecordPrinter.names(in: fields), included: include)
        try printer.check()
        let condition = try query.condition.query(entity, catalog), query = try query.query(entity, catalog)
        try store.read { reader in
            if explain { return Output.lines(try reader.explain(query).description) }
            var table = Table(printer.columns), count = 0
            func show(_ record: Record) throws {
                count += 1
                switch format.format {
                case .json: Output.json(try printer.json(record, reader))
                case .table: table.add(try printer.cells(record, reader))
                }
            }
            var next: ContinuationToken?
            if query.limit == nil {
                try reader.forEach(query) { record in
                    try show(record)
                    return true
                }
            } else {
                let page = try reader.page(query)
                for record in page.records { try show(record) }
                next = page.next
            }
            if format.format == .table {
                for line in table.lines(width: Output.width) { Output.line(line) }
                let isWhole = next == nil && query.after == nil && query.offset == 0 && query.limit != 0
                let matches = isWhole ? count : try reader.count(condition)
                Output.note(
                    count == matches ? countText(count, "record") : "\(count) of \(countText(matches, "record"))")
            }
            Output.next(next)
        }
    }
}
