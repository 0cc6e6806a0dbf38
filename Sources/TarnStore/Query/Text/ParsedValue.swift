/// A value in a text.
struct ParsedValue {
    var value: Value
    /// The range of the value, in bytes of the text.
    var range: Range<Int>
    /// The source text of a bare word.
    ///
    /// In a comparison with a text field it is the value, even if it looks like a number.
    var word: String?
}
