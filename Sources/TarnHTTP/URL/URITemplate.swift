// URI templates (RFC 6570), all four levels. Pure.

/// A URI template: text with expressions in braces that are expanded with values.
///
///     let template = try URITemplate("/search{/kind}{?q,lang*}")
///     template.expand(["kind": "issues", "q": "café", "lang": ["de", "sv"]])
///     // /search/issues?q=caf%C3%A9&lang=de&lang=sv
package struct URITemplate: Sendable, Hashable, CustomStringConvertible {
    /// The value of a variable (RFC 6570 §2.4.2, §3.2.1).
    package enum Value: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
        ExpressibleByDictionaryLiteral
    {
        /// A string.
        case text(String)
        /// A list. An empty list is undefined.
        case list([String])
        /// An associative array in its order. One without members is undefined.
        case members([Member])

        /// A pair of an associative array.
        package struct Member: Sendable, Hashable {
            /// The name.
            var name: String
            /// The value.
            var value: String

            /// Creates a pair.
            init(_ name: String, _ value: String) {
                self.name = name
                self.value = value
            }
        }

        /// Creates a string.
        package init(stringLiteral text: String) { self = .text(text) }
        /// Creates a list.
        package init(arrayLiteral elements: String...) { self = .list(elements) }
        /// Creates an associative array.
        package init(dictionaryLiteral elements: (String, String)...) {
            self = .members(elements.map { Member($0, $1) })
        }

        /// Whether the value is defined (RFC 6570 §2.3).
        var isDefined: Bool {
            switch self {
            case .text: true
            case .list(let elements): !elements.isEmpty
            case .members(let members): !members.isEmpty
            }
        }
    }

    /// A variable of an expression.
    struct Variable: Sendable, Hashable {
        var name: String
        /// The number of leading characters of a string that are expanded; nil for all.
        var prefix: Int?
        /// Whether the explode modifier `*` is present (RFC 6570 §2.4.2).
        var explodes = false
    }

    /// The content of a pair of braces.
    struct Expression: Sendable, Hashable {
        var kind: Kind
        var variables: [Variable]
    }

    /// A part of a template.
    enum Part: Sendable, Hashable {
        case literal(String)
        case expression(Expression)
    }

    /// The operator of an expression (RFC 6570 §2.2), with the table of appendix A.
    enum Kind: Character, Sendable, Hashable {
        case simple = " "
        case reserved = "+", fragment = "#", label = ".", path = "/", parameter = ";", query = "?", continuation = "&"

        var first: String {
            switch self {
            case .simple, .reserved: ""
            default: String(rawValue)
            }
        }

        var separator: String {
            switch self {
            case .simple, .reserved, .fragment: ","
            case .label: "."
            case .path: "/"
            case .parameter: ";"
            case .query, .continuation: "&"
            }
        }

        var isNamed: Bool { self == .parameter || self == .query || self == .continuation }
        var ifEmpty: String { self == .query || self == .continuation ? "=" : "" }
        var allowsReserved: Bool { self == .reserved || self == .fragment }
    }

    let parts: [Part]
    /// The template as written.
    package let description: String

    /// Parses a template.
    ///
    /// - Throws: `URITemplateError` for a brace without its partner, for an operator that RFC 6570
    ///   reserves, and for a malformed variable.
    package init(_ text: String) throws(URITemplateError) {
        var parts: [Part] = []
        var rest = text[...]
        while !rest.isEmpty {
            let literal = rest.prefix { $0 != "{" && $0 != "}" }
            if !literal.isEmpty { parts.append(.literal(URITemplate.encodeLiteral(literal))) }
            rest = rest[literal.endIndex...]
            guard let brace = rest.popFirst() else { break }
            guard brace == "{", let end = rest.firstIndex(where: { $0 == "{" || $0 == "}" }), rest[end] == "}" else {
                throw .unbalanced(template: text, brace: String(brace))
            }
            parts.append(.expression(try URITemplate.expression(rest[..<end], in: text)))
            rest = rest[rest.index(after: end)...]
        }
        self.parts = parts
        description = text
    }

    /// The names of the variables, each once, in order.
    package var variables: [String] {
        var names: [String] = []
        for case .expression(let expression) in parts {
            for variable in expression.variables where !names.contains(variable.name) { names.append(variable.name) }
        }
        return names
    }

    /// Parses the content of a pair of braces.
    private static func expression(_ text: Substring, in template: String) throws(URITemplateError) -> Expression {
        var rest = text
        var kind = Kind.simple
        if let first = rest.first, !URITemplate.isNameCharacter(first) {
            guard first != " ", let found = Kind(rawValue: first) else {
                throw .malformed(template: template, expression: "{\(text)}")
            }
            kind = found
            rest = rest.dropFirst()
        }
        var variables: [Variable] = []
        for specifier in rest.split(separator: ",", omittingEmptySubsequences: false) {
            guard let variable = variable(specifier) else {
                throw .malformed(template: template, expression: "{\(text)}")
            }
            variables.append(variable)
        }
        return Expression(kind: kind, variables: variables)
    }

    /// Parses a variable with its modifier.
    private static func variable(_ text: Substring) -> Variable? {
        var name = text
        var variable = Variable(name: "")
        if name.hasSuffix("*") {
            variable.explodes = true
            name = name.dropLast()
        } else if let colon = name.firstIndex(of: ":") {
            // max-length (RFC 6570 §2.4.1): 1 to 9999, without a leading zero.
            let digits = String(name[name.index(after: colon)...])
            guard let length = HTTPSyntax.decimal(digits), (1...9999).contains(length), !digits.hasPrefix("0") else {
                return nil
            }
            variable.prefix = length
            name = name[..<colon]
        }
        guard isName(name) else { return nil }
        variable.name = String(name)
        return variable
    }

    /// Returns whether a text is a varname (RFC 6570 §2.3).
    ///
    /// Percent-encoded bytes are part of the name.
    private static func isName(_ text: Substring) -> Bool {
        text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { part in
            var bytes = Array(part.utf8)[...]
            guard !bytes.isEmpty else { return false }
            while let byte = bytes.popFirst() {
                if byte == UInt8(ascii: "%") {
                    guard bytes.count >= 2, bytes.prefix(2).allSatisfy({ Character(UnicodeScalar($0)).isHexDigit })
                    else { return false }
                    bytes = bytes.dropFirst(2)
                } else if !isNameCharacter(Character(UnicodeScalar(byte))) || byte >= 0x80 {
                    return false
                }
            }
            return true
        }
    }

    private static func isNameCharacter(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || character == "_" || character == "%")
    }

    // MARK: Expansion

    /// Returns the URI reference. Variables without a value are omitted (RFC 6570 §3.2.1).
    package func expand(_ values: [String: Value]) -> String {
        var output = ""
        for part in parts {
            switch part {
            case .literal(let text): output += text
            case .expression(let expression): output += expression.expanded(values)
            }
        }
        return output
    }

    /// Encodes the characters of a literal that a URI cannot hold (RFC 6570 §3.1).
    static func encodeLiteral(_ text: Substring) -> String { encode(String(text), allowsReserved: true) }

    /// Encodes a value (RFC 6570 §3.2.1).
    ///
    /// Unreserved characters are kept. If `allowsReserved` is true, reserved characters and
    /// percent-encodings are kept, too.
    static func encode(_ text: String, allowsReserved: Bool) -> String {
        guard allowsReserved else { return PercentEncoding.encode(text) }
        var output = "", pending: [UInt8] = []
        func flush() {
            output += PercentEncoding.encode(String(decoding: pending, as: UTF8.self))
            pending = []
        }
        let bytes = Array(text.utf8)
        for (index, byte) in bytes.enumerated() {
            let isEncoded =
                byte == UInt8(ascii: "%") && index + 2 < bytes.count
                && bytes[index + 1...index + 2].allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
            if isEncoded || ":/?#[]@!$&'()*+,;=".utf8.contains(byte) {
                flush()
                output.unicodeScalars.append(UnicodeScalar(byte))
            } else {
                pending.append(byte)
            }
        }
        flush()
        return output
    }
}

extension URITemplate.Expression {
    /// Returns the expansion by the algorithm of RFC 6570 §3.2.1 and appendix A.
    func expanded(_ values: [String: URITemplate.Value]) -> String {
        let pieces = variables.compactMap { variable -> String? in
            guard let value = values[variable.name], value.isDefined else { return nil }
            return expanded(variable, value)
        }
        return pieces.isEmpty ? "" : kind.first + pieces.joined(separator: kind.separator)
    }

    private func encode(_ text: String) -> String { URITemplate.encode(text, allowsReserved: kind.allowsReserved) }

    private func named(_ name: String, _ value: String) -> String {
        guard kind.isNamed else { return value }
        return value.isEmpty ? name + kind.ifEmpty : name + "=" + value
    }

    private func expanded(_ variable: URITemplate.Variable, _ value: URITemplate.Value) -> String {
        switch value {
        case .text(let text):
            // A prefix counts Unicode code points (§2.4.1), not Swift's characters.
            let kept = variable.prefix.map { String(String.UnicodeScalarView(text.unicodeScalars.prefix($0))) } ?? text
            return named(variable.name, encode(kept))
        case .list(let elements) where variable.explodes:
            return elements.map { named(variable.name, encode($0)) }.joined(separator: kind.separator)
        case .list(let elements):
            return named(variable.name, elements.map(encode).joined(separator: ","))
        case .members(let members) where variable.explodes:
            return members.map { member in
                let value = encode(member.value)
                // §3.2.7: an empty value has no = in a path-style parameter.
                return encode(member.name) + (value.isEmpty && kind.isNamed ? kind.ifEmpty : "=" + value)
            }.joined(separator: kind.separator)
        case .members(let members):
            return named(variable.name, members.map { encode($0.name) + "," + encode($0.value) }.joined(separator: ","))
        }
    }
}
