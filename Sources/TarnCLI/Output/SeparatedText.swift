// Cells of comma-separated values, tab-separated values and Markdown.

import TarnInspect

enum SeparatedText {
    /// Appends a cell of comma-separated values (RFC 4180 §2), in quotes where it needs them.
    ///
    /// - Parameter isSafe: whether a spreadsheet may take the cell as it is.
    static func appendCSV(_ text: String, isSafe: Bool = true, to bytes: inout [UInt8]) {
        var text = isSafe ? text : text.markedForSpreadsheets
        text.withUTF8 { cell in
            guard needsQuotes(cell) else { return bytes += cell }
            bytes.append(0x22)
            var copied = 0
            for index in cell.indices where cell[index] == 0x22 {
                bytes += cell[copied...index]
                copied = index
            }
            bytes += cell[copied...]
            bytes.append(0x22)
        }
    }

    private static func needsQuotes(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
        if cell.first == 0x20 || cell.last == 0x20 { return true }
        let bytes = UnsafeRawBufferPointer(cell)
        var place = 0
        while place + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            // The highest bit of each byte that is a quotation mark, a comma, or a line break.
            let marks = zeros(word ^ 0x2222_2222_2222_2222) | zeros(word ^ 0x2C2C_2C2C_2C2C_2C2C)
            let breaks = zeros(word ^ 0x0A0A_0A0A_0A0A_0A0A) | zeros(word ^ 0x0D0D_0D0D_0D0D_0D0D)
            if (marks | breaks) != 0 { return true }
            place += 8
        }
        return cell[place...].contains { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }
    }

    /// Not zero if a byte of a word is zero.
    @inline(__always)
    private static func zeros(_ word: UInt64) -> UInt64 {
        (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
    }

    /// Returns a cell of tab-separated values: tabs, line breaks and backslashes are escaped.
    static func tsv(_ text: String, isSafe: Bool = true) -> String {
        var text = isSafe ? text : text.markedForSpreadsheets
        return replacing(&text) { byte in
            switch byte {
            case 0x09: "\\t"
            case 0x0A: "\\n"
            case 0x0D: "\\r"
            case 0x5C: "\\\\"
            default: nil
            }
        }
    }

    /// Returns a cell of a Markdown table: without line breaks, markup and HTML.
    ///
    /// GitHub and others make links of URLs in texts, and escapes would become parts of them. A URL
    /// with escapes is therefore a link in angle brackets, and inside of a text no link at all.
    static func markdown(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: ":")) || text.utf8.contains(UInt8(ascii: "w")) else {
            return escapedMarkdown(text)
        }
        let bytes = Array(text.utf8)
        if isLink(bytes) { return "<\(text)>" }
        // The end of the word, or the first byte of it that is escaped.
        var result = "", copied = 0, end = 0
        for index in bytes.indices where bytes[index] == UInt8(ascii: ":") || bytes[index] == UInt8(ascii: "w") {
            let rest = bytes[index...]
            guard rest.starts(with: "://".utf8) || rest.starts(with: "www.".utf8) else { continue }
            let mark = index + (bytes[index] == UInt8(ascii: ":") ? 0 : 3)
            if end < mark {
                end = bytes[mark...].firstIndex { isEscaped($0) || $0 <= 0x20 && $0 != 0x0D } ?? bytes.count
            }
            guard end < bytes.count, isEscaped(bytes[end]) else { continue }
            result += escapedMarkdown(String(decoding: bytes[copied..<mark], as: UTF8.self)) + "\\"
            copied = mark
        }
        return result + escapedMarkdown(String(decoding: bytes[copied...], as: UTF8.self))
    }

    /// Whether a text is a URL that escapes would change, and that can be in angle brackets
    /// (CommonMark §6.4).
    private static func isLink(_ text: [UInt8]) -> Bool {
        (text.starts(with: "https://".utf8) || text.starts(with: "http://".utf8)) && text.contains(where: isEscaped)
            && text.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"<>|\\`\";".utf8.contains($0) }
    }

    /// Whether a cell has something else than a byte.
    private static func isEscaped(_ byte: UInt8) -> Bool { "|\\`*_[]~<&".utf8.contains(byte) }

    private static func escapedMarkdown(_ text: String) -> String {
        var text = text
        return replacing(&text) { byte in
            switch byte {
            case 0x0A: "<br>"
            case 0x09: " "
            case 0x0D: ""
            case 0x7C: "\\|"
            case 0x5C: "\\\\"
            case 0x60: "\\`"
            case 0x2A: "\\*"
            case 0x5F: "\\_"
            case 0x5B: "\\["
            case 0x5D: "\\]"
            case 0x7E: "\\~"
            case 0x3C: "&lt;"
            case 0x26: "&amp;"
            default: nil
            }
        }
    }

    /// Returns a text with some characters of ASCII replaced: those for which the closure returns a
    /// text.
    private static func replacing(_ text: inout String, _ replacement: (UInt8) -> StaticString?) -> String {
        let replaced = text.withUTF8 { bytes -> [UInt8]? in
            guard var next = bytes.firstIndex(where: { replacement($0) != nil }) else { return nil }
            var result: [UInt8] = [], copied = 0
            result.reserveCapacity(bytes.count + bytes.count / 8 + 8)
            while next < bytes.count {
                if let new = replacement(bytes[next]) {
                    result += bytes[copied..<next]
                    result += UnsafeBufferPointer(start: new.utf8Start, count: new.utf8CodeUnitCount)
                    copied = next + 1
                }
                next += 1
            }
            return result + bytes[copied...]
        }
        return replaced.map { String(decoding: $0, as: UTF8.self) } ?? text
    }
}
