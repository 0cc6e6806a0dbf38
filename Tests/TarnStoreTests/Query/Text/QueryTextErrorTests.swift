// Problems of a text are shown at their position, with the way out.

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
            ("", 1, 0, "unexpected end", "a condition"),
            ("   ", 4, 0, "unexpected end", "a condition"),
            ("state", 6, 0, "unexpected end", "a comparison: = != < <= > >=, in (…)"),
            ("state =", 8, 0, "unexpected end", "a value"),
            ("state = open and", 17, 0, "unexpected end", "a field name"),
            (
                "title = hello world", 15, 5, "unexpected \"world\"",
                "\"and\", \"or\" or the end (quote a value that contains spaces or operators)"
            ),
            ("title = a=b", 10, 1, "unexpected \"=\"", "\"and\", \"or\" or the end (quote a value"),
            ("(a = 1", 7, 0, "unexpected end", "\")\", \"and\" or \"or\""),
            ("a = 1)", 6, 1, "unexpected \")\"", "\"and\", \"or\" or the end"),
            ("a = \"x", 5, 2, "unterminated text", "the closing quote, \""),
            ("`a = 1", 1, 6, "unterminated name", "a closing backquote"),
            ("a = \"\\x\"", 6, 2, "unknown escape", "one of \\\""),
            ("a = \"\\u12\"", 6, 4, "incomplete escape", "four hexadecimal digits"),
            ("a = \"\\ud800\"", 6, 6, "half of a surrogate pair", "both halves"),
            ("a is open", 6, 4, "unexpected \"open\"", "\"missing\" or \"not missing\" after \"is\""),
            (
                "a not 1", 7, 1, "unexpected \"1\"",
                "in (…), between … and …, begins with, contains or like after \"not\""
            ),
            ("a in 1", 6, 1, "unexpected \"1\"", "\"(\" and values after \"in\""),
            ("a in (1 2)", 9, 1, "unexpected \"2\"", "\",\" or \")\""),
            ("a in (1,)", 9, 1, "unexpected \")\"", "a value"),
            ("a between 1 or 2", 13, 2, "unexpected \"or\"", "\"and\" after \"between 1\""),
            ("a begins x", 10, 1, "unexpected \"x\"", "\"with\" after \"begins\""),
            ("a like [1]", 8, 3, "not a text", "a text in quotes"),
            (
                "or = 1", 1, 2, "\"or\" is a keyword; write a field of this name in backquotes: `or`",
                "a field name"
            ),
            ("a = and", 5, 3, "`and` is a keyword; to use it as a text, quote it: \"and\"", "a value"),
            ("1 < a", 3, 1, "\"<\"", nil),
            ("a = dat(1)", 5, 3, "unknown type \"dat\": did you mean \"date\"?", "a value"),
            ("a = uuid(1)", 10, 1, "not a valid uuid", "a UUID"),
            ("a = key(1.5)", 9, 3, "not a component of a key", "a whole number, a text or a UUID"),
            ("a = key()", 5, 3, "a key needs at least one component", nil),
            ("nocase a = 1", 8, 1, "unexpected \"a\"", "\"(\" and a field after \"nocase\""),
            ("a.= 1", 3, 1, "unexpected \"=\"", "a field name"),
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
                column 13: unexpected "und"; expected "and", "or" or the end (quote a value that contains spaces or operators)
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
            ("title.x = 1", 1, 5, "Issue.title is an attribute, and has no fields"),
            ("title = x and nocase(number) = 5", 22, 6, "Issue.number is int, and has no case"),
            ("nocase(author) is missing", 8, 6, "Issue.author is a relationship, and has no case"),
            (
                "labels.name = bug", 1, 6,
                "Issue.labels is to-many; a path can only follow to-one relationships"
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
            ("comments > 3 and comments in (1, two, 3)", 34, 3, "Ticket.comments: expected int, found \"two\""),
            ("state = opne", 9, 4, "Ticket.state: unknown value \"opne\": did you mean \"open\"?"),
            ("state in (open, \"shut\")", 17, 6, "Ticket.state: unknown value \"shut\": expected one of open, closed"),
            (
                "closedAt between 2026-01-01 and yesterday", 33, 9,
                "Ticket.closedAt: expected a date (2025-01-31 or 2025-01-31T09:00:00Z), found \"yesterday\""
            ),
            ("author.isAdmin = 1", 18, 1, "Person.isAdmin: expected bool, found the number 1"),
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
        #expect(try error("labels")?.message == "labels is to-many and cannot be sorted by")
        #expect(try error("title, nocase(number)")?.column == 15)
    }
}
