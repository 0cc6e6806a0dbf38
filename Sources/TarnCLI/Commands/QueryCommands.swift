// Commands about many records at once: how many there are, which are missing, and how they would be found.

import ArgumentParser
import Tarn

struct CountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "count",
        abstract: "Count the records of an entity, all or those that meet a condition, or by the values of a field.",
        discussion: """
            Examples:
              tarn count Issue
              tarn count Issue --where 'state = open and labels contains 7'
              tarn count Issue --by author.login --where 'createdAt >= 2025-01-01'
            """)

    @Argument(help: "The entity, as in the description file.") var entity: String
    @Option(help: ArgumentHelp("Count for each value of this field by itself.", valueName: "field")) var by: String?
    @OptionGroup var condition: ConditionOptions
    @OptionGroup var format: FormatOption
    @OptionGroup var store: StoreOptions

    func run() throws {
        let store = try store.open(), catalog = store.catalog
        let entity = try catalog.requireEntity(entity)
        let query = try condition.query(entity, catalog)
        try store.read { reader in
            guard let by else { return Output.line("\(try reader.count(query))") }
            // An order names fields as this does.
            let order = try namingOption("--by") { try [Query.Order](text: by, entity: entity.name, catalog: catalog) }
            guard order.count == 1, let path = order.first?.path else { throw Failure(.usage, "--by \(by): name one field") }
            let groups = try reader.counts(by: path, query)
            switch format.format {
            case .json:
                for group in groups { Output.json("{\"value\":\(group.value.jsonText),\"count\":\(group.count)}") }
            case .table:
                var table = Table([by, "count"], rightAligned: [1])
                for group in groups { table.add([group.value == .null ? "(missing)" : group.value.plainText, "\(group.count)"]) }
                table.lines(width: Output.width).forEach(Output.line)
            }
        }
    }
}

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
        for target in missing.targets { format.format == .json ? Output.json(target.jsonText) : Output.line(target.plainText) }
        if missing.unnamedCount > 0 { Output.note("\(missing.unnamedCount) more have keys that are too long to be named") }
        if format.format == .table { Output.note("\(missing.targets.count) missing") }
        Output.next(missing.next)
    }
}

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show how the records of a query would be found, what that costs, and what would help.",
        discussion: """
            Example:
              tarn explain Issue --where 'state = open' --sort 'updatedAt desc' --limit 20
            """)

    @Argument(help: "The entity, as in the description file.") var entity: String
    @OptionGroup var query: QueryOptions
    @OptionGroup var store: StoreOptions

    func run() throws {
        let store = try store.open(), catalog = store.catalog
        let query = try query.query(catalog.requireEntity(entity), catalog)
        Output.lines(try store.read { reader in try reader.explain(query).description })
    }
}

extension Output {
    /// Says where the next part of a list begins, if there is one.
    static func next(_ token: ContinuationToken?) {
        // Complete, however long it is.
        if let token { notes("More: repeat with `--after \(token.text)`") }
    }
}
