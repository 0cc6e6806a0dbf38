// From page to page through a cache: every pagination style, from the server and from the store
// alone.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Record cache: pages", .serialized, .timeLimit(.minutes(5)))
struct RecordCacheNextTests {
    /// A list: the endpoint, and the pages of its server.
    struct List: Sendable, CustomTestStringConvertible {
        var name: String
        var endpoint: String
        /// Targets; the records of each, or nil for a refusal (422); members of the body; header
        /// fields.
        var pages: [(target: String, ids: [Int]?, members: String, fields: [String])]
        /// The pages that a caller gets; all of them if nil.
        var answers: [[Int]]?
        var testDescription: String { name }
    }

    static let lists: [List] =
        [
            List(name: "single_page", endpoint: "paginate: single_page", pages: [("/v1/items", [1, 2], "", [])]),
            List(
                name: "header_link", endpoint: "paginate: header_link",
                pages: [
                    ("/v1/items", [1, 2], "", ["Link: <https://api.test.example/v1/items?page=2>; rel=\"next\""]),
                    ("/v1/items?page=2", [3, 4], "", ["Link: </v1/items?page=3>; rel=\"next\""]),
                    ("/v1/items?page=3", [5], "", []),
                ]),
        ]
        + MirrorPaginationTests.rows.map { row in
            List(
                name: row.name, endpoint: "paginate: \(row.paginate)",
                pages: row.pages.map { ($0.target, Optional($0.ids), $0.members, $0.fields) })
        } + [
            List(
                name: "header_cursor, a number",
                endpoint: "paginate: { header_cursor: { field: X-Next, param: after } }",
                pages: [
                    ("/v1/items", [1, 2], "", ["X-Next: 1"]), ("/v1/items?after=1", [3, 4], "", ["X-Next: 2"]),
                    // A full last page would be requested again behind its 304.
                    ("/v1/items?after=2", [5], "", []),
                ]),
            List(
                name: "offset, by the total of the body alone",
                endpoint: "paginate: { offset: { param: offset, total: total } }",
                pages: [
                    ("/v1/items?offset=0", [1, 2], #""total":5"#, []),
                    ("/v1/items?offset=2", [3, 4], #""total":5"#, []),
                    ("/v1/items?offset=4", [5], #""total":5"#, []),
                ]),
            List(
                name: "page_number, by the total of the body alone",
                endpoint: "paginate: { page_number: { param: page, total: total } }",
                pages: [
                    ("/v1/items?page=1", [1, 2], #""total":5"#, []), ("/v1/items?page=2", [3, 4], #""total":5"#, []),
                    ("/v1/items?page=3", [5], #""total":5"#, []),
                ]),
            List(
                name: "page_number, to an empty page", endpoint: "paginate: { page_number: { param: page } }",
                pages: [
                    ("/v1/items?page=1", [1, 2], "", []), ("/v1/items?page=2", [3], "", []),
                    ("/v1/items?page=3", [], "", []),
                ]),
            List(
                name: "auto, by Link", endpoint: "paginate: auto",
                pages: [
                    ("/v1/items", [1, 2], "", ["Link: </v1/items?page=2>; rel=\"next\""]),
                    ("/v1/items?page=2", [3], "", []),
                ]),
            List(
                name: "auto, numbered", endpoint: "with: { page: 1 }\n    paginate: auto",
                pages: [
                    ("/v1/items?page=1", [1, 2], #""total_pages":3"#, []),
                    ("/v1/items?page=2", [3, 4], #""total_pages":3"#, []),
                    ("/v1/items?page=3", [5], #""total_pages":3"#, []),
                ]),
            List(
                name: "auto, by offset", endpoint: "with: { offset: 0 }\n    paginate: auto",
                pages: [
                    ("/v1/items?offset=0", [1, 2], #""total":5"#, []),
                    ("/v1/items?offset=2", [3, 4], #""total":5"#, []),
                    ("/v1/items?offset=4", [5], #""total":5"#, []),
                ]),
            List(
                name: "restart after a number of pages",
                endpoint:
                    "paginate: { page_number: { param: page, per_page: { n: 2 } } }\n    restart: { param: since, field: id, pages: 2 }",
                pages: [
                    ("/v1/items?page=1&n=2", [1, 2], "", []), ("/v1/items?page=2&n=2", [3, 4], "", []),
                    ("/v1/items?page=1&n=2&since=4", [4, 5], "", []), ("/v1/items?page=2&n=2&since=4", [6], "", []),
                ]),
            List(
                name: "restart at a refusal",
                endpoint:
                    "paginate: { page_number: { param: page, per_page: { n: 2 } } }\n    restart: { param: since, field: id, status: 422 }",
                pages: [
                    ("/v1/items?page=1&n=2", [1, 2], "", []), ("/v1/items?page=2&n=2", [3, 4], "", []),
                    ("/v1/items?page=3&n=2", nil, "", []),
                    ("/v1/items?page=1&n=2&since=4", [4, 5], "", []), ("/v1/items?page=2&n=2&since=4", [6], "", []),
                ], answers: [[1, 2], [3, 4], [4, 5], [6]]),
            List(
                name: "a limit of pages", endpoint: "paginate: header_link\n    limit: { pages: 2, then: stop }",
                pages: [
                    ("/v1/items", [1], "", ["Link: </v1/items?page=2>; rel=\"next\""]),
                    ("/v1/items?page=2", [2], "", ["Link: </v1/items?page=3>; rel=\"next\""]),
                    ("/v1/items?page=3", [3], "", []),
                ], answers: [[1], [2]]),
            List(
                name: "a limit of records",
                endpoint: "paginate: { cursor: { path: next, param: c } }\n    limit: { records: 3, then: stop }",
                pages: [
                    ("/v1/items", [1, 2], #""next":"a""#, []), ("/v1/items?c=a", [3, 4], #""next":"b""#, []),
                    ("/v1/items?c=b", [5], "", []),
                ], answers: [[1, 2], [3, 4]]),
            List(
                name: "a limit that is not reached", endpoint: "paginate: header_link\n    limit: { records: 30 }",
                pages: [
                    ("/v1/items", [1, 2], "", ["Link: </v1/items?page=2>; rel=\"next\""]),
                    ("/v1/items?page=2", [3], "", []),
                ]),
            List(
                name: "custom", endpoint: "paginate: single_page",
                pages: [
                    ("/v1/items", [1, 2], #""more":true"#, []), ("/v1/items?n=2", [3, 4], #""more":true"#, []),
                    ("/v1/items?n=3", [5], #""more":false"#, []),
                ]),
        ]

    static func recordings(_ list: List) -> [String] {
        list.pages.enumerated().map { index, page in
            guard let ids = page.ids else { return "GET \(page.target)\nHTTP/1.1 422 Too deep\n\n{}" }
            let items = ids.map { #"{"id":\#($0),"name":"n"}"# }.joined(separator: ",")
            let body = "{\"items\":[\(items)]\(page.members.isEmpty ? "" : "," + page.members)}"
            let fields = ["Cache-Control: max-age=600", "ETag: \"p\(index)\""] + page.fields
            return "GET \(page.target)\nHTTP/1.1 200 OK\n" + fields.map { $0 + "\n" }.joined() + "\n" + body
        }
    }

    static func fixture(_ list: List) throws -> CacheFixture {
        var description = try Description.parse(itemsYAML("\(list.endpoint)\n    records: items"), file: "tarn.yaml")
        guard list.name == "custom" else { return try CacheFixture(description) }
        description.endpoints[0].pagination = .custom(name: "counted", wants: PageWants(values: ["more"])) {
            _, facts, ordinal in
            facts.values["more"] == "true" ? .next("/v1/items?n=\(ordinal + 1)") : .end
        }
        return try CacheFixture(description)
    }

    /// The ids of all pages, from one answer to the next.
    private func walk(
        _ cache: RecordCache, _ policy: CachePolicy? = nil, source: CachedAnswer.Source,
        next: (CacheRequest) -> CacheRequest = { $0 }
    ) async throws -> [[Int]] {
        var pages: [[Int]] = []
        var request: CacheRequest? = CacheRequest("items")
        while let wanted = request, pages.count < 20 {
            let answer = try await cache.fetch(wanted, policy: policy)
            #expect(answer.source == source, "page \(pages.count + 1)")
            pages.append(answer.records.map { if case .int(let id)? = $0["id"] { Int(id) } else { -1 } })
            request = answer.next.map(next)
        }
        return pages
    }

    @Test(
        "next leads through the whole list: from the server, from the store, after a 304, and from the store alone",
        arguments: lists)
    func everyStyle(_ list: List) async throws {
        let expected = list.answers ?? list.pages.compactMap(\.ids)
        let fixture = try Self.fixture(list)
        do {
            let server = try LocalServer(Self.recordings(list))
            let cache = try fixture.cache(server.base + "/v1")
            #expect(try await walk(cache, source: .fetched) == expected)
            let requests = server.requests.count
            #expect(try await walk(cache, source: .stored) == expected)
            #expect(server.requests.count == requests)
            fixture.clock.pass(1000)
            #expect(try await walk(cache, source: .revalidated) == expected)
        }
        let alone = try fixture.cache(try CacheFixture.nobody())
        #expect(try await walk(alone, .cacheOnly, source: .stored) == expected)
        fixture.clock.pass(1000)
        #expect(try await walk(alone, source: .stale) == expected)
    }

    @Test(
        "a page of a list that is asked for by its URL alone knows the next one as well",
        arguments: lists.filter { !$0.name.hasPrefix("restart") })
    func byURL(_ list: List) async throws {
        let expected = list.answers ?? list.pages.compactMap(\.ids)
        let fixture = try Self.fixture(list)
        let server = try LocalServer(Self.recordings(list))
        let cache = try fixture.cache(server.base + "/v1")
        _ = try await walk(cache, source: .fetched)
        let alone = try fixture.cache(try CacheFixture.nobody())
        #expect(try await walk(alone, .cacheOnly, source: .stored) { CacheRequest("items", url: $0.url) } == expected)
    }

    @Test("what a mirror has walked is gone through in the same way, without the server", arguments: lists)
    func mirrored(_ list: List) async throws {
        let expected = list.answers ?? list.pages.compactMap(\.ids)
        let fixture = try Self.fixture(list)
        do {
            let server = try LocalServer(Self.recordings(list))
            let report = try await fixture.mirrored.sync(server.base + "/v1") { $0.time = fixture.clock.source }
            #expect(report.failures.isEmpty, "\(report.texts)")
        }
        #expect(try await walk(try fixture.cache(try CacheFixture.nobody()), .cacheOnly, source: .stored) == expected)
    }

    @Test("the total of a list is compared with all of its pages, not with one that is asked for by its URL alone")
    func totalOfOnePage() async throws {
        let fixture = try CacheFixture(yaml: itemsYAML())
        func page(_ target: String, _ id: Int, _ fields: String...) -> String {
            let all = ["Cache-Control: max-age=600", "X-Total-Count: 2"] + fields
            return "GET \(target)\nHTTP/1.1 200 OK\n" + all.map { $0 + "\n" }.joined()
                + "\n[{\"id\":\(id),\"name\":\"n\"}]"
        }
        let server = try LocalServer([
            page("/v1/items", 1, "Link: </v1/items?page=2>; rel=\"next\""), page("/v1/items?page=2", 2),
        ])
        let cache = try fixture.cache(server.base + "/v1")
        let alone = try await cache.fetch(CacheRequest("items", url: "https://api.test.example/v1/items?page=2"))
        #expect(alone.records.count == 1 && alone.next == nil)
    }

    @Test("a relative link is relative to where a redirect has led, also from the store")
    func redirected() async throws {
        let fixture = try CacheFixture(yaml: itemsYAML("paginate: { json_link: { path: next } }\n    records: items"))
        do {
            let server = try LocalServer([
                "GET /v1/items\nHTTP/1.1 302 Found\nLocation: /v1/deeper/list\n\n",
                "GET /v1/deeper/list\nHTTP/1.1 200 OK\nCache-Control: max-age=600\n\n"
                    + #"{"items":[{"id":1,"name":"n"}],"next":"more"}"#,
                "GET /v1/deeper/more\nHTTP/1.1 200 OK\nCache-Control: max-age=600\n\n"
                    + #"{"items":[{"id":2,"name":"n"}]}"#,
            ])
            #expect(try await walk(try fixture.cache(server.base + "/v1"), source: .fetched) == [[1], [2]])
        }
        let alone = try fixture.cache(try CacheFixture.nobody())
        let next = try #require(try await alone.fetch(CacheRequest("items"), policy: .cacheOnly).next)
        #expect(next.url == "https://api.test.example/v1/deeper/more")
        #expect(try await alone.fetch(next, policy: .cacheOnly).records.count == 1)
    }

    @Test(
        "a next page that must not be asked for ends the walk with an error, not quietly",
        arguments: [
            ("paginate: header_link", "Link: <https://other.example/items>; rel=\"next\"", "another server"),
            ("paginate: header_link", "Link: <https://api.test.example/v1/items>; rel=\"next\"", "already fetched"),
            (
                "paginate: header_link\n    limit: { pages: 1 }", "Link: </v1/items?page=2>; rel=\"next\"",
                "more than 1 pages"
            ),
        ])
    func unwalkable(_ endpoint: String, _ field: String, _ message: String) async throws {
        let fixture = try CacheFixture(yaml: itemsYAML("\(endpoint)\n    records: items"))
        let server = try LocalServer([
            "GET /v1/items\nHTTP/1.1 200 OK\nCache-Control: max-age=600\n\(field)\n\n"
                + #"{"items":[{"id":1,"name":"n"}]}"#
        ])
        let cache = try fixture.cache(server.base + "/v1")
        for _ in 0..<2 {
            let next = try #require(try await cache.fetch(CacheRequest("items")).next)
            await #expect { try await cache.fetch(next) } throws: { "\($0)".contains(message) }
        }
        #expect(server.requests.count == 1)
    }
}
