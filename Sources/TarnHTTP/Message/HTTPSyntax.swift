// Elements of HTTP's grammar (RFC 9110 §5, RFC 9112): tokens, status lines, field lines, chunks.
// Pure.

/// Parsers of HTTP's grammar.
package enum HTTPSyntax {
    /// Returns whether a text is a token: 1*tchar (RFC 9110 §5.6.2).
    package static func isToken(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(isTokenByte)
    }

    /// Returns whether a byte is a tchar (RFC 9110 §5.6.2).
    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default:
            false
        }
    }

    /// Returns the status code of an HTTP/1.1 status line (RFC 9112 §4); nil if it is malformed.
    ///
    /// The space before an empty reason phrase may be missing.
    package static func status(ofLine line: String) -> Int? {
        let bytes = Array(line.utf8)
        guard bytes.starts(with: Array("HTTP/1.1 ".utf8)), bytes.count >= 12,
            bytes.count == 12 || bytes[12] == UInt8(ascii: " "),
            let status = decimal(String(decoding: bytes[9..<12], as: UTF8.self)), (100...599).contains(status)
        else { return nil }
        return status
    }

    /// Parses a field line without its line end (RFC 9112 §5); nil if it is malformed.
    ///
    /// Folded lines are not accepted.
    package static func field(ofLine line: String) -> TransportHeaders.Field? {
        let bytes = Array(line.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let name = String(decoding: bytes[..<colon], as: UTF8.self)
        guard isToken(name) else { return nil }
        let value = bytes[(colon + 1)...].trimmingWhitespace()
        guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else { return nil }
        return TransportHeaders.Field(name, String(decoding: value, as: UTF8.self))
    }

    /// Returns whether a field may be forwarded unchanged (RFC 9110 §5.1, §5.5).
    ///
    /// Its name is a token, and its value has no control character except the tab.
    package static func isWellFormed(_ field: TransportHeaders.Field) -> Bool {
        isToken(field.name) && field.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }

    /// Parses ASCII digits; nil for a sign, for white space and on overflow.
    package static func decimal(_ text: String) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int(text)
    }

    /// Returns the digits of a `Content-Length`; nil if it is malformed (RFC 9112 §6.3).
    ///
    /// A list of equal lengths is one length (RFC 9110 §8.6).
    static func contentLength(_ value: String) -> String? {
        func isNumber(_ text: some Collection<UInt8>) -> Bool {
            !text.isEmpty && text.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        }
        guard !isNumber(value.utf8) else { return value }
        let members = value.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map {
            String(decoding: $0.trimmingWhitespace(), as: UTF8.self)
        }
        return members.allSatisfy { isNumber($0.utf8) && $0 == members[0] } ? members.first : nil
    }

    /// Returns the content of a chunked body (RFC 9112 §7.1).
    ///
    /// Returns nil if the body is incomplete, malformed or followed by other bytes.
    static func dechunked(_ bytes: [UInt8]) -> [UInt8]? {
        var content: [UInt8] = []
        var rest = bytes[...]
        func line() -> ArraySlice<UInt8>? {
            guard let end = rest.firstIndex(of: UInt8(ascii: "\n")), end > rest.startIndex,
                rest[end - 1] == UInt8(ascii: "\r")
            else { return nil }
            defer { rest = rest[(end + 1)...] }
            return rest[..<(end - 1)]
        }
        while true {
            guard let head = line() else { return nil }
            let digits = head.prefix { $0 != UInt8(ascii: ";") }.trimmingWhitespace()
            guard (1...8).contains(digits.count), digits.first != UInt8(ascii: "+"), digits.first != UInt8(ascii: "-"),
                let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
            else { return nil }
            if size == 0 { break }
            guard rest.count >= size + 2 else { return nil }
            content += rest.prefix(size)
            rest = rest.dropFirst(size)
            guard let end = line(), end.isEmpty else { return nil }
        }
        while let trailer = line() {
            if trailer.isEmpty { return rest.isEmpty ? content : nil }
        }
        return nil
    }
}

extension BidirectionalCollection<UInt8> where SubSequence == Self {
    /// Returns the bytes without leading and trailing spaces and tabs: the OWS of RFC 9110 §5.6.3.
    func trimmingWhitespace() -> Self {
        var rest = self
        while rest.first == 0x20 || rest.first == 0x09 { rest.removeFirst() }
        while rest.last == 0x20 || rest.last == 0x09 { rest.removeLast() }
        return rest
    }
}
