import ArgumentParser
import Tarn
import TarnInspect

/// The command `list` of the shell: records as rows.
struct ShellListCommand: InspectingCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the records of an entity: all, or those that meet a condition.",
        discussion: """
            Examples:
              list Issue --where 'state = open' --fields number,title
              list Issue --reverse --limit 5
            """)

    @Argument(help: "Store directory.") var store: String
    @Argument(help: "Name of the entity.") var entity: String
    @OptionGroup var selection: SelectionOptions
    @OptionGroup var format: FormatOption

    func run(on inspector: StoreInspector) throws {
        try TableQuestions.refuseRecords(store, inspector)
        let damage = DamageReport(store), style = format.style
        let isLimited = selection.limit == nil && Output.isTerminal
        var rows: RowWriter?, names: [String] = [], hasMore = false
        format.beginOutput()
        do {
            let reason = try inspector.selectRecords(
                of: entity,
                { catalog in
                    let kind = try catalog.requireEntity(entity)
                    let printer = try RecordPrinter(kind, catalog, style, fields: selection.fields)
                    names = printer.columns.map(\.name)
                    rows = printer.writer()
                    var chosen = try selection.selection(kind, catalog)
                    if isLimited { chosen.limit = ListCommand.terminalLimit + 1 }
                    return chosen
                },
                record: { record in
                    hasMore = isLimited && rows?.count == ListCommand.terminalLimit
                    guard !hasMore else { return }
                    rows?.add(members: ShellListCommand.members(record), cells: cells(record, names))
                }, damaged: damage.add)
            rows?.end()
            noteWithoutLocks(store, reason)
        } catch let error as RecordSelectionError {
            throw Failure(.usage, error.description)
        }
        if hasMore { Output.note("More: repeat with `--limit`") }
        try damage.end("read")
    }

    private func cells(_ record: Record, _ names: [String]) -> [OutputValue] {
        names.map { name in
            if name == RecordColumn.kindName { return .text(record.entity) }
            return record[name].map(OutputValue.value) ?? .absent
        }
    }

    static func members(_ record: Record) -> [RowWriter.Member] {
        record.fields.map { ($0.name, .value($0.value)) }
    }
}
