import ArgumentParser
import Tarn
import TarnInspect

/// The command `count` of the shell: the number of records.
struct ShellCountCommand: InspectingCommand {
    static let configuration = CommandConfiguration(
        commandName: "count", abstract: "Count the records of an entity: all, or those that meet a condition.",
        discussion: """
            Example:
              count Issue --where 'state = open'
            """)

    @Argument(help: "Store directory.") var store: String
    @Argument(help: "Name of the entity.") var entity: String
    @OptionGroup var condition: ConditionOptions

    func run(on inspector: StoreInspector) throws {
        try TableQuestions.refuseRecords(store, inspector)
        let damage = DamageReport(store)
        var count = 0
        let reason = try inspector.selectRecords(
            of: entity,
            { catalog in
                var selection = RecordSelection()
                selection.query = try condition.query(catalog.requireEntity(entity), catalog)
                return selection
            }, record: { _ in count += 1 }, damaged: damage.add)
        noteWithoutLocks(store, reason)
        Output.line("\(count)")
        try damage.end("counted")
    }
}
