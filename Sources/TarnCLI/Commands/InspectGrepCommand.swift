// `tarn inspect grep`: a text in the fields of all records.

import ArgumentParser
import Tarn
import TarnInspect

struct InspectGrepCommand: InspectingCommand {
    static let configuration = CommandConfiguration(
        commandName: "grep",
        abstract: "Search the values of all records for a text.",
        discussion: """
            Numbers, dates and UUIDs are searched as `tarn inspect dump` prints them, texts without quotes and \
            escapes, lists by element, keys by component. --ignore-case follows Unicode: "STRASSE" finds "Straße". \
            The exit code is 0 if the text was found, 1 if not, and 6 if a part of the store is damaged. In an LMDB \
            file of another program, keys and values are searched, also binary ones, and --entity names a table.

            Examples:
              tarn inspect grep forge.tarn 'rate limit'
              tarn inspect grep forge.tarn crash --ignore-case --entity Issue --fields title
              tarn inspect grep forge.tarn crash --count
              tarn inspect grep forge.tarn TODO --format ndjson | jq .key
            """)

    @Argument(help: "Store directory, or its data.mdb.") var store: String
    @Argument(help: "Text to search for.") var text: String
    @Flag(name: [.customShort("i"), .long], help: "Ignore case.") var ignoreCase = false
    @Option(help: "Only records of this entity.") var entity: String?
    @Option(help: ArgumentHelp("Only these fields, separated by commas.", valueName: "names")) var fields: String?
    @Option(help: "Number of matching fields to show (default: all).") var limit: Int?
    @Flag(help: "Print only the number of matching records.") var count = false
    @OptionGroup var format: FormatOption

    func validate() throws {
        if text.isEmpty { throw ValidationError("the text must not be empty") }
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
        if count, limit != nil { throw ValidationError("--count cannot be combined with --limit") }
    }

    func run(on inspector: StoreInspector) throws {
        var options = SearchOptions()
        options.entity = entity
        options.fields = fields.map { Set($0.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }) }
        options.ignoresCase = ignoreCase
        options.limit = limit ?? .max
        if let tables = try TableQuestions(store, inspector, unfit: [("--fields", fields != nil)]) {
            if !count { format.beginOutput() }
            return try tables.grep(text, options, count ? nil : format.style)
        }
        let damage = DamageReport(store), style = format.style
        if !count { format.beginOutput() }
        var rows = count ? nil : RowWriter(["entity", "key", "field", "value"], style)
        let result: SearchSummary
        do {
            result = try inspector.search(for: text, options, damaged: damage.add) { match in
                rows?.add(members: match.members, cells: match.cells)
            }
        } catch let error as RecordSelectionError {
            throw Failure(.usage, error.description)
        }
        if result.fields > 0 || !style.format.isForPeople { rows?.end() }
        noteWithoutLocks(store, result.aloneBecause)
        if count { Output.line("\(result.records)") }
        try damage.end("read")
        guard result.records > 0 else { throw Failure(.failed, "") }
    }
}

extension SearchMatch {
    fileprivate var members: [RowWriter.Member] {
        var key = ""
        self.key.appendJSON(to: &key)
        return [
            ("entity", .text(entity)), ("key", .json(key)), ("field", .text(field)), ("value", .text(excerpt())),
        ]
    }

    fileprivate var cells: [OutputValue] {
        [.text(entity), .value(.reference(key)), .text(field), .text(excerpt())]
    }
}
