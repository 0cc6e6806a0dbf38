/// A list of `name`, `name=token` and `name="text"` (RFC 9111 §5.2, RFC 9110 §5.6).
struct DirectiveList {
    struct Directive {
        /// In lower case.
        var name: String
        var argument: String?
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    mutating func next() -> Directive? {
        while position < bytes.count {
            skipWhitespace()
            let start = position
            while position < bytes.count, HTTPSyntax.isTokenByte(bytes[position]) { position += 1 }
            guard position > start else {
                // An empty element (RFC 9110 §5.6.1.2), or what is no directive.
                skipElement()
                continue
            }
            let name = String(decoding: bytes[start..<position].lazy.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
            skipWhitespace()
            guard position < bytes.count, bytes[position] == UInt8(ascii: "=") else {
                // What follows the name without a comma makes it no directive; at the end, or before a comma, it is one.
                let isWhole = position == bytes.count || bytes[position] == UInt8(ascii: ",")
                skipElement()
                if isWhole { return Directive(name: name) }
                continue
            }
            // What stands before a space and a sign of equality is bad syntax, but means one thing only.
            position += 1
            skipWhitespace()
            let argument = argument()
            skipElement()
            return Directive(name: name, argument: argument)
        }
        return nil
    }

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

    /// A quoted string (RFC 9110 §5.6.4). Nil, and nothing is taken, if it does not end.
    private mutating func quoted() -> String? {
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
        return nil
    }

    private mutating func skipWhitespace() {
        while position < bytes.count, bytes[position] == 0x20 || bytes[position] == 0x09 { position += 1 }
    }

    /// Up to the next comma that is not in quotes.
    private mutating func skipElement() {
        while position < bytes.count, bytes[position] != UInt8(ascii: ",") {
            if bytes[position] == UInt8(ascii: "\""), quoted() != nil { continue }
            position += 1
        }
        position += 1
    }
}
