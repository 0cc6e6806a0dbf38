import Foundation

/// A growable JSON text in UTF-8, written from the encoded values of rows.
package struct JSONText: ~Copyable {
    private(set) var writer = ByteWriter(capacity: 4096)

    package init() {}

    package var count: Int { writer.count }

    /// The text. Valid until the next change.
    package var bytes: Bytes { writer.bytes }

    package mutating func removeAll() { writer.removeAll() }

    mutating func truncate(to count: Int) { writer.truncate(to: count) }

    /// Writes an opening brace over the comma before the first member at a place, or without
    /// members there.
    mutating func begin(at place: Int) {
        if place == count { append(UInt8(ascii: "{")) } else { writer.store(UInt8(ascii: "{"), at: place) }
    }

    package mutating func append(_ byte: UInt8) { writer.append(byte) }

    /// Appends bytes that are JSON already.
    package mutating func append(json bytes: Bytes) { writer.append(bytes) }

    /// Appends JSON without the line breaks between its parts: the text may be one line of many.
    mutating func append(inLine bytes: Bytes) {
        guard bytes.contains(where: { $0 == 0x0A || $0 == 0x0D }) else { return writer.append(bytes) }
        for byte in bytes { writer.append(byte == 0x0A || byte == 0x0D ? 0x20 : byte) }
    }

    package mutating func append(json text: String) { writer.append(text) }

    /// Appends a name as a JSON string, and a colon.
    package mutating func append(name: String) {
        var name = name
        name.withUTF8 { append(string: Bytes($0)) }
        append(UInt8(ascii: ":"))
    }

    /// Appends UTF-8 as a JSON string (RFC 8259 §7). Only bytes that must be escaped are escaped.
    mutating func append(string text: Bytes) {
        append(UInt8(ascii: "\""))
        var start = 0
        while start < text.count {
            let end = JSONText.escaped(in: text, from: start)
            writer.append(text.slice(start..<end))
            guard end < text.count else { break }
            append(escaped: text[end])
            start = end + 1
        }
        append(UInt8(ascii: "\""))
    }

    /// Returns the place of the next byte that must be escaped, or the end. Eight bytes at a time.
    static func escaped(in text: Bytes, from start: Int) -> Int {
        var place = start
        while place + 8 <= text.count {
            guard marks(text.loadUnaligned(fromByteOffset: place, as: UInt64.self)) == 0 else { break }
            place += 8
        }
        // The end is looked at once more together with the bytes before it.
        if place + 8 > text.count, text.count >= 8,
            marks(text.loadUnaligned(fromByteOffset: text.count - 8, as: UInt64.self)) == 0
        {
            return text.count
        }
        while place < text.count {
            let byte = text[place]
            if byte < 0x20 || byte == 0x22 || byte == 0x5C { return place }
            place += 1
        }
        return place
    }

    /// The highest bit of each byte that is below 0x20, a quotation mark, or a backslash.
    ///
    /// A borrow may mark a byte after one that is marked rightly, never one before it.
    @inline(__always)
    private static func marks(_ word: UInt64) -> UInt64 {
        let control = (word &- 0x2020_2020_2020_2020) & ~word
        let quote = word ^ 0x2222_2222_2222_2222, backslash = word ^ 0x5C5C_5C5C_5C5C_5C5C
        let marks =
            control | ((quote &- 0x0101_0101_0101_0101) & ~quote)
            | ((backslash &- 0x0101_0101_0101_0101) & ~backslash)
        return marks & 0x8080_8080_8080_8080
    }

    private mutating func append(escaped byte: UInt8) {
        append(UInt8(ascii: "\\"))
        switch byte {
        case 0x22, 0x5C: append(byte)
        case 0x0A: append(UInt8(ascii: "n"))
        case 0x0D: append(UInt8(ascii: "r"))
        case 0x09: append(UInt8(ascii: "t"))
        default:
            append(json: "u00")
            append(JSONText.digit(byte >> 4))
            append(JSONText.digit(byte & 15))
        }
    }

    /// Appends an integer in decimal digits.
    package mutating func append(_ number: Int64) {
        if number < 0 { append(UInt8(ascii: "-")) }
        append(number.magnitude)
    }

    /// Appends an integer in decimal digits.
    package mutating func append(_ number: UInt64) {
        var rest = number, digits: (UInt64, UInt64, UInt32) = (0, 0, 0)
        withUnsafeMutableBytes(of: &digits) { digits in
            var place = digits.count
            repeat {
                place -= 1
                digits[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            writer.append(Bytes(rebasing: digits[place...]))
        }
    }

    /// Appends a point in time as RFC 3339 text in UTC.
    mutating func append(_ time: Timestamp) {
        append(UInt8(ascii: "\""))
        time.withDescription { append(json: $0) }
        append(UInt8(ascii: "\""))
    }

    /// Appends 16 bytes as a UUID in lower case.
    mutating func append(uuid bytes: Bytes) {
        append(UInt8(ascii: "\""))
        UUID.forEachCharacter(of: bytes) { append($0) }
        append(UInt8(ascii: "\""))
    }

    static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
