// The options of commands that change all records that meet a condition.

import ArgumentParser
import Tarn

/// The selection of records to change, and the report of the result.
struct WriteOptions: ParsableArguments {
    @OptionGroup var condition: ConditionOptions
    @Flag(help: "All records of the entity; required without --where.") var all = false
    @Flag(help: "Count the records, but write nothing.") var dryRun = false
    @Option(help: "Maximum number of records per transaction; other writers may run in between.") var step = 1000
    @Flag(help: "Do not mark the change as local: the next sync may overwrite it.") var asServer = false
    @Flag(help: "Queue the change for the server: `tarn push` sends it.") var queue = false
    @Flag(help: "Queue the change, and send everything that is queued.") var send = false
    @OptionGroup var format: ReportFormatOption
    @OptionGroup var store: WritableStoreOptions
    @Flag(help: "With --dry-run: read without locks, from a store that no process writes to.") var immutable = false

    func validate() throws {
        if condition.conditions.isEmpty, condition.partials == .included, !all {
            throw ValidationError(
                "this would change every record of the entity: select records with --where, or confirm with --all")
        }
        if all, !condition.conditions.isEmpty { throw ValidationError("--all and --where exclude each other") }
        if isQueued, asServer { throw ValidationError("--as-server and --queue or --send exclude each other") }
        if step < 1 { throw ValidationError("--step must be at least 1") }
    }

    /// Whether the change is queued for the server.
    var isQueued: Bool { (queue || send) && !dryRun }

    /// Whether the change is queued, or a dry run shows what queueing it would do.
    ///
    /// Without declared requests, or without locks, a dry run only counts.
    ///
    /// - Throws: the error of a description that cannot be read: the change would fail, too.
    func goesThroughQueue() throws -> Bool {
        guard queue || send, dryRun else { return isQueued }
        guard !immutable, store.description.isThere else { return false }
        return try !store.description.load().writes.isEmpty
    }

    /// The records that a queued change has found, and the queued operations.
    struct Queued {
        var matched: Int
        /// The ids of the queued operations.
        var operations: [UInt64]
        /// Further members of the JSON object, each after a comma.
        var json = ""
        /// Further lines of the text.
        var lines: [String] = []
    }

    /// Queues a change, and sends it with `--send`.
    ///
    /// With `--dry-run`, the closure leaves the store as it is.
    func queue(
        _ entity: String, _ kind: OutboxOperation.Kind, _ change: (Outbox, Query) async throws -> Queued
    ) async throws {
        if immutable { throw Failure(.usage, "--immutable is only for reading: a write needs locks") }
        let outbox = try Outbox.open(
            store.description, for: entity, kind, store: store.store, creatingStore: false, adoptsSchema: !dryRun)
        let catalog = outbox.store.catalog
        let query = try condition.query(catalog.requireEntity(entity), catalog)
        let result = try await change(outbox, query), matched = result.matched
        switch format.format {
        case .json where dryRun: Output.json("{\"matched\":\(matched)\(result.json)}")
        case .json: Output.json("{\"matched\":\(matched),\"queued\":\(result.operations.count)\(result.json)}")
        case .table:
            Output.line(
                countText(matched, "record")
                    + (dryRun ? "; nothing was written" : " found, \(result.operations.count) queued"))
            for line in result.lines { Output.line(line) }
        }
        guard send, !dryRun else { return }
        let own = Set(result.operations)
        try await outbox.sendAndReport(isJSON: format.format == .json) { own.contains($0.id) }
    }

    /// Writes directly.
    ///
    /// - Parameter check: checks what is to be written, for a dry run.
    func run(
        _ entity: String, _ past: String, check: (Store, Query) throws -> Void = { _, _ in },
        _ write: (Store, Query) throws -> QueryWriteReport
    ) throws {
        let store = try store.open(isReadOnly: dryRun, isImmutable: immutable), catalog = store.catalog
        let query = try condition.query(catalog.requireEntity(entity), catalog)
        if dryRun {
            try check(store, query)
            let count = try store.read { reader in try reader.count(query) }
            return format.format == .json
                ? Output.json("{\"matched\":\(count)}")
                : Output.line("\(countText(count, "record")); nothing was written")
        }
        let report = try write(store, query)
        switch format.format {
        case .json:
            Output.json("{\"matched\":\(report.matched),\"\(past)\":\(report.changed),\"steps\":\(report.steps)}")
        case .table: Output.line("\(countText(report.matched, "record")) found, \(report.changed) \(past)")
        }
    }
}
