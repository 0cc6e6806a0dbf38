/// A parser of lists of `name`, `name=token` and `name="text"` (RFC 9111 §5.2, RFC 9110 §5.6).
struct DirectiveList {
    /// A directive of the list.
    struct Directive {
        /// The name in lower case.
        var name: String
        /// The argument without quotes; nil if there is none.
        var argument: String?
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0
    /// False once a quoted string has no end: no later one has.
    ///
    /// Otherwise a field of many escaped quotes would be searched in quadratic time.
    private var hasQuoteEnd = true

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// Returns the next directive, or nil at the end.
    mutating func next() -> Directive? {
        while position < bytes.count {
            skipWhitespace()
            let start = position
            while position < bytes.count, HTTPSyntax.isTokenByte(bytes[position]) { position += 1 }
            guard position > start else {
                // An empty element (RFC 9110 §5.6.1.2), or no directive.
                skipElement()
                continue
            }
            let name = String(
                decoding: bytes[start..<position].lazy.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 },
                as: UTF8.self)
            skipWhitespace()
            guard position < bytes.count, bytes[position] == UInt8(ascii: "=") else {
                // A name is a directive only before a comma or at the end. Other text behind it is
                // a syntax error.
                let isWhole = position == bytes.count || bytes[position] == UInt8(ascii: ",")
                skipElement()
                if isWhole { return Directive(name: name) }
                continue
            }
            // White space around the equals sign is a syntax error, but has only one possible
            // meaning.
            position += 1
            skipWhitespace()
            let argument = argument()
            skipElement()
            return Directive(name: name, argument: argument)
        }
        return nil
    }

    /// Parses a quoted string, or a text up to the next comma.
    private mutating func argument() -> String {
        if position < bytes.count, bytes[position] == UInt8(ascii: "\""), let text = quoted() {
            return text
        }
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: ",") { position += 1 }
        var end = position
        while end > start, bytes[end - 1] == 0x20 || bytes[end - 1] == 0x09 { end -= 1 }
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// Parses a quoted string (RFC 9110 §5.6.4); nil, without consuming bytes, if it has no end.
    private mutating func quoted() -> String? {
        guard hasQuoteEnd else { return nil }
        var text: [UInt8] = [], index = position + 1
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                position = index + 1
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\") where index + 1 < bytes.count:
                text.append(bytes[index + 1])
                index += 2
            default:
                text.append(bytes[index])
                index += 1
            }
        }
        hasQuoteEnd = false
        return nil
    }

    private mutating func skipWhitespace() {
        while position < bytes.count, bytes[position] == 0x20 || bytes[position] == 0x09 { position += 1 }
    }

    /// Skips an element and the comma behind it. Commas in quotes do not count.
    private mutating func skipElement() {
        while position < bytes.count, bytes[position] != UInt8(ascii: ",") {
            if bytes[position] == UInt8(ascii: "\""), quoted() != nil { continue }
            position += 1
        }
        position += 1
    }
}
