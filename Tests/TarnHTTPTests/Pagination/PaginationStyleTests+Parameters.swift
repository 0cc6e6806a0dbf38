// The parameters of the next request in an object, and offsets in a text.

import Testing

@testable import TarnHTTP

extension PaginationStyleTests {
    @Test("parameters that repeat those of a page before, or that are no object, are errors")
    func parameters() throws {
        let same = Self.page(1, ["continue": PageFacts.json + #"{"from":"B"}"#])
        #expect(throws: PaginationError.repeated(url: "http://h/items?state=all&from=B")) {
            try Self.walk(.parameters(path: "continue"), [same, same])
        }
        for value in ["B", PageFacts.json + "[1]", PageFacts.container] {
            let error = #expect(throws: PaginationError.self) {
                try Self.walk(.parameters(path: "continue"), [Self.page(1, ["continue": value])])
            }
            #expect(error?.description.contains("`continue` is no object with the parameters") == true, "\(value)")
        }
    }

    @Test("an object with more members than a request has parameters is an error")
    func tooManyParameters() throws {
        func page(_ count: Int) -> PageFacts {
            let members = (1...count).map { #""m\#($0)":\#($0)"# }.joined(separator: ",")
            return Self.page(1, ["continue": PageFacts.json + "{\(members)}"])
        }
        let asked = try Self.walk(.parameters(path: "continue"), [page(100), Self.page(1)])
        #expect(asked.last?.hasSuffix("&m99=99&m100=100") == true)
        let error = #expect(throws: PaginationError.self) { try Self.walk(.parameters(path: "continue"), [page(101)]) }
        #expect(error?.description.contains("`continue` has 101 members") == true)
    }

    @Test("parameters that make the URL too long are an error")
    func tooLongParameters() throws {
        let value = String(repeating: "x", count: 1 << 16)
        let long = Self.page(1, ["continue": PageFacts.json + #"{"from":"\#(value)"}"#])
        let error = #expect(throws: PaginationError.self) { try Self.walk(.parameters(path: "continue"), [long]) }
        #expect(error?.description.contains(PageSequence.tooLong) == true)
    }

    @Test("parts of the same records may take more pages than a list that a server repeats, and not all of them")
    func repeatedParts() throws {
        func count(_ pages: Int) throws -> Int {
            let facts = (1...pages).map { page in
                var facts = Self.page(2, ["continue": PageFacts.json + #"{"clcontinue":"\#(page)"}"#])
                facts.digest = 1
                return facts
            }
            return try Self.walk(.parameters(path: "continue"), facts).count
        }
        #expect(try count(400) == 401)
        #expect(throws: PaginationError.self) { try count(600) }
    }

    @Test("a text for an offset has one place for it")
    func offsetText() throws {
        for text in ["from Item", "{value} {value}"] {
            let values = PaginationValues(["param": .parameter(.query("q")), "text": .text(text)])
            let error = #expect(throws: PaginationProblem.self) { try OffsetPagination(values: values) }
            #expect(error?.key == "text")
        }
        #expect(OffsetText("a{value}b")?.offset(in: "a7b") == 7)
        for text in ["a7", "7b", "ab", "a7x b", "axb"] { #expect(OffsetText("a{value}b")?.offset(in: text) == nil) }
    }

    @Test("an offset in a text leads to no page before: its number alone would be another query")
    func pageBeforeOffsetInText() {
        let style = OffsetPagination(sends: .query("q"), start: 1, end: .short, text: OffsetText("at-{value}"))
        let page = FetchedPage(PageRequest(url: "http://h/items?q=at-3"), Self.page(2))
        guard case .unknown = style.previous(before: page) else {
            Issue.record("\(style.previous(before: page))")
            return
        }
    }
}
