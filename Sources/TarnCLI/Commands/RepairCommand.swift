// `tarn store repair`: rebuilds the derived tables of a damaged store.

import ArgumentParser
import Foundation
import Tarn
import TarnInspect

struct RepairCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: "Make indexes, the tables of responses and counters anew from the rows, where they are wrong.",
        discussion: """
            First a copy of the store is made beside it. The repair is one transaction: others may read meanwhile. If pages of
            the file are damaged, nothing is done: `tarn inspect salvage` then brings what can be read into a new store.

            Rows that cannot be read stay as they are, and are named. --remove-damaged-rows takes them out, with the responses
            that list them, so that the next sync fetches them again.

            Examples:
              tarn store repair forge.tarn --dry-run
              tarn store repair forge.tarn --backup before.tarn
              tarn store repair forge.tarn --remove-damaged-rows
            """)

    @Argument(help: "The store's directory.") var store: String
    @Flag(help: "Say what would be done, and do nothing.") var dryRun = false
    @Flag(help: "Take out rows that cannot be read.") var removeDamagedRows = false
    @Option(
        help: ArgumentHelp(
            "Where the copy goes; by default beside the store, with the time in its name.", valueName: "path"))
    var backup: String?
    @Flag(help: "Make no copy.") var noBackup = false

    func validate() throws {
        if noBackup, backup != nil { throw ValidationError("--backup and --no-backup exclude each other") }
    }

    func run() throws {
        let before = try StoreVerification(ofStoreAt: store)
        if before.counts.keys.contains(where: \.isOfPages) || !before.isHeld {
            let finding = before.findings.first { $0.code.isOfPages }
            throw Failure(
                .store,
                "\(store): pages of the file are damaged (\(finding.map { "\($0.place): \($0.detail)" } ?? before.aloneBecause ?? "")); nothing was changed. Make a new store of what can be read: tarn inspect salvage \(store) NEW"
            )
        }
        var options: Set<Store.RepairOption> = []
        if dryRun { options.insert(.dryRun) }
        if removeDamagedRows { options.insert(.removesDamagedRows) }
        let open = try Store.open(at: store)
        if !dryRun, !before.isSound, !noBackup {
            let copy = backup ?? "\(store).before-repair-\(Int(Date().timeIntervalSince1970))"
            // Not compacted, so that the copy contains the damage.
            try open.backup(to: copy, isCompacted: false)
            Output.line("copy: \(copy)")
        }
        let report = try open.repair(options)
        show(report)
        guard !dryRun else { return }
        let after = try StoreVerification(ofStoreAt: store)
        guard after.isSound else {
            for finding in after.findings.prefix(20) {
                Output.error("\(store): \(finding.place): \(finding.detail) [\(finding.code.rawValue)]")
            }
            throw Failure(.store, "\(store): \(max(1, after.total)) findings are left, which cannot be repaired")
        }
        Output.line("sound")
    }

    private func show(_ report: RepairReport) {
        for index in report.indexes {
            Output.line("index \(index.name): \(index.entriesBefore) entries before, \(index.entriesAfter) now")
        }
        for table in report.tables {
            Output.line("table \(table.name): \(table.entriesBefore) entries before, \(table.entriesAfter) now")
        }
        if report.responsesRemoved > 0 {
            Output.line("\(report.responsesRemoved) responses taken out: the next sync asks for them again")
        }
        for (name, value) in report.counters.sorted(by: { $0.key < $1.key }) {
            Output.line("counter \(name): \(value)")
        }
        if report.listRowsRemoved > 0 {
            Output.line("\(report.listRowsRemoved) references of lists that no record has, taken out")
        }
        if report.ownRowsRemoved > 0 {
            Output.line("\(report.ownRowsRemoved) entries of progress and marks that cannot be read, taken out")
        }
        if report.clearsChangeLog {
            Output.line("the change log begins anew: who follows it has to read everything again")
        }
        for row in report.damagedRows.prefix(100) {
            Output.line("row \(row): it cannot be read" + (report.removesDamagedRows ? ", taken out" : ""))
        }
        if report.damagedRows.count > 100 { Output.line("and \(report.damagedRows.count - 100) rows more") }
        if report.isEmpty { Output.line("nothing to repair") }
        if dryRun, !report.isEmpty { Output.line("nothing was changed: this was a dry run") }
    }
}
