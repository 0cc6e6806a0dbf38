// The parser of conditions, with the range of every name and value in the text.
//
//   condition  = and { "or" and }
//   and        = not { "and" not }
//   not        = "not" not | "(" condition ")" | "all" | anywhere | comparison
//   anywhere   = ( "any" | "nocase" "(" "any" ")" ) [ "not" ] "contains" text
//   comparison = path ( operator value
//                     | [ "not" ] "in" "(" [ value { "," value } ] ")"
//                     | [ "not" ] "between" value "and" value
//                     | [ "not" ] "begins" "with" text
//                     | [ "not" ] "contains" value
//                     | [ "not" ] "like" text
//                     | "is" [ "not" ] "missing" )
//   operator   = "=" | "==" | "!=" | "<>" | "<" | "<=" | ">" | ">="
//   path       = names | "nocase" "(" names ")"
//   names      = name { "." name }
//   value      = text | word | list | type "(" … ")"
//
// The full description is on the documentation's page Queries.

struct ConditionParser {
    var scanner: TextScanner

    mutating func whole() throws(QueryTextError) -> ParsedCondition {
        guard !scanner.isAtEnd else { throw scanner.unexpected(expected: "a condition, such as state = open") }
        let condition = try disjunction()
        guard scanner.isAtEnd else { throw scanner.unexpected(expected: "\"and\", \"or\" or the end" + quotingHint) }
        return condition
    }

    /// A hint for errors: a bare value with a space continues with a word that is not a keyword.
    private var quotingHint: String {
        scanner.next == UInt8(ascii: ")") ? "" : " (quote a value that contains spaces or operators)"
    }

    private mutating func disjunction() throws(QueryTextError) -> ParsedCondition {
        var parts = [try conjunction()]
        while scanner.take(keyword: "or") { parts.append(try conjunction()) }
        return parts.count == 1 ? parts[0] : .or(parts)
    }

    private mutating func conjunction() throws(QueryTextError) -> ParsedCondition {
        var parts = [try negation()]
        while scanner.take(keyword: "and") { parts.append(try negation()) }
        return parts.count == 1 ? parts[0] : .and(parts)
    }

    private mutating func negation() throws(QueryTextError) -> ParsedCondition {
        let start = scanner.offset
        if scanner.take(keyword: "not") {
            try scanner.enter(at: start)
            defer { scanner.leave() }
            return .not(try negation())
        }
        if scanner.take("(") {
            try scanner.enter(at: start)
            defer { scanner.leave() }
            let inner = try disjunction()
            guard scanner.take(")") else {
                throw scanner.unexpected(expected: "\")\", \"and\" or \"or\"" + quotingHint)
            }
            return inner
        }
        if scanner.take(keyword: "all") { return .all }
        return try comparison()
    }

    /// Reads `any contains text`; nil if something else is next, of which nothing is read.
    ///
    /// `any` is no keyword elsewhere: a field or a value may have the name.
    private mutating func anywhere() throws(QueryTextError) -> ParsedCondition? {
        let before = scanner, start = scanner.offset
        let ignoresCase = scanner.take(keyword: "nocase")
        let isAny =
            ignoresCase
            ? scanner.take("(") && scanner.take(keyword: "any") && scanner.take(")") : scanner.take(keyword: "any")
        let isNegated = isAny && scanner.take(keyword: "not")
        guard isAny, scanner.take(keyword: "contains") else {
            scanner = before
            return nil
        }
        let part = try text()
        guard case .string(let string) = part.value else { return nil }
        let condition = ParsedCondition.anyContains(
            string, ignoresCase: ignoresCase, range: start..<part.range.upperBound)
        return isNegated ? .not(condition) : condition
    }

    private mutating func comparison() throws(QueryTextError) -> ParsedCondition {
        if let anywhere = try anywhere() { return anywhere }
        let path = try path()
        if let comparison = takeOperator() {
            return .comparison(ParsedComparison(path: path, form: .compare(comparison), values: [try value()]))
        }
        if scanner.take(keyword: "is") {
            let isNegated = scanner.take(keyword: "not")
            guard scanner.take(keyword: "missing") else {
                throw scanner.unexpected(expected: "\"missing\"\(isNegated ? "" : " or \"not missing\"") after \"is\"")
            }
            return negated(isNegated, ParsedComparison(path: path, form: .isMissing, values: []))
        }
        let isNegated = scanner.take(keyword: "not")
        if scanner.take(keyword: "in") {
            return negated(
                isNegated, ParsedComparison(path: path, form: .isIn, values: try list("(", ")", after: "in")))
        }
        if scanner.take(keyword: "between") {
            let low = try value()
            try scanner.expect(keyword: "and", after: "between \(scanner.string(low.range))")
            return negated(isNegated, ParsedComparison(path: path, form: .between, values: [low, try value()]))
        }
        if scanner.take(keyword: "begins") {
            try scanner.expect(keyword: "with", after: "begins")
            return negated(isNegated, ParsedComparison(path: path, form: .hasPrefix, values: [try text()]))
        }
        if scanner.take(keyword: "contains") {
            return negated(isNegated, ParsedComparison(path: path, form: .contains, values: [try value()]))
        }
        if scanner.take(keyword: "like") {
            return negated(isNegated, ParsedComparison(path: path, form: .like, values: [try text()]))
        }
        throw scanner.unexpected(
            expected: isNegated
                ? "in (…), between … and …, begins with, contains or like after \"not\""
                : "a comparison: = != < <= > >=, in (…), between … and …, begins with, contains, like, is missing")
    }

    private func negated(_ isNegated: Bool, _ comparison: ParsedComparison) -> ParsedCondition {
        isNegated ? .not(.comparison(comparison)) : .comparison(comparison)
    }

    private mutating func takeOperator() -> Condition.Comparison? {
        // Longer operators come first: `<=` begins with `<`.
        if scanner.take("==") { return .equal }
        if scanner.take("=") { return .equal }
        if scanner.take("!=") { return .notEqual }
        if scanner.take("<>") { return .notEqual }
        if scanner.take("<=") { return .lessOrEqual }
        if scanner.take(">=") { return .greaterOrEqual }
        if scanner.take("<") { return .less }
        if scanner.take(">") { return .greater }
        return nil
    }

    // MARK: - Paths

    mutating func path() throws(QueryTextError) -> ParsedPath {
        guard scanner.take(keyword: "nocase") else {
            let path = try names()
            scanner.skipSpace()
            return path
        }
        guard scanner.take("(") else { throw scanner.unexpected(expected: "\"(\" and a field after \"nocase\"") }
        var path = try names()
        path.path.ignoresCase = true
        scanner.skipSpace()
        guard scanner.take(")") else { throw scanner.unexpected(expected: "\")\" after the field") }
        return path
    }

    private mutating func names() throws(QueryTextError) -> ParsedPath {
        var names: [String] = [], ranges: [Range<Int>] = []
        repeat {
            let (name, range) = try scanner.name()
            guard names.count < TextScanner.depthLimit else {
                throw scanner.error(range, "a path of more than \(TextScanner.depthLimit) names; shorten it")
            }
            names.append(name)
            ranges.append(range)
        } while scanner.takeDot()
        return ParsedPath(path: FieldPath(names), ranges: ranges)
    }

    // MARK: - Values

    private mutating func list(_ open: StaticString, _ close: StaticString, after word: String) throws(QueryTextError)
        -> [ParsedValue]
    {
        let start = scanner.offset
        guard scanner.take(open) else { throw scanner.unexpected(expected: "\"\(open)\" and values after \"\(word)\"") }
        try scanner.enter(at: start)
        defer { scanner.leave() }
        var values: [ParsedValue] = []
        if scanner.take(close) { return values }
        repeat { values.append(try value()) } while scanner.take(",")
        guard scanner.take(close) else { throw scanner.unexpected(expected: "\",\" or \"\(close)\"") }
        return values
    }

    /// Reads a text, in quotes or as a bare word.
    private mutating func text() throws(QueryTextError) -> ParsedValue {
        var parsed = try value()
        if let word = parsed.word { parsed.value = .string(word) }
        guard case .string = parsed.value else {
            throw scanner.error(parsed.range, "not a text", expected: "a text in quotes")
        }
        return parsed
    }

    mutating func value() throws(QueryTextError) -> ParsedValue {
        let start = scanner.offset
        defer { scanner.skipSpace() }
        if scanner.isAtQuote { return ParsedValue(value: .string(try scanner.quoted()), range: start..<scanner.offset) }
        if scanner.next == UInt8(ascii: "[") {
            let values = try list("[", "]", after: "the start of a list")
            return ParsedValue(value: .array(values.map(\.value)), range: start..<scanner.offset)
        }
        guard let (word, range) = scanner.word() else { throw scanner.unexpected(expected: "a value") }
        if scanner.next == UInt8(ascii: "(") {
            let value = try literal(of: word, range)
            return ParsedValue(value: value, range: start..<scanner.offset)
        }
        let lowercased = word.utf8.count <= 8 ? word.lowercased() : ""
        switch lowercased {
        case "null": return ParsedValue(value: .null, range: range)
        case "true": return ParsedValue(value: .bool(true), range: range, word: word)
        case "false": return ParsedValue(value: .bool(false), range: range, word: word)
        case _ where TextScanner.keywords.contains(lowercased):
            throw scanner.error(
                range, "`\(word)` is a keyword; to use it as a text, quote it: \"\(word)\"",
                expected: "a value")
        default: return ParsedValue(value: ConditionParser.number(word) ?? .string(word), range: range, word: word)
        }
    }

    /// Reads a number in JSON's form (RFC 8259 §6); nil if the word is not one.
    ///
    /// Whole numbers of 64 bits become integers, all others exact decimals.
    static func number(_ word: String) -> Value? {
        let digits = word.utf8.first == UInt8(ascii: "-") ? word.utf8.dropFirst() : word.utf8[...]
        guard let first = digits.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return nil }
        // `007` is not a number: leading zeros carry meaning.
        if first == UInt8(ascii: "0"), let second = digits.dropFirst().first,
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(second)
        {
            return nil
        }
        if let int = Int64(word) { return .int(int) }
        if let uint = UInt64(word) { return .uint(uint) }
        return ExactDecimal(word).map(Value.decimal)
    }

    // MARK: - Values of a named type

    /// Reads a value without a form of its own: `double(1.5)`, `key("acme", 12)`.
    private mutating func literal(of type: String, _ range: Range<Int>) throws(QueryTextError) -> Value {
        let arguments = try list("(", ")", after: type)
        func wrong(_ expected: String) -> QueryTextError {
            scanner.error(arguments.first?.range ?? range, "not a valid \(type.lowercased())", expected: expected)
        }
        func only(_ expected: String) throws(QueryTextError) -> (Value, String) {
            guard arguments.count == 1, let argument = arguments.first else { throw wrong(expected) }
            if let word = argument.word { return (argument.value, word) }
            guard case .string(let text) = argument.value else { throw wrong(expected) }
            return (argument.value, text)
        }
        switch type.lowercased() {
        case "digest":
            guard let bytes = [UInt8](hexadecimal: try only("hexadecimal digits").1),
                bytes.count == StorageKey.digestLength
            else {
                throw wrong("a storage key of \(StorageKey.digestLength) bytes in hexadecimal digits")
            }
            return .reference(RecordKey([.digest(bytes)]))
        case "key": return .reference(try key(arguments, range))
        case "keys":
            var keys: [RecordKey] = []
            for argument in arguments {
                switch argument.value {
                case .reference(let key): keys.append(key)
                case .array(let values):
                    keys.append(try key(values.map { ParsedValue(value: $0, range: argument.range) }, argument.range))
                default: keys.append(try key([argument], argument.range))
                }
            }
            return .references(keys)
        case let name:
            if let literal = AttributeType(named: name)?.descriptor.literal {
                let (value, text) = try only(literal.argument)
                guard let read = literal.value(value, text) else { throw wrong(literal.form) }
                return read
            }
            let literals = AttributeType.named.filter { $0.descriptor.literal != nil }.map(\.name)
            let known = (literals + ["digest", "key", "keys"]).sorted()
            throw scanner.error(
                range, Spelling.unknown("type", type, among: known),
                expected: "a value (quote a text that contains operators)")
        }
    }

    private func key(_ components: [ParsedValue], _ range: Range<Int>) throws(QueryTextError) -> RecordKey {
        var result: [KeyComponent] = []
        for component in components {
            switch component.value {
            case .int(let x): result.append(.int(x))
            case .string(let x): result.append(.string(x))
            case .uuid(let x): result.append(.uuid(x))
            case .reference(let x) where x.isDigest && components.count == 1: return x
            default:
                throw scanner.error(
                    component.range, "not a component of a key", expected: "a whole number, a text or a UUID")
            }
        }
        guard !result.isEmpty else { throw scanner.error(range, "a key needs at least one component") }
        return RecordKey(result)
    }
}
