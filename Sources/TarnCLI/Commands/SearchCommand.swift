// `tarn search`: the records with a text in any field.

import ArgumentParser
import Tarn

struct SearchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Find the records that have a text in any field.",
        discussion: """
            Searches texts, enumerations, URLs, JSON values and lists of texts, entity by entity, and shows each match \
            when it is found, with the text around it. A condition can search too: \
            tarn list Issue --where 'any contains timeout and state = open'.

            Examples:
              tarn search timeout
              tarn search 'connection reset' --entity Issue --entity Comment
              tarn search -i straße --format ndjson | jq -r .key
            The exit code is 1 if nothing is found.
            """)

    @Argument(help: "Text to find.") var text: String
    @Option(
        name: .customLong("entity"), parsing: .singleValue,
        help: ArgumentHelp("Search only records of this entity. May be repeated.", valueName: "entity"))
    var entities: [String] = []
    @Flag(name: [.customShort("i"), .long], help: "Ignore case.") var ignoreCase = false
    @Option(help: "Number of records to show (default: \(ListCommand.terminalLimit) on a terminal, else all).")
    var limit: Int?
    @Flag(help: "Show all records, also on a terminal.") var all = false
    @OptionGroup var format: FormatOption
    @OptionGroup var store: StoreOptions

    func validate() throws {
        if text.isEmpty { throw ValidationError("the text to find is empty") }
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
        if all, limit != nil { throw ValidationError("--all and --limit exclude each other") }
    }

    func run() throws {
        let store = try store.open(), catalog = store.catalog
        let chosen = try chosenEntities(catalog)
        let isLimitedByTerminal = limit == nil && !all && Output.isTerminal
        let limit = limit ?? (isLimitedByTerminal ? ListCommand.terminalLimit : .max)
        format.beginOutput()
        var rows = RowWriter(["entity", "key", "field", "text"], format.style), records = 0, hasMore = false
        try store.read { reader in
            for entity in chosen {
                // The records of a kind are found with the fields of that kind.
                try reader.forEachMatch(
                    of: text, ignoringCase: ignoreCase, in: entity.name, context: format.format.isForPeople ? 30 : 80
                ) { key, matches in
                    guard records < limit else {
                        hasMore = true
                        return false
                    }
                    records += 1
                    for match in matches { SearchCommand.add(match, of: key, entity.name, to: &rows) }
                    return true
                }
                if hasMore { break }
            }
        }
        rows.end()
        if format.format.isForPeople {
            Output.note(
                "\(countText(records, "record"))"
                    + (hasMore ? ", and there are more: repeat with `--all`, or with a larger `--limit`" : ""))
        }
        if records == 0 { throw Failure(.failed, "") }
    }

    /// The named entities and those below them, each once; all without a name.
    private func chosenEntities(_ catalog: Catalog) throws -> [Catalog.Entity] {
        guard !entities.isEmpty else { return catalog.entities }
        var chosen: [Catalog.Entity] = []
        for name in entities {
            let named = try catalog.requireEntity(name)
            for entity in [named] + catalog.entities
            where catalog.isKind(entity.id, of: named.id) && !chosen.contains(where: { $0.id == entity.id }) {
                chosen.append(entity)
            }
        }
        return chosen
    }

    /// Adds a row for a field that has the text.
    private static func add(_ match: TextMatch, of key: RecordKey, _ entity: String, to rows: inout RowWriter) {
        let text = match.before + match.match + match.after
        rows.add(
            members: [
                ("entity", .text(entity)), ("key", .value(.reference(key))), ("field", .text(match.field)),
                ("text", .text(text)),
                ("match", .text(match.match)),
            ],
            cells: [.text(entity), .value(.reference(key)), .text(match.field), .text(text)])
    }
}
