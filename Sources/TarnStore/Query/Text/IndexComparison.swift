/// A comparison in the text of an index's condition, before its attribute is known.
package struct IndexComparison {
    package var attribute: String
    package var comparison: IndexCondition.Comparison
    package var value: Value
    /// The source text of a bare word or of a text in quotes; nil for null.
    package var word: String?
    /// The columns of the attribute and the value, in characters from 1.
    package var attributeColumn: Int, valueColumn: Int

    /// Reads a condition such as `state = open and at >= 2024-01-01 and title is not missing`.
    ///
    /// - Throws: `QueryTextError`, also for `or`, `not`, `like` and paths, which indexes do not
    ///   support.
    package static func list(text: String) throws(QueryTextError) -> [IndexComparison] {
        var result: [IndexComparison] = []
        try append(ParsedCondition(text), text, to: &result)
        return result
    }

    /// Returns a comparison in the form that ``list(text:)`` reads.
    ///
    /// - Parameter value: the operand as text; nil for null. Quoted, it is also a number or a date
    ///   if the attribute is one.
    package static func text(
        _ attribute: String, _ comparison: IndexCondition.Comparison, _ value: String?
    ) -> String {
        let attribute = FieldPath([attribute]).text
        guard let value else { return "\(attribute) is \(comparison == .equal ? "" : "not ")missing" }
        return "\(attribute) \(comparison.rawValue) \(isWord(value) ? value : quoted(value))"
    }

    /// Whether an operand needs no quotes: a name, a number, a date or a boolean.
    private static func isWord(_ text: String) -> Bool {
        let isPlain = text.utf8.allSatisfy {
            ($0 | 0x20) &- 0x61 < 26 || $0 &- 0x30 < 10 || [0x2D, 0x2E, 0x3A, 0x5F].contains($0)
        }
        let word = text.lowercased()
        return isPlain && !text.isEmpty && (!TextScanner.keywords.contains(word) || ["true", "false"].contains(word))
    }

    private static func quoted(_ text: String) -> String {
        var quoted = ""
        quoted.appendJSONString(text)
        return quoted
    }

    private static let hint = "comparisons (=, !=, <, <=, >, >=, between, is missing) joined by and"

    private static func append(
        _ condition: ParsedCondition, _ text: String, to result: inout [IndexComparison]
    ) throws(QueryTextError) {
        switch condition {
        case .all: return
        case .and(let parts): for part in parts { try append(part, text, to: &result) }
        case .comparison(let comparison): try append(comparison, isNegated: false, text, to: &result)
        case .not(.comparison(let comparison)): try append(comparison, isNegated: true, text, to: &result)
        case .anyContains(_, _, let range):
            throw QueryTextError(text, range, "the condition of an index cannot use `any`", expected: hint)
        case .or, .not:
            throw QueryTextError(
                text, condition.range ?? 0..<0, "the condition of an index cannot use `or` and `not`",
                expected: hint)
        }
    }

    private static func append(
        _ comparison: ParsedComparison, isNegated: Bool, _ text: String, to result: inout [IndexComparison]
    ) throws(QueryTextError) {
        let path = comparison.path, range = path.ranges[0].lowerBound..<path.ranges[path.ranges.count - 1].upperBound
        guard path.path.names.count == 1, !path.path.ignoresCase else {
            throw QueryTextError(
                text, range, "the condition of an index can only use attributes of the record itself, without nocase",
                expected: "an attribute")
        }
        func add(_ operation: IndexCondition.Comparison, _ value: ParsedValue?) {
            let range = value?.range ?? range
            var word = value?.word
            if case .string(let quoted)? = value?.value { word = quoted }
            result.append(
                IndexComparison(
                    attribute: path.path.names[0], comparison: operation, value: value?.value ?? .null, word: word,
                    attributeColumn: QueryTextError(text, path.ranges[0], "").column,
                    valueColumn: QueryTextError(text, range, "").column))
        }
        switch comparison.form {
        case .compare(let operation) where !isNegated: add(operation, comparison.values[0])
        case .between where !isNegated:
            add(.greaterOrEqual, comparison.values[0])
            add(.lessOrEqual, comparison.values[1])
        case .isMissing: add(isNegated ? .notEqual : .equal, nil)
        default:
            throw QueryTextError(
                text, range.lowerBound..<(comparison.values.last?.range.upperBound ?? range.upperBound),
                "the condition of an index cannot use this comparison", expected: hint)
        }
    }
}
