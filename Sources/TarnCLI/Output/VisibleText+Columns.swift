// The columns that a text takes on a terminal (Unicode UAX #11, UTS #51).

extension VisibleText {
    /// Returns the beginning of a text with at most `width` columns; a cut is marked with `…`.
    static func cut(_ text: String, columns width: Int) -> String { fitted(text, columns: width).text }

    /// Returns the beginning of a text as ``cut(_:columns:)`` does, and its columns.
    static func fitted(_ text: String, columns width: Int) -> (text: String, columns: Int) {
        if isPrintableASCII(text) {
            // Each byte is a character of one column.
            let count = text.utf8.count
            return count <= width ? (text, count) : (text.prefix(utf8: max(0, width - 1)) + "…", max(1, width))
        }
        let columns = columns(of: text)
        guard columns > width else { return (text, columns) }
        var result = "", used = 0
        for character in text {
            let columns = self.columns(of: character)
            if used + columns > width - 1 { break }
            result.append(character)
            used += columns
        }
        return (result + "…", used + 1)
    }

    /// Returns a text of at most `width` columns: a cut leaves its beginning and its end.
    static func cutInside(_ text: String, columns width: Int) -> String {
        guard columns(of: text) > width, width > 8 else { return cut(text, columns: width) }
        var tail = "", used = 0
        for character in text.reversed() {
            let columns = self.columns(of: character)
            if used + columns > width / 3 { break }
            tail = String(character) + tail
            used += columns
        }
        return cut(text, columns: width - used) + tail
    }

    static func columns(of text: String) -> Int {
        if isPrintableASCII(text) { return text.utf8.count }
        return text.reduce(0) { $0 + columns(of: $1) }
    }

    private static func isPrintableASCII(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var isOther = false
            for byte in bytes { isOther = isOther || byte < 0x20 || byte >= 0x7F }
            return !isOther
        }
    }

    /// Returns the columns of a grapheme cluster.
    ///
    /// Emoji sequences take 2. In other clusters each base takes its own columns, and marks take
    /// none, as `wcwidth` counts.
    private static func columns(of character: Character) -> Int {
        let scalars = character.unicodeScalars
        guard let first = scalars.first else { return 0 }
        if scalars.count > 1 {
            // A flag is a pair of regional indicators; U+FE0F asks for the emoji's own form.
            if (0x1F1E6...0x1F1FF).contains(first.value) { return 2 }
            if first.properties.isEmojiPresentation { return 2 }
            if first.properties.isEmoji, scalars.contains(where: { $0.value == 0xFE0F }) { return 2 }
        }
        return scalars.reduce(0) { $0 + columns(of: $1) }
    }

    private static func columns(of scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        // Terminals show a soft hyphen (U+00AD) as a hyphen.
        case 0..<0x300: return 1
        // The vowels and final consonants of decomposed Hangul join the first consonant.
        case 0x1160...0x11FF, 0xD7B0...0xD7FF: return 0
        default: break
        }
        if isWide(scalar.value) || scalar.properties.isEmojiPresentation { return 2 }
        if scalar.properties.isDefaultIgnorableCodePoint { return 0 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        default: return 1
        }
    }

    /// Whether East_Asian_Width is W or F, in whole blocks (UAX #11, Unicode 15).
    private static func isWide(_ value: UInt32) -> Bool {
        switch value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x3247, 0x3250...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
            0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
            0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F265, 0x20000...0x3FFFD:
            true
        default: false
        }
    }
}

extension String {
    /// Returns the first bytes of a text of ASCII.
    fileprivate func prefix(utf8 count: Int) -> Substring {
        self[..<(utf8.index(startIndex, offsetBy: count, limitedBy: endIndex) ?? endIndex)]
    }
}
