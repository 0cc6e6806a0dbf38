import ArgumentParser
import Tarn

/// The command `tarn explain`.
struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show the plan of a query, its estimated cost, and indexes that would help.",
        discussion: """
            Example:
              tarn explain Issue --where 'state = open' --sort 'updatedAt desc' --limit 20
            """)

    @Argument(help: "Name of the entity in the description.") var entity: String
    @OptionGroup var query: QueryOptions
    @OptionGroup var store: StoreOptions

    func run() throws {
        let store = try store.open(), catalog = store.catalog
        let query = try query.query(catalog.requireEntity(entity), catalog)
        Output.lines(try store.read { reader in try reader.explain(query).description })
    }
}
