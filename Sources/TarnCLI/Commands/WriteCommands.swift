// Commands that change what is in the store: all records that meet a condition.

import ArgumentParser
import Tarn

/// Which records are written, and how it is reported.
struct WriteOptions: ParsableArguments {
    @OptionGroup var condition: ConditionOptions
    @Flag(help: "Every record of the entity; needed if there is no --where.") var all = false
    @Flag(help: "Only say how many records it would be.") var dryRun = false
    @Option(help: "How many records one write has at most. Between two writes others have their turn.") var step = 1000
    @Flag(help: "Set no mark of a local change: the next sync may take it back.") var asServer = false
    @OptionGroup var format: FormatOption
    @OptionGroup var store: StoreOptions

    func validate() throws {
        if condition.conditions.isEmpty, condition.partials == .included, !all {
            throw ValidationError("this is about every record of the entity: name those you mean with --where, or say --all")
        }
        if all, !condition.conditions.isEmpty { throw ValidationError("--all and --where exclude each other") }
        if step < 1 { throw ValidationError("--step must be at least 1") }
    }

    func run(_ entity: String, _ past: String, _ write: (Store, Query) throws -> QueryWriteReport) throws {
        let store = try store.open(forWriting: !dryRun), catalog = store.catalog
        let query = try condition.query(catalog.requireEntity(entity), catalog)
        if dryRun {
            let count = try store.read { reader in try reader.count(query) }
            return format.format == .json ? Output.json("{\"matched\":\(count)}") : Output.line("\(count) records; nothing was written")
        }
        let report = try write(store, query)
        switch format.format {
        case .json: Output.json("{\"matched\":\(report.matched),\"\(past)\":\(report.changed),\"steps\":\(report.steps)}")
        case .table: Output.line("\(report.matched) records found, \(report.changed) \(past)")
        }
    }
}

struct UpdateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Set fields of all records that meet a condition, in the store only: the server learns nothing of it.",
        discussion: """
            The fields are marked as changed here: a sync keeps their values and reports that, until a program clears the mark. With \
            --as-server nothing is marked, as if the server had said it.

            Examples:
              tarn update Issue --where 'milestone = 7' --set state=closed --dry-run
              tarn update Issue --where 'milestone = 7' --set state=closed --set 'title="done"'
              tarn update User --all --set seenAt=null
            """)

    @Argument(help: "The entity, as in the description file.") var entity: String
    @Option(parsing: .singleValue, help: ArgumentHelp("A field and its new value; null clears. May be repeated.", valueName: "field=value"))
    var set: [String] = []
    @OptionGroup var options: WriteOptions

    func validate() throws {
        if set.isEmpty { throw ValidationError("say what to set: --set field=value") }
    }

    func run() throws {
        try options.run(entity, "changed") { store, query in
            var values: [String: Value] = [:]
            for text in set {
                let assignment = try namingOption("--set") {
                    try Assignment(text: text, entity: query.entity, catalog: store.catalog)
                }
                guard values.updateValue(assignment.value, forKey: assignment.field) == nil else {
                    throw Failure(.usage, "--set \(text): \(assignment.field) is set twice")
                }
            }
            return try options.asServer
                ? store.update(query, set: values, step: options.step) : store.updateLocally(query, set: values, step: options.step)
        }
    }
}

struct DeleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete all records that meet a condition, and what delete rules say, in the store only.",
        discussion: """
            The records are marked as deleted here: a sync does not bring them back and reports that, until a program clears the mark. What \
            delete rules take with them is not marked. With --as-server nothing is.

            Examples:
              tarn delete Comment --where 'issue is missing' --dry-run
              tarn delete Issue --where 'state = closed and closedAt < 2020-01-01'
            """)

    @Argument(help: "The entity, as in the description file.") var entity: String
    @OptionGroup var options: WriteOptions

    func run() throws {
        try options.run(entity, "deleted") { store, query in
            try options.asServer ? store.delete(query, step: options.step) : store.deleteLocally(query, step: options.step)
        }
    }
}
