import Foundation

/// A path template that is matched with paths.
struct RouteTemplate: Sendable, Hashable {
    /// A part of the template.
    enum Part: Sendable, Hashable {
        case literal(String)
        /// A variable; one with `+` also matches slashes.
        case variable(String, spansSegments: Bool)
    }

    let parts: [Part]

    /// Parses a template; nil if it has an expression other than `{name}` and `{+name}`.
    init?(_ text: String) {
        var parts: [Part] = [], rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            guard let close = rest[open...].firstIndex(of: "}") else { return nil }
            if open > rest.startIndex { parts.append(.literal(String(rest[..<open]))) }
            var name = rest[rest.index(after: open)..<close]
            let spansSegments = name.first == "+"
            if spansSegments { name = name.dropFirst() }
            guard !name.isEmpty, name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }) else {
                return nil
            }
            // Two variables side by side have no boundary.
            if case .variable? = parts.last { return nil }
            parts.append(.variable(String(name), spansSegments: spansSegments))
            rest = rest[rest.index(after: close)...]
        }
        if !rest.isEmpty { parts.append(.literal(String(rest))) }
        self.parts = parts
    }

    /// The order of matching: more literal text first, then fewer variables.
    var specificity: (literals: Int, variables: Int) {
        var literals = 0, variables = 0
        for part in parts {
            switch part {
            case .literal(let text): literals += text.utf8.count
            case .variable(_, let spansSegments): variables += spansSegments ? 2 : 1
            }
        }
        return (literals, -variables)
    }

    /// Returns the values of the variables, decoded; nil if the path does not match.
    ///
    /// - Parameter path: a path as in a URL, percent-encoded.
    func values(in path: String) -> [String: String]? {
        var values: [String: String] = [:]
        return match(parts[...], path[...], &values) ? values : nil
    }

    /// Matches parts with the rest of a path. A variable takes as little as possible.
    private func match(_ parts: ArraySlice<Part>, _ path: Substring, _ values: inout [String: String]) -> Bool {
        guard let part = parts.first else { return path.isEmpty }
        switch part {
        case .literal(let text):
            guard path.hasPrefix(text) else { return false }
            return match(parts.dropFirst(), path.dropFirst(text.count), &values)
        case .variable(let name, let spansSegments):
            var end = path.startIndex
            while end < path.endIndex, spansSegments || path[end] != "/" {
                end = path.index(after: end)
                guard match(parts.dropFirst(), path[end...], &values) else { continue }
                let value = String(path[..<end])
                values[name] = value.removingPercentEncoding ?? value
                return true
            }
            return false
        }
    }
}
