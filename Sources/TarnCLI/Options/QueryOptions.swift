// The options that select and order records: `--where`, `--sort` and others.

import ArgumentParser
import Tarn

struct QueryOptions: ParsableArguments {
    @OptionGroup var condition: ConditionOptions
    @Option(
        help: ArgumentHelp(
            "Fields to sort by, such as 'updatedAt desc, number' (default: the key).", valueName: "order"))
    var sort = ""
    @Option(help: "Number of records to show (default: all).") var limit: Int?
    @Option(help: "Number of records to skip first.") var offset = 0
    @Option(help: ArgumentHelp("Continue after TOKEN, printed by a previous list.", valueName: "token"))
    var after: String?

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit must not be negative") }
        if offset < 0 { throw ValidationError("--offset must not be negative") }
        if after != nil, offset > 0 {
            throw ValidationError("--after and --offset exclude each other")
        }
    }

    func query(_ entity: Catalog.Entity, _ catalog: Catalog) throws -> Query {
        var query = try condition.query(entity, catalog)
        query.order = try namingOption("--sort") {
            try [Query.Order](text: sort, entity: entity.name, catalog: catalog)
        }
        query.limit = limit
        query.offset = offset
        query.after = try after.map { try ContinuationToken(argument: $0) }
        return query
    }
}

/// Runs a closure and prefixes its text errors with the name of the option.
func namingOption<Result>(_ option: String, _ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let error as QueryTextError { throw Failure(.usage, lines: "\(option): \(error)") }
}

extension ContinuationToken {
    init(argument: String) throws {
        guard let token = ContinuationToken(text: argument) else {
            throw Failure(
                .usage,
                "--after \(argument): not a token; use the one that the previous list printed, with the same --where and --sort"
            )
        }
        self = token
    }
}

extension Query.Partials: ExpressibleByArgument {}
