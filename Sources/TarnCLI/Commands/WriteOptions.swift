// The options of commands that change all records that meet a condition.

import ArgumentParser
import Tarn

/// The selection of records to change, and the report of the result.
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
            throw ValidationError(
                "this is about every record of the entity: name those you mean with --where, or say --all")
        }
        if all, !condition.conditions.isEmpty { throw ValidationError("--all and --where exclude each other") }
        if step < 1 { throw ValidationError("--step must be at least 1") }
    }

    func run(_ entity: String, _ past: String, _ write: (Store, Query) throws -> QueryWriteReport) throws {
        let store = try store.open(forWriting: !dryRun), catalog = store.catalog
        let query = try condition.query(catalog.requireEntity(entity), catalog)
        if dryRun {
            let count = try store.read { reader in try reader.count(query) }
            return format.format == .json
                ? Output.json("{\"matched\":\(count)}") : Output.line("\(count) records; nothing was written")
        }
        let report = try write(store, query)
        switch format.format {
        case .json:
            Output.json("{\"matched\":\(report.matched),\"\(past)\":\(report.changed),\"steps\":\(report.steps)}")
        case .table: Output.line("\(report.matched) records found, \(report.changed) \(past)")
        }
    }
}
