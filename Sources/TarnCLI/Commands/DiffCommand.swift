// `tarn inspect diff`: the differences between two stores.

import ArgumentParser
import TarnInspect

struct DiffCommand: InspectingCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Show what differs between two stores, or between a store and its backup.",
        discussion: """
            Records are matched by entity and key, fields by name: ids, versions and compression may differ. Added \
            records begin with "+", removed ones with "-", changed ones with "~". Each store is read as of one commit, \
            and may be in use. The exit code is 0 if the stores are equal, 1 if they differ, 6 if a part of one is \
            damaged, and 9 if a store could not be locked and another process committed meanwhile.

            Two LMDB files of other programs are compared table by table: tables by name, entries by key. Of a key \
            with several values, each is an entry. --entity names a table, or (main) for the one without a name.

            Examples:
              tarn inspect diff backup.tarn forge.tarn
              tarn inspect diff backup.tarn forge.tarn --entity Issue --summary
              tarn inspect diff before.mdb after.mdb --summary
              tarn inspect diff backup.tarn forge.tarn --json | jq 'select(.change == "removed") | .key'
            """)

    @Argument(help: "Store directory, or its data.mdb: the earlier state.") var first: String
    @Argument(help: "Store directory, or its data.mdb: the later state.") var second: String
    @Option(help: "Only records of this entity, and of those below it.") var entity: String?
    @Flag(help: "Print one JSON object per line: the differences, then the summary.") var json = false
    @Flag(help: "Print only the differences of the schema and the numbers of records.") var summary = false
    @Flag(help: "Show progress on standard error (default: only on a terminal).") var progress = false

    var store: String { first }

    func run(on inspector: StoreInspector) throws {
        let meter = ProgressMeter(isShown: progress || Output.errorIsDrawable)
        let stores = [first, second], other = StoreInspector(at: second)
        func difference(json text: @autoclosure () -> String, lines: @autoclosure () -> [String]) {
            guard !summary else { return }
            meter.clear()
            if json { return Output.json(text()) }
            for line in lines() { Output.line(line) }
        }
        func show(_ progress: StoreInspector.Progress) { meter.show(progress.pages, of: progress.total, "pages") }
        func damaged(_ store: Int, _ damage: StoreInspector.Damage) {
            meter.clear()
            Output.error("\(stores[store]): \(damage)")
        }
        let areForeign = [try inspector.isForeign, try other.isForeign]
        guard areForeign[0] == areForeign[1] else {
            let foreign = areForeign[0] ? first : second, store = areForeign[0] ? second : first
            // A damaged file may be neither.
            _ = try (areForeign[0] ? other : inspector).storedCatalog()
            throw Failure(
                .usage,
                "\(foreign) is an LMDB file of another program, and \(store) is a store of Tarn: "
                    + "`tarn inspect dump --mdb` writes the tables of both")
        }
        let differences: StoreDifferences
        do {
            differences =
                areForeign[0]
                ? try other.tableDifferences(
                    from: inspector, of: entity, progress: show,
                    difference: { difference(json: $0.json, lines: $0.lines) }, damaged: damaged)
                : try other.differences(
                    from: inspector, of: entity, progress: show,
                    difference: { difference(json: $0.json, lines: $0.lines) }, damaged: damaged)
        } catch let error as RecordSelectionError {
            throw Failure(.usage, error.description)
        }
        meter.clear()
        for (store, reason) in zip(stores, differences.aloneBecause) { noteWithoutLocks(store, reason) }
        if json {
            for part in differences.schema { Output.json(part.json) }
            Output.json(differences.json)
        } else {
            for line in differences.lines { Output.line(line) }
        }
        guard differences.isComplete else {
            throw Failure(.store, "a part of a store is damaged: records in it seem to be missing")
        }
        guard differences.isEqual else { throw Failure(.failed, "") }
    }
}
