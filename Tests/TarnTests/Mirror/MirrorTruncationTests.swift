// Mirrors of servers with more pages than a scan fetches: an error with the sign and the setting,
// never a silently short list.

import Foundation
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: truncation", .serialized, .timeLimit(.minutes(5)))
struct MirrorTruncationTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        /// Nil for an endpoint without `paginate`.
        var paginate: String?
        /// From targets to the listed records, and to the rest of the response (JSON members, then
        /// header fields).
        var pages: [(target: String, ids: [Int], members: String, fields: [String])]
        /// The expected error; nil if everything is mirrored.
        var error: String?
        var testDescription: String { name }
    }

    private static let link = ["Link: <https://api.test.example/v1/items?page=2>; rel=\"next\""]

    static let rows: [Row] = [
        Row(
            name: "no paginate, and a Link field", paginate: nil,
            pages: [("", [1, 2], "", link), ("?page=2", [3], "", [])]),
        Row(
            name: "no paginate, and a next URL in an envelope of its own", paginate: nil,
            pages: [
                ("", [1, 2], #""result_info":{"paging":{"next_url":"/v1/items?p=2"}}"#, []),
                ("?p=2", [3], #""result_info":{"paging":{"next_url":null}}"#, []),
            ]),
        Row(
            name: "no paginate, and nothing that can be followed", paginate: nil,
            pages: [("", [1, 2], #""total_count":100"#, [])],
            error: "ends after 2 records, but the page speaks of more: total_count says that there are 100 records"),
        Row(
            name: "single_page", paginate: "single_page", pages: [("", [1, 2], "", link)],
            error: "Write paginate: header_link"),
        Row(
            name: "header_link", paginate: "header_link",
            pages: [("", [1, 2], "", link), ("?page=2", [3], #""meta":{"total":5}"#, [])],
            error: "meta.total says that there are 5 records"),
        Row(
            name: "json_link", paginate: "{ json_link: { path: nxt } }",
            pages: [("", [1, 2], #""_links":{"next":{"href":"/v1/items?page=2"}}"#, [])],
            error: "_links.next.href names a next page"),
        Row(
            name: "header_cursor", paginate: "{ header_cursor: { field: X-Cursor, param: c } }",
            pages: [("", [1, 2], "", ["Content-Range: items 0-1/7"])],
            error: "Content-Range says that there are 7 records"),
        Row(
            name: "cursor", paginate: "{ cursor: { path: cursor, param: c } }",
            pages: [("", [1, 2], #""response_metadata":{"next_cursor":"dXN"}"#, [])],
            error: "Write paginate: { cursor: { path: response_metadata.next_cursor, param: cursor } }"),
        Row(
            name: "offset, and a server that gives less than asked for",
            paginate: "{ offset: { param: offset, per_page: { limit: 100 } } }",
            pages: [
                ("?offset=0&limit=100", [1, 2], #""count":5,"next":"/v1/items?offset=2""#, []),
                ("?offset=2&limit=100", [3, 4], #""count":5,"next":"/v1/items?offset=4""#, []),
                ("?offset=4&limit=100", [5], #""count":5,"next":null"#, []),
            ]),
        Row(
            name: "offset, and an end before the count",
            paginate: "{ offset: { param: offset, per_page: { limit: 100 } } }",
            pages: [
                ("?offset=0&limit=100", [1, 2], #""count":5"#, []), ("?offset=2&limit=100", [], #""count":5"#, []),
            ], error: "count says that there are 5 records"),
        Row(
            name: "page_number, and a server that gives less than asked for",
            paginate: "{ page_number: { param: page, per_page: { n: 100 } } }",
            pages: [("?page=1&n=100", [1, 2], #""@odata.count":5"#, [])],
            error: "100 were asked for, and @odata\\.count says that there are 5 records"),
        Row(
            name: "page_number", paginate: "{ page_number: { param: page, per_page: { n: 2 } } }",
            pages: [("?page=1&n=2", [1, 2], "", []), ("?page=2&n=2", [3], "", ["X-Total-Pages: 4"])],
            error: "X-Total-Pages says that there are 4 pages"),
        Row(
            name: "max_id", paginate: "{ max_id: { param: max_id } }",
            pages: [("", [9, 8], "", ["X-Total-Count: 4"]), ("?max_id=8", [], "", ["X-Total-Count: 4"])],
            error: "X-Total-Count says that there are 4 records"),
        Row(
            name: "since_id", paginate: "{ since_id: { param: since_id } }",
            pages: [("", [1, 2], #""totalResults":4"#, []), ("?since_id=2", [], #""totalResults":4"#, [])],
            error: "totalResults says that there are 4 records"),
        Row(
            name: "auto, has_more", paginate: "auto", pages: [("", [1, 2, 3], #""has_more":true"#, [])],
            error: "3 records, but the page speaks of more: has_more is true"),
        Row(
            name: "auto, total", paginate: "auto", pages: [("", [1, 2, 3], #""total":7"#, [])],
            error: "total says that there are 7 records"),
        Row(
            name: "auto, pages from 0 in an envelope of members", paginate: "auto",
            pages: [
                ("", [1, 2], #""number":0,"totalPages":2"#, []),
                ("?page=1", [3], #""number":1,"totalPages":2"#, []),
            ]),
        Row(
            name: "auto, a cursor in next", paginate: "auto",
            pages: [("", [1, 2], #""next":{"cursor":2}"#, []), ("?cursor=2", [3], #""next":null"#, [])]),
        Row(
            name: "auto, Airtable", paginate: "auto",
            pages: [("", [1, 2], #""offset":"itrX9recA1""#, []), ("?offset=itrX9recA1", [3], "", [])]),
        Row(
            name: "auto, a cursor alone", paginate: "auto",
            pages: [("", [1, 2], #""cursor":"b""#, []), ("?cursor=b", [3], #""cursor":null"#, [])]),
        Row(
            name: "auto, an offset and a cursor that name nothing", paginate: "auto",
            pages: [("", [1, 2], #""offset":0,"cursor":null,"next":null"#, [])]),
        Row(
            name: "auto, DynamoDB", paginate: "auto",
            pages: [("", [1, 2], #""LastEvaluatedKey":{"id":{"S":"2"}}"#, [])],
            error: "2 records, but the page speaks of more: LastEvaluatedKey.id.S names what comes next, 2"),
        Row(
            name: "auto, a scroll", paginate: "auto", pages: [("", [1, 2], #""_scroll_id":"DXF1""#, [])],
            error: "_scroll_id names what comes next, DXF1"),
    ]

    private static func recordings(_ row: Row) -> [String] {
        row.pages.enumerated().map { index, page in
            let items = page.ids.map { #"{"id":\#($0),"name":"n","count":99,"total":99,"next":"/x","has_more":true}"# }
                .joined(separator: ",")
            let body = "{\"items\":[\(items)]\(page.members.isEmpty ? "" : "," + page.members)}"
            return "GET /v1/items\(page.target)\nHTTP/1.1 200 OK\nETag: \"p\(index)\"\n"
                + page.fields.map { $0 + "\n" }.joined() + "\n" + body
        }
    }

    private static func yaml(_ row: Row, _ more: String = "") -> String {
        itemsYAML(
            (row.paginate.map { "paginate: \($0)\n    " } ?? "") + "records: items" + more,
            attributes: "    ignore: [count, total, next, has_more]")
    }

    @Test(
        "a walk that ends before the server does fails with the sign, what it has taken stays, and so it does when the pages are answered 304",
        arguments: rows)
    func truncated(_ row: Row) async throws {
        let server = try LocalServer(Self.recordings(row))
        let store = try MirrorStore(yaml: Self.yaml(row))
        for round in 1...2 {
            let report = try await store.sync(server.base + "/v1")
            if let error = row.error {
                #expect(report.failures.count == 1 && report.texts[0].contains(error), "\(report.texts)")
                #expect(try store.checkpoint("items")?.state == .underWay)
            } else {
                #expect(report.failures.isEmpty, "\(report.texts)")
            }
            #expect(try store.count("Item") == row.pages.flatMap(\.ids).count)
            #expect(report.pages == row.pages.count, "all pages are taken anew")
            #expect(report.notModified == (round == 1 ? 0 : row.pages.count))
        }
        #expect(
            server.requests.map { String($0.split(separator: " ")[1]) }
                == (row.pages + row.pages).map { "/v1/items" + $0.target })
    }

    @Test(
        "an endpoint that declares that nothing is missing is mirrored without an error, from what is there already",
        arguments: rows.filter { $0.error != nil })
    func declared(_ row: Row) async throws {
        let server = try LocalServer(Self.recordings(row))
        var store = try MirrorStore(yaml: Self.yaml(row))
        #expect(try await store.sync(server.base + "/v1").failures.count == 1)
        store.description.endpoints[0].more = .ignore
        let report = try await store.sync(server.base + "/v1")
        #expect(report.failures.isEmpty && report.pages > 0 && report.notModified == report.pages, "\(report.texts)")
        #expect(try store.checkpoint("items")?.state == .complete)
    }

    @Test("another style, named after the error, takes the rest")
    func mended() async throws {
        let pages = [("?page=1&n=2", [1, 2]), ("?page=2&n=2", [3, 4]), ("?page=3&n=2", [5])].map { target, ids in
            recording(
                "/v1/items\(target)", "[" + ids.map { #"{"id":\#($0),"name":"n"}"# }.joined(separator: ",") + "]",
                "X-Total: 5")
        }
        let first = recording("/v1/items", #"[{"id":1,"name":"n"}]"#, "X-Total: 5")
        let server = try LocalServer(pages + [first])
        var store = try MirrorStore(yaml: itemsYAML(""))
        #expect(
            try await store.sync(server.base + "/v1").texts.first?.contains("X-Total says that there are 5 records")
                == true)
        store.description.endpoints[0].pagination = .pageNumber(
            parameter: "page", size: .init(parameter: "n", value: 2))
        let report = try await store.sync(server.base + "/v1")
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(try store.count("Item") == 5)
    }

    @Test("a record by itself has no envelope: its own members are no signs, and no links to follow")
    func oneRecord() async throws {
        let server = try LocalServer([
            recording(
                "/v1/items", #"{"id":1,"name":"n","next":"/v1/items/2","total":9,"has_more":true,"next_cursor":"x"}"#)
        ])
        let store = try MirrorStore(
            yaml: itemsYAML("records: $", attributes: "    ignore: [next, total, has_more, next_cursor]"))
        let report = try await store.sync(server.base + "/v1")
        #expect(report.failures.isEmpty && report.pages == 1, "\(report.texts)")
    }

    @Test(
        "the members of a map that are no records tell of more records, as those beside a list do",
        arguments: [
            (
                "'*'", "next", #"{"next":"https://api.test.example/v1/items?page=2","ada":{"name":"a"}}"#,
                "next names a next page"
            ),
            (
                "'data.*'", "total", #"{"data":{"total":5,"ada":{"name":"a"}}}"#,
                "data.total says that there are 5 records"
            ),
        ])
    func exceptedMembers(path: String, name: String, body: String, error: String) async throws {
        let transport = ClosureTransport { _ in TransportResponse(status: 200, body: Array(body.utf8)) }
        for more in ["", "more: { ignore: [next, data.total] }"] {
            let store = try MirrorStore(
                yaml: """
                    api: { base: https://api.test.example/v1 }
                    entities:
                      Item: { key: id, attributes: { id: { type: string, from: '@memberName' }, name: string? } }
                    endpoints:
                      items:
                        path: /items
                        records: { \(path): { entity: Item, except: \(name) } }
                        paginate: single_page
                        \(more)
                    """)
            let report = try await store.sync(nil, transport: transport)
            #expect(report.failures.isEmpty != more.isEmpty, "\(report.texts)")
            if more.isEmpty { #expect(report.texts.first?.contains(error) == true, "\(report.texts)") }
            if !more.isEmpty { #expect(try store.read { try $0.fetch(Query("Item")).count } == 1) }
        }
    }

    @Test("a list that is called links, and lists around other lists, are read as what they are")
    func odd() async throws {
        let body =
            #"{"data":{"links":[{"id":1,"name":"n","rel":"next","href":"/x"}],"info":{"total":1}},"page":{"number":0,"total_pages":1}}"#
        let server = try LocalServer([recording("/v1/items", body)])
        let store = try MirrorStore(yaml: itemsYAML("records: data.links", attributes: "    ignore: [rel, href]"))
        let report = try await store.sync(server.base + "/v1")
        #expect(report.failures.isEmpty && report.pages == 1, "\(report.texts)")
    }

    @Test("a walk for each record: the one whose list is cut fails, the others are complete")
    func forEach() async throws {
        let server = try LocalServer([
            recording("/v1/lists", #"[{"id":1},{"id":2}]"#),
            recording("/v1/lists/1/items", #"[{"id":1,"name":"n"}]"#, "X-Total: 3"),
            recording("/v1/lists/2/items", #"[{"id":2,"name":"n"}]"#, "X-Total: 1"),
        ])
        let store = try MirrorStore(
            yaml: """
                api:
                  base: https://api.test.example/v1
                entities:
                  List: { key: id, attributes: { id: int } }
                  Item: { key: id, attributes: { id: int, name: string } }
                endpoints:
                  lists: { path: /lists, entity: List }
                  items:
                    path: /lists/{list.id}/items
                    for_each: List
                    entity: Item
                """)
        let report = try await store.sync(server.base + "/v1")
        #expect(
            report.failures.count == 1 && report.texts[0].contains("X-Total says that there are 3 records"),
            "\(report.texts)")
        #expect(try store.count("Item") == 2)
    }

    @Test(
        "a description says what does not count",
        arguments: [
            ("more: ignore", PageEvidence.Rule.ignore), ("more: fail", .fail), ("", .fail),
            ("more: { ignore: meta.total }", .ignoring(["meta.total"])),
            ("more: { ignore: [meta.total, X-Total] }", .ignoring(["meta.total", "X-Total"])),
        ])
    func rule(_ text: String, _ rule: PageEvidence.Rule) throws {
        let endpoint = try Description.parse(itemsYAML(text), file: "tarn.yaml").endpoints[0]
        #expect(endpoint.more == rule && endpoint.pagination == .automatic)
    }

    @Test(
        "a wrong word for it is a problem that names the right ones",
        arguments: ["more: all", "more: []", "more: { skip: x }", "more: { ignore: '' }"])
    func wrongRule(_ text: String) {
        let error = #expect(throws: DescriptionError.self) { try Description.parse(itemsYAML(text), file: "tarn.yaml") }
        #expect(error.map { "\($0)".contains("endpoints.items.more") } == true)
    }
}
