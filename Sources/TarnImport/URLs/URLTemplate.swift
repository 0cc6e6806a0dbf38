// The URLs of records, as a mapping declares them: `/users/{login}`.

/// A template of URLs that contain values of a record: `/api/v2/{kind}/{id}/`.
///
/// It is appended to the base URLs of the API, unless it is absolute. `{name}` stands for a part of
/// a segment, `{+name}` for one or more segments. A slash at the end does not matter.
package struct URLTemplate: Sendable, Hashable, CustomStringConvertible {
    /// A part of a segment, or of a value in the query.
    enum Part: Sendable, Hashable {
        /// Percent-decoded bytes.
        case literal([UInt8])
        case variable(String)
    }

    /// A segment of the path.
    enum Segment: Sendable, Hashable {
        case parts([Part])
        /// One or more segments.
        case rest(String)
    }

    /// A parameter of the query that the URL must have.
    struct Parameter: Sendable, Hashable {
        var name: [UInt8]
        var parts: [Part]
    }

    /// The scheme and the authority of an absolute template.
    let origin: String?
    let segments: [Segment]
    let query: [Parameter]
    /// The template as it is written.
    package let description: String

    /// The variables in order.
    package var variables: [String] {
        func names(_ parts: [Part]) -> [String] {
            parts.compactMap { if case .variable(let name) = $0 { name } else { nil } }
        }
        return segments.flatMap { segment in
            switch segment {
            case .parts(let parts): names(parts)
            case .rest(let name): [name]
            }
        } + query.flatMap { names($0.parts) }
    }

    /// The reason why a text is not a template.
    package struct Problem: Error, Hashable {
        package var message: String
    }

    /// Parses a template.
    package init(_ text: String) throws(Problem) {
        description = text
        guard text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F && $0 != "#" }) else {
            throw Problem(message: "a template has neither spaces nor a fragment (#): percent-encode or remove them")
        }
        var rest = text[...]
        let lower = text.lowercased()
        if let scheme = ["http://", "https://"].first(where: lower.hasPrefix) {
            let authority = rest.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" }
            guard !authority.isEmpty, !authority.contains("{"), !authority.contains("@") else {
                throw Problem(message: "the host of a template is written out, without variables and users")
            }
            origin = scheme + authority
            rest = rest.dropFirst(scheme.count + authority.count)
        } else {
            origin = nil
            guard text.hasPrefix("/") else {
                throw Problem(message: "a template begins with /: it is appended to the base URL")
            }
        }
        let question = URLTemplate.question(in: rest)
        segments = try URLTemplate.segments(rest[..<(question ?? rest.endIndex)])
        query = try question.map { at throws(Problem) in try URLTemplate.query(rest[at...].dropFirst()) } ?? []
        try check()
    }

    private func check() throws(Problem) {
        let names = variables
        if names.isEmpty {
            throw Problem(message: "a template needs a variable: write the part that differs in braces, such as {id}")
        }
        if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
            throw Problem(message: "{\(twice)} occurs twice: each variable is one part of the URL")
        }
        let rests = segments.count { if case .rest = $0 { true } else { false } }
        if rests > 1 { throw Problem(message: "only one variable can stand for several segments ({+…})") }
    }

    // MARK: Parsing

    /// The `?` that begins the query: outside of braces.
    private static func question(in text: Substring) -> Substring.Index? {
        var depth = 0
        return text.indices.first { index in
            if text[index] == "{" { depth += 1 }
            if text[index] == "}" { depth -= 1 }
            return text[index] == "?" && depth == 0
        }
    }

    private static func segments(_ path: Substring) throws(Problem) -> [Segment] {
        var texts = path.split(separator: "/", omittingEmptySubsequences: false)[...]
        if texts.first?.isEmpty == true { texts.removeFirst() }
        if texts.last?.isEmpty == true { texts.removeLast() }
        var segments: [Segment] = []
        for text in texts {
            if text.isEmpty { throw Problem(message: "empty segment (//): remove one of the slashes") }
            if text == "." || text == ".." { throw Problem(message: "\(text) cannot be a segment: write the path out") }
            if text.hasPrefix("{+"), text.hasSuffix("}"), !text.dropFirst().contains("{") {
                segments.append(.rest(try name(text.dropFirst(2).dropLast())))
            } else {
                segments.append(.parts(try parts(text, isQuery: false)))
            }
        }
        return segments
    }

    private static func query(_ text: Substring) throws(Problem) -> [Parameter] {
        var parameters: [Parameter] = []
        for pair in text.split(separator: "&") {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2, !halves[0].isEmpty, !halves[1].isEmpty else {
                throw Problem(message: "a query of a template has names and values, such as ?id={id}")
            }
            parameters.append(
                Parameter(name: Array(halves[0].utf8), parts: try parts(halves[1], isQuery: true)))
        }
        return parameters
    }

    private static func parts(_ text: Substring, isQuery: Bool) throws(Problem) -> [Part] {
        var parts: [Part] = [], rest = text
        while !rest.isEmpty {
            if rest.first == "{" {
                guard let close = rest.firstIndex(of: "}") else {
                    throw Problem(message: "{ without }: close the brace")
                }
                if case .variable? = parts.last {
                    throw Problem(message: "two variables need a text between them: their border is unknown")
                }
                let inner = rest[..<close].dropFirst()
                if inner.hasPrefix("+") { throw Problem(message: "{\(inner)} must be a whole segment of the path") }
                parts.append(.variable(try name(inner)))
                rest = rest[close...].dropFirst()
            } else {
                let literal = rest.prefix { $0 != "{" }
                if literal.contains("}") { throw Problem(message: "} without {: remove it, or write %7D") }
                parts.append(.literal(URLMatcher.decoded(Array(literal.utf8), isQuery: isQuery)))
                rest = rest.dropFirst(literal.count)
            }
        }
        return parts
    }

    private static func name(_ text: Substring) throws(Problem) -> String {
        let isName =
            text.first?.isNumber == false
            && text.utf8.allSatisfy {
                (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "_")
            }
        guard isName else {
            throw Problem(message: "{\(text)} is not a variable: write the name of an attribute, such as {id}")
        }
        return String(text)
    }
}
