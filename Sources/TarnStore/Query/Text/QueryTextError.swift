// Errors in the text of a condition or an order: position, expectation, and a line with a caret.

/// A text that is not a valid condition or order, or does not fit its entity.
public struct QueryTextError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The whole text.
    var text: String
    /// The first character of the problem, counted from 1; past the end if something is missing.
    public var column: Int
    /// The number of characters concerned; 0 at the end of the text.
    var length: Int
    /// The problem and the way out.
    public var message: String
    /// The input that is valid at this position; nil if the message states it.
    package var expected: String?

    /// Creates an error for a range in UTF-8 bytes of the text.
    init(_ text: String, _ range: Range<Int>, _ message: String, expected: String? = nil) {
        self.text = text
        // The column is the character that contains the range's first byte.
        let starts = QueryTextError.starts(text)
        let first = max(1, starts.count { $0 <= range.lowerBound })
        column = range.lowerBound >= text.utf8.count ? starts.count + 1 : first
        length =
            starts.count { $0 > range.lowerBound && $0 < range.upperBound }
            + (range.isEmpty || column > starts.count ? 0 : 1)
        self.message = message
        self.expected = expected
    }

    private static func starts(_ text: String) -> [Int] {
        var offset = 0
        return text.map { character in
            defer { offset += character.utf8.count }
            return offset
        }
    }

    /// The problem in the first line, the text in the second, and a caret below it in the third.
    ///
    /// A long text is reduced to the part around the problem.
    public var description: String {
        let (line, marks) = excerpt
        let sentence = "column \(column): \(message)\(expected.map { "; expected \($0)" } ?? "")"
        return "\(QueryTextError.oneLine(sentence[...]))\n  \(line)\n  \(marks)"
    }

    private static let shownBefore = 60, shownInAll = 100

    private var excerpt: (line: String, marks: String) {
        let characters = Array(text), place = min(column - 1, characters.count)
        let start = place > QueryTextError.shownBefore + 10 ? place - QueryTextError.shownBefore : 0
        let end =
            characters.count - start > QueryTextError.shownInAll + 10
            ? start + QueryTextError.shownInAll : characters.count
        let before = (start > 0 ? "… " : "") + QueryTextError.oneLine(characters[start..<place])
        let line = before + QueryTextError.oneLine(characters[place..<end]) + (end < characters.count ? " …" : "")
        // A wide character gets a wide space, so that the caret is below its character.
        let padding = String(before.map { QueryTextError.isWide($0) ? "\u{3000}" : " " })
        let count = max(1, min(length, end - place))
        return (line, padding + "^" + String(repeating: "~", count: count - 1))
    }

    /// Replaces control characters, which would break the line or reach the terminal as commands.
    ///
    /// Each becomes one space, so columns do not change.
    private static func oneLine(_ characters: some Sequence<Character>) -> String {
        String(
            characters.map { character in
                let isPlain = character.unicodeScalars.allSatisfy { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .lineSeparator, .paragraphSeparator: false
                    default: true
                    }
                }
                return isPlain ? character : " "
            })
    }

    /// East Asian wide characters (Unicode UAX #11, the common ranges).
    private static func isWide(_ character: Character) -> Bool {
        switch character.unicodeScalars.first?.value ?? 0 {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            true
        default: false
        }
    }
}
