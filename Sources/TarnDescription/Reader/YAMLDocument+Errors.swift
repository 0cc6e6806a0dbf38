// Explanations of Yams' errors, with the location and the remedy that Yams omits.

import Yams

extension YAMLDocument {
    /// The location of a syntax error, and a message of one line.
    static func explain(_ error: YamlError, _ text: String) -> (YAMLValue.Mark?, String) {
        switch error {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _):
            var place = YAMLValue.Mark(line: mark.line, column: mark.column)
            let situation = context.map { " (\($0.text) of line \($0.mark.line))" } ?? ""
            // The end of the file is no useful location; that of the open bracket or quotation mark
            // is.
            if let context, isEnd(place, text) {
                place = YAMLValue.Mark(line: context.mark.line, column: context.mark.column)
            }
            return (place, "not valid YAML: \(problem)\(situation)\(advice(problem, context?.text ?? "", text, place))")
        case .composer(_, let problem, let mark, _):
            let place = YAMLValue.Mark(line: mark.line, column: mark.column)
            if problem.contains("another document") {
                return (
                    place,
                    "a second document begins here: a description is a single document, remove the --- and everything after it"
                )
            }
            return (place, "not valid YAML: \(problem)\(advice(problem, "", text, place))")
        case .duplicatedKeysInMapping(let duplicates, let context):
            return duplicate(duplicates, YAMLValue.Mark(line: context.mark.line, column: context.mark.column), text)
        case .reader(let problem, let offset, _, _):
            return (offset.flatMap { place(ofCharacter: $0, text) }, "not valid YAML: \(problem): remove the character")
        case .memory, .no, .writer, .emitter, .representer, .dataCouldNotBeDecoded:
            return (nil, "not readable as YAML: \(error)")
        }
    }

    /// The location and the message of a duplicate key.
    ///
    /// Yams locates the first of the equal keys. In block style the second is a line that begins
    /// like it.
    private static func duplicate(_ keys: [String], _ first: YAMLValue.Mark, _ text: String) -> (YAMLValue.Mark, String)
    {
        let key = keys.first ?? ""
        let message = "duplicate key \"\(key)\" in this mapping"
        // Scalars: Swift counts CR LF as one character.
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { Substring($0) }
        for number in first.line..<max(first.line, lines.count) {
            let line = lines[number]
            let content = line.drop { $0 == " " }
            guard !content.isEmpty, !content.hasPrefix("#"), content != "\r" else { continue }
            let column = line.count - content.count + 1
            if column < first.column { break }
            guard column == first.column else { continue }
            if ["\(key):", "\"\(key)\":", "'\(key)':"].contains(where: content.hasPrefix) {
                return (
                    YAMLValue.Mark(line: number + 1, column: column),
                    "\(message) (first on line \(first.line)): merge the two, or remove one"
                )
            }
        }
        return (first, "\(message): merge the two, or remove one")
    }

    private static func advice(_ problem: String, _ context: String, _ text: String, _ mark: YAMLValue.Mark) -> String {
        switch scalar(at: mark, text) {
        case "\t": return ": indent with spaces, not with tabs"
        case "@", "`", "%": return ": put the text in quotes"
        default: break
        }
        if problem.contains("undefined alias") || context.contains("scanning an alias") {
            return ": a text that begins with * must be in quotes, such as '*_url'"
        }
        if problem.contains("mapping values are not allowed") {
            return ": a text that contains \": \" must be in quotes; otherwise check the indentation"
        }
        if problem.contains("',' or '}'") || problem.contains("',' or ']'") {
            return
                ": inside of { } and [ ] a text with , [ ] { or } must be in quotes, and each bracket must be closed"
        }
        if problem.contains("block end") || problem.contains("expected key") {
            return ": check the indentation; the entries of a mapping must begin in the same column"
        }
        return ""
    }

    /// Whether only white space follows a location.
    private static func isEnd(_ mark: YAMLValue.Mark, _ text: String) -> Bool {
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        guard mark.line >= 1, mark.line <= lines.count else { return true }
        let rest = [lines[mark.line - 1].dropFirst(max(0, mark.column - 1))] + lines[mark.line...]
        return rest.allSatisfy { $0.allSatisfy(\.properties.isWhitespace) }
    }

    private static func scalar(at mark: YAMLValue.Mark, _ text: String) -> Unicode.Scalar? {
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        guard mark.line >= 1, mark.line <= lines.count, mark.column >= 1 else { return nil }
        return lines[mark.line - 1].dropFirst(mark.column - 1).first
    }

    private static func place(ofCharacter offset: Int, _ text: String) -> YAMLValue.Mark? {
        guard let index = text.index(text.startIndex, offsetBy: offset, limitedBy: text.endIndex) else { return nil }
        let before = text[..<index].unicodeScalars
        let line = before.count { $0 == "\n" } + 1
        let column = before.reversed().prefix { $0 != "\n" }.count + 1
        return YAMLValue.Mark(line: line, column: column)
    }
}
