/// The first occurrence of a text in a field of a record, with the text around it.
package struct TextMatch: Sendable, Hashable {
    /// The name of the field.
    package var field: String
    /// The text before the occurrence; it begins with `…` if it is cut.
    package var before: String
    /// The occurrence, as the record has it.
    package var match: String
    /// The text after the occurrence; it ends with `…` if it is cut.
    package var after: String

    /// Creates a match.
    ///
    /// - Parameters:
    ///   - range: the occurrence in the text, in UTF-8 offsets.
    ///   - context: the maximum number of Unicode scalars on each side of the occurrence.
    package init(_ field: String, _ text: String, _ range: Range<Int>, context: Int) {
        let scalars = text.unicodeScalars, utf8 = text.utf8
        let start = utf8.index(utf8.startIndex, offsetBy: range.lowerBound)
        let end = utf8.index(utf8.startIndex, offsetBy: range.upperBound)
        let first = scalars.index(start, offsetBy: -context, limitedBy: scalars.startIndex) ?? scalars.startIndex
        let last = scalars.index(end, offsetBy: context, limitedBy: scalars.endIndex) ?? scalars.endIndex
        self.field = field
        before = (first > scalars.startIndex ? "…" : "") + String(scalars[first..<start])
        match = String(scalars[start..<end])
        after = String(scalars[end..<last]) + (last < scalars.endIndex ? "…" : "")
    }
}
