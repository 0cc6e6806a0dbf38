// Marks on characters: real text has few of them, and a terminal draws any number of them over
// the lines around.

extension VisibleText {
    /// The maximum number of marks on a character.
    ///
    /// Real text has far fewer (Unicode UAX #15, Stream-Safe Text Format).
    static let marksLimit = 30

    /// A count of the marks on a character, for the characters of a text in order.
    struct MarkCount {
        private var count = 0

        /// Returns whether the next character of the text is a mark beyond the limit.
        mutating func isBeyondLimit(_ next: Unicode.Scalar) -> Bool {
            count = isMark(next) ? count + 1 : 0
            return count > marksLimit
        }
    }

    /// Returns whether a character of a text has more marks than allowed.
    static func hasManyMarks(_ text: String) -> Bool {
        // U+0300, the first mark, begins with 0xCC.
        guard text.utf8.contains(where: { $0 >= 0xCC }) else { return false }
        var marks = MarkCount()
        return text.unicodeScalars.contains { marks.isBeyondLimit($0) }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= 0x300 else { return false }
        return switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: true
        default: false
        }
    }
}
