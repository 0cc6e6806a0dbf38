// `tarn list`: the records of an entity, read from the store alone.

import ArgumentParser
import Tarn

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the records of an entity: all, or those that meet a condition.",
        discussion: """
            On a terminal, the first \(ListCommand.terminalLimit) records are listed, in a table of the key and the \
            short attributes; --all lists all of them, and --fields all shows every field. In a pipe, all records are \
            listed, as they are read.

            Examples:
              tarn list Issue --limit 10
              tarn list Issue --where state=open --include author --fields number,title
              tarn list Issue --fields number,author.login,labels.name
              tarn list Issue --where 'author.login = ada and not (title like "%wip%" or labels contains 7)'
              tarn list Issue --where 'updatedAt >= 2025-01-01' --sort 'updatedAt desc, number' --limit 20
              tarn list Issue --where 'any contains timeout and state = open'
              tarn list Issue --where 'milestone is missing' --explain
              tarn list User --format ndjson | jq .login
              tarn list Issue --format csv --csv-safe > issues.csv
            Quote text that contains spaces or operators: --where 'title = "a = b"'.
            """)

    /// The number of records that a terminal shows without `--limit`.
    static let terminalLimit = 100

    @Argument(help: "Name of the entity in the description.") var entity: String
    @OptionGroup var query: QueryOptions
    @Flag(help: "List all records, also on a terminal.") var all = false
    @Flag(help: "Show the plan of the query instead of records.") var explain = false
    @Option(
        parsing: .singleValue,
        help: ArgumentHelp("Relationship to include. May be repeated.", valueName: "relationship"))
    var include: [String] = []
    @Option(
        help: ArgumentHelp(
            "Fields to show, separated by commas; paths such as author.login follow relationships (all: every field).",
            valueName: "name,name"))
    var fields = ""
    @OptionGroup var format: FormatOption
    @OptionGroup var store: StoreOptions

    func validate() throws {
        if all, query.limit != nil { throw ValidationError("--all and --limit exclude each other") }
    }

    func run() throws {
        let store = try store.open(), catalog = store.catalog
        let entity = try catalog.requireEntity(entity)
        let printer = try RecordPrinter(entity, catalog, format.style, fields: fields, included: include)
        let condition = try query.condition.query(entity, catalog)
        var query = try query.query(entity, catalog)
        let isLimitedByTerminal = query.limit == nil && !all && Output.isTerminal
        if isLimitedByTerminal { query.limit = ListCommand.terminalLimit }
        try store.read { reader in
            if explain { return Output.lines(try reader.explain(query).description) }
            format.beginOutput()
            var rows = printer.writer()
            let next =
                if let shape = printer.shape {
                    try reader.forEachJSONOfPage(query, shape) { rows.add(object: $0) }
                } else {
                    try reader.forEachOfPage(query, only: printer.shownFields) {
                        try printer.write($0, to: &rows, reader)
                    }
                }
            rows.end()
            if format.format.isForPeople {
                let isWhole = next == nil && query.after == nil && query.offset == 0 && query.limit != 0
                Output.note(
                    isWhole ? countText(rows.count, "record") : try part(rows.count, condition, reader))
                if let line = printer.hiddenLine { Output.note(line) }
            }
            if isLimitedByTerminal, next != nil { Output.note("All records: repeat with `--all`") }
            Output.next(next)
        }
    }

    /// The count below a part of the records. Counting takes at most a moment.
    private func part(_ shown: Int, _ condition: Query, _ reader: borrowing StoreReader) throws -> String {
        let (count, isComplete) = try reader.count(condition, within: .milliseconds(50))
        if count == shown, isComplete { return countText(count, "record") }
        return "\(shown) of \(isComplete ? "" : "more than ")\(countText(count, "record"))"
    }
}
