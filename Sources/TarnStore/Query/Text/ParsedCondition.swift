/// A condition in a text. It has the form of the condition that it stands for.
indirect enum ParsedCondition {
    case all
    case comparison(ParsedComparison)
    case and([ParsedCondition])
    case or([ParsedCondition])
    case not(ParsedCondition)

    init(_ text: String) throws(QueryTextError) {
        var parser = ConditionParser(scanner: try TextScanner(text))
        self = try parser.whole()
    }
}
