/// A value in a text.
struct ParsedValue {
    var value: Value
    /// In bytes of the text.
    var range: Range<Int>
    /// What was written, if it was a bare word: for a field of texts it is one, even if it looks like a number.
    var word: String?
}
