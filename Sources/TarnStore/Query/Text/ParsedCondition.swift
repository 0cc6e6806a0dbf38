/// A condition in a text, with the same structure as `Condition`.
indirect enum ParsedCondition {
    case all
    case comparison(ParsedComparison)
    /// Any text field has this part; with the range in the text.
    case anyContains(String, ignoresCase: Bool, range: Range<Int>)
    case and([ParsedCondition])
    case or([ParsedCondition])
    case not(ParsedCondition)

    init(_ text: String) throws(QueryTextError) {
        var parser = ConditionParser(scanner: try TextScanner(text))
        self = try parser.whole()
    }
}
