// Patterns of `like`: compiled once, matched in the text's bytes, without a regular expression and without allocation.

/// `%` stands for any characters, `_` for one (a Unicode scalar), `\` takes the meaning of the next one.
struct LikePattern {
    /// A byte of a literal part, or one of the two below.
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
        // By scalars: `%` followed by a combining mark is one character of Swift's.
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
        // A backslash at the end stands for itself.
        if isEscaped { literal += "\\" }
        flush()
        self.tokens = tokens
    }

    /// What a pattern says in another form, which is faster to look for.
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

    /// The literal part that every text that is like the pattern begins with.
    var literalPrefix: [UInt8] { tokens.prefix { $0 < 0x100 }.map { UInt8(truncatingIfNeeded: $0) } }

    /// Whether a text is like a pattern. Goes back to the last `%` only, so it takes at most the product of both lengths.
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
