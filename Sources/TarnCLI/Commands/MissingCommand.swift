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
        try checkHasIndex(entity, store.catalog)
        let after = try after.map { try ContinuationToken(argument: $0) }
        let missing = try store.read { reader in
            try reader.missingTargets(of: entity.name, relationship, limit: limit, after: after)
        }
        format.beginOutput()
        show(missing.targets)
        if missing.unnamedCount > 0 {
            Output.note("\(missing.unnamedCount) more with keys that are too long to show")
        }
        if let side = storedSide(entity, store.catalog) {
            Output.note(
                "\(entity.name).\(relationship) leads to records that exist: it is derived from \(side.entity)."
                    + "\(side.field); for the missing records that it refers to: "
                    + "tarn missing \(side.entity) \(side.field)")
        }
        if format.format == .table {
            let shown = missing.targets.count, isWhole = missing.next == nil && after == nil && limit != 0
            Output.note(isWhole ? "\(shown) missing" : "\(shown) shown\(missing.next == nil ? "" : "; there are more")")
        }
        Output.next(missing.next)
    }

    /// Refuses a join that starts from the key: a key has no index of its own to list values from.
    private func checkHasIndex(_ entity: Catalog.Entity, _ catalog: Catalog) throws {
        guard let join = catalog.relationship(relationship, of: entity)?.join, entity.key == [join.own],
            let field = entity.field(id: join.own), field.index == nil
        else { return }
        throw Failure(
            .usage,
            "\(entity.name).\(relationship) is joined by the key, which has no index to list its values from; "
                + "list the records: tarn list \(entity.name) --where '\(relationship) is missing' "
                + "--fields \(field.name)")
    }

    /// The stored side of a derived relationship; nil for a stored and for a joined one.
    private func storedSide(_ entity: Catalog.Entity, _ catalog: Catalog) -> (entity: String, field: String)? {
        guard let found = catalog.relationship(relationship, of: entity), !found.isStored, found.join == nil,
            let owner = catalog.entity(id: found.owner), let field = owner.field(id: found.field)
        else { return nil }
        return (owner.name, field.name)
    }

    /// Writes the keys: a line each in a table and in JSON lines, else a list or a column.
    private func show(_ keys: [Value]) {
        switch format.format {
        case .table: for key in keys { Output.line(key.plainText) }
        case .ndjson: for key in keys { Output.json(key.jsonText) }
        case .json:
            for (index, key) in keys.enumerated() {
                Output.json(key.jsonText, after: index == 0 ? "[\n" : ",\n", terminator: "")
            }
            Output.json(keys.isEmpty ? "[]" : "]", after: keys.isEmpty ? "" : "\n")
        case .yaml:
            for key in keys { Output.yaml("- " + YAMLText.value(.value(key), format.style, indent: "  ")) }
            if keys.isEmpty { Output.line("[]") }
        case .csv, .tsv, .markdown:
            var rows = RowWriter(["key"], format.style)
            for key in keys { rows.add([.value(key)]) }
            rows.end()
        }
    }
}
