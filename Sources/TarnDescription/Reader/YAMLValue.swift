import Yams

/// A value of a YAML document, with its location.
struct YAMLValue: Sendable {
    struct Mark: Sendable, Hashable {
        var line: Int
        var column: Int
        /// The file of an overlay; nil for the description file itself.
        var file: String?
    }

    struct Entry: Sendable {
        var key: String
        var keyMark: Mark
        var value: YAMLValue
    }

    enum Content: Sendable {
        /// A scalar as it is written: `1.10` is the text `1.10`. Plain means unquoted.
        case scalar(String, plain: Bool)
        case list([YAMLValue])
        case mapping([Entry])
    }

    var mark: Mark
    var content: Content

    /// Whether it is empty or one of the null words of YAML's core schema (YAML 1.2.2 §10.3.2).
    var isNull: Bool {
        guard case .scalar(let text, plain: true) = content else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(text)
    }

    /// The kind of the value of a field, for error texts. A secret that is written there is not
    /// repeated.
    func kind(in field: String) -> String {
        if case .scalar = content, !isNull, field.split(separator: ".").contains("auth") { "a text" } else { kind }
    }

    /// The kind of the value, for error texts: "expected a mapping, found \(kind)".
    var kind: String {
        switch content {
        case .scalar(let text, _): isNull ? "nothing" : "\"\(text.count > 40 ? text.prefix(40) + "…" : text)\""
        case .list: "a list"
        case .mapping: "a mapping"
        }
    }
}
