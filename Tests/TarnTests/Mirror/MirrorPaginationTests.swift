// Every pagination style of a description, from a real server into a real store; and once more,
// answered 304 throughout.

import Foundation
import Tarn
import TestSupport
import Testing

@Suite("Mirror: pagination", .timeLimit(.minutes(5)))
struct MirrorPaginationTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var paginate: String
        /// From targets to the listed records, and to the rest of the response (JSON members, then
        /// header fields).
        var pages: [(target: String, ids: [Int], members: String, fields: [String])]
        var choice: String?
        var testDescription: String { name }
    }

    static let rows: [Row] = [
        Row(
            name: "json_link", paginate: "{ json_link: { path: links.next } }",
            pages: [
                ("/v1/items", [1, 2], #""links":{"next":"https://api.test.example/v1/items?page=2"}"#, []),
                ("/v1/items?page=2", [3], #""links":{"next":null}"#, []),
            ]),
        Row(
            name: "json_link to a list of links", paginate: "{ json_link: { path: links } }",
            pages: [
                (
                    "/v1/items", [1, 2],
                    #""links":[{"rel":"self","href":"/v1/items"},{"rel":"next","href":"/v1/items?page=2"}]"#, []
                ), ("/v1/items?page=2", [3], #""links":[{"rel":"prev","href":"/v1/items"}]"#, []),
            ]),
        Row(
            name: "header_cursor", paginate: "{ header_cursor: { field: X-Next, param: after } }",
            pages: [("/v1/items", [1, 2], "", ["X-Next: a=b"]), ("/v1/items?after=a%3Db", [3], "", [])]),
        Row(
            name: "cursor", paginate: "{ cursor: { path: meta.next, param: cursor, has_more: meta.more } }",
            pages: [
                ("/v1/items", [1, 2], #""meta":{"next":"c1","more":true}"#, []),
                ("/v1/items?cursor=c1", [3, 4], #""meta":{"next":"c2","more":true}"#, []),
                ("/v1/items?cursor=c2", [5], #""meta":{"next":"c3","more":false}"#, []),
            ]),
        Row(
            name: "offset", paginate: "{ offset: { param: offset, per_page: { limit: 2 }, total: total } }",
            pages: [
                ("/v1/items?offset=0&limit=2", [1, 2], #""total":3"#, []),
                ("/v1/items?offset=2&limit=2", [3], #""total":3"#, []),
            ]),
        Row(
            name: "page_number", paginate: "{ page_number: { param: page, start: 0, total_pages: pages } }",
            pages: [("/v1/items?page=0", [1, 2], #""pages":2"#, []), ("/v1/items?page=1", [3], #""pages":2"#, [])]),
        Row(
            name: "max_id", paginate: "{ max_id: { param: max_id, includes_named: true } }",
            pages: [
                ("/v1/items", [9, 8], "", []), ("/v1/items?max_id=7", [7, 3], "", []),
                ("/v1/items?max_id=2", [], "", []),
            ]),
        Row(
            name: "since_id", paginate: "{ since_id: { param: since_id } }",
            pages: [
                ("/v1/items", [1, 2], "", []), ("/v1/items?since_id=2", [3], "", []),
                ("/v1/items?since_id=3", [], "", []),
            ]),
        Row(
            name: "auto", paginate: "auto",
            pages: [
                ("/v1/items", [1, 2], #""next":"/v1/items?page=2""#, []),
                ("/v1/items?page=2", [3], #""next":null"#, []),
            ],
            choice: "{ json_link: { path: 'next' } }: the answer has the URL of a next page at next"),
        Row(
            name: "auto, nothing to follow", paginate: "auto", pages: [("/v1/items", [1, 2], "", [])],
            choice: "single_page: nothing in the answer speaks of another page"),
    ]

    private func recordings(_ row: Row) -> [String] {
        row.pages.enumerated().map { index, page in
            let items = page.ids.map { #"{"id":\#($0),"name":"n"}"# }.joined(separator: ",")
            let body = "{\"items\":[\(items)]\(page.members.isEmpty ? "" : "," + page.members)}"
            return "GET \(page.target)\nHTTP/1.1 200 OK\nETag: \"p\(index)\"\n" + page.fields.map { $0 + "\n" }.joined()
                + "\n" + body
        }
    }

    @Test("all pages are walked, in order, and again with nothing but conditional requests", arguments: rows)
    func walk(_ row: Row) async throws {
        let server = try LocalServer(recordings(row))
        let store = try MirrorStore(yaml: itemsYAML("paginate: \(row.paginate)\n    records: items"))
        let report = try await store.sync(server.base + "/v1")
        #expect(report.failures.isEmpty, "\(report.texts)")
        let targets = server.requests.map { String($0.split(separator: " ")[1]) }
        #expect(targets == row.pages.map(\.target))
        #expect(try store.count("Item") == Set(row.pages.flatMap(\.ids)).count)
        #expect(report.endpoints[0].pagination.map { "\($0)" } == row.choice)
        let again = try await store.sync(server.base + "/v1")
        #expect(again.failures.isEmpty && again.notModified == row.pages.count, "\(again.texts)")
        #expect(server.requests.dropFirst(row.pages.count).allSatisfy { $0.contains(" 304 conditional") })
    }

    @Test("a walk that fails at any page goes on there, whatever its style", arguments: rows)
    func resume(_ row: Row) async throws {
        for number in row.pages.indices.dropFirst() {
            let store = try MirrorStore(yaml: itemsYAML("paginate: \(row.paginate)\n    records: items"))
            let target = row.pages[number].target
            let failing = try LocalServer(recordings(row), "--fault", "\(target.dropFirst(9)):status:500")
            let failed = try await store.sync(failing.base + "/v1")
            #expect(failed.failures.count == 1)
            let server = try LocalServer(recordings(row))
            let report = try await store.sync(server.base + "/v1")
            #expect(report.failures.isEmpty, "\(report.texts)")
            #expect(server.requests.first?.contains(" \(target) ") == true, "\(server.requests)")
            #expect(try store.count("Item") == Set(row.pages.flatMap(\.ids)).count)
        }
    }

    @Test("a list that is asked for with POST: the cursor goes into the body, and a walk that fails goes on there")
    func post() async throws {
        func answer(_ ids: [Int], _ cursor: String) -> String {
            let items = ids.map { #"{"id":\#($0),"name":"n"}"# }.joined(separator: ",")
            let body = #"{"data":{"items":[\#(items)],"next":\#(cursor)}}"#
            return "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        }
        let yaml = itemsYAML(
            """
            body: { query: '{ items }', variables: { first: 2, owner: '{owner}' } }
                with: { owner: acme }
                records: data.items
                paginate: { cursor: { path: data.next, body: variables.after } }
            """)
        let store = try MirrorStore(yaml: yaml)
        let server = try RawServer([
            answer([1, 2], #""c1""#), answer([3, 4], #""c2""#), "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n",
        ])
        let first = try await store.sync(server.base + "/v1")
        #expect(first.texts.first?.hasPrefix("POST ") == true, "\(first.texts)")
        let bodies = server.requests.map { $0.components(separatedBy: "\r\n\r\n").last ?? "" }
        #expect(
            bodies == [
                #"{"query":"{ items }","variables":{"first":2,"owner":"acme"}}"#,
                #"{"query":"{ items }","variables":{"first":2,"owner":"acme","after":"c1"}}"#,
                #"{"query":"{ items }","variables":{"first":2,"owner":"acme","after":"c2"}}"#,
            ])
        #expect(
            server.requests.allSatisfy {
                $0.hasPrefix("POST /v1/items HTTP") && $0.contains("Content-Type: application/json\r\n")
            })
        let other = try RawServer([answer([5], "null")])
        let second = try await store.sync(other.base + "/v1")
        #expect(second.failures.isEmpty, "\(second.texts)")
        #expect(other.requests.first?.hasSuffix(#""after":"c2"}}"#) == true)
        #expect(try store.count("Item") == 5)
        #expect(try store.checkpoint("items")?.state == .complete)
    }

    @Test("a list as a cursor goes into the body as it is, also in a scan that goes on (Elasticsearch)")
    func searchAfter() async throws {
        func answer(_ hits: String) -> String {
            let body = #"{"hits":{"hits":[\#(hits)]}}"#
            return "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        }
        func hit(_ id: Int, _ sort: String) -> String { #"{"id":\#(id),"name":"n","sort":\#(sort)}"# }
        let yaml = itemsYAML(
            """
            body: { size: 2 }
                records: hits.hits
                paginate: { cursor: { path: 'hits.hits[-1].sort', body: search_after, end: empty } }
            """)
        let store = try MirrorStore(yaml: yaml)
        let failing = try RawServer([
            answer(hit(1, "[1,\"a\"]") + "," + hit(2, "[1700000000000,\"b\"]")), answer(hit(3, "[1700000000001,null]")),
            "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n",
        ])
        _ = try await store.sync(failing.base + "/v1")
        let sound = try RawServer([answer(hit(4, "[null]")), answer("")])
        let report = try await store.sync(sound.base + "/v1")
        #expect(report.failures.isEmpty, "\(report.texts)")
        let requests = failing.requests + sound.requests
        #expect(
            requests.map { $0.components(separatedBy: "\r\n\r\n").last ?? "" } == [
                #"{"size":2}"#, #"{"size":2,"search_after":[1700000000000,"b"]}"#,
                #"{"size":2,"search_after":[1700000000001,null]}"#, #"{"size":2,"search_after":[1700000000001,null]}"#,
                #"{"size":2,"search_after":[null]}"#,
            ])
        #expect(try store.count("Item") == 4)
        #expect(try store.checkpoint("items")?.state == .complete)
    }

    @Test("a server that refuses deep pages is walked to the end all the same")
    func deepPages() async throws {
        func page(_ target: String, _ ids: [Int], status: String = "200 OK") -> String {
            recording(
                target, "[" + ids.map { #"{"id":\#($0),"name":"n"}"# }.joined(separator: ",") + "]", status: status)
        }
        let server = try LocalServer([
            page("/v1/items?page=1&n=2", [1, 2]), page("/v1/items?page=2&n=2", [3, 4]),
            page("/v1/items?page=3&n=2", [], status: "422 Too deep"), page("/v1/items?page=1&n=2&since=4", [4, 5]),
            page("/v1/items?page=2&n=2&since=4", [6]),
        ])
        let store = try MirrorStore(
            yaml: itemsYAML(
                "paginate: { page_number: { param: page, per_page: { n: 2 } } }\n    restart: { param: since, field: id, status: 422 }"
            ))
        let report = try await store.sync(server.base + "/v1")
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(try store.count("Item") == 6)
        #expect(server.requests.count == 5)
    }

    @Test(
        "a link to another server is followed where the description allows it, without credentials and the API's own fields"
    )
    func otherServer() async throws {
        let cdn = try RawServer(["HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n[{\"id\":3,\"name\":\"n\"}]"])
        let body = "[{\"id\":1,\"name\":\"n\"}]"
        let api = try RawServer([
            "HTTP/1.1 200 OK\r\nLink: <\(cdn.base)/pages/2>; rel=\"next\"\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        ])
        let yaml = itemsYAML(
            api:
                "  follow: ['\(cdn.base)/pages']\n  headers: { X-Team: blue, Accept: application/json }\n  auth: { bearer: { env: T } }"
        )
        let store = try MirrorStore(yaml: yaml)
        let report = try await store.sync(api.base + "/v1", environment: ["T": "s3cret"])
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(try store.count("Item") == 2)
        #expect(api.requests.first?.contains("Bearer s3cret") == true && api.requests.first?.contains("X-Team") == true)
        let other = try #require(cdn.requests.first)
        #expect(!other.contains("s3cret") && !other.contains("X-Team") && other.contains("Accept: application/json"))
    }

    @Test("a walk that ends at its limit is no scan: nothing is looked for that it did not list")
    func limits() async throws {
        let pages = itemPages(4).map { $0.replacing("GET /items", with: "GET /v1/items") }
        let server = try LocalServer(pages)
        let quiet = try MirrorStore(
            yaml: itemsYAML("paginate: header_link\n    limit: { pages: 2, then: stop }\n    orphans: after_one_scan"))
        let report = try await quiet.sync(server.base + "/v1")
        #expect(report.failures.isEmpty && report.pages == 2, "\(report.texts)")
        #expect(report.endpoint("items")?.cutOff == 1)
        #expect(report.orphans?.refusals.first?.contains("ended at the limit") == true)
        let strict = try MirrorStore(yaml: itemsYAML("paginate: header_link\n    limit: { records: 5 }"))
        let failed = try await strict.sync(server.base + "/v1")
        #expect(failed.texts.first?.contains("more than 5 records") == true, "\(failed.texts)")
        #expect(try strict.count("Item") == 6)
    }

    @Test("a closure decides what comes next, for an API that no style fits")
    func custom() async throws {
        let server = try LocalServer([
            recording("/v1/items", #"{"items":[{"id":1,"name":"n"}],"week":7}"#),
            recording("/v1/items?week=8", #"{"items":[],"week":8}"#),
        ])
        var store = try MirrorStore(yaml: itemsYAML("records: items"))
        store.description.endpoints[0].pagination = .custom(name: "weeks", wants: PageWants(values: ["week"])) {
            request, facts, _ in
            guard facts.recordCount > 0, let week = facts.values["week"].flatMap({ Int($0) }) else { return .end }
            return .next("?week=\(week + 1)")
        }
        let report = try await store.sync(server.base + "/v1")
        #expect(report.failures.isEmpty && report.pages == 2, "\(report.texts)")
    }
}
