// Orders as text: `updatedAt desc, author.login`.

extension Array where Element == Query.Order {
    /// Reads a sort order: paths separated by commas, each with an optional `asc` or `desc`.
    ///
    /// An empty text is the order of the keys.
    ///
    /// - Throws: `QueryTextError`, with the column.
    public init(text: String) throws(QueryTextError) {
        self = try ParsedOrder(text).parts.map(\.order)
    }

    /// Reads a sort order for the records of an entity, and checks its fields.
    ///
    /// - Throws: `QueryTextError`, with the column, also for a field that the entity does not have
    ///   or that has no order; `StoreError.unknownEntity`.
    public init(text: String, entity: String, catalog: Catalog) throws {
        let fields = try TextFields(text, entity, catalog), parsed = try ParsedOrder(text)
        for part in parsed.parts {
            let isToMany =
                if case .relationship(let relationship, _) = try fields.find(part.path) { relationship.isToMany } else {
                    false
                }
            if isToMany {
                throw QueryTextError(
                    text, part.path.ranges[part.path.ranges.count - 1],
                    "\(part.path.path) is to-many and cannot be sorted by",
                    expected: "an attribute or a to-one relationship")
            }
        }
        self = parsed.parts.map(\.order)
    }

    /// The order as text, which ``init(text:)`` parses to the same order.
    package var text: String {
        map { $0.path.text + ($0.isDescending ? " desc" : "") }.joined(separator: ", ")
    }
}

/// An order in a text, with the range of each name.
private struct ParsedOrder {
    struct Part {
        var path: ParsedPath
        var isDescending: Bool

        var order: Query.Order { Query.Order(path.path, descending: isDescending) }
    }

    var parts: [Part] = []

    init(_ text: String) throws(QueryTextError) {
        var parser = ConditionParser(scanner: try TextScanner(text))
        if parser.scanner.isAtEnd { return }
        repeat {
            let path = try parser.path()
            let isDescending = parser.scanner.take(keyword: "desc")
            if !isDescending { _ = parser.scanner.take(keyword: "asc") }
            parts.append(Part(path: path, isDescending: isDescending))
        } while parser.scanner.take(",")
        guard parser.scanner.isAtEnd else {
            throw parser.scanner.unexpected(expected: "\"desc\", \"asc\", \",\" or the end")
        }
    }
}
