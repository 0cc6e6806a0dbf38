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
            name: "parameters (MediaWiki): one that an object leaves out is not sent again",
            pagination: .parameters(path: "continue"),
            pages: [
                page(2, ["continue": PageFacts.json + #"{"excontinue":2,"continue":"||","none":null}"#]),
                page(2, ["continue": PageFacts.json + #"{"gapcontinue":"B","state":true}"#]), page(1),
            ],
            asked: [
                "/items?state=all", "/items?state=all&excontinue=2&continue=%7C%7C",
                "/items?state=true&gapcontinue=B",
            ]),
        Row(
            name: "a cursor that is the only parameter (Dynatrace)",
            pagination: Pagination(
                CursorPagination(path: "next", sends: .query("c"), endsAtEmptyPage: false, isAlone: true)),
            pages: [page(2, ["next": "a"]), page(2, ["next": "b"]), page(1)],
            asked: ["/items?state=all", "/items?c=a", "/items?c=b"]),
        Row(
            name: "a cursor that is the only member of the body",
            pagination: Pagination(
                CursorPagination(path: "next", sends: .body(["c"]), endsAtEmptyPage: false, isAlone: true)),
            pages: [page(2, ["next": "a"]), page(2, ["next": PageFacts.json + "[1]"]), page(1)],
            asked: [
                #"/items?state=all {"query":"a\"b","page":{"size":2}}"#, #"/items?state=all {"c":"a"}"#,
                #"/items?state=all {"c":[1]}"#,
            ],
            body: search),
        Row(
            name: "an offset in a query (QuickBooks)",
            pagination: Pagination(
                OffsetPagination(
                    sends: .query("q"), start: 1, end: .short, text: OffsetText("from-Item-at-{value}-most-2"))),
            pages: [page(2), page(1), page(0)],
            asked: [
                "/items?state=all&q=from-Item-at-1-most-2", "/items?state=all&q=from-Item-at-3-most-2",
                "/items?state=all&q=from-Item-at-4-most-2",
            ]),
        Row(
            name: "parameters of a form", pagination: .parameters(path: "next"),
            pages: [page(2, ["next": PageFacts.json + #"{"from":{"id":7},"q":"b"}"#]), page(1, ["next": "false"])],
            asked: ["/items?state=all q=a", "/items?state=all q=b&from=%7B%22id%22%3A7%7D"],
            body: .form([.init("q", "a")])),
        Row(
            name: "parameters of a JSON body keep their types", pagination: .parameters(path: "next"),
            pages: [page(2, ["next": PageFacts.json + #"{"after":[1,"x"],"size":3}"#]), page(1, ["next": ""])],
            asked: [
                #"/items?state=all {"query":"a\"b","page":{"size":2}}"#,
                #"/items?state=all {"query":"a\"b","page":{"size":2},"after":[1,"x"],"size":3}"#,
            ],
            body: search),
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
            name: "json_link to a list of links (FHIR)", pagination: .jsonLink(path: "link"),
            pages: [
                page(
                    2,
                    [
                        "link": PageFacts.container, "link[0].relation": "self", "link[0].url": "/items",
                        "link[1].relation": "Next", "link[1].url": "/items?c=1",
                    ]),
                page(
                    2,
                    [
                        "link": PageFacts.container, "link[0].relation": "next", "link[0].url": "/items?c=2",
                        "link[1].relation": "previous", "link[1].url": "/items",
                    ]),
                page(1, ["link": PageFacts.container, "link[0].relation": "self", "link[0].url": "/items?c=2"]),
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
            name: "a list as the cursor in the body (Elasticsearch)",
            pagination: .cursor(path: "hits[-1].sort", sends: .body(["search_after"])),
            pages: [
                page(2, ["hits[-1].sort": PageFacts.json + #"[1700000000000,"a\"b",null]"#]),
                page(1, ["hits[-1].sort": PageFacts.json + #"{"at":[2.50]}"#]), page(0),
            ],
            asked: [
                #"/items?state=all {"query":"{ a }","variables":{"first":2}}"#,
                #"/items?state=all {"query":"{ a }","variables":{"first":2},"search_after":[1700000000000,"a\"b",null]}"#,
                #"/items?state=all {"query":"{ a }","variables":{"first":2},"search_after":{"at":[2.50]}}"#,
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
            name: "since_id with texts that look the same", pagination: .recordCursor(.forward, sends: .query("after")),
            pages: [page(2, ids: ["cafe", "cafe\u{301}"]), page(2, ids: ["caff", "caf\u{E9}"]), page(0)],
            asked: ["/items?state=all", "/items?state=all&after=cafe%CC%81", "/items?state=all&after=caf%C3%A9"]),
        Row(
            name: "cursors in a body that look the same", pagination: .cursor(path: "c", sends: .body(["after"])),
            pages: [page(2, ["c": "e\u{301}"]), page(2, ["c": "\u{E9}"]), page(2)],
            asked: [
                "/items?state=all {}", "/items?state=all {\"after\":\"e\u{301}\"}",
                "/items?state=all {\"after\":\"\u{E9}\"}",
            ], body: .json(.object([]))),
        Row(
            name: "a page without records whose cursor looks like its own",
            pagination: .cursor(path: "c", sends: .body(["after"])),
            pages: [page(2, ["c": "e\u{301}"]), page(0, ["c": "\u{E9}"]), page(2)],
            asked: [
                "/items?state=all {}", "/items?state=all {\"after\":\"e\u{301}\"}",
                "/items?state=all {\"after\":\"\u{E9}\"}",
            ], body: .json(.object([]))),
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

    @Test(
        "a link of a list may have several relations, and one that may lead to a next page is no end",
        arguments: [("next last", true), ("last next", true), ("nextPage", false), ("http://h/rel#next", false)])
    func relations(_ relation: String, isFollowed: Bool) throws {
        let values = ["links": PageFacts.container, "links[0].rel": relation, "links[0].href": "/items?c=1"]
        let pages = [Self.page(2, values), Self.page(1)], style = Pagination.jsonLink(path: "links")
        if isFollowed {
            #expect(try Self.walk(style, pages) == ["/items?state=all", "/items?c=1"])
        } else {
            #expect(throws: PaginationError.self) { try Self.walk(style, pages) }
        }
        let choice = AutomaticPagination.choose(PageRequest(url: "http://h/items"), pages[0])
        #expect(choice.pagination == (isFollowed ? style : .singlePage))
    }

    @Test("the page before is read from a list of links, too", arguments: ["prev", "previous", "last previous"])
    func precedingInList(_ relation: String) throws {
        let sequence = try PageSequence(
            .jsonLink(path: "links"), PageRequest(url: "http://h/items?page=2"), PageSequence.Bounds(base: "http://h"))
        let facts = Self.page(
            1, ["links": PageFacts.container, "links[0].rel": relation, "links[0].href": "/items?page=1"])
        #expect(sequence.preceding(facts) == .page(PageRequest(url: "http://h/items?page=1")))
    }

    @Test("a list is no cursor for a query or a form, which have texts only")
    func composites() throws {
        let facts = Self.page(1, ["next": PageFacts.json + "[1]"])
        let cases: [(Pagination.ParameterPlace, TransportBody?)] = [(.query("c"), nil), (.body(["c"]), .form([]))]
        for (place, body) in cases {
            let error = #expect(throws: PaginationError.self) {
                try Self.walk(
                    .cursor(path: "next", sends: place), from: PageRequest(url: "http://h/items", body: body), [facts])
            }
            #expect(error?.description.contains("`next` is an object or a list") == true, "\(place)")
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

    @Test("the text of a style, which stores keep, is that of the version before flags had a meaning")
    func textOfFlags() throws {
        #expect(
            Pagination.cursor(path: "next", sends: .query("c"), hasMore: "more").text
                == #"cursor CursorPagination(path: "next", sends: c, start: nil, hasMore: Optional("more"), last: nil, endsAtEmptyPage: false)"#
        )
        #expect(Pagination.jsonLink(path: "next").text == #"json_link JSONLinkPagination(path: "next")"#)
        #expect(
            Pagination.offset(.query("o"), size: .init(.query("n"), 2), hasMore: "more").text
                == #"offset OffsetPagination(sends: o, start: 0, size: Optional(TarnHTTP.Pagination.PageSize(place: n, value: 2)), total: nil, hasMore: Optional("more"), end: TarnHTTP.Pagination.End.short)"#
        )
        // A flag with the opposite meaning, or another one, is another style: no scan goes on with it.
        func values(_ flag: String) -> PaginationValues {
            PaginationValues(["path": .text("next"), "param": .parameter(.query("c")), flag: .text("rest")])
        }
        let cursors = try ["has_more", "is_last"].map { try Pagination(CursorPagination(values: values($0))).text }
        let links = try ["has_more", "is_last"].map { try Pagination(JSONLinkPagination(values: values($0))).text }
        #expect(cursors[0].contains(#"Optional("rest")"#) && cursors[1].contains(#"Optional(last "rest")"#))
        #expect(links[0].hasSuffix(#"hasMore: "rest")"#) && links[1].hasSuffix(#"hasMore: last "rest")"#), "\(links)")
    }
}
