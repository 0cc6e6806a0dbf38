import ArgumentParser
import Foundation
import Tarn
import TarnInspect

/// The command `tarn inspect salvage`.
struct SalvageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "salvage",
        abstract: "Copy the readable records of a damaged store into a new store.",
        discussion: """
            The damaged store is only read. Rows on pages that no tree reaches are found by their checksums; if both \
            meta pages are unreadable, the newest trees are found by searching all pages. A lost record is named if a \
            page still has its key. Lost records are counted if the record of their table is readable. If anything was \
            lost, the new store has no responses and no checkpoints, so that the next sync fetches everything again; \
            the exit code is then 3, as it is if a setting was lost, such as the quota. Local changes that were not sent \
            cannot be fetched: the lost ones are named, and if others may be lost, the message says so. If another \
            process writes to the damaged store meanwhile, no new store is made, and the exit code is 9.

            The tables of an LMDB file of another program are copied into a new LMDB environment, also if both meta \
            pages are unreadable. Entries on pages that no tree reaches go to their table if it is certain, else to a \
            table lost+found. What could not be read is named by table and key, or by page; the exit code is then 3.

            Examples:
              tarn inspect salvage damaged.tarn forge.tarn
              tarn inspect salvage damaged.mdb folder
            """)

    @Argument(help: "Directory of the damaged store, or its data.mdb.") var damaged: String
    @Argument(help: "Directory of the new store; must not exist.") var new: String
    @Flag(help: "Show progress on standard error (default: only on a terminal).") var progress = false

    func run() throws {
        let meter = ProgressMeter(isShown: progress || Output.errorIsDrawable)
        let report: SalvageReport
        do {
            report = try StoreInspector(at: damaged).salvage(to: new) { meter.show($0.pages, of: $0.total, "pages") }
        } catch StoreError.damagedCatalog(_, let detail) {
            // The error's own advice is to salvage.
            throw Failure(.store, "\(damaged): cannot read the catalog of the store: \(detail)")
        }
        meter.clear()
        noteWithoutLocks(damaged, report.aloneBecause)
        for damage in report.lost { Output.error("\(damaged): \(damage)") }
        if let name = report.lostAndFound { return try showTables(report, name) }
        for (entity, count, all) in report.missing {
            let number = (report.mayBeOld ? "at least " : "") + "\(count) of \(countText(all, "record"))"
            Output.error("\(damaged): \(number) of \(entity): not in the new store")
        }
        for change in report.lostLocalChanges.prefix(100) {
            Output.error("\(damaged): \(change): a local change that was not sent is lost")
        }
        let more = report.lostLocalChanges.count - 100
        if more > 0 { Output.error("\(damaged): \(countText(more, "more lost local change"))") }
        for (name, consequence) in report.lostSettings { Output.error("\(damaged): meta \(name): \(consequence)") }
        let records = report.records.reduce(0) { $0 + $1.count }
        Output.line(
            "\(new): \(countText(records, "record")) (\(report.records.filter { $0.count > 0 }.map { "\($0.count) \($0.entity)" }.joined(separator: ", "))), "
                + "\(countText(report.responses, "response")), \(countText(report.localChanges, "local change")), \(countText(report.operations, "unsent operation")), as of commit \(report.sequence)"
        )
        if report.hasFoundTrees {
            Output.line(
                "both meta pages are unreadable: this is the newest state that was found; later commits may be missing")
        }
        if report.found > 0 {
            Output.line(
                "\(report.found) of them found on unreachable pages"
                    + (report.mayBeOld ? "; some may be outdated or deleted" : ""))
        }
        guard report.lostCount > 0 else {
            guard !report.lostSettings.isEmpty else { return }
            throw Failure(
                .partly, "\(damaged): \(countText(report.lostSettings.count, "setting")) could not be copied")
        }
        throw Failure(
            .partly,
            "\(damaged): \(countText(report.lostCount, "row or page", plural: "rows or pages")) could not be read; "
                + (report.mayLackLocalChanges
                    ? "local changes that were not sent may be among them. `tarn sync` on the new store fetches the rest "
                        + "again, but overwrites local values that have no mark any more: keep the damaged store, and compare "
                        + "the records with it (`tarn inspect diff \(damaged) \(new)`) after the sync"
                    : "run `tarn sync` on the new store to fetch them again")
        )
    }

    /// Shows the tables of a file of another program.
    private func showTables(_ report: SalvageReport, _ lostAndFound: String) throws {
        for (table, count, all) in report.missing {
            let entries = countText(all, "entry", plural: "entries")
            Output.error("\(damaged): \(count) of \(entries) of \(table): not in the new file")
        }
        let entries = report.records.reduce(0) { $0 + $1.count }
        let tables = report.records.map { "\($0.count) \($0.entity)" }.joined(separator: ", ")
        Output.line("\(new): \(countText(entries, "entry", plural: "entries")) (\(tables))")
        if report.hasFoundTrees {
            Output.line(
                "both meta pages are unreadable: these are the newest tables that were found; later commits may be "
                    + "missing")
        }
        if report.found > 0 {
            Output.line(
                "\(report.found) of them found on unreachable pages"
                    + (report.mayBeOld ? "; some may be outdated or deleted" : ""))
        }
        if report.records.contains(where: { $0.entity == lostAndFound }) {
            Output.line("\(lostAndFound) has the entries whose table is not known")
        }
        guard report.lostCount > 0 || !report.missing.isEmpty else { return }
        let lost = countText(max(1, report.lostCount), "entry or page", plural: "entries or pages")
        throw Failure(.partly, "\(damaged): \(lost) could not be read; the others were copied")
    }
}
