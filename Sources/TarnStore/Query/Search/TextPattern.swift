/// A text to search for in the values of records.
package struct TextPattern {
    package let ignoresCase: Bool
    /// The text, with its case folded if `ignoresCase`.
    package let text: String
    private let bytes: BytePattern
    private let isASCII: Bool

    /// Creates a pattern; the text must not be empty.
    package init(_ text: String, ignoresCase: Bool) {
        self.ignoresCase = ignoresCase
        self.text = ignoresCase ? CaseFolding.fold(text) : text
        bytes = BytePattern(Array(self.text.utf8), ignoresCase: ignoresCase)
        isASCII = self.text.utf8.allSatisfy { $0 < 0x80 }
    }

    /// Returns whether the stored bytes have the text; nil if only the decoded text can tell.
    ///
    /// Unicode folds some characters to letters of ASCII (`K` the Kelvin sign, `ß` to `ss`), so
    /// bytes above 7F are decided by folding.
    package func occurs(inVerbatim stored: Bytes) -> Bool? {
        guard ignoresCase else { return bytes.occurs(in: stored) }
        guard stored.isASCII else { return nil }
        return isASCII && bytes.occurs(in: stored)
    }

    /// Returns the range of the first occurrence in a text, in UTF-8 offsets; nil if there is none.
    package func firstRange(in text: String) -> Range<Int>? {
        var text = text
        let found: Range<Int>?? = text.withUTF8 { buffer -> Range<Int>?? in
            let stored = Bytes(buffer)
            if ignoresCase, !stored.isASCII { return nil }
            guard !ignoresCase || isASCII else { return .some(nil) }
            return .some(bytes.firstOffset(in: stored).map { $0..<$0 + self.text.utf8.count })
        }
        return found ?? foldedRange(in: text)
    }

    /// Searches the folded text, whose lengths differ from those of the original.
    private func foldedRange(in text: String) -> Range<Int>? {
        var folded: [UInt8] = [], starts: [Int] = [], offset = 0
        for scalar in text.unicodeScalars {
            for byte in CaseFolding.fold(String(scalar)).utf8 {
                folded.append(byte)
                starts.append(offset)
            }
            offset += UTF8.width(scalar)
        }
        starts.append(offset)
        guard let start = folded.withUnsafeBytes({ bytes.firstOffset(in: $0) }) else { return nil }
        var end = start + self.text.utf8.count
        // A character may fold to several, of which only the first ones belong to the match.
        while end < folded.count, starts[end] == starts[end - 1] { end += 1 }
        return starts[start]..<starts[end]
    }
}
