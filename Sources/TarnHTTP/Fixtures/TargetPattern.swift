// Targets of recordings with placeholders, and their order of specificity. Pure.

/// A target such as `/repos/{owner}/{repo}/issues?page={page}{&rest*}`.
struct TargetPattern: Sendable {
    /// The index of the recording.
    let index: Int
    private let path: [Piece]
    /// The parameters by name, with their values as pieces.
    private let parameters: [(name: String, value: [Piece])]
    /// Whether further parameters match.
    private let takesMore: Bool
    private let placeholders: Int
    private let literals: Int

    private enum Piece: Sendable, Equatable {
        case literal([UInt8])
        case any
    }

    /// Parses the target of a recording.
    ///
    /// Returns nil if a brace lacks its partner, or if a placeholder has no valid name.
    init?(_ recording: Recording, _ index: Int) {
        self.index = index
        var text = recording.target[...]
        var takesMore = false
        if text.hasSuffix("*}"), let brace = text.lastIndex(of: "{") {
            let rest = text[brace...].dropFirst().dropLast(2)
            guard let mark = rest.first, mark == "?" || mark == "&", TargetPattern.isName(rest.dropFirst()) else {
                return nil
            }
            takesMore = true
            text = text[..<brace]
        }
        let mark = text.firstIndex(of: "?")
        guard let path = TargetPattern.pieces(text[..<(mark ?? text.endIndex)]) else { return nil }
        var parameters: [(String, [Piece])] = []
        for part in mark.map({ text[text.index(after: $0)...].split(separator: "&") }) ?? [] {
            guard let value = TargetPattern.pieces(part.drop { $0 != "=" }.dropFirst()) else { return nil }
            parameters.append((QueryParameters.name(of: part), value))
        }
        self.path = path
        self.parameters = parameters
        self.takesMore = takesMore
        let all = [path] + parameters.map(\.1)
        placeholders = all.joined().count { $0 == .any } + (takesMore ? 1 : 0)
        literals =
            all.joined().reduce(0) { sum, piece in
                if case .literal(let bytes) = piece { sum + bytes.count } else { sum }
            }
            + parameters.reduce(0) { $0 + $1.0.utf8.count }
    }

    /// Returns whether this target has fewer placeholders, or as many and more literal text.
    func isMoreSpecific(than other: TargetPattern) -> Bool {
        (placeholders, -literals) < (other.placeholders, -other.literals)
    }

    /// Returns whether a target matches. Its parameters may have any order.
    func matches(_ target: String) -> Bool {
        let mark = target.firstIndex(of: "?")
        guard TargetPattern.matches(Array(target[..<(mark ?? target.endIndex)].utf8)[...], path[...]) else {
            return false
        }
        var rest = mark.map { target[target.index(after: $0)...].split(separator: "&") } ?? []
        for (name, value) in parameters {
            let found = rest.firstIndex { part in
                QueryParameters.name(of: part) == name
                    && TargetPattern.matches(Array(part.drop { $0 != "=" }.dropFirst().utf8)[...], value[...])
            }
            guard let found else { return false }
            rest.remove(at: found)
        }
        return takesMore || rest.isEmpty
    }

    private static func matches(_ bytes: ArraySlice<UInt8>, _ pieces: ArraySlice<Piece>) -> Bool {
        guard let first = pieces.first else { return bytes.isEmpty }
        switch first {
        case .literal(let text):
            return bytes.starts(with: text) && matches(bytes.dropFirst(text.count), pieces.dropFirst())
        case .any:
            // A placeholder matches at least one byte, and never crosses into the next segment.
            let longest = bytes.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "&") && $0 != UInt8(ascii: "=") }
                .count
            guard longest > 0 else { return false }
            return (1...longest).contains { matches(bytes.dropFirst($0), pieces.dropFirst()) }
        }
    }

    /// Returns the literals and placeholders of a text; nil if a placeholder is malformed.
    private static func pieces(_ text: some StringProtocol) -> [Piece]? {
        var pieces: [Piece] = []
        var rest = Substring(text)
        while !rest.isEmpty {
            let literal = rest.prefix { $0 != "{" && $0 != "}" }
            if !literal.isEmpty { pieces.append(.literal(Array(literal.utf8))) }
            rest = rest[literal.endIndex...]
            guard let brace = rest.popFirst() else { break }
            guard brace == "{", let end = rest.firstIndex(of: "}"), isName(rest[..<end]) else { return nil }
            // Two adjacent placeholders could divide a text in many ways.
            guard pieces.last != .any else { return nil }
            pieces.append(.any)
            rest = rest[rest.index(after: end)...]
        }
        return pieces
    }

    private static func isName(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { PercentEncoding.isUnreserved($0) }
    }
}
