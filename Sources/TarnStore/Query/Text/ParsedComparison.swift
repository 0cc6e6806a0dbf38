/// A comparison in a text.
struct ParsedComparison {
    enum Form {
        case compare(Condition.Comparison), isIn, between, hasPrefix, contains, like, isMissing
    }

    var path: ParsedPath
    var form: Form
    /// The values: two for `between`, any number for `isIn`, none for `isMissing`, else one.
    var values: [ParsedValue]
}
