// The source of a value: a path, a composed text, or a constant.

/// One of the alternates from which a field takes its value.
///
/// The textual form is a ``JSONPath``, or a ``TextTemplate`` if it contains an unescaped `{`.
public enum ValueSource: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
    case path(JSONPath)
    /// A text composed of several values.
    case text(TextTemplate)
    /// A value that does not depend on the response.
    ///
    /// For a relationship, it is a bare key or a list of bare keys.
    case constant(JSONValue)

    /// Parses a source; nil if the text is neither a path nor a template.
    public init?(_ text: String) {
        if let template = TextTemplate(text) {
            self = .text(template)
        } else if let path = JSONPath(text), !TextTemplate.isOne(text) {
            self = .path(path)
        } else {
            return nil
        }
    }

    /// Creates a source from a literal. A malformed one is a programmer error and traps.
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

    /// The paths that the source reads.
    package var paths: [JSONPath] {
        switch self {
        case .path(let path): [path]
        case .text(let template): template.paths
        case .constant: []
        }
    }
}
