import ArgumentParser
import Tarn

/// The command `tarn missing`.
struct MissingCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "missing",
        abstract: "List the keys of missing records that a relationship refers to: what to fetch next.",
        discussion: """
            Each key is listed once, however many records refer to it.

            Examples:
              tarn missing Issue author
              tarn missing Issue author --limit 100 --format json
            """)

    @Argument(help: "Name of the entity in the description.") var entity: String
    @Argument(help: "Name of the relationship.") var relationship: String
    @Option(help: "Number of keys to show (default: all).") var limit: Int?
    @Option(help: ArgumentHelp("Continue after TOKEN, printed by a previous list.", valueName: "token"))
    var after: String?
    @OptionGroup var format: FormatOption
    @OptionGroup var store: StoreOptions

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit must not be negative") }
    }

    func run() throws {
        let store = try store.open()
        let entity = try store.catalog.requireEntity(entity)
        let after = try after.map { try ContinuationToken(argument: $0) }
        let missing = try store.read { reader in
            try reader.missingTargets(of: entity.name, relationship, limit: limit, after: after)
        }
        for target in missing.targets {
            format.format == .json ? Output.json(target.jsonText) : Output.line(target.plainText)
        }
        if missing.unnamedCount > 0 {
            Output.note("\(missing.unnamedCount) more with keys that are too long to show")
        }
        if format.format == .table { Output.note("\(missing.targets.count) missing") }
        Output.next(missing.next)
    }
}
