// Patterns of `like`: compiled once, matched on the text's bytes without allocation.

/// A compiled pattern: `%` is any text, `_` one Unicode scalar; `\` escapes the next character.
struct LikePattern {
    /// A byte of a literal part, `any`, or `one`.
    typealias Token = UInt16
    static let any: Token = 0x100
    static let one: Token = 0x101

    let tokens: [Token]

    init(_ pattern: String, folded: Bool) {
        var tokens: [Token] = [], literal = "", isEscaped = false
        func flush() {
            for byte in (folded ? CaseFolding.fold(literal) : literal).utf8 { tokens.append(Token(byte)) }
            literal = ""
        }
        // Unicode scalars: Swift sees `%` and a following combining mark as one character.
        for scalar in pattern.unicodeScalars {
            if isEscaped {
                literal.unicodeScalars.append(scalar)
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else if scalar == "%" || scalar == "_" {
                flush()
                if scalar == "_" {
                    tokens.append(LikePattern.one)
                } else if tokens.last != LikePattern.any {
                    tokens.append(LikePattern.any)
                }
            } else {
                literal.unicodeScalars.append(scalar)
            }
        }
        // A backslash at the end is literal.
        if isEscaped { literal += "\\" }
        flush()
        self.tokens = tokens
    }

    /// A simpler test with the same result, which is faster.
    enum Form {
        case equal([UInt8]), prefix([UInt8]), contains([UInt8]), pattern
    }

    var form: Form {
        func literal(_ tokens: ArraySlice<Token>) -> [UInt8]? {
            tokens.allSatisfy { $0 < 0x100 } ? tokens.map { UInt8(truncatingIfNeeded: $0) } : nil
        }
        if let text = literal(tokens[...]) { return .equal(text) }
        guard tokens.last == LikePattern.any else { return .pattern }
        if let text = literal(tokens.dropLast()) { return .prefix(text) }
        if tokens.first == LikePattern.any, tokens.count > 1, let text = literal(tokens.dropFirst().dropLast()) {
            return .contains(text)
        }
        return .pattern
    }

    /// The literal part that every matching text begins with.
    var literalPrefix: [UInt8] { tokens.prefix { $0 < 0x100 }.map { UInt8(truncatingIfNeeded: $0) } }

    /// Returns whether a text matches a pattern.
    ///
    /// It backtracks to the last `%` only, so the time is at most the product of both lengths.
    static func matches(_ text: Bytes, _ tokens: UnsafeBufferPointer<Token>) -> Bool {
        func afterScalar(_ offset: Int) -> Int {
            var end = offset + 1
            while end < text.count, text[end] & 0xC0 == 0x80 { end += 1 }
            return end
        }
        var t = 0, p = 0, retryText = -1, retryPattern = 0
        while t < text.count {
            let token = p < tokens.count ? tokens[p] : 0xFFFF
            if token == any {
                p += 1
                (retryText, retryPattern) = (t, p)
            } else if token == one {
                t = afterScalar(t)
                p += 1
            } else if token == Token(text[t]) {
                t += 1
                p += 1
            } else if retryText >= 0 {
                retryText = afterScalar(retryText)
                (t, p) = (retryText, retryPattern)
            } else {
                return false
            }
        }
        while p < tokens.count, tokens[p] == any { p += 1 }
        return p == tokens.count
    }
}
