// `tarn store repair`: rebuilds the derived tables of a damaged store.

import ArgumentParser
import Foundation
import Tarn
import TarnInspect

struct RepairCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: "Rebuild indexes, response tables and counters from the rows where they are wrong.",
        discussion: """
            Makes a copy of the store first. The repair is one transaction; other processes may read meanwhile. If \
            pages of the file are damaged, nothing is changed: use `tarn inspect salvage` to bring the readable \
            records into a new store.

            Damaged rows are reported and stay as they are, with their index entries: a query that meets one fails \
            instead of leaving it out. --remove-damaged-rows removes them together with the responses that list them. \
            The next sync then requests all lists as a whole and without conditions, and fetches the rows again. Local \
            changes of such rows that were not sent are lost, and named.

            Unreadable operations of the outbox are removed, and named with their records. Their changes stay local \
            changes, which can be queued again; a record whose deletion was queued comes back with the next sync.

            Examples:
              tarn store repair forge.tarn --dry-run
              tarn store repair forge.tarn --backup before.tarn
              tarn store repair forge.tarn --remove-damaged-rows
            """)

    @Argument(help: "Store directory.") var store: String
    @Flag(help: "Report what would be repaired, but change nothing.") var dryRun = false
    @Flag(help: "Remove damaged rows.") var removeDamagedRows = false
    @Option(
        help: ArgumentHelp(
            "Directory of the copy (default: beside the store, with the time in its name).", valueName: "path"))
    var backup: String?
    @Flag(help: "Do not make a copy.") var noBackup = false

    func validate() throws {
        if noBackup, backup != nil { throw ValidationError("--backup and --no-backup exclude each other") }
    }

    func run() throws {
        let before = try StoreInspector(at: store).verification()
        if let finding = before.findings.first(where: { $0.code.isOfPages }) {
            throw Failure(damagedPages: finding, of: store)
        }
        // Without permission for the lock, this is the error that says so.
        let open = try Failure.ofLocking { try Store.open(at: store) }
        guard before.isHeld else {
            throw Failure(
                .store,
                "\(store): the check could not lock the store (\(before.aloneBecause ?? "")); nothing was changed")
        }
        var options: Set<Store.RepairOption> = []
        if dryRun { options.insert(.dryRun) }
        if removeDamagedRows { options.insert(.removesDamagedRows) }
        if !dryRun, !before.isSound, !noBackup {
            let copy = backup ?? RepairCommand.copy(of: store, at: Date())
            // Not compacted, so that the copy contains the damage.
            try open.backup(to: copy, isCompacted: false)
            Output.line("copy: \(copy)")
        }
        let report = try open.repair(options)
        show(report)
        guard !dryRun else {
            let left = before.findings.filter { RepairCommand.stays($0, options) }
            for finding in left.prefix(20) {
                Output.error("\(store): \(finding.place): \(finding.detail) [\(finding.code.rawValue)]")
            }
            guard left.isEmpty else {
                throw Failure(.store, "\(store): \(countText(left.count, "finding")) could not be repaired")
            }
            return
        }
        let after = try StoreInspector(at: store).verification()
        guard after.isSound else {
            for finding in after.findings.prefix(20) {
                Output.error("\(store): \(finding.place): \(finding.detail) [\(finding.code.rawValue)]")
            }
            throw Failure(.store, "\(store): \(countText(max(1, after.total), "finding")) could not be repaired")
        }
        Output.line("sound")
    }

    /// Returns the path of the copy beside a store, at which nothing exists.
    static func copy(of store: String, at time: Date) -> String {
        var name = store
        while name.count > 1, name.hasSuffix("/") { name.removeLast() }
        if [".", "..", "/"].contains(name.split(separator: "/").last ?? "/") {
            name = URL(fileURLWithPath: name).standardizedFileURL.path
        }
        name += ".before-repair-\(Int(time.timeIntervalSince1970))"
        var path = name, number = 2
        while FileManager.default.fileExists(atPath: path) { (path, number) = ("\(name)-\(number)", number + 1) }
        return path
    }

    /// Whether a repair leaves a finding: it rebuilds what follows from rows, and no rows.
    private static func stays(_ finding: Finding, _ options: Set<Store.RepairOption>) -> Bool {
        switch finding.code {
        case .rowChecksum, .rowForm, .rowDictionary, .rowEntity, .list: !options.contains(.removesDamagedRows)
        case .rowKey, .rowValue, .indexNotUnique, .catalog, .setting, .dictionary: true
        default: false
        }
    }

    private static func entries(_ count: Int) -> String { countText(count, "entry", plural: "entries") }

    private func show(_ report: RepairReport) {
        for index in report.indexes {
            Output.line("index \(index.name): \(Self.entries(index.entriesBefore)) before, \(index.entriesAfter) now")
        }
        for table in report.tables {
            Output.line("table \(table.name): \(Self.entries(table.entriesBefore)) before, \(table.entriesAfter) now")
        }
        if report.responsesRemoved > 0 {
            Output.line("\(countText(report.responsesRemoved, "response")) removed: the next sync requests them again")
        }
        for (name, value) in report.counters.sorted(by: { $0.key < $1.key }) {
            Output.line("counter \(name): \(value)")
        }
        if report.listRowsRemoved > 0 {
            Output.line("\(countText(report.listRowsRemoved, "reference")) of lists without a record removed")
        }
        if report.ownRowsRemoved > 0 {
            Output.line(
                "\(countText(report.ownRowsRemoved, "unreadable checkpoint, mark or operation", plural: "unreadable checkpoints, marks or operations")) "
                    + "removed")
        }
        for operation in report.lostOperations.prefix(100) { Output.line("outbox \(operation)") }
        if report.lostOperations.count > 100 {
            Output.line("and \(countText(report.lostOperations.count - 100, "more operation"))")
        }
        if report.scanMembersRestored > 0 {
            Output.line("\(countText(report.scanMembersRestored, "record")) of scans: entry made anew")
        }
        if report.rebuildsOutbox { Output.line("outbox: index entries and counters made anew") }
        if report.clearsChangeLog {
            Output.line("the change log was reset: its consumers must read all records again")
        }
        for row in report.damagedRows.prefix(100) {
            Output.line("row \(row): unreadable" + (report.removesDamagedRows ? ", removed" : ""))
        }
        if report.damagedRows.count > 100 {
            Output.line("and \(countText(report.damagedRows.count - 100, "more row"))")
        }
        for change in report.damagedLocalChanges.prefix(100) {
            Output.line(
                "row \(change): a local change that was not sent "
                    + (report.removesDamagedRows ? "is lost" : "cannot be read"))
        }
        if report.damagedLocalChanges.count > 100 {
            Output.line("and \(countText(report.damagedLocalChanges.count - 100, "more local change"))")
        }
        if report.isEmpty { Output.line("nothing to repair") }
        if dryRun, !report.isEmpty { Output.line("nothing was changed: this was a dry run") }
    }
}
