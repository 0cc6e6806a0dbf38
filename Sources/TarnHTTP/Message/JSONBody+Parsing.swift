// Parsing of small JSON documents: error messages, token responses, and JSON values in a store.
//
// Records are parsed elsewhere. The input is untrusted: the depth is bounded, and every byte is
// read once. Callers bound the length, since the values take up to a hundred times the memory of
// their text.

extension JSONBody {
    /// The maximum number of nested objects and arrays.
    static let depthLimit = 128

    /// Parses JSON (RFC 8259); nil if the text is malformed or too deep.
    ///
    /// Invalid Unicode becomes U+FFFD.
    package init?(parsing text: some StringProtocol) { self.init(parsing: Array(text.utf8)[...]) }

    /// Parses JSON (RFC 8259) from bytes.
    package init?(parsing bytes: ArraySlice<UInt8>) {
        var scanner = JSONBodyScanner(bytes)
        guard let value = scanner.value(depth: 0), scanner.isAtEnd else { return nil }
        self = value
    }

    /// Returns the string at a key, or nil.
    package func text(of key: String) -> String? {
        if case .string(let text)? = self[[key]] { text } else { nil }
    }

    /// Returns the finite number at a key, or nil. Some servers send numbers as strings.
    func number(of key: String) -> Double? {
        switch self[[key]] {
        case .number(let text), .string(let text): Double(text).flatMap { $0.isFinite ? $0 : nil }
        default: nil
        }
    }
}

/// A parser of JSON values that keeps the order of members.
private struct JSONBodyScanner {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
        skipSpace()
    }

    /// Whether all bytes are consumed.
    var isAtEnd: Bool { rest.isEmpty }

    /// Parses a value and the white space behind it.
    mutating func value(depth: Int) -> JSONBody? {
        guard depth < JSONBody.depthLimit, let byte = rest.first else { return nil }
        switch byte {
        case UInt8(ascii: "{"):
            advance()
            var members: [JSONBody.Member] = []
            if take("}") { return .object(members) }
            while true {
                guard let key = string(), take(":"), let value = value(depth: depth + 1) else { return nil }
                members.append(.init(key, value))
                if take("}") { return .object(members) }
                guard take(",") else { return nil }
            }
        case UInt8(ascii: "["):
            advance()
            var values: [JSONBody] = []
            if take("]") { return .array(values) }
            while true {
                guard let value = value(depth: depth + 1) else { return nil }
                values.append(value)
                if take("]") { return .array(values) }
                guard take(",") else { return nil }
            }
        case UInt8(ascii: "\""): return string().map(JSONBody.string)
        default: return word()
        }
    }

    /// Parses a literal name or a number.
    private mutating func word() -> JSONBody? {
        let word = rest.prefix {
            ![UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), 0x20, 0x09, 0x0A, 0x0D].contains($0)
        }
        rest = rest[word.endIndex...]
        skipSpace()
        switch String(decoding: word, as: UTF8.self) {
        case "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        case let text: return JSONBodyScanner.isNumber(word) ? .number(text) : nil
        }
    }

    /// Returns whether a text is a number (RFC 8259 §6).
    private static func isNumber(_ text: ArraySlice<UInt8>) -> Bool {
        var rest = text
        func digits() -> Int {
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            rest = rest[digits.endIndex...]
            return digits.count
        }
        if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        let isZero = rest.first == 0x30, count = digits()
        guard count > 0, !isZero || count == 1 else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            guard digits() > 0 else { return false }
        }
        if let byte = rest.first, byte | 0x20 == UInt8(ascii: "e") {
            rest = rest.dropFirst()
            if let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { rest = rest.dropFirst() }
            guard digits() > 0 else { return false }
        }
        return rest.isEmpty
    }

    private mutating func advance() {
        rest = rest.dropFirst()
        skipSpace()
    }

    private mutating func skipSpace() {
        rest = rest.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
    }

    /// Consumes a character and the white space behind it; false if it is not next.
    private mutating func take(_ text: StaticString) -> Bool {
        guard rest.first == text.utf8Start.pointee else { return false }
        advance()
        return true
    }

    /// Parses a string and the white space behind it.
    private mutating func string() -> String? {
        guard rest.first == UInt8(ascii: "\"") else { return nil }
        rest = rest.dropFirst()
        var text: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""):
                skipSpace()
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let scalar = escape() else { return nil }
                text += Array(String(scalar).utf8)
            case 0..<0x20: return nil
            default: text.append(byte)
            }
        }
        return nil
    }

    /// Parses an escape sequence behind its backslash. An unpaired surrogate becomes U+FFFD.
    private mutating func escape() -> Unicode.Scalar? {
        switch rest.popFirst() {
        case UInt8(ascii: "\""): "\""
        case UInt8(ascii: "\\"): "\\"
        case UInt8(ascii: "/"): "/"
        case UInt8(ascii: "b"): "\u{8}"
        case UInt8(ascii: "f"): "\u{C}"
        case UInt8(ascii: "n"): "\n"
        case UInt8(ascii: "r"): "\r"
        case UInt8(ascii: "t"): "\t"
        case UInt8(ascii: "u"): unicode()
        default: nil
        }
    }

    /// Parses the scalar of one or two `\u` escapes.
    private mutating func unicode() -> Unicode.Scalar? {
        guard let first = unit() else { return nil }
        guard (0xD800..<0xDC00).contains(first), rest.starts(with: "\\u".utf8) else {
            return Unicode.Scalar(first) ?? "\u{FFFD}"
        }
        var ahead = self
        ahead.rest = ahead.rest.dropFirst(2)
        guard let second = ahead.unit(), (0xDC00..<0xE000).contains(second) else { return "\u{FFFD}" }
        self = ahead
        return Unicode.Scalar(0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00)) ?? "\u{FFFD}"
    }

    /// Parses four hexadecimal digits.
    private mutating func unit() -> UInt16? {
        let digits = rest.prefix(4)
        guard digits.count == 4, digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0 | 0x20) })
        else { return nil }
        rest = rest.dropFirst(4)
        return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    }
}

extension [UInt8] {
    /// The bytes behind a byte order mark, which a parser may ignore (RFC 8259 §8.1).
    var withoutMark: ArraySlice<UInt8> { starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self[...] }
}
