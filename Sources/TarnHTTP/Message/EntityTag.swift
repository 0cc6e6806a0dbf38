// Entity tags and If-None-Match (RFC 9110 §8.8.3, §13.1.2). Pure.

/// A validator of a response: an opaque string and whether it is weak (RFC 9110 §8.8.3).
package struct EntityTag: Sendable, Hashable {
    /// Whether the tag is a weak validator.
    package var isWeak: Bool
    /// The opaque string between the double quotes.
    package var opaque: String

    /// Parses a whole field value, such as `W/"abc"`; nil if it is not one well-formed entity tag.
    package init?(_ text: String) {
        var bytes = Array(text.utf8)[...]
        bytes = bytes.trimmingWhitespace()
        guard let tag = EntityTag(consuming: &bytes), bytes.isEmpty else { return nil }
        self = tag
    }

    /// Returns whether a text is one well-formed entity tag, without white space around it.
    static func isWhole(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            let start = bytes.starts(with: "W/".utf8) ? 2 : 0
            guard bytes.count >= start + 2, bytes[start] == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else {
                return false
            }
            return bytes[(start + 1)..<(bytes.count - 1)].allSatisfy(isTagByte)
        }
    }

    /// Returns whether a byte is an etagc (RFC 9110 §8.8.3): %x21 / %x23-7E / obs-text.
    ///
    /// No space, no quote, no control character. A backslash escapes nothing.
    private static func isTagByte(_ byte: UInt8) -> Bool {
        byte == 0x21 || (0x23...0x7E).contains(byte) || byte >= 0x80
    }

    /// Parses one entity tag at the start of the bytes; leaves them unchanged if there is none.
    init?(consuming bytes: inout ArraySlice<UInt8>) {
        var rest = bytes
        // RFC 9110 §8.8.3: weak = %s"W/", so the letter is case-sensitive.
        let isWeak = rest.starts(with: [UInt8(ascii: "W"), UInt8(ascii: "/")])
        if isWeak { rest = rest.dropFirst(2) }
        guard rest.first == UInt8(ascii: "\"") else { return nil }
        rest = rest.dropFirst()
        let opaque = rest.prefix(while: EntityTag.isTagByte)
        rest = rest.dropFirst(opaque.count)
        guard rest.first == UInt8(ascii: "\"") else { return nil }
        bytes = rest.dropFirst()
        self.isWeak = isWeak
        self.opaque = String(decoding: opaque, as: UTF8.self)
    }

    /// Returns whether the opaque bytes are equal: weak comparison (RFC 9110 §8.8.3.2).
    ///
    /// If-None-Match requires this comparison.
    package func matchesWeakly(_ other: EntityTag) -> Bool {
        opaque.utf8.elementsEqual(other.opaque.utf8)
    }

    /// The tag as a field value.
    package var text: String { (isWeak ? "W/\"" : "\"") + opaque + "\"" }

    package static func == (a: EntityTag, b: EntityTag) -> Bool {
        a.isWeak == b.isWeak && a.matchesWeakly(b)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(isWeak)
        for byte in opaque.utf8 { hasher.combine(byte) }
    }
}
