// Assignments on a command line: `state = closed`.

/// A field and its new value, in a text.
package struct Assignment {
    package var field: String
    package var value: Value

    /// Reads an assignment to a field of an entity.
    ///
    /// - Throws: `QueryTextError`, with the column, also for a field that the entity does not have;
    ///   `StoreError.unknownEntity`.
    package init(text: String, entity: String, catalog: Catalog) throws {
        let fields = try TextFields(text, entity, catalog)
        var parser = ConditionParser(scanner: try TextScanner(text))
        let (path, parsed) = try parser.assignment()
        let field = try fields.find(path)
        let range = path.ranges[0].lowerBound..<path.ranges[path.ranges.count - 1].upperBound
        guard path.path.names.count == 1, let stored = fields.entity.field(path.path.names[0]) else {
            throw QueryTextError(
                text, range,
                "\(path.path) is not a stored field of \(entity)",
                expected: "an attribute or a stored relationship")
        }
        self.field = path.path.names[0]
        value = parsed.word.flatMap { field.isText(.compare(.equal)) ? .string($0) : nil } ?? parsed.value
        if value == .null, !stored.isOptional, case .attribute = stored.kind {
            throw QueryTextError(
                text, range, "\(self.field) of \(entity) is required and cannot be null", expected: "a value")
        }
    }
}

extension ConditionParser {
    fileprivate mutating func assignment() throws(QueryTextError) -> (ParsedPath, ParsedValue) {
        let path = try path()
        guard scanner.take("=") else { throw scanner.unexpected(expected: "\"=\" and a value") }
        let value = try value()
        guard scanner.isAtEnd else {
            throw scanner.unexpected(expected: "the end (quote a value that contains spaces or operators)")
        }
        return (path, value)
    }
}
