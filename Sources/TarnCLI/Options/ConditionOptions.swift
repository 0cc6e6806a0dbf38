import ArgumentParser
import Tarn

/// The options that select records: `--where` and `--partials`.
struct ConditionOptions: ParsableArguments {
    @Option(
        name: .customLong("where"), parsing: .singleValue,
        help: ArgumentHelp(
            "Only records that meet this condition, such as 'state = open and author.login = ada'. If repeated, all conditions apply.",
            valueName: "condition"))
    var conditions: [String] = []
    @Option(help: "Partially known records: included, excluded or only.") var partials: Query.Partials =
        .included

    /// Builds a query for the selected records, in key order.
    func query(_ entity: Catalog.Entity, _ catalog: Catalog) throws -> Query {
        let parts = try conditions.map { text in
            try namingOption("--where") { try Condition(text: text, entity: entity.name, catalog: catalog) }
        }
        return Query(
            entity.name, where: parts.count == 1 ? parts[0] : parts.isEmpty ? .all : .and(parts), partials: partials)
    }
}
