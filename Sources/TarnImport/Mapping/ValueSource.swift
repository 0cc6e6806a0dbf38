// What a value may be taken from: a path, a text that is put together, or nothing of the response at all.

/// One of the alternates from which an attribute or a relationship takes its value.
///
/// As text: a ``KeyPath``, or a ``TextTemplate`` if there is a `{` in it without a backslash before it.
public enum ValueSource: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
    case path(KeyPath)
    /// The text of several values.
    case text(TextTemplate)
    /// A value that does not depend on the response. For a relationship: a bare key, or a list of them.
    case constant(JSONValue)

    /// Nil if the text is neither a path nor a template.
    public init?(_ text: String) {
        if let template = TextTemplate(text) {
            self = .text(template)
        } else if let path = KeyPath(text), !TextTemplate.isOne(text) {
            self = .path(path)
        } else {
            return nil
        }
    }

    /// Misuse (a malformed literal) is a programmer's error and traps.
    public init(stringLiteral text: String) {
        guard let source = ValueSource(text) else { preconditionFailure("neither a key path nor a template: \(text)") }
        self = source
    }

    public var description: String {
        switch self {
        case .path(let path): path.description
        case .text(let template): template.description
        case .constant(let value): "= \(value.text)"
        }
    }

    /// The paths in it.
    public var paths: [KeyPath] {
        switch self {
        case .path(let path): [path]
        case .text(let template): template.paths
        case .constant: []
        }
    }
}
