// Every pagination style: its first page, its next one, its end, for query and body.

import Foundation
import Testing

@testable import TarnHTTP

@Suite("Pagination styles")
struct PaginationStyleTests {
    /// A scan over pages given as facts; the requests, in order.
    static func walk(
        _ pagination: Pagination, from first: PageRequest = PageRequest(url: "http://h/items?state=all"),
        _ pages: [PageFacts],
        deep: DeepPages? = nil, bounds change: (inout PageSequence.Bounds) -> Void = { _ in }
    ) throws(PaginationError) -> [String] {
        var bounds = PageSequence.Bounds(base: "http://h")
        change(&bounds)
        var sequence = try PageSequence(pagination, first, bounds, deep: deep)
        var asked: [String] = []
        for facts in pages {
            asked.append(
                sequence.request.url.replacing("http://h", with: "")
                    + (sequence.request.body.map { " " + $0.text } ?? ""))
            guard try sequence.advance(facts) else { return asked }
        }
        return asked + ["…"]
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var pagination: Pagination
        var pages: [PageFacts]
        var asked: [String]
        var body: TransportBody?
        var testDescription: String { name }
    }

    static func page(
        _ count: Int, _ values: [String: String] = [:], _ fields: [String: String] = [:], ids: [String] = []
    ) -> PageFacts {
        PageFacts(
            headers: TransportHeaders(fields.map { .init($0.key, $0.value) }), recordCount: count, values: values,
            records: PageFacts.RecordValues(ids))
    }

    static let search = TransportBody.json(
        .object([.init("query", .string("a\"b")), .init("page", .object([.init("size", .number("2"))]))]))
    static let graph = TransportBody.json(
        .object([.init("query", .string("{ a }")), .init("variables", .object([.init("first", .number("2"))]))]))

    static let rows: [Row] = [
        Row(
            name: "json_link", pagination: .jsonLink(path: "next"),
            pages: [page(2, ["next": "/items?page=2"]), page(2, ["next": "?page=3"]), page(0, ["next": ""])],
            asked: ["/items?state=all", "/items?page=2", "/items?page=3"]),
        Row(
            name: "json_link to an object (HAL, JSON:API)", pagination: .jsonLink(path: "_links.next"),
            pages: [
                page(2, ["_links.next.href": "http://h/items?c=1"]), page(2, ["_links.next.url": "/items?c=2"]),
                page(2),
            ],
            asked: ["/items?state=all", "/items?c=1", "/items?c=2"]),
        Row(
            name: "header_cursor", pagination: .headerCursor(field: "X-Next", sends: .query("after")),
            pages: [page(2, [:], ["x-next": "a+b/="]), page(0, [:], ["X-Next": "c"]), page(2, [:], ["X-Next": ""])],
            asked: ["/items?state=all", "/items?state=all&after=a%2Bb%2F%3D", "/items?state=all&after=c"]),
        Row(
            name: "cursor in the query", pagination: .cursor(path: "meta.next", sends: .query("cursor")),
            pages: [page(2, ["meta.next": "x=1&y"]), page(0, ["meta.next": "z"]), page(2)],
            asked: ["/items?state=all", "/items?state=all&cursor=x%3D1%26y", "/items?state=all&cursor=z"]),
        Row(
            name: "cursor with has_more", pagination: .cursor(path: "next", sends: .query("c"), hasMore: "more"),
            pages: [page(2, ["next": "1", "more": "true"]), page(2, ["next": "2", "more": "false"])],
            asked: ["/items?state=all", "/items?state=all&c=1"]),
        Row(
            name: "cursor with a word for the end",
            pagination: .cursor(path: "next", sends: .query("c"), last: "0"),
            pages: [page(2, ["next": "10"]), page(2, ["next": "0"])],
            asked: ["/items?state=all", "/items?state=all&c=10"]),
        Row(
            name: "cursor that ends at an empty page",
            pagination: .cursor(path: "next", sends: .query("c"), endsAtEmptyPage: true),
            pages: [page(2, ["next": "1"]), page(0, ["next": "2"])],
            asked: ["/items?state=all", "/items?state=all&c=1"]),
        Row(
            name: "cursor with the cursor of the first page",
            pagination: .cursor(path: "next", sends: .query("c"), start: "0"),
            pages: [page(2, ["next": "1"]), page(2, ["next": ""])],
            asked: ["/items?state=all&c=0", "/items?state=all&c=1"]),
        Row(
            name: "header_cursor with the cursor of the first page",
            pagination: .headerCursor(field: "X-Next", sends: .query("c"), start: "0"),
            pages: [page(2, [:], ["X-Next": "1"]), page(2)],
            asked: ["/items?state=all&c=0", "/items?state=all&c=1"]),
        Row(
            name: "a page behind the last record that names itself",
            pagination: .cursor(path: "next", sends: .query("c")),
            pages: [page(2, ["next": "1"]), page(0, ["next": "1"])],
            asked: ["/items?state=all", "/items?state=all&c=1"]),
        Row(
            name: "an empty page in between, before a total that is not reached",
            pagination: .cursor(path: "next", sends: .query("c")),
            pages: [
                page(2, ["next": "1", "total": "4"]), page(0, ["next": "2", "total": "4", "has_more": "false"]),
                page(2, ["next": "", "total": "4"]),
            ],
            asked: ["/items?state=all", "/items?state=all&c=1", "/items?state=all&c=2"]),
        Row(
            name: "cursor in the body (GraphQL)",
            pagination: .cursor(
                path: "data.issues.pageInfo.endCursor", sends: .body(["variables", "after"]),
                hasMore: "data.issues.pageInfo.hasNextPage"),
            pages: [
                page(2, ["data.issues.pageInfo.endCursor": "Y3Vy", "data.issues.pageInfo.hasNextPage": "true"]),
                page(1, ["data.issues.pageInfo.endCursor": "end", "data.issues.pageInfo.hasNextPage": "false"]),
            ],
            asked: [
                #"/items?state=all {"query":"{ a }","variables":{"first":2}}"#,
                #"/items?state=all {"query":"{ a }","variables":{"first":2,"after":"Y3Vy"}}"#,
            ], body: graph),
        Row(
            name: "cursor in a form", pagination: .cursor(path: "next", sends: .body(["cursor"])),
            pages: [page(2, ["next": "a b"]), page(1)],
            asked: ["/items?state=all q=x", "/items?state=all q=x&cursor=a%20b"],
            body: .form([.init("q", "x")])),
        Row(
            name: "offset to a short page",
            pagination: .offset(.query("offset"), size: .init(parameter: "limit", value: 2)),
            pages: [page(2), page(2), page(1)],
            asked: [
                "/items?state=all&offset=0&limit=2", "/items?state=all&offset=2&limit=2",
                "/items?state=all&offset=4&limit=2",
            ]),
        Row(
            name: "offset to an empty page", pagination: .offset(.query("o"), start: 1, end: .empty),
            pages: [page(2), page(1), page(0)],
            asked: ["/items?state=all&o=1", "/items?state=all&o=3", "/items?state=all&o=4"]),
        Row(
            name: "offset to the total, also where the server gives less than asked for",
            pagination: .offset(.query("o"), size: .init(parameter: "n", value: 100), total: "meta.total"),
            pages: [page(2, ["meta.total": "5"]), page(2, ["meta.total": "5"]), page(1, ["meta.total": "5"])],
            asked: ["/items?state=all&o=0&n=100", "/items?state=all&o=2&n=100", "/items?state=all&o=4&n=100"]),
        Row(
            name: "offset with has_more",
            pagination: .offset(.query("o"), size: .init(parameter: "n", value: 3), hasMore: "more"),
            pages: [page(1, ["more": "true"]), page(3, ["more": "0"])],
            asked: ["/items?state=all&o=0&n=3", "/items?state=all&o=1&n=3"]),
        Row(
            name: "offset in the body",
            pagination: .offset(.body(["page", "offset"]), size: .init(.body(["page", "size"]), 2)),
            pages: [page(2), page(0)],
            asked: [
                #"/items?state=all {"query":"a\"b","page":{"size":2,"offset":0}}"#,
                #"/items?state=all {"query":"a\"b","page":{"size":2,"offset":2}}"#,
            ], body: search),
        Row(
            name: "page numbers to the number of pages",
            pagination: .pageNumber(.query("p"), start: 0, totalPages: "pages"),
            pages: [page(2, ["pages": "2"]), page(2, ["pages": "2"])],
            asked: ["/items?state=all&p=0", "/items?state=all&p=1"]),
        Row(
            name: "page numbers to the total", pagination: .pageNumber(.query("p"), total: "total"),
            pages: [page(2, ["total": "3"]), page(1, ["total": "3"])],
            asked: ["/items?state=all&p=1", "/items?state=all&p=2"]),
        Row(
            name: "page numbers whose pages may be short",
            pagination: .pageNumber(.query("p"), size: .init(parameter: "n", value: 5), end: .empty),
            pages: [page(5), page(3), page(0)],
            asked: ["/items?state=all&p=1&n=5", "/items?state=all&p=2&n=5", "/items?state=all&p=3&n=5"]),
        Row(
            name: "page numbers in the body", pagination: .pageNumber(.body(["page", "number"])),
            pages: [page(1), page(0)],
            asked: [
                #"/items?state=all {"query":"a\"b","page":{"size":2,"number":1}}"#,
                #"/items?state=all {"query":"a\"b","page":{"size":2,"number":2}}"#,
            ], body: search),
        Row(
            name: "max_id of a server that lists the named record again",
            pagination: .recordCursor(
                .backward, sends: .query("max_id"), size: .init(parameter: "count", value: 2), includesNamed: true),
            pages: [page(2, ids: ["90", "100"]), page(2, ids: ["89", "9"]), page(0)],
            asked: [
                "/items?state=all&count=2", "/items?state=all&count=2&max_id=89", "/items?state=all&count=2&max_id=8",
            ]),
        Row(
            name: "max_id of a server that does not",
            pagination: .recordCursor(.backward, sends: .query("before")),
            pages: [page(2, ids: ["100", "90"]), page(1, ids: ["90"])],
            asked: ["/items?state=all", "/items?state=all&before=90"]),
        Row(
            name: "since_id", pagination: .recordCursor(.forward, sends: .query("since_id")),
            pages: [page(2, ids: ["9", "100"]), page(1, ids: ["101"]), page(0)],
            asked: ["/items?state=all", "/items?state=all&since_id=100", "/items?state=all&since_id=101"]),
        Row(
            name: "since_id with texts", pagination: .recordCursor(.forward, sends: .query("after")),
            pages: [page(2, ids: ["a", "c"]), page(2, ids: ["c"])],
            asked: ["/items?state=all", "/items?state=all&after=c"]),
        Row(
            name: "a closure",
            pagination: .custom(name: "weeks") { _, facts, ordinal in
                facts.recordCount > 0 ? .next("?week=\(ordinal)") : .end
            },
            pages: [page(1), page(1), page(0)], asked: ["/items?state=all", "/items?week=1", "/items?week=2"]),
    ]

    @Test("a walk asks for its pages one after the other, and ends where the style says", arguments: rows)
    func walks(_ row: Row) throws {
        let first = PageRequest(url: "http://h/items?state=all", body: row.body)
        #expect(try Self.walk(row.pagination, from: first, row.pages) == row.asked)
    }

    @Test("a walk that is resumed asks for the same pages as one that is not, whatever its style", arguments: rows)
    func resumed(_ row: Row) throws {
        let first = PageRequest(url: "http://h/items?state=all", body: row.body),
            bounds = PageSequence.Bounds(base: "http://h")
        var whole = try PageSequence(row.pagination, first, bounds)
        var listed = 0
        for facts in row.pages {
            var resumed = try PageSequence(row.pagination, first, bounds)
            try resumed.resume(at: whole.position, ordinal: whole.ordinal, listed: listed)
            #expect(resumed.request == whole.request)
            let goesOn = try whole.advance(facts)
            #expect(try resumed.advance(facts) == goesOn)
            #expect(resumed.request == whole.request && resumed.ordinal == whole.ordinal)
            listed += facts.recordCount
        }
    }

    @Test("the closure's own error ends the walk, with its name")
    func closureThrows() throws {
        struct Odd: Error, CustomStringConvertible { let description = "no week" }
        let custom = Pagination.custom(name: "weeks") { _, _, _ in throw Odd() }
        let error = #expect(throws: PaginationError.self) { try Self.walk(custom, [Self.page(1)]) }
        #expect(error == .refused(by: "weeks", reason: "no week"))
    }
}

@Suite("Pagination and the ends of numbers")
struct PaginationNumberTests {
    private static let least = String(Int.min), greatest = String(Int.max)

    private func next(_ pagination: Pagination, _ url: String, _ facts: PageFacts) throws -> NextPage {
        try pagination.next(after: PageRequest(url: url), facts, ordinal: 1, listed: 1)
    }

    @Test(
        "behind the greatest id, and before the least, there is no page",
        arguments: [Pagination.Direction.forward, .backward])
    func ids(_ direction: Pagination.Direction) throws {
        let cursor = Pagination.recordCursor(direction, sends: .query("id"), includesNamed: true)
        let facts = PageFacts(
            recordCount: 2,
            records: PageFacts.RecordValues(last: Self.greatest, smallest: Self.least, largest: Self.greatest))
        #expect(try next(cursor, "http://h/", facts) == .end)
    }

    @Test("a page or an offset beyond 64 bits is an error that names the setting")
    func counts() throws {
        let facts = PageFacts(recordCount: 10)
        for pagination in [
            Pagination.pageNumber(.query("n"), start: .max), .offset(.query("n"), start: .max),
        ] {
            let error = #expect(throws: PaginationError.self) { try next(pagination, "http://h/", facts) }
            #expect("\(try #require(error))".contains("`start`"))
            #expect(throws: PaginationError.self) { try next(pagination, "http://h/?n=\(Self.greatest)", facts) }
        }
        // A start below zero, and a number in the request that is far from it.
        for start in [Int.min, -1] {
            #expect(throws: Never.self) {
                try next(
                    .pageNumber(.query("n"), start: start, totalPages: "t"), "http://h/?n=\(Int.max - 1)", facts)
            }
        }
    }

    @Test("a cursor or a link that no request can carry is an error")
    func lengths() throws {
        let text = String(repeating: "c", count: 65_537)
        for pagination in [
            Pagination.cursor(path: "next", sends: .query("c")),
            .cursor(path: "next", sends: .body(["c"])), .jsonLink(path: "next"),
        ] {
            var pages = try PageSequence(pagination, PageRequest(url: "http://h/"), .init(base: "http://h"))
            #expect(throws: PaginationError.malformed(link: text.excerpt, reason: "it is longer than 64 KiB")) {
                try pages.advance(PageFacts(recordCount: 1, values: ["next": text]))
            }
        }
    }

    @Test(
        "a number that JSON would not write so is sent as a text",
        arguments: [("7", "7"), ("+7", "\"+7\""), ("007", "\"007\""), ("-1", "-1")])
    func bodies(_ value: String, _ written: String) throws {
        let facts = PageFacts(
            recordCount: 1, records: PageFacts.RecordValues(last: value, smallest: value, largest: value))
        let found = try next(.recordCursor(.forward, sends: .body(["after"])), "http://h/", facts)
        #expect(
            found
                == .nextBody(
                    .json(.object([.init("after", written.hasPrefix("\"") ? .string(value) : .number(value))]))))
    }
}

@Suite("Pagination guards")
struct PaginationGuardTests {
    private typealias Styles = PaginationStyleTests

    private func page(
        _ count: Int, digest: Int? = nil, _ values: [String: String] = [:], _ fields: [String: String] = [:]
    ) -> PageFacts {
        var facts = Styles.page(count, values, fields)
        facts.digest = digest
        return facts
    }

    @Test("a cursor that comes again is an error, not a loop")
    func repeatedCursor() {
        let cursor = Pagination.cursor(path: "next", sends: .query("c"))
        let pages = ["1", "2", "1"].map { page(2, ["next": $0]) }
        #expect(throws: PaginationError.repeated(url: "http://h/items?state=all&c=1")) {
            try Styles.walk(cursor, pages)
        }
        let body = Pagination.cursor(path: "next", sends: .body(["c"]))
        #expect(throws: PaginationError.repeated(url: "http://h/q")) {
            try Styles.walk(body, from: PageRequest(url: "http://h/q", body: .json(.object([]))), pages)
        }
    }

    @Test(
        "a cursor that is a word for nothing, and leads back to the beginning, is an error that names the mend",
        arguments: ["null", "LTE=", "0", "-1"])
    func lastCursor(value: String) throws {
        let cursor = Pagination.cursor(path: "next", sends: .query("c"))
        let pages = ["a", value, "a"].map { page(2, ["next": $0]) }
        let error = #expect(throws: PaginationError.self) { try Styles.walk(cursor, pages) }
        let text = "\(try #require(error))"
        #expect(text.contains("go in a circle") && text.contains("write last: '\(value)' under paginate"), "\(text)")
        // The server may know the value.
        let others = ["a", value, "b"].map { page(2, ["next": $0]) }
        #expect(try Styles.walk(cursor, others + [page(1, [:])]).count == 4)
    }

    @Test("a server that refuses what is behind the last page gets an error that names the mend")
    func refusedEnd() throws {
        let request = PageRequest(url: "http://h/items"), bounds = PageSequence.Bounds(base: "http://h")
        var numbered = try PageSequence(.pageNumber(.query("page")), request, bounds)
        #expect(numbered.hint(afterStatus: 404) == nil)
        #expect(try numbered.advance(page(10)))
        #expect(numbered.hint(afterStatus: 404)?.contains("responses: [{ status: 404, then: stop }]") == true)
        #expect(numbered.hint(afterStatus: 403) == nil)
        var cursors = try PageSequence(.cursor(path: "next", sends: .query("c")), request, bounds)
        #expect(try cursors.advance(page(10, ["next": "ab"])))
        #expect(cursors.hint(afterStatus: 400) == nil)
        #expect(try cursors.advance(page(10, ["next": "null"])))
        #expect(cursors.hint(afterStatus: 400)?.contains("write last: 'null' under paginate") == true)
    }

    @Test("a relative link is relative to the URL of the page")
    func relativeLink() throws {
        let asked = try Styles.walk(
            .jsonLink(path: "next"), from: PageRequest(url: "http://h/v4/items?x=1"),
            [page(2, ["next": "items?token=2"]), page(2, ["next": "../v4/items?token=3"]), page(1)])
        #expect(asked == ["/v4/items?x=1", "/v4/items?token=2", "/v4/items?token=3"])
    }

    @Test("a server that ignores what tells pages apart gives the same page for ever: that is seen at the second one")
    func samePage() {
        let pages = [page(2, digest: 7), page(2, digest: 7)]
        for style in [
            Pagination.pageNumber(parameter: "p"), .offset(.query("o")),
            .custom(name: "x") { _, _, n in .next("?x=\(n)") },
        ] {
            #expect(throws: PaginationError.self) { try Styles.walk(style, pages) }
        }
        // Links and cursors are the server's own, and other records may follow.
        #expect(throws: Never.self) { try Styles.walk(.cursor(path: "next", sends: .query("c")), pages) }
        #expect(throws: Never.self) {
            try Styles.walk(.pageNumber(parameter: "p"), [page(0, digest: 7), page(0, digest: 7)])
        }
    }

    @Test(
        "an empty page in between ends no list of cursors, whatever flags and counts it has",
        arguments: [
            ["truncated": "false"], ["has_more": "false"], ["total": "2"], ["more": "false", "go": "true"],
            ["has_more": "false", "total_pages": "4"],
        ])
    func emptyBetween(_ values: [String: String]) throws {
        let pages = (1...4).map { number in
            page(number == 3 ? 0 : 2, digest: number, values.merging(["next": number < 4 ? "\(number)" : ""]) { $1 })
        }
        let style = Pagination.cursor(path: "next", sends: .query("c"), hasMore: values["go"].map { _ in "go" })
        let asked = try Styles.walk(style, pages, bounds: { $0.more = .ignore })
        #expect(asked.count == 4, "\(asked)")
        let remaining = (1...4).map { number in
            page(
                number == 3 ? 0 : 2, digest: number,
                ["next": number < 4 ? "\(number)" : "", "go": values["go"] ?? "", "total": "\(8 - 2 * number)"])
        }
        #expect(try Styles.walk(style, remaining, bounds: { $0.more = .ignore }).count == 4)
    }

    @Test("an empty page that names itself is the end, unless it says that there is more")
    func emptyItself() throws {
        let style = Pagination.cursor(path: "next", sends: .query("c"), hasMore: "go")
        func pages(_ values: [String: String]) -> [PageFacts] {
            [page(2, ["next": "1"]), page(0, values.merging(["next": "1"]) { $1 })]
        }
        #expect(try Styles.walk(style, pages([:])).count == 2)
        for values in [["go": "true"], ["has_more": "true"], ["total_pages": "4"], ["total": "4"]] {
            #expect(throws: PaginationError.self) { try Styles.walk(style, pages(values)) }
        }
    }

    @Test("pages without records for ever are an error if they seem to be the end, and others are followed")
    func emptyForEver() {
        let style = Pagination.cursor(path: "next", sends: .query("c"))
        func pages(_ values: [String: String]) -> [PageFacts] {
            (1...40).map { page($0 == 1 ? 2 : 0, values.merging(["next": "\($0)"]) { $1 }) }
        }
        #expect(throws: PaginationError.self) { try Styles.walk(style, pages(["total": "2"])) }
        #expect(throws: PaginationError.self) { try Styles.walk(style, pages(["has_more": "false"])) }
        #expect(throws: Never.self) { try Styles.walk(style, pages([:])) }
        #expect(throws: Never.self) { try Styles.walk(style, pages(["total": "2"]), bounds: { $0.more = .ignore }) }
    }

    @Test("a list of a server that repeats its last page ends there, if that is declared and no total is larger")
    func repeatedLast() throws {
        func pages(_ fields: [String: String] = [:]) -> [PageFacts] {
            [page(2, digest: 1, [:], fields), page(1, digest: 2, [:], fields), page(1, digest: 2, [:], fields)]
        }
        for style in [Pagination.pageNumber(.query("p"), end: .repeated), .offset(.query("p"), end: .repeated)] {
            #expect(try Styles.walk(style, pages()).count == 3)
            #expect(throws: PaginationError.self) { try Styles.walk(style, pages(["X-Total-Count": "9"])) }
        }
        #expect(throws: PaginationError.self) { try Styles.walk(.pageNumber(.query("p")), pages()) }
    }

    @Test("equal elements are the same page for a style that counts, although their keys are positions")
    func sameElements() {
        func pages(_ contents: [Int]) -> [PageFacts] {
            contents.enumerated().map { index, content in
                var facts = page(2, digest: index)
                facts.contentDigest = content
                return facts
            }
        }
        let style = Pagination.pageNumber(parameter: "p")
        #expect(throws: PaginationError.self) { try Styles.walk(style, pages([7, 7])) }
        #expect(throws: Never.self) { try Styles.walk(style, pages([7, 8, 7])) }
    }

    @Test("numbered pages end at the number of pages in a header field, unless a number of records contradicts it")
    func pagesInHeader() throws {
        let style = Pagination.pageNumber(.query("p"), size: .init(parameter: "n", value: 2), end: .empty)
        let field = ["X-WP-TotalPages": "2"]
        #expect(try Styles.walk(style, [page(2, [:], field), page(2, [:], field)]).last?.contains("p=2") == true)
        let more = field.merging(["X-WP-Total": "5"]) { first, _ in first }
        #expect(
            try Styles.walk(style, [page(2, [:], more), page(2, [:], more), page(1, [:], more)]).last?.contains("p=3")
                == true)
    }

    @Test("new cursors with the same records again and again are seen at the 21st repetition, and not before")
    func sameRecords() {
        func pages(_ count: Int) -> [PageFacts] {
            (0..<count).map { page(2, digest: 7, ["next": "c\($0)"]) }
        }
        let style = Pagination.cursor(path: "next", sends: .query("c"))
        #expect(throws: Never.self) { try Styles.walk(style, pages(21) + [page(1, digest: 8)]) }
        #expect(throws: PaginationError.samePage(url: "http://h/items?state=all&c=c20")) {
            try Styles.walk(style, pages(30))
        }
    }

    @Test("a walk that would end before the server's own total is an error, not a short list")
    func shrinks() {
        let total = Pagination.offset(.query("o"), total: "total")
        let error = #expect(throws: PaginationError.self) {
            try Styles.walk(total, [page(2, ["total": "5"]), page(0, ["total": "5"])])
        }
        #expect(error == PaginationError.shrunk(listed: 2, hint: PageCounts.hint("there are 5 records", "total")))
        // `end: empty` does not outweigh a total.
        #expect(error?.description.contains("leave out total") == true)
        #expect(error?.description.contains("end: empty") == false)
        let more = Pagination.pageNumber(.query("p"), hasMore: "more")
        #expect(throws: PaginationError.shrunk(listed: 0, hint: PageCounts.hint("there are more", "has_more"))) {
            try Styles.walk(more, [page(0, ["more": "true"])])
        }
    }

    @Test("a page without counts does not end a walk before the counts of the pages before")
    func lostPages() {
        let total = Pagination.pageNumber(.query("p"), size: .init(parameter: "n", value: 2), total: "all")
        for last in [page(0), page(1)] {
            let error = #expect(throws: PaginationError.self) {
                try Styles.walk(total, [page(2, ["all": "6"]), last])
            }
            #expect(error?.description.contains("but all said on a page before that there are 6 records") == true)
        }
        let linked = [page(2, [:], ["Link": "</items?p=2>; rel=next", "X-Total-Count": "6"]), page(0)]
        #expect(throws: PaginationError.self) { try Styles.walk(.headerLink(), linked) }
        #expect(throws: Never.self) { try Styles.walk(.headerLink(), linked) { $0.more = .ignore } }
        #expect(throws: PaginationError.self) {
            try Styles.walk(
                .pageNumber(.query("p"), totalPages: "total_pages"), [page(2, ["total_pages": "3"]), page(0)])
        }
    }

    @Test("an empty page that was announced leaves the end in doubt; one that was only tried does not")
    func doubt() throws {
        func isInDoubt(_ pagination: Pagination, _ pages: [PageFacts]) throws -> Bool {
            var sequence = try PageSequence(
                pagination, PageRequest(url: "http://h/items"), PageSequence.Bounds(base: "http://h"))
            for facts in pages { _ = try sequence.advance(facts) }
            return sequence.isInDoubt
        }
        let cursor = Pagination.cursor(path: "next", sends: .query("c"))
        #expect(try isInDoubt(cursor, [page(2, ["next": "a"]), page(0)]))
        #expect(try !isInDoubt(cursor, [page(2, ["next": "a"]), page(1)]))
        let more = Pagination.pageNumber(.query("p"), hasMore: "more")
        #expect(try isInDoubt(more, [page(2, ["more": "true"]), page(0)]))
        #expect(try !isInDoubt(more, [page(2, ["more": "true"]), page(0, ["more": "false"])]))
        #expect(try !isInDoubt(.pageNumber(.query("p")), [page(2), page(0)]))
        let ends = Pagination.cursor(path: "next", sends: .query("c"), endsAtEmptyPage: true)
        #expect(try !isInDoubt(ends, [page(2, ["next": "a"]), page(0)]))
    }

    @Test("records without the id that the next request names are an error with its path")
    func withoutIDs() {
        let style = Pagination.recordCursor(.backward, sends: .query("max_id"), path: "num")
        let error = #expect(throws: PaginationError.self) { try Styles.walk(style, [page(2)]) }
        #expect(error?.description.contains("`num`") == true)
    }

    @Test("false in place of a link or a cursor is the end, and so is 0 in place of a link")
    func noLink() throws {
        for text in ["false", "0"] {
            #expect(try Styles.walk(.jsonLink(path: "nxt"), [page(2, ["nxt": text])]) == ["/items?state=all"])
        }
        let cursor = Pagination.cursor(path: "nxt", sends: .query("c"))
        #expect(try Styles.walk(cursor, [page(2, ["nxt": "false"])]) == ["/items?state=all"])
    }

    @Test(
        "a server that gives less than it is asked for does not end the walk at its first page, if anything in it says that there is more",
        arguments: [
            ["Link": "</items?page=2>; rel=next"], ["X-Total-Count": "250"], ["X-Total-Pages": "3"], ["X-Total": "101"],
        ])
    func capped(fields: [String: String]) throws {
        for style in [
            Pagination.pageNumber(parameter: "p", size: .init(parameter: "n", value: 1000)),
            .offset(.query("o"), size: .init(parameter: "n", value: 1000)),
        ] {
            #expect(throws: Never.self) { try Styles.walk(style, [page(100)]) }
            guard style.style is PageNumberPagination else {
                // An offset continues after the received records.
                #expect(try Styles.walk(style, [page(100, [:], fields)]).count == 2)
                continue
            }
            let error = #expect(throws: PaginationError.self) { try Styles.walk(style, [page(100, [:], fields)]) }
            #expect(error.map { "\($0)".contains("1000 were asked for") && "\($0)".contains("end: empty") } == true)
        }
    }

    @Test("pages and records have limits: an error, or a quiet end that is known")
    func limits() throws {
        let pages = Array(repeating: page(10), count: 9), style = Pagination.pageNumber(parameter: "p")
        #expect(throws: PaginationError.tooManyPages(limit: 3, url: "http://h/items?state=all&p=4")) {
            try Styles.walk(style, pages) { $0.pageLimit = 3 }
        }
        #expect(throws: PaginationError.tooManyRecords(limit: 25, url: "http://h/items?state=all&p=4")) {
            try Styles.walk(style, pages) { $0.recordLimit = 25 }
        }
        #expect(try Styles.walk(style, pages) { ($0.recordLimit, $0.stopsAtLimit) = (25, true) }.count == 3)
        var bounds = PageSequence.Bounds(base: "http://h")
        (bounds.recordLimit, bounds.stopsAtLimit) = (10, true)
        var sequence = try PageSequence(style, PageRequest(url: "http://h/"), bounds)
        #expect(try !sequence.advance(page(10)))
        #expect(sequence.isCutOff)
    }

    @Test("a link to another server is followed where that is allowed, and nowhere else")
    func follows() throws {
        let link = { Styles.page(1, ["next": $0]) }
        #expect(
            try Styles.walk(.jsonLink(path: "next"), [link("https://cdn.example/pages/2"), Styles.page(1)]) {
                $0.follows = ["https://cdn.example/pages"]
            }
                == ["/items?state=all", "https://cdn.example/pages/2"])
        #expect(throws: PaginationError.self) {
            try Styles.walk(.jsonLink(path: "next"), [link("https://cdn.example/other/2")]) {
                $0.follows = ["https://cdn.example/pages"]
            }
        }
    }

    @Test("a key that the server repeats in its links is taken out of them")
    func secretParameter() throws {
        #expect(
            try Styles.walk(
                .jsonLink(path: "next"), [Styles.page(1, ["next": "/items?key=s3cret&page=2"]), Styles.page(1)]
            ) { $0.secretParameter = "key" }
                == ["/items?state=all", "/items?page=2"])
    }
}

@Suite("Deep pages")
struct DeepPagesTests {
    private func page(_ ids: Int...) -> PageFacts {
        PageFacts(recordCount: ids.count, records: PageFacts.RecordValues(ids.map(String.init)))
    }

    private let numbered = Pagination.pageNumber(parameter: "page", size: .init(parameter: "n", value: 2))
    private let deep = DeepPages(statuses: [422...422], sends: .query("since"), path: "id")

    @Test("a walk that is refused its next page begins again behind the last record")
    func refused() throws {
        var pages = try PageSequence(numbered, PageRequest(url: "http://h/items"), .init(base: "http://h"), deep: deep)
        #expect(try pages.advance(page(1, 2)))
        #expect(try pages.advance(page(3, 4)))
        #expect(pages.url == "http://h/items?page=3&n=2")
        #expect(try !pages.restart(afterStatus: 500))
        let position = pages.position
        #expect(try pages.restart(afterStatus: 422))
        #expect(pages.url == "http://h/items?page=1&n=2&since=4")
        #expect(try pages.advance(page(4, 5)))
        #expect(pages.url == "http://h/items?page=2&n=2&since=4")
        #expect(try !pages.advance(page(6)))
        // One that was interrupted before the refusal knows where to begin, too.
        var resumed = try PageSequence(
            numbered, PageRequest(url: "http://h/items"), .init(base: "http://h"), deep: deep)
        try resumed.resume(at: position, ordinal: 3, listed: 4)
        #expect(try resumed.restart(afterStatus: 422))
        #expect(resumed.url == "http://h/items?page=1&n=2&since=4")
    }

    @Test("a refusal of the first page is a refusal, and one at the same place again an error")
    func stuck() throws {
        var pages = try PageSequence(numbered, PageRequest(url: "http://h/items"), .init(base: "http://h"), deep: deep)
        #expect(try !pages.restart(afterStatus: 422))
        #expect(try pages.advance(page(4, 4)))
        #expect(try pages.restart(afterStatus: 422))
        #expect(try pages.advance(page(4, 4)))
        #expect(throws: PaginationError.self) { try pages.restart(afterStatus: 422) }
    }

    @Test("it begins again before it is refused, where the limit is known")
    func beforehand() throws {
        var limited = deep
        (limited.statuses, limited.records) = ([], 4)
        var pages = try PageSequence(
            numbered, PageRequest(url: "http://h/items"), .init(base: "http://h"), deep: limited)
        #expect(try pages.advance(page(1, 2)))
        #expect(try pages.advance(page(3, 4)))
        #expect(pages.url == "http://h/items?page=1&n=2&since=4" && pages.ordinal == 3 && pages.listed == 4)
    }

    @Test("the page before a restart may come again: all its records have the value behind which the list begins")
    func equalPages() throws {
        var limited = deep
        (limited.statuses, limited.records) = ([], 4)
        var pages = try PageSequence(
            numbered, PageRequest(url: "http://h/items"), .init(base: "http://h"), deep: limited)
        func page(_ digest: Int, _ ids: Int...) -> PageFacts {
            PageFacts(
                headers: TransportHeaders(), recordCount: ids.count, values: [:],
                records: PageFacts.RecordValues(ids.map(String.init)), digest: digest)
        }
        #expect(try pages.advance(page(1, 1, 2)))
        #expect(try pages.advance(page(2, 3, 3)))
        #expect(pages.url == "http://h/items?page=1&n=2&since=3")
        #expect(try pages.advance(page(2, 3, 3)))
        #expect(throws: PaginationError.self) { try pages.advance(page(2, 3, 3)) }
    }

    @Test("a total is that of the list behind the record")
    func totals() throws {
        let style = Pagination.offset(.query("o"), total: "total")
        var pages = try PageSequence(style, PageRequest(url: "http://h/items"), .init(base: "http://h"), deep: deep)
        func total(_ total: Int, _ page: PageFacts) -> PageFacts {
            var page = page
            page.values["total"] = "\(total)"
            return page
        }
        #expect(try pages.advance(total(5, page(1, 2))))
        #expect(try pages.restart(afterStatus: 422))
        #expect(try pages.advance(total(4, page(2, 3))))
        #expect(try !pages.advance(total(4, page(4, 5))))
    }
}
