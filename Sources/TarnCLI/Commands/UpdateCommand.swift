import ArgumentParser
import Tarn

/// The command `tarn update`.
struct UpdateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract:
            "Set fields of the records that meet a condition, in the store only, not at the server.",
        discussion: """
            The fields are marked as changed locally: a sync keeps their values, and reports them, until a program \
            clears the mark. With --as-server, nothing is marked, and the next sync may overwrite the values.

            Examples:
              tarn update Issue --where 'milestone = 7' --set state=closed --dry-run
              tarn update Issue --where 'milestone = 7' --set state=closed --set 'title="done"'
              tarn update User --all --set seenAt=null
            """)

    @Argument(help: "Name of the entity in the description.") var entity: String
    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Field and its new value, as field=value; null clears it. May be repeated.", valueName: "field=value"))
    var set: [String] = []
    @OptionGroup var options: WriteOptions

    func validate() throws {
        if set.isEmpty { throw ValidationError("nothing to set: add --set field=value") }
    }

    func run() throws {
        try options.run(entity, "changed") { store, query in
            var values: [String: Value] = [:]
            for text in set {
                let assignment = try namingOption("--set") {
                    try Assignment(text: text, entity: query.entity, catalog: store.catalog)
                }
                guard values.updateValue(assignment.value, forKey: assignment.field) == nil else {
                    throw Failure(.usage, "--set \(text): \(assignment.field) is set more than once")
                }
            }
            return try options.asServer
                ? store.update(query, set: values, step: options.step)
                : store.updateLocally(query, set: values, step: options.step)
        }
    }
}
