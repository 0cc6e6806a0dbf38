// A parser of the GraphQL documents that the tests send: a subset of the specification.

/// An operation of a document.
///
/// Supported: one query or mutation, variables (their types are read, and not checked), aliases,
/// arguments of all kinds of values, nested selections, inline fragments with a type. Not supported,
/// and refused: named fragments, directives, subscriptions, block strings, several operations.
package struct GraphQLDocument: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package var description: String
    }

    /// A field of a selection, or an inline fragment.
    package indirect enum Selection: Sendable {
        case field(alias: String, name: String, arguments: [(String, GraphQLValue)], selections: [Selection])
        case fragment(type: String, selections: [Selection])
    }

    package var isMutation = false
    package var variables: Set<String> = []
    package var selections: [Selection] = []

    private var tokens: ArraySlice<String>

    /// Parses a document.
    package init(_ text: String) throws {
        tokens = try GraphQLDocument.tokens(text)[...]
        if let word = tokens.first, word != "{" {
            guard word == "query" || word == "mutation" else { throw Failure(description: "unsupported: \(word)") }
            isMutation = word == "mutation"
            tokens = tokens.dropFirst()
            if tokens.first != "(", tokens.first != "{" { tokens = tokens.dropFirst() }
            if tokens.first == "(" { try parseVariables() }
        }
        selections = try parseSelections()
        guard tokens.isEmpty else { throw Failure(description: "unsupported after the operation: \(tokens.prefix(3))") }
    }

    private static func tokens(_ text: String) throws -> [String] {
        var tokens: [String] = [], rest = Substring(text)
        while let character = rest.first {
            if character.isWhitespace || character == "," {
                rest = rest.dropFirst()
            } else if character == "#" {
                rest = rest.drop { $0 != "\n" }
            } else if rest.hasPrefix("...") {
                tokens.append("...")
                rest = rest.dropFirst(3)
            } else if "!$():=@[]{|}".contains(character) {
                tokens.append(String(character))
                rest = rest.dropFirst()
            } else if character == "\"" {
                guard !rest.hasPrefix("\"\"\"") else { throw Failure(description: "unsupported: a block string") }
                rest = rest.dropFirst()
                let text = rest.prefix { $0 != "\"" && $0 != "\\" }
                guard rest.dropFirst(text.count).first == "\"" else {
                    throw Failure(description: "an open string, or an escape, which is not supported")
                }
                tokens.append("\"" + text)
                rest = rest.dropFirst(text.count + 1)
            } else {
                let word = rest.prefix { $0.isLetter || $0.isNumber || "_-.".contains($0) }
                guard !word.isEmpty else { throw Failure(description: "Syntax Error: unexpected \(character)") }
                tokens.append(String(word))
                rest = rest.dropFirst(word.count)
            }
        }
        return tokens
    }

    private mutating func take(_ expected: String? = nil) throws -> String {
        guard let token = tokens.popFirst(), expected == nil || token == expected else {
            throw Failure(description: "Syntax Error: expected \(expected ?? "more")")
        }
        return token
    }

    /// `($name: [Type!]! = default …)`.
    private mutating func parseVariables() throws {
        _ = try take("(")
        while tokens.first != ")" {
            _ = try take("$")
            variables.insert(try take())
            _ = try take(":")
            while let token = tokens.first, token != "$", token != ")" {
                if token == "=" { throw Failure(description: "unsupported: a default value") }
                tokens = tokens.dropFirst()
            }
        }
        _ = try take(")")
    }

    private mutating func parseSelections() throws -> [Selection] {
        _ = try take("{")
        var found: [Selection] = []
        while tokens.first != "}" {
            if tokens.first == "..." {
                _ = try take()
                guard tokens.first == "on" else { throw Failure(description: "unsupported: a named fragment") }
                _ = try take()
                found.append(.fragment(type: try take(), selections: try parseSelections()))
                continue
            }
            var name = try take(), alias = name
            if tokens.first == ":" {
                _ = try take()
                name = try take()
            }
            guard let first = name.first, first.isLetter || first == "_" else {
                throw Failure(description: "Syntax Error: unexpected \(name)")
            }
            var arguments: [(String, GraphQLValue)] = []
            if tokens.first == "(" {
                _ = try take()
                while tokens.first != ")" {
                    let name = try take()
                    _ = try take(":")
                    arguments.append((name, try parseValue()))
                }
                _ = try take(")")
            }
            if tokens.first == "@" { throw Failure(description: "unsupported: a directive") }
            let nested = tokens.first == "{" ? try parseSelections() : []
            if alias.isEmpty { alias = name }
            found.append(.field(alias: alias, name: name, arguments: arguments, selections: nested))
        }
        _ = try take("}")
        return found
    }

    private mutating func parseValue() throws -> GraphQLValue {
        let token = try take()
        switch token {
        case "$": return .variable(try take())
        case "[":
            var values: [GraphQLValue] = []
            while tokens.first != "]" { values.append(try parseValue()) }
            _ = try take("]")
            return .list(values)
        case "{":
            var members: [(String, GraphQLValue)] = []
            while tokens.first != "}" {
                let name = try take()
                _ = try take(":")
                members.append((name, try parseValue()))
            }
            _ = try take("}")
            return .object(members)
        case "true", "false": return .bool(token == "true")
        case "null": return .null
        default:
            if token.hasPrefix("\"") { return .string(String(token.dropFirst())) }
            return Int(token).map { .int($0) } ?? .string(token)
        }
    }
}
