// Paths with placeholders: `/repos/{owner}/{repo}/issues`, RFC 6570 level 1 (§3.2.2, simple string expansion). Pure.

/// A path with `{name}` and `{name.field}` placeholders.
public struct PathTemplate: Sendable, Hashable, CustomStringConvertible {
    private enum Part: Sendable, Hashable {
        case literal(String)
        case variable(String)
    }

    private let parts: [Part]
    /// The template as written.
    public let description: String

    /// - Throws: `PathTemplateError` for a brace without its partner, and for a placeholder that is not a plain name.
    public init(_ text: String) throws(PathTemplateError) {
        var parts: [Part] = []
        var rest = text[...]
        while !rest.isEmpty {
            let literal = rest.prefix { $0 != "{" && $0 != "}" }
            if !literal.isEmpty { parts.append(.literal(PathTemplate.encodeLiteral(literal))) }
            rest = rest[literal.endIndex...]
            guard let brace = rest.popFirst() else { break }
            guard brace == "{", let end = rest.firstIndex(where: { $0 == "{" || $0 == "}" }), rest[end] == "}" else {
                throw .unbalanced(template: text, brace: String(brace))
            }
            let name = String(rest[..<end])
            guard PathTemplate.isName(name) else { throw .malformed(template: text, placeholder: "{\(name)}") }
            parts.append(.variable(name))
            rest = rest[rest.index(after: end)...]
        }
        self.parts = parts
        description = text
    }

    /// The names of the placeholders, each once, in order.
    public var variables: [String] {
        var names: [String] = []
        for case .variable(let name) in parts where !names.contains(name) { names.append(name) }
        return names
    }

    /// The path with the values, percent-encoded, in place of the placeholders.
    ///
    /// - Throws: `PathTemplateError` if a value is missing, is not usable in a path (empty, `.` or `..`: they would name
    ///   another resource), or belongs to no placeholder.
    public func expanded(_ values: [String: String]) throws(PathTemplateError) -> String {
        let names = variables
        if let unknown = values.keys.filter({ !names.contains($0) }).min() {
            throw .unknown(template: description, variable: unknown, variables: names)
        }
        var path = ""
        for part in parts {
            switch part {
            case .literal(let text): path += text
            case .variable(let name):
                guard let value = values[name] else { throw .missing(template: description, variable: name) }
                guard !["", ".", ".."].contains(value) else {
                    throw .unusable(template: description, variable: name, value: value)
                }
                path += PercentEncoding.encode(value)
            }
        }
        return path
    }

    /// varname of RFC 6570 §2.3, without percent-encoded bytes.
    private static func isName(_ text: String) -> Bool {
        text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { part in
            !part.isEmpty && part.utf8.allSatisfy { PercentEncoding.isUnreserved($0) && $0 != 0x2D && $0 != 0x7E }
        }
    }

    /// RFC 6570 §3.1: what a URI may not hold is encoded, the rest is copied.
    private static func encodeLiteral(_ text: Substring) -> String {
        text.reduce(into: "") { result, character in
            let isAllowed = character.utf8.count == 1 && character.utf8.allSatisfy { byte in
                PercentEncoding.isUnreserved(byte) || "%:/?#[]@!$&'()*+,;=".utf8.contains(byte)
            }
            result += isAllowed ? String(character) : PercentEncoding.encode(String(character))
        }
    }
}

/// Why a path template cannot be used.
public enum PathTemplateError: Error, Sendable, Hashable, CustomStringConvertible {
    case unbalanced(template: String, brace: String)
    case malformed(template: String, placeholder: String)
    case missing(template: String, variable: String)
    case unknown(template: String, variable: String, variables: [String])
    case unusable(template: String, variable: String, value: String)

    public var description: String {
        switch self {
        case .unbalanced(let template, let brace):
            "\(template): a \(brace) without its partner; a placeholder is written {name}"
        case .malformed(let template, let placeholder):
            "\(template): \(placeholder) is not a placeholder; write {name} or {name.field}, in ASCII letters, digits and _"
        case .missing(let template, let variable):
            "\(template): there is no value for {\(variable)}"
        case .unknown(let template, let variable, let variables):
            "\(template): no placeholder is called {\(variable)}; there is "
                + (variables.isEmpty ? "none" : variables.map { "{\($0)}" }.joined(separator: ", "))
        case .unusable(let template, let variable, let value):
            "\(template): \"\(value)\" cannot stand for {\(variable)} in a path"
        }
    }
}
