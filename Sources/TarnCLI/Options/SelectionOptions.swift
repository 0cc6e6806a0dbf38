import ArgumentParser
import Tarn
import TarnInspect

/// The options that select records of a store file, and their fields.
struct SelectionOptions: ParsableArguments {
    @OptionGroup var condition: ConditionOptions
    @Option(help: ArgumentHelp("Only keys from this one on. A composite KEY is a JSON array.", valueName: "key"))
    var from: String?
    @Option(help: ArgumentHelp("Only keys up to this one, which is included.", valueName: "key"))
    var to: String?
    @Option(
        help: ArgumentHelp(
            "Only keys that begin with this text, or with the components of a JSON array.", valueName: "text"))
    var prefix: String?
    @Option(help: "The most records to write.") var limit: Int?
    @Flag(help: "Write the records in reverse order.") var reverse = false
    @Option(help: ArgumentHelp("Fields to write, separated by commas (default: all).", valueName: "name,name"))
    var fields = ""
    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Field whose values are replaced by \(RecordSelection.redaction), as name or Entity.name. May be repeated.",
            valueName: "field"))
    var redact: [String] = []

    /// Whether all records are selected, with all fields.
    var isEverything: Bool {
        !hasCondition && !hasKeys && limit == nil && !reverse && fields.isEmpty && redact.isEmpty
    }
    private var hasCondition: Bool { !condition.conditions.isEmpty || condition.partials != .included }
    private var hasKeys: Bool { from != nil || to != nil || prefix != nil }
    /// Whether the selection is about one entity.
    var needsEntity: Bool { hasCondition || hasKeys }

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit must not be negative") }
        if prefix != nil, from != nil || to != nil {
            throw ValidationError("--prefix cannot be combined with --from and --to")
        }
    }

    func selection(_ entity: Catalog.Entity?, _ catalog: Catalog) throws -> RecordSelection {
        var selection = RecordSelection()
        if let entity {
            if hasCondition { selection.query = try condition.query(entity, catalog) }
            selection.keys = try keys(entity)
        }
        selection.limit = limit
        selection.isReversed = reverse
        if !fields.isEmpty { selection.fields = RecordPrinter.names(in: fields) }
        selection.redacted = redact
        return selection
    }

    private func keys(_ entity: Catalog.Entity) throws -> RecordSelection.Keys {
        if let prefix {
            return prefix.hasPrefix("[")
                ? .range(.prefix(try RecordKey(argument: prefix, beginningOf: entity))) : .text(beginning: prefix)
        }
        let lower = try from.map { try RecordKey(argument: $0, beginningOf: entity) }
        let upper = try to.map { try RecordKey(argument: $0, beginningOf: entity) }
        switch (lower, upper) {
        case (let lower?, let upper?):
            guard lower <= upper else { throw Failure(.usage, "--from \(lower) is after --to \(upper)") }
            return .range(KeyRange(lower...upper))
        case (let lower?, nil): return .range(KeyRange(lower...))
        case (nil, let upper?): return .range(KeyRange(...upper))
        case (nil, nil): return .all
        }
    }
}
