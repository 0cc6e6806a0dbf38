// Text for people. Records, table names, error bodies and file names come from outside: characters
// that would act on a terminal (control characters, escape sequences, bidirectional controls) are
// escaped.

enum VisibleText {
    /// The maximum length of a line for people, in bytes. A longer line is cut in the middle.
    static let limit = 4096

    /// Returns one line with escaped line breaks.
    ///
    /// A text that is too long is cut in the middle: the end of a message often names the remedy.
    static func line(_ text: String, limit: Int = limit) -> String {
        let cut = cut(text, limit)
        return isPlain(cut) ? cut : escaped(cut)
    }

    /// Returns several lines: line breaks stay (`\r\n` becomes one), and tabs stay on request.
    static func lines(_ text: String, keepsTabs: Bool = false) -> String {
        isPlain(text) ? text : escaped(text, keepsBreaks: true, keepsTabs: keepsTabs)
    }

    /// Returns a table cell: line breaks and tabs become spaces.
    static func cell(_ text: String) -> String {
        let cut = cut(text, limit)
        guard !isPlain(cut) else { return cut }
        return escaped(cut, keepsBreaks: true, keepsTabs: true).replacing("\n", with: " ").replacing("\t", with: " ")
    }

    /// Returns whether a character acts on a terminal, or on the order of the text around it.
    ///
    /// These are C0, DEL and C1 (ECMA-48), the bidirectional controls (Unicode UAX #9), the
    /// deprecated format characters beside them, the separators of lines and paragraphs, and
    /// interlinear annotations.
    static func acts(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0..<0x20, 0x7F...0x9F, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x206F, 0xFFF9...0xFFFB: true
        default: false
        }
    }

    /// Whether a text has only printable characters of ASCII and Latin-1, and the mark of a cut.
    ///
    /// It has nothing to escape then. Other texts are looked at character by character.
    private static func isPlain(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var index = 0
            while index < bytes.count {
                let byte = bytes[index]
                if byte >= 0x20, byte < 0x7F {
                    index += 1
                } else if byte == 0xC3 {
                    index += 2
                } else if byte == 0xE2, index + 2 < bytes.count, bytes[index + 1] == 0x80, bytes[index + 2] == 0xA6 {
                    index += 3
                } else {
                    return false
                }
            }
            return true
        }
    }

    /// Escapes characters that act on a terminal.
    ///
    /// Backslashes are not escaped: no program parses the result.
    private static func escaped(_ text: String, keepsBreaks: Bool = false, keepsTabs: Bool = false) -> String {
        var text = text, marks = MarkCount()
        let result = text.withUTF8 { bytes -> [UInt8] in
            var result: [UInt8] = [], copied = 0, index = 0
            result.reserveCapacity(bytes.count + bytes.count / 8 + 16)
            /// Replaces the characters up to an index.
            func replace(upTo end: Int, _ replacement: String) {
                result += bytes[copied..<index]
                result += replacement.utf8
                (index, copied) = (end, end)
            }
            while index < bytes.count {
                let byte = bytes[index]
                if byte >= 0x20, byte < 0x7F {
                    marks = MarkCount()
                    index += 1
                    continue
                }
                let (scalar, end) = scalar(in: bytes, at: index)
                let isExcess = marks.isBeyondLimit(scalar)
                switch scalar {
                case "\r" where keepsBreaks && end < bytes.count && bytes[end] == 0x0A: replace(upTo: end, "")
                case "\r": replace(upTo: end, "\\r")
                case "\n" where !keepsBreaks: replace(upTo: end, "\\n")
                case "\t" where !keepsTabs: replace(upTo: end, "\\t")
                case "\n", "\t": index = end
                case _ where acts(scalar.value) || isExcess:
                    replace(upTo: end, "\\u{\(String(scalar.value, radix: 16, uppercase: true))}")
                default: index = end
                }
            }
            return result + bytes[copied...]
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns the character at an index of a string's UTF-8, and the index after it.
    private static func scalar(in bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> (Unicode.Scalar, end: Int) {
        let lead = bytes[index], length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
        guard index + length <= bytes.count else { return ("\u{FFFD}", index + 1) }
        var value = UInt32(length == 1 ? lead : lead & (0xFF >> UInt8(length + 1)))
        for byte in bytes[index + 1..<index + length] { value = value << 6 | UInt32(byte & 0x3F) }
        return (Unicode.Scalar(value) ?? "\u{FFFD}", index + length)
    }

    private static func cut(_ text: String, _ limit: Int) -> String {
        let count = text.utf8.count
        guard count > limit else { return text }
        let head = start(text, limit * 3 / 4), tail = start(text, count - limit / 4)
        return "\(text[..<head])… (\(count) bytes) …\(text[tail...])"
    }

    /// Returns the first character boundary at or after an offset.
    private static func start(_ text: String, _ offset: Int) -> String.Index {
        var index = text.utf8.index(text.startIndex, offsetBy: offset)
        while index < text.endIndex, index.samePosition(in: text.unicodeScalars) == nil {
            index = text.utf8.index(after: index)
        }
        return index
    }
}

// MARK: JSON

extension VisibleText {
    /// Appends a line of JSON with the same meaning, safe on a terminal.
    ///
    /// Characters that act on a terminal occur only in strings and become `\uXXXX`. Line breaks
    /// between tokens become spaces.
    static func appendJSON(_ line: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
        var others: UInt8 = 0
        for byte in line { others |= (byte < 0x20 ? 1 : 0) | (byte >= 0x7F ? 1 : 0) }
        guard others != 0 else { return bytes.append(contentsOf: line) }
        var copied = 0, index = 0
        while index < line.count {
            let byte = line[index]
            var length = 1, scalar = UInt32(byte)
            switch byte {
            case 0..<0x20, 0x7F: break
            // The lead bytes of the other characters for which `acts` is true, of two and three
            // bytes.
            case 0xC2, 0xD8:
                length = 2
                scalar = index + 1 < line.count ? UInt32(byte & 0x1F) << 6 | UInt32(line[index + 1] & 0x3F) : 0xFFFD
            case 0xE2, 0xEF:
                length = 3
                scalar =
                    index + 2 < line.count
                    ? UInt32(byte & 0xF) << 12 | UInt32(line[index + 1] & 0x3F) << 6 | UInt32(line[index + 2] & 0x3F)
                    : 0xFFFD
            default:
                index += 1
                continue
            }
            if acts(scalar) {
                bytes.append(contentsOf: line[copied..<index])
                if scalar < 0x20 {
                    bytes.append(UInt8(ascii: " "))
                } else {
                    let hex = String(scalar, radix: 16)
                    bytes.append(contentsOf: "\\u\(String(repeating: "0", count: 4 - hex.utf8.count))\(hex)".utf8)
                }
                copied = index + length
            }
            index += length
        }
        bytes.append(contentsOf: line[copied...])
    }
}
