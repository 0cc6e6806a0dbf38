/// A text with key paths in it: `{owner.login}/{name}`. A brace that is text is written twice.
///
/// The values are texts, numbers and booleans, each as its text. If one is null, all of it is null; if one is not there, or is an
/// object or a list, all of it is absent.
public struct TextTemplate: Sendable, Hashable, CustomStringConvertible {
    /// Text as it is, or what is taken from a place.
    public enum Part: Sendable, Hashable {
        case literal(String)
        case path(KeyPath)
    }

    /// At least one is a path.
    public let parts: [Part]

    /// Nil if no path is in it, if one is malformed, or if a brace has no partner.
    public init?(_ text: String) {
        var parts: [Part] = [], literal = "", rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "{" where rest.first == "{", "}" where rest.first == "}":
                rest.removeFirst()
                literal.unicodeScalars.append(scalar)
            case "{":
                guard let inner = TextTemplate.inner(&rest), let path = KeyPath(inner) else { return nil }
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

    /// What stands before the brace that closes a path, which is taken out too.
    private static func inner(_ rest: inout Substring.UnicodeScalarView) -> String? {
        var inner = "", isEscaped = false
        while let scalar = rest.popFirst() {
            if scalar == "}", !isEscaped { return inner }
            inner.unicodeScalars.append(scalar)
            isEscaped = scalar == "\\" && !isEscaped
        }
        return nil
    }

    /// Whether a text is meant as a template: there is a brace that is no part of a key.
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

    /// The places that it takes values from, in their order.
    public var paths: [KeyPath] {
        parts.compactMap { if case .path(let path) = $0 { path } else { nil } }
    }
}
