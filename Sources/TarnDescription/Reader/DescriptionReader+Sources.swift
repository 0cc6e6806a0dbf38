// The sources of values: `from`, `value`, and values for absent members.

import TarnImport
import TarnStore

extension DescriptionReader {
    /// Reads the alternates of `from`, or the constant of `value`. Invalid ones are reported.
    ///
    /// - Parameter type: the type of an attribute; nil for a relationship, whose constant is a key
    ///   or a list of keys.
    mutating func sources(_ section: Section, _ type: AttributeType?) -> [ValueSource] {
        if let value = section["value"] {
            if section["from"] != nil {
                report(section, "value", "from and value exclude each other: remove one of the two")
                return []
            }
            let field = section.path("value")
            let constant: JSONValue? = if let type { json(value, field, type) } else { key(value, field) }
            return constant.map { [ValueSource.constant($0)] } ?? []
        }
        let texts = texts(section, "from")
        if texts.isEmpty, section["from"] != nil, !isReported(section.path("from")) {
            report(section, "from", "missing key path: write one, or remove the line")
        }
        return texts.compactMap { text, mark in source(text, section.path("from"), mark) }
    }

    private mutating func source(_ text: String, _ field: String, _ mark: Mark) -> ValueSource? {
        guard let source = ValueSource(text) else {
            if text.contains("{") {
                report(
                    field, mark,
                    "\"\(text)\" is not a text with key paths: write each in braces, such as '{owner.login}/{name}'; {{ is a literal brace"
                )
            } else {
                _ = keyPath(text, field, mark)
            }
            return nil
        }
        for path in source.paths {
            if let meant = DescriptionReader.origin(meantBy: path) {
                report(
                    field, mark,
                    "\(path) begins with a key; did you mean \"\(meant)\"? Write a key as \\\(path.keys.first ?? "")")
                return nil
            }
        }
        return source
    }

    /// The origin that the first key of a path seems to mean; nil for an escaped key.
    private static func origin(meantBy path: JSONPath) -> String? {
        guard path.origin == .record, case .key(let key)? = path.steps.first, key.hasPrefix("@") else { return nil }
        let words = JSONPath.Origin.allCases.map(\.rawValue).filter { !$0.isEmpty }
        return words.contains(key) ? nil : Spelling.nearest(to: key, among: words)
    }

    mutating func keyPath(_ text: String, _ field: String, _ mark: Mark) -> JSONPath? {
        if let path = JSONPath(text) { return path }
        report(
            field, mark,
            "\"\(text)\" is not a key path: separate keys with ., such as author.login; \\. is a . inside a key"
        )
        return nil
    }

    /// Reads a key path that is relative to the record and has only keys.
    mutating func plainKeyPath(_ text: String, _ field: String, _ mark: Mark) -> JSONPath? {
        guard let path = keyPath(text, field, mark) else { return nil }
        guard path.origin == .record else {
            report(field, mark, "\(path.origin.rawValue) is not allowed here: use a key")
            return nil
        }
        return path
    }

    // MARK: Constants

    /// Reads `absent: { value: … }` of an attribute; nil if it is absent or a word.
    mutating func absentValue(_ section: Section, _ type: AttributeType) -> JSONValue? {
        guard let value = section["absent"], case .mapping = value.content else { return nil }
        guard
            let inner = self.section(
                value, section.path("absent"), keys: ["value"], required: ["value"], example: ["value": "value: 0"]),
            let constant = inner["value"]
        else { return nil }
        return json(constant, inner.path("value"), type)
    }

    /// Converts a constant of an attribute to JSON; nil if it is not of the type, with a report.
    private mutating func json(_ value: YAMLValue, _ field: String, _ type: AttributeType) -> JSONValue? {
        if type == .json, let json = DescriptionReader.json(value) { return json }
        guard let constant = constant(value, field, type), !isReported(field) else { return nil }
        return try? JSONValue(constant.jsonText)
    }

    /// Converts YAML to JSON; nil for plain text that is not JSON.
    static func json(_ value: YAMLValue) -> JSONValue? {
        switch value.content {
        case .scalar(let text, plain: true): value.isNull ? .null : try? JSONValue(text)
        case .scalar(let text, plain: false): .string(text)
        case .list(let values):
            .array(values.map { json($0) ?? .string($0.plainText) })
        case .mapping(let entries):
            .object(entries.map { JSONValue.Member($0.key, json($0.value) ?? .string($0.value.plainText)) })
        }
    }

    /// Reads a constant of a relationship: the key of its target, or a list of keys.
    private mutating func key(_ value: YAMLValue, _ field: String) -> JSONValue? {
        guard case .list(let values) = value.content else { return text(value, field).map(JSONValue.string) }
        return .array(values.compactMap { text($0, field).map(JSONValue.string) })
    }
}

extension YAMLValue {
    /// The text of a scalar; empty for other values.
    fileprivate var plainText: String { if case .scalar(let text, _) = content { text } else { "" } }
}
