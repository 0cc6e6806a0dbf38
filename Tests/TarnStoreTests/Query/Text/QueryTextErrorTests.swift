// What is wrong with a text is shown where it stands, with the way out.

import Testing

@testable import TarnStore

@Suite("Query text: errors")
struct QueryTextErrorTests {
    private static func error(_ text: String) -> QueryTextError? {
        do throws(QueryTextError) {
            _ = try Condition(text: text)
            return nil
        } catch { return error }
    }

    @Test(
        "a text that is no condition: the column, the length, and what was expected",
        arguments: [
            ("", 1, 0, "the text ends here", "a condition"),
            ("   ", 4, 0, "the text ends here", "a condition"),
            ("state", 6, 0, "the text ends here", "a comparison: = != < <= > >=, in (…)"),
            ("state =", 8, 0, "the text ends here", "a value"),
            ("state = open and", 17, 0, "the text ends here", "the name of a field"),
            (
                "title = hello world", 15, 5, "\"world\" cannot stand here",
                "\"and\", \"or\" or the end (a value with spaces or signs in it stands in quotes)"
            ),
            ("title = a=b", 10, 1, "\"=\" cannot stand here", "\"and\", \"or\" or the end (a value with spaces"),
            ("(a = 1", 7, 0, "the text ends here", "\")\", \"and\" or \"or\""),
            ("a = 1)", 6, 1, "\")\" cannot stand here", "\"and\", \"or\" or the end"),
            ("a = \"x", 5, 2, "this text has no end", "the quote that closes it, \""),
            ("`a = 1", 1, 6, "this name has no end", "a backquote that closes it"),
            ("a = \"\\x\"", 6, 2, "there is no such escape", "one of \\\""),
            ("a = \"\\u12\"", 6, 4, "this escape is not complete", "four hexadecimal digits"),
            ("a = \"\\ud800\"", 6, 6, "half of a surrogate pair is no character", "both halves"),
            ("a is open", 6, 4, "\"open\" cannot stand here", "\"missing\" or \"not missing\" after \"is\""),
            (
                "a not 1", 7, 1, "\"1\" cannot stand here",
                "in (…), between … and …, begins with, contains or like after \"not\""
            ),
            ("a in 1", 6, 1, "\"1\" cannot stand here", "\"(\" and values after \"in\""),
            ("a in (1 2)", 9, 1, "\"2\" cannot stand here", "\",\" or \")\""),
            ("a in (1,)", 9, 1, "\")\" cannot stand here", "a value"),
            ("a between 1 or 2", 13, 2, "\"or\" cannot stand here", "\"and\" after \"between 1\""),
            ("a begins x", 10, 1, "\"x\" cannot stand here", "\"with\" after \"begins\""),
            ("a like [1]", 8, 3, "this is no text", "a text in quotes"),
            (
                "or = 1", 1, 2, "\"or\" is a word of the language; a field of that name stands in backquotes: `or`",
                "the name of a field"
            ),
            ("a = and", 5, 3, "\"and\" is a word of the language; as a text it stands in quotes: \"and\"", "a value"),
            ("1 < a", 3, 1, "\"<\"", nil),
            ("a = dat(1)", 5, 3, "unknown type \"dat\": did you mean \"date\"?", "a value"),
            ("a = uuid(1)", 10, 1, "this makes no uuid", "a UUID"),
            ("a = key(1.5)", 9, 3, "this is no component of a key", "a whole number, a text or a UUID"),
            ("a = key()", 5, 3, "a key has one component at least", nil),
            ("nocase a = 1", 8, 1, "\"a\" cannot stand here", "\"(\" and a field after \"nocase\""),
            ("a.= 1", 3, 1, "\"=\" cannot stand here", "the name of a field"),
        ] as [(String, Int, Int, String, String?)])
    func refused(text: String, column: Int, length: Int, message: String, expected: String?) throws {
        guard text != "1 < a" else {
            // A name may begin with a digit, so this is a comparison of a field `1`.
            #expect(QueryTextErrorTests.error(text) == nil)
            return
        }
        let error = try #require(QueryTextErrorTests.error(text))
        #expect(error.column == column && error.length == length, "\(error)")
        #expect(error.message == message)
        if let expected {
            #expect(error.expected?.hasPrefix(expected) == true, "\(error)")
        } else {
            #expect(error.expected == nil)
        }
        #expect(error.text == text)
    }

    @Test("the description shows the text, and a caret below the place, counted in characters")
    func caret() throws {
        #expect(
            try #require(QueryTextErrorTests.error("état = \"e\u{301}😀\" und x = 1")).description == """
                column 13: "und" cannot stand here; expected "and", "or" or the end (a value with spaces or signs in it stands in quotes)
                  état = "e\u{301}😀" und x = 1
                           \u{3000}  ^~~
                """)
        // Below a line that was broken, and behind control characters.
        let broken = try #require(QueryTextErrorTests.error("a = \"\u{1B}[2J\"\nand b"))
        #expect(
            broken.description.split(separator: "\n", omittingEmptySubsequences: false).dropFirst() == [
                "  a = \" [2J\" and b", "                  ^",
            ])
        #expect(broken.column == 17)
    }

    @Test("of a long text the part around the problem is shown")
    func longText() throws {
        let text =
            (0..<100).map { "field\($0) = \($0)" }.joined(separator: " and ") + " xor y = 1"
            + String(repeating: " ", count: 300)
        let error = try #require(QueryTextErrorTests.error(text))
        let lines = error.description.split(separator: "\n").map(Array.init)
        #expect(lines.count == 3 && lines[1].count < 120)
        let caret = try #require(lines[2].firstIndex(of: "^"))
        #expect(String(lines[1][caret..<caret + 3]) == "xor")
    }

    private static func error(_ text: String, _ entity: String) throws -> QueryTextError? {
        let catalog = try Catalog().applying(Forge.schema).catalog
        do {
            _ = try Condition(text: text, entity: entity, catalog: catalog)
            return nil
        } catch let error as QueryTextError { return error }
    }

    @Test(
        "a field that is not there is shown where it stands, with a suggestion",
        arguments: [
            ("title = x and nubmer = 1", 15, 6, "Issue: unknown field \"nubmer\": did you mean \"number\"?"),
            ("author.logn = x", 8, 4, "User: unknown field \"logn\": did you mean \"login\"?"),
            ("not (autor.login = x)", 6, 5, "Issue: unknown field \"autor\": did you mean \"author\"?"),
            ("title.x = 1", 1, 5, "Issue.title is an attribute; only a relationship leads on to other fields"),
            (
                "labels.name = bug", 1, 6,
                "Issue.labels leads to many records; a path goes through relationships that lead to one"
            ),
        ] as [(String, Int, Int, String)])
    func unknownFields(text: String, column: Int, length: Int, message: String) throws {
        let error = try #require(try QueryTextErrorTests.error(text, "Issue"))
        #expect(error.message == message)
        #expect(error.column == column && error.length == length, "\(error)")
    }

    @Test(
        "a value that is not of its field's type is shown where it stands",
        arguments: [
            ("comments > 3 and comments in (1, two, 3)", 34, 3, "Ticket.comments is int, not \"two\""),
            ("state = opne", 9, 4, "Ticket.state: unknown value \"opne\": did you mean \"open\"?"),
            ("state in (open, \"shut\")", 17, 6, "Ticket.state: unknown value \"shut\": known are open, closed"),
            ("closedAt between 2026-01-01 and yesterday", 33, 9, "Ticket.closedAt is date, not \"yesterday\""),
            ("author.isAdmin = 1", 18, 1, "Person.isAdmin is bool, not the number 1"),
            ("labels contains ada", 17, 3, nil),
            ("comments begins with 1", 22, 1, nil),
            ("author = [7]", 10, 3, nil),
        ] as [(String, Int, Int, String?)])
    func wrongValues(text: String, column: Int, length: Int, message: String?) throws {
        let catalog = try Catalog().applying(TypedStore.schema).catalog
        do {
            _ = try Condition(text: text, entity: "Ticket", catalog: catalog)
            Issue.record("\(text) was accepted")
        } catch let error as QueryTextError {
            #expect(error.column == column && error.length == length, "\(error)")
            if let message { #expect(error.message == message) }
        }
    }

    @Test("a bare word is a text where the field is one, whatever it looks like")
    func bareWords() throws {
        let catalog = try Catalog().applying(Forge.schema).catalog
        func read(_ text: String) throws -> Condition { try Condition(text: text, entity: "Issue", catalog: catalog) }
        #expect(try read("title = 12") == .compare("title", .equal, .string("12")))
        #expect(try read("title in (1.0, true, null)") == .isIn("title", [.string("1.0"), .string("true"), .null]))
        #expect(try read("number = 12") == .compare("number", .equal, .int(12)))
        #expect(try read("labels contains 12") == .contains("labels", .string("12")))
        #expect(try read("author = 12") == .compare("author", .equal, .int(12)))
        #expect(try read("author.login = 7") == .compare("author.login", .equal, .string("7")))
    }

    @Test("an order names fields that have one")
    func orders() throws {
        let catalog = try Catalog().applying(Forge.schema).catalog
        func error(_ text: String) throws -> QueryTextError? {
            do {
                _ = try [Query.Order](text: text, entity: "Issue", catalog: catalog)
                return nil
            } catch let error as QueryTextError { return error }
        }
        #expect(try error("number desc, author.login, author") == nil)
        #expect(try error("number down")?.column == 8)
        #expect(try error("number,")?.column == 8)
        #expect(try error("number, titel")?.message == "Issue: unknown field \"titel\": did you mean \"title\"?")
        #expect(try error("labels")?.message == "labels leads to many records, which have no order")
    }
}
