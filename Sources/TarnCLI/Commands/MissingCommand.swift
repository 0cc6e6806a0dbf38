import ArgumentParser
import Tarn

/// The command `tarn missing`.
struct MissingCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "missing",
        abstract: "List the keys that a relationship leads to without there being a record: what to fetch next.",
        discussion: """
            Each key is listed once, however many records lead to it.

            Examples:
              tarn missing Issue author
              tarn missing Issue author --limit 100 --format json
            """)

    @Argument(help: "The entity, as in the description file.") var entity: String
    @Argument(help: "The relationship.") var relationship: String
    @Option(help: "Stop after this many keys.") var limit: Int?
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
            Output.note("\(missing.unnamedCount) more have keys that are too long to be named")
        }
        if format.format == .table { Output.note("\(missing.targets.count) missing") }
        Output.next(missing.next)
    }
}
