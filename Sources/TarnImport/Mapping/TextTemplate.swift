/// A text with embedded key paths: `{owner.login}/{name}`. A literal brace is doubled.
///
/// Each path is replaced by the text of its value: a text, a number or a boolean. If a value is
/// null, the whole text is null. If a value is absent, an object or a list, the whole text is
/// absent.
public struct TextTemplate: Sendable, Hashable, CustomStringConvertible {
    /// A literal text, or the path of a value.
    package enum Part: Sendable, Hashable {
        case literal(String)
        case path(JSONPath)
    }

    /// The parts in order; at least one is a path.
    package let parts: [Part]

    /// Parses a template.
    ///
    /// - Returns: nil if the text has no path, a malformed path, or an unpaired brace.
    package init?(_ text: String) {
        var parts: [Part] = [], literal = "", rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "{" where rest.first == "{", "}" where rest.first == "}":
                rest.removeFirst()
                literal.unicodeScalars.append(scalar)
            case "{":
                guard let inner = TextTemplate.inner(&rest), let path = JSONPath(inner) else { return nil }
                if !literal.isEmpty { parts.append(.literal(literal)) }
                literal = ""
                parts.append(.path(path))
            case "}": return nil
            default: literal.unicodeScalars.append(scalar)
            }
        }
        if !literal.isEmpty { parts.append(.literal(literal)) }
        guard parts.contains(where: { if case .path = $0 { true } else { false } }) else { return nil }
        self.parts = parts
    }

    /// Removes a path and its closing brace, and returns the path; nil without a closing brace.
    private static func inner(_ rest: inout Substring.UnicodeScalarView) -> String? {
        var inner = "", isEscaped = false
        while let scalar = rest.popFirst() {
            if scalar == "}", !isEscaped { return inner }
            inner.unicodeScalars.append(scalar)
            isEscaped = scalar == "\\" && !isEscaped
        }
        return nil
    }

    /// Returns whether a text is meant as a template: it contains a brace that is not escaped.
    static func isOne(_ text: String) -> Bool {
        var isEscaped = false
        for scalar in text.unicodeScalars {
            if scalar == "{", !isEscaped { return true }
            isEscaped = scalar == "\\" && !isEscaped
        }
        return false
    }

    public var description: String {
        parts.map { part in
            switch part {
            case .literal(let text): text.replacing("{", with: "{{").replacing("}", with: "}}")
            case .path(let path): "{\(path)}"
            }
        }.joined()
    }

    /// The embedded paths in order.
    package var paths: [JSONPath] {
        parts.compactMap { if case .path(let path) = $0 { path } else { nil } }
    }
}
