// `tarn inspect changes`: the change log of a store file.

import ArgumentParser
import Tarn
import TarnInspect

struct InspectChangesCommand: InspectingCommand {
    static let configuration = CommandConfiguration(
        commandName: "changes",
        abstract: "Show the change log: which records were created, updated and deleted, by commit.",
        discussion: """
            Reads the file like the other commands of the group, also if it is damaged; the exit code is then 6. \
            `tarn changes` has tokens for programs that continue later.

            Examples:
              tarn inspect changes forge.tarn
              tarn inspect changes forge.tarn --since 120 --entity Issue
              tarn inspect changes forge.tarn --format ndjson | jq -r .operation | sort | uniq -c
            """)

    @Argument(help: "Store directory, or its data.mdb.") var store: String
    @Option(help: ArgumentHelp("Only changes after this commit.", valueName: "commit")) var since: UInt64 = 0
    @Option(
        name: .customLong("entity"), parsing: .singleValue,
        help: ArgumentHelp("Only this entity. May be repeated.", valueName: "entity"))
    var entities: [String] = []
    @Option(help: "Number of changes to show (default: all).") var limit: Int?
    @OptionGroup var format: FormatOption

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
    }

    func run(on inspector: StoreInspector) throws {
        try TableQuestions.refuse(
            store, inspector, has: "no change log",
            instead: "`tarn inspect watch` shows the tables that commits change from now on, and `tarn inspect diff` "
                + "what differs from a copy of the file")
        let damage = DamageReport(store), style = format.style
        format.beginOutput()
        var rows = RowWriter(Change.columns, style)
        let part = try inspector.changes(
            since: since, of: entities.isEmpty ? nil : entities, limit: limit ?? .max, damaged: damage.add
        ) { rows.add(members: $0.members(style), cells: $0.cells(style)) }
        if rows.count > 0 || style.format != .table { rows.end() }
        noteWithoutLocks(store, part.aloneBecause)
        if since > part.sequence {
            Output.note("the store has no commit \(since): its newest one is \(part.sequence)")
        }
        if part.trimmed > since {
            Output.note("changes up to commit \(part.trimmed) were trimmed from the log, all or some of them")
        }
        if part.unknown > 0 {
            Output.note("\(countText(part.unknown, "change")) of entities that the store no longer has: left out")
        }
        if part.hasMore { Output.note("there are more changes: raise --limit") }
        try damage.end("read")
    }
}
