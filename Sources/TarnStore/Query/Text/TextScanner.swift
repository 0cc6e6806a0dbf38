// The tokens of a query's text: names, values, operators. The context decides how one is read.

import Foundation

/// A scanner of a text. It returns ranges with names and words, for messages.
struct TextScanner {
    let text: String
    private let bytes: [UInt8]
    private(set) var offset = 0
    /// The number of open parentheses, brackets and `not`.
    private var depth = 0

    static let depthLimit = 200
    static let sizeLimit = 1 << 20

    /// The reserved words. As names they need backquotes, as values quotes.
    static let keywords: Set<String> = [
        "all", "and", "begins", "between", "contains", "false", "in", "is", "like", "missing", "nocase", "not",
        "null", "or", "true", "with",
    ]

    init(_ text: String) throws(QueryTextError) {
        self.text = text
        bytes = Array(text.utf8)
        guard bytes.count <= TextScanner.sizeLimit else {
            throw QueryTextError(
                text, bytes.count..<bytes.count, "text longer than \(TextScanner.sizeLimit) bytes; shorten it")
        }
        skipSpace()
    }

    var isAtEnd: Bool { offset == bytes.count }
    /// The next byte; 0 at the end.
    var next: UInt8 { offset < bytes.count ? bytes[offset] : 0 }

    mutating func skipSpace() {
        while offset < bytes.count, TextScanner.isSpace(bytes[offset]) { offset += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    // MARK: - Errors

    func error(_ range: Range<Int>, _ message: String, expected: String? = nil) -> QueryTextError {
        QueryTextError(text, range, message, expected: expected)
    }

    /// Returns the error for an unexpected word or sign at the position.
    func unexpected(expected: String) -> QueryTextError {
        guard !isAtEnd else { return error(offset..<offset, "unexpected end", expected: expected) }
        let range = wordRange
        return error(
            range, "unexpected \"\(string(range.prefix(60)))\(range.count > 60 ? "…" : "")\"", expected: expected
        )
    }

    /// The range of the word, or of the single sign, at the position.
    private var wordRange: Range<Int> {
        var end = offset
        while end < bytes.count, TextScanner.isInValue(bytes[end]) { end += 1 }
        if end == offset { end += TextScanner.characterLength(bytes[offset]) }
        return offset..<min(end, bytes.count)
    }

    private static func characterLength(_ byte: UInt8) -> Int {
        byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
    }

    func string(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    mutating func enter(at start: Int) throws(QueryTextError) {
        depth += 1
        guard depth <= TextScanner.depthLimit else {
            throw error(
                start..<start + 1, "nested more than \(TextScanner.depthLimit) levels deep; simplify the condition")
        }
    }

    mutating func leave() { depth -= 1 }

    // MARK: - Signs and keywords

    /// Skips a sign and the space after it, if it is next.
    mutating func take(_ sign: StaticString) -> Bool {
        let length = sign.utf8CodeUnitCount
        guard offset + length <= bytes.count,
            (0..<length).allSatisfy({ bytes[offset + $0] == sign.utf8Start[$0] })
        else { return false }
        offset += length
        skipSpace()
        return true
    }

    /// The next word in lower case if it is short enough for a keyword; nil if there is none.
    private var shortWord: String? {
        var end = offset
        while end < bytes.count, TextScanner.isInName(bytes[end]) { end += 1 }
        return end > offset && end - offset <= 8 ? string(offset..<end).lowercased() : nil
    }

    /// The next word in lower case if it is a keyword.
    var nextKeyword: String? { shortWord.flatMap { TextScanner.keywords.contains($0) ? $0 : nil } }

    mutating func take(keyword: String) -> Bool {
        guard shortWord == keyword else { return false }
        offset += keyword.utf8.count
        skipSpace()
        return true
    }

    mutating func expect(keyword: String, after word: String) throws(QueryTextError) {
        guard take(keyword: keyword) else { throw unexpected(expected: "\"\(keyword)\" after \"\(word)\"") }
    }

    // MARK: - Names

    /// Returns whether a byte is a letter, a digit, `_`, or not ASCII.
    private static func isInName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }

    static func needsBackquotes(_ name: String) -> Bool {
        // `any contains` is a condition of its own.
        name.isEmpty || keywords.contains(name.lowercased()) || name.lowercased() == "any"
            || !name.utf8.allSatisfy(isInName)
    }

    /// Reads one name of a path, without the space after it.
    mutating func name() throws(QueryTextError) -> (name: String, range: Range<Int>) {
        let start = offset
        if next == UInt8(ascii: "`") { return (try backquoted(), start..<offset) }
        if let keyword = nextKeyword {
            throw error(
                start..<start + keyword.utf8.count,
                "\"\(keyword)\" is a keyword; write a field of this name in backquotes: `\(keyword)`",
                expected: "a field name")
        }
        while offset < bytes.count, TextScanner.isInName(bytes[offset]) { offset += 1 }
        guard offset > start else { throw unexpected(expected: "a field name") }
        return (string(start..<offset), start..<offset)
    }

    /// Reads a name in backquotes; two backquotes are one of the name's own.
    private mutating func backquoted() throws(QueryTextError) -> String {
        let start = offset
        var name: [UInt8] = []
        offset += 1
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            if byte == UInt8(ascii: "`") {
                guard next == UInt8(ascii: "`") else { return String(decoding: name, as: UTF8.self) }
                offset += 1
            }
            name.append(byte)
        }
        throw error(start..<bytes.count, "unterminated name", expected: "a closing backquote")
    }

    mutating func takeDot() -> Bool {
        guard next == UInt8(ascii: ".") else { return false }
        offset += 1
        return true
    }

    // MARK: - Values

    /// Returns whether a byte is no space, sign or quote: `2026-01-02T03:04:05Z` is one word.
    private static func isInValue(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x20, 0x7F, UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "["), UInt8(ascii: "]"),
            UInt8(ascii: ","), UInt8(ascii: "\""),
            UInt8(ascii: "'"), UInt8(ascii: "`"), UInt8(ascii: "="), UInt8(ascii: "<"), UInt8(ascii: ">"),
            UInt8(ascii: "!"):
            false
        default: true
        }
    }

    /// Reads a bare word, without the space after it; nil if there is none.
    mutating func word() -> (text: String, range: Range<Int>)? {
        let start = offset
        while offset < bytes.count, TextScanner.isInValue(bytes[offset]) { offset += 1 }
        return offset > start ? (string(start..<offset), start..<offset) : nil
    }

    var isAtQuote: Bool { next == UInt8(ascii: "\"") || next == UInt8(ascii: "'") }

    /// Reads a text in quotes of either kind, without the space after it.
    ///
    /// It has the escapes of JSON (RFC 8259 §7) and `\'`.
    mutating func quoted() throws(QueryTextError) -> String {
        let start = offset, quote = next
        var result: [UInt8] = []
        offset += 1
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            if byte == quote { return String(decoding: result, as: UTF8.self) }
            if byte == UInt8(ascii: "\\") { try escape(into: &result) } else { result.append(byte) }
        }
        throw error(
            start..<bytes.count, "unterminated text",
            expected: "the closing quote, \(quote == UInt8(ascii: "'") ? "'" : "\"")")
    }

    private mutating func escape(into result: inout [UInt8]) throws(QueryTextError) {
        let start = offset - 1
        guard offset < bytes.count else {
            throw error(start..<bytes.count, "unterminated text", expected: "a closing quote")
        }
        let byte = bytes[offset]
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "\\"), UInt8(ascii: "/"): result.append(byte)
        case UInt8(ascii: "b"): result.append(0x08)
        case UInt8(ascii: "f"): result.append(0x0C)
        case UInt8(ascii: "n"): result.append(0x0A)
        case UInt8(ascii: "r"): result.append(0x0D)
        case UInt8(ascii: "t"): result.append(0x09)
        case UInt8(ascii: "u"):
            var code = try fourDigits(start)
            // A surrogate pair is one character (RFC 8259 §7).
            if (0xD800..<0xDC00).contains(code), next == UInt8(ascii: "\\"), offset + 1 < bytes.count,
                bytes[offset + 1] == UInt8(ascii: "u")
            {
                offset += 2
                let low = try fourDigits(start)
                code = (0xDC00..<0xE000).contains(low) ? 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00) : code
            }
            guard let scalar = Unicode.Scalar(code) else {
                throw error(start..<offset, "half of a surrogate pair", expected: "both halves")
            }
            result += Array(String(Character(scalar)).utf8)
        default:
            throw error(
                start..<min(bytes.count, start + 1 + TextScanner.characterLength(byte)), "unknown escape",
                expected: #"one of \" \' \\ \/ \b \f \n \r \t \uXXXX (write a literal backslash twice)"#)
        }
    }

    private mutating func fourDigits(_ start: Int) throws(QueryTextError) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = Character(Unicode.Scalar(next)).hexDigitValue, offset < bytes.count else {
                throw error(
                    start..<offset, "incomplete escape", expected: "four hexadecimal digits after \\u")
            }
            code = code << 4 | UInt32(digit)
            offset += 1
        }
        return code
    }
}
