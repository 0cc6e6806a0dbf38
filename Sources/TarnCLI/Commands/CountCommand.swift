import ArgumentParser
import Tarn

/// The command `tarn count`.
struct CountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "count",
        abstract: "Count the records of an entity: all, those that meet a condition, or by the values of a field.",
        discussion: """
            Examples:
              tarn count Issue
              tarn count Issue --where 'state = open and labels contains 7'
              tarn count Issue --by author.login --where 'createdAt >= 2025-01-01'

            A list is no single value. The records with an element, and the elements of all records:
              tarn count Issue --where 'labels contains 7'
              tarn list Issue --fields labels --format ndjson | jq -c '.labels[]?' | sort | uniq -c
            """)

    @Argument(help: "Name of the entity in the description.") var entity: String
    @Option(help: ArgumentHelp("Count per value of this field.", valueName: "field")) var by: String?
    @OptionGroup var condition: ConditionOptions
    @OptionGroup var format: FormatOption
    @OptionGroup var store: StoreOptions

    func run() throws {
        let store = try store.open(), catalog = store.catalog
        let entity = try catalog.requireEntity(entity)
        let query = try condition.query(entity, catalog)
        try store.read { reader in
            guard let by else { return Output.line("\(try reader.count(query))") }
            if CountCommand.isList(by, entity, catalog) {
                throw CountCommand.ofList(by, "a list of keys", entity.name)
            }
            // `--by` uses the field syntax of `--sort`.
            let order = try namingOption("--by") { try [Query.Order](text: by, entity: entity.name, catalog: catalog) }
            guard order.count == 1, let field = order.first else {
                throw Failure(.usage, "--by \(by): expected one field")
            }
            guard !field.isDescending else {
                throw Failure(
                    .usage, "--by \(by): the values are in ascending order; name the field only, or sort the output")
            }
            let path = field.path
            let groups: [(value: Value, count: Int)]
            do { groups = try reader.counts(by: path, query) } catch {
                throw CountCommand.ofList(error, path, entity.name) ?? error
            }
            format.beginOutput()
            var rows = RowWriter([by, "count"], format.style, rightAligned: [1])
            for group in groups {
                let value = OutputValue.value(group.value), isMissing = group.value == .null
                rows.add(
                    members: [("value", value), ("count", .number(group.count))],
                    cells: [isMissing && format.format.isForPeople ? .text("(missing)") : value, .number(group.count)])
            }
            rows.end()
        }
    }

    /// Whether a path of to-one relationships ends with a to-many one.
    private static func isList(_ path: String, _ entity: Catalog.Entity, _ catalog: Catalog) -> Bool {
        var owner = entity, names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let last = names.removeLast()
        for name in names {
            guard let step = catalog.relationship(name, of: owner), !step.isToMany,
                let destination = catalog.entity(id: step.destination)
            else { return false }
            owner = destination
        }
        return catalog.relationship(last, of: owner)?.isToMany ?? false
    }

    /// Returns what to do instead if an error says that a field is a list; nil for other errors.
    private static func ofList(_ error: any Error, _ path: FieldPath, _ entity: String) -> Failure? {
        let text = "\(path)", name = text.hasPrefix("nocase(") ? String(text.dropFirst(7).dropLast()) : text
        guard case StoreError.wrongType(_, let field, "a single value", let found) = error,
            name == field || name.hasSuffix("." + field)
        else { return nil }
        return ofList(name, found, entity)
    }

    /// Returns the error for a field that is a list, with what to do instead.
    private static func ofList(_ name: String, _ found: String, _ entity: String) -> Failure {
        Failure(
            .usage,
            "--by \(name): expected a field with a single value, found \(found). Count the records with one element: "
                + "`tarn count \(entity) --where '\(name) contains VALUE'`; or each element: "
                + "`tarn list \(entity) --fields \(name) --format ndjson | jq -c '.[][]?' | sort | uniq -c`")
    }
}
