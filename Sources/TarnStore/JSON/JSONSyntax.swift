/// The syntax of JSON (RFC 8259), checked without building values.
struct JSONSyntax {
    /// The maximum depth of nested arrays and objects. It is that of the parser of responses.
    private static let maximumDepth = 1024

    private let text: Bytes
    private var offset = 0

    private init(_ text: Bytes) { self.text = text }

    /// Returns the offset of the first byte that cannot continue a JSON value; nil if the text is
    /// one value, with nothing but white space around it.
    static func firstProblem(in text: Bytes) -> Int? {
        var syntax = JSONSyntax(text)
        return syntax.skipDocument() ? nil : syntax.offset
    }

    private var byte: UInt8? { offset < text.count ? text[offset] : nil }

    private mutating func skip(_ expected: UInt8) -> Bool {
        guard byte == expected else { return false }
        offset += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
    }

    private mutating func skipDocument() -> Bool {
        // The ends of the open arrays and objects: recursion could exhaust the stack.
        var open: [UInt8] = []
        while true {
            skipSpace()
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                let isObject = byte == UInt8(ascii: "{"), end = UInt8(ascii: isObject ? "}" : "]")
                guard open.count < JSONSyntax.maximumDepth else { return false }
                offset += 1
                skipSpace()
                if byte != end {
                    open.append(end)
                    if isObject, !skipName() { return false }
                    continue
                }
                offset += 1
            case UInt8(ascii: "\""): guard skipString() else { return false }
            case UInt8(ascii: "t"): guard skip("true") else { return false }
            case UInt8(ascii: "f"): guard skip("false") else { return false }
            case UInt8(ascii: "n"): guard skip("null") else { return false }
            default: guard skipNumber() else { return false }
            }
            // Behind a value.
            skipSpace()
            while let end = open.last, skip(end) {
                open.removeLast()
                skipSpace()
            }
            guard let end = open.last else { return byte == nil }
            guard skip(UInt8(ascii: ",")) else { return false }
            skipSpace()
            if end == UInt8(ascii: "}"), !skipName() { return false }
        }
    }

    private mutating func skip(_ word: StaticString) -> Bool {
        word.withUTF8Buffer { word in word.allSatisfy { skip($0) } }
    }

    /// Skips the name of a member, and its colon.
    private mutating func skipName() -> Bool {
        guard skipString() else { return false }
        skipSpace()
        return skip(UInt8(ascii: ":"))
    }

    private mutating func skipString() -> Bool {
        guard skip(UInt8(ascii: "\"")) else { return false }
        while let byte, byte >= 0x20 {
            offset += 1
            if byte == UInt8(ascii: "\"") { return true }
            if byte == UInt8(ascii: "\\"), !skipEscape() { return false }
        }
        return false
    }

    private mutating func skipEscape() -> Bool {
        guard let byte else { return false }
        guard byte == UInt8(ascii: "u") else {
            let isKnown = [0x22, 0x5C, 0x2F, 0x62, 0x66, 0x6E, 0x72, 0x74].contains(byte)
            if isKnown { offset += 1 }
            return isKnown
        }
        guard let unit = skipUnit() else { return false }
        switch unit {
        case 0xDC00...0xDFFF: return false
        case 0xD800...0xDBFF:
            guard skip(UInt8(ascii: "\\")), let low = skipUnit() else { return false }
            return (0xDC00...0xDFFF).contains(low)
        default: return true
        }
    }

    /// Skips `u` and four hexadecimal digits.
    private mutating func skipUnit() -> UInt16? {
        guard skip(UInt8(ascii: "u")) else { return nil }
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            unit = unit << 4 | UInt16(digit)
            offset += 1
        }
        return unit
    }

    private mutating func skipNumber() -> Bool {
        _ = skip(UInt8(ascii: "-"))
        if !skip(UInt8(ascii: "0")), !skipDigits() { return false }
        if skip(UInt8(ascii: ".")), !skipDigits() { return false }
        if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
            offset += 1
            if !skip(UInt8(ascii: "+")) { _ = skip(UInt8(ascii: "-")) }
            return skipDigits()
        }
        return true
    }

    private mutating func skipDigits() -> Bool {
        let start = offset
        while let byte, (0x30...0x39).contains(byte) { offset += 1 }
        return offset > start
    }
}

extension EncodedValue {
    /// Returns the reason why a text in an attribute is not JSON; nil if it is JSON, and for other
    /// values.
    func jsonProblem(_ type: AttributeType) -> String? {
        switch type {
        case .json where tag == ValueTag.json:
            guard let offset = JSONSyntax.firstProblem(in: payload) else { return nil }
            if payload.isEmpty { return "an empty text, which is not JSON" }
            let text = payload.count <= 40 ? "\"\(String(decoding: payload, as: UTF8.self))\"" : "a long text"
            return text + ", which is not JSON"
                + (offset < payload.count ? ": byte \(offset) is unexpected" : ": its end is missing")
        case .array(let element):
            var problem: String?
            _ = forEachElement { problem = problem ?? $0.jsonProblem(element) }
            return problem
        default: return nil
        }
    }
}
