// Conditions as text: parsing and writing.

extension Condition {
    /// Reads a condition, such as `state = open and author.login = "ada"`.
    ///
    /// Fields and types are checked only when the condition is used. If the entity is known, prefer
    /// ``init(text:entity:catalog:)``.
    ///
    /// - Throws: `QueryTextError`, with the column.
    public init(text: String) throws(QueryTextError) {
        self = try ParsedCondition(text).condition
    }

    /// The condition as text, which ``init(text:)`` parses to the same condition.
    ///
    /// A condition without a text of its own is written as an equivalent one: an empty `and` as
    /// `all`, an `and` or `or` of one part as that part.
    package var text: String {
        var text = ""
        append(to: &text, within: .none)
        return text
    }

    private enum Context {
        case none, part, operand
    }

    private func append(to text: inout String, within context: Context) {
        switch self {
        case .all: text += "all"
        case .compare(let path, let comparison, let value):
            text += "\(path.text) \(comparison == .equal ? "=" : comparison.rawValue) "
            value.appendText(to: &text)
        case .isIn, .between, .hasPrefix, .contains, .anyContains, .like, .isMissing:
            append(to: &text, isNegated: false)
        case .and(let parts): append(parts, "and", empty: "all", to: &text, within: context)
        case .or(let parts): append(parts, "or", empty: "not all", to: &text, within: context)
        case .not(let condition):
            switch condition {
            case .isIn, .between, .hasPrefix, .contains, .anyContains, .like, .isMissing:
                condition.append(to: &text, isNegated: true)
            default:
                text += "not "
                condition.append(to: &text, within: .operand)
            }
        }
    }

    private func append(
        _ parts: [Condition], _ word: String, empty: String, to text: inout String, within context: Context
    ) {
        guard let first = parts.first else {
            text += empty
            return
        }
        guard parts.count > 1 else { return first.append(to: &text, within: context) }
        if context != .none { text += "(" }
        for (index, part) in parts.enumerated() {
            if index > 0 { text += " \(word) " }
            part.append(to: &text, within: .part)
        }
        if context != .none { text += ")" }
    }

    /// Appends one of the forms that have a negation of their own.
    private func append(to text: inout String, isNegated: Bool) {
        let not = isNegated ? "not " : ""
        func list(_ values: [Value]) {
            for (index, value) in values.enumerated() {
                if index > 0 { text += ", " }
                value.appendText(to: &text)
            }
        }
        switch self {
        case .isIn(let path, let values):
            text += "\(path.text) \(not)in ("
            list(values)
            text += ")"
        case .between(let path, let low, let high):
            text += "\(path.text) \(not)between "
            low.appendText(to: &text)
            text += " and "
            high.appendText(to: &text)
        case .hasPrefix(let path, let prefix):
            text += "\(path.text) \(not)begins with "
            text.appendJSONString(prefix)
        case .contains(let path, let value):
            text += "\(path.text) \(not)contains "
            value.appendText(to: &text)
        case .anyContains(let part, let ignoresCase):
            text += "\(ignoresCase ? "nocase(any)" : "any") \(not)contains "
            text.appendJSONString(part)
        case .like(let path, let pattern):
            text += "\(path.text) \(not)like "
            text.appendJSONString(pattern)
        case .isMissing(let path): text += "\(path.text) is \(not)missing"
        case .all, .compare, .and, .or, .not: break
        }
    }
}

extension Condition: CustomStringConvertible {
    public var description: String { text }
}

extension FieldPath {
    /// The path in the text of a condition: names that are not plain words are in backquotes.
    var text: String {
        let names = names.map { name in
            TextScanner.needsBackquotes(name) ? "`" + name.replacing("`", with: "``") + "`" : name
        }
        let path = names.joined(separator: ".")
        return ignoresCase ? "nocase(\(path))" : path
    }
}

extension Value {
    /// Appends the value as in the text of a condition.
    func appendText(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += ", " }
                value.appendText(to: &text)
            }
            text += "]"
        case .reference(let key): key.appendText(to: &text)
        case .references(let keys):
            text += "keys("
            for (index, key) in keys.enumerated() {
                if index > 0 { text += ", " }
                key.appendText(to: &text)
            }
            text += ")"
        default: scalarType?.descriptor.appendLiteral(self, to: &text)
        }
    }
}

extension RecordKey {
    /// Appends a key: `key("acme", 12)`.
    fileprivate func appendText(to text: inout String) {
        text += "key("
        for (index, component) in components.enumerated() {
            if index > 0 { text += ", " }
            switch component {
            case .int(let x): text += String(x)
            case .string(let x): text.appendJSONString(x)
            case .uuid(let x): text += "uuid(\"\(x.uuidString.lowercased())\")"
            case .digest(let x): text += "digest(\"\(x.hexadecimal)\")"
            }
        }
        text += ")"
    }
}
