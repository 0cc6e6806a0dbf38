// Checks of a text's names and values against the entities of a store, with the position of errors.

import Foundation

extension ParsedCondition {
    /// The condition as written, without regard to the types of fields.
    var condition: Condition {
        switch self {
        case .all: .all
        case .comparison(let comparison): comparison.condition(comparison.values.map(\.value))
        case .anyContains(let text, let ignoresCase, _): .anyContains(text, ignoringCase: ignoresCase)
        case .and(let parts): .and(parts.map(\.condition))
        case .or(let parts): .or(parts.map(\.condition))
        case .not(let part): .not(part.condition)
        }
    }

    /// Returns the condition for an entity. A bare word is a text if the field is one.
    ///
    /// - Throws: for a field that the entity does not have, and for a value that does not fit its
    ///   type.
    func condition(_ fields: TextFields) throws(QueryTextError) -> Condition {
        switch self {
        case .all: return .all
        case .comparison(let comparison): return try comparison.condition(fields)
        case .anyContains(let text, let ignoresCase, _): return .anyContains(text, ignoringCase: ignoresCase)
        case .and(let parts): return .and(try parts.map { part throws(QueryTextError) in try part.condition(fields) })
        case .or(let parts): return .or(try parts.map { part throws(QueryTextError) in try part.condition(fields) })
        case .not(let part): return .not(try part.condition(fields))
        }
    }
}

extension ParsedComparison {
    func condition(_ values: [Value]) -> Condition {
        let path = path.path
        func text(_ value: Value) -> String { if case .string(let text) = value { text } else { "" } }
        switch form {
        case .compare(let comparison): return .compare(path, comparison, values[0])
        case .isIn: return .isIn(path, values)
        case .between: return .between(path, values[0], values[1])
        case .hasPrefix: return .hasPrefix(path, text(values[0]))
        case .contains: return .contains(path, values[0])
        case .like: return .like(path, text(values[0]))
        case .isMissing: return .isMissing(path)
        }
    }

    fileprivate func condition(_ fields: TextFields) throws(QueryTextError) -> Condition {
        let field = try fields.find(path)
        let typed = values.map { parsed in
            guard let word = parsed.word, field.isText(form) else { return parsed.value }
            return Value.string(word)
        }
        // Each value is checked by itself, so that the error has its range.
        for (value, parsed) in zip(typed, values) {
            switch form {
            case .isMissing: break
            case .isIn: try fields.check(.isIn(path.path, [value]), parsed.range)
            case .between: try fields.check(.compare(path.path, .equal, value), parsed.range)
            default: try fields.check(condition([value]), parsed.range)
            }
        }
        let condition = condition(typed)
        try fields.check(
            condition, path.ranges[0].lowerBound..<(values.last?.range ?? path.ranges[path.ranges.count - 1]).upperBound
        )
        return condition
    }
}

extension Condition {
    /// Reads a condition on the records of an entity, and checks it.
    ///
    /// A bare word is a text if the field is one: `name = 12` finds the name "12".
    ///
    /// - Throws: `QueryTextError`, with the column, for a text that is not a condition, for a field
    ///   that the entity does not have, and for a value that does not fit its type;
    ///   `StoreError.unknownEntity`.
    public init(text: String, entity: String, catalog: Catalog) throws {
        let fields = try TextFields(text, entity, catalog)
        self = try ParsedCondition(text).condition(fields)
    }
}
