// Requests whose query or body has values of stored records, or the value of the last scan in a
// text, as in JQL, SOQL and OData.

import Foundation
import Synchronization
import TarnDescription
import TestSupport
import Testing

@testable import Tarn

@Suite("Mirror: queries with values in them", .timeLimit(.minutes(5)))
struct MirrorQueryTests {
    /// A server that answers by path and query, or by path and body, and logs the requests.
    private final class Server: Sendable {
        let log = Mutex<[String]>([])
        let answer: @Sendable (_ target: String) -> String

        init(_ answer: @escaping @Sendable (_ target: String) -> String) { self.answer = answer }

        var transport: ClosureTransport {
            ClosureTransport { [self] request in
                let url = request.url.replacing("https://api.test.example", with: "")
                let body = request.body.map { " " + String(decoding: $0, as: UTF8.self) } ?? ""
                let target = (url.removingPercentEncoding ?? url) + body
                log.withLock { $0.append(target) }
                return TransportResponse(status: 200, body: Array(answer(target).utf8))
            }
        }

        var requests: [String] {
            log.withLock { log in
                defer { log = [] }
                return log
            }
        }
    }

    private static func yaml(_ notes: String) -> String {
        """
        api: { base: 'https://api.test.example' }
        entities:
          Issue: { key: id, attributes: { id: int, title: string, changedAt: date? } }
          Note: { key: [issue, id], attributes: { id: int, via: { type: string?, from: '@param.issue' } }, relationships: { issue: Issue } }
        endpoints:
          issues: { path: /issues, entity: Issue, paginate: single_page }
          notes:
            for_each: { entity: Issue, parent: issue }
            entity: Note
            paginate: single_page
        \(notes)
        """
    }

    private static let issues = #"[{"id":1,"title":"a b"},{"id":2,"title":"é"}]"#

    // MARK: Values of the record of for_each

    @Test(
        "a parameter of the query may have a value of the record of for_each: alone, by its short form, or in a text",
        arguments: [
            ("{ issue: '{issue.id}', n: 5 }", ["/notes?issue=1&n=5", "/notes?issue=2&n=5"]),
            ("{ issue: '{id}' }", ["/notes?issue=1", "/notes?issue=2"]),
            (
                "{ q: 'title:{issue.title} {other} {title} id:{issue.id}' }",
                [
                    "/notes?q=title:a b {other} {title} id:1", "/notes?q=title:é {other} {title} id:2",
                ]
            ),
        ])
    func parentInQuery(with: String, expected: [String]) async throws {
        let server = Server { $0.hasPrefix("/issues") ? Self.issues : #"[{"id":7}]"# }
        let store = try MirrorStore(yaml: Self.yaml("    path: /notes\n    with: \(with)"))
        let report = try await store.sync(nil, transport: server.transport)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(server.requests.dropFirst().map { $0.replacing("+", with: " ") }.sorted() == expected)
        // The records of both lists have the same id: they are told apart by their parents.
        #expect(try store.count("Note") == 2)
    }

    @Test("a body may have the only value of the record of for_each, directly or by a parameter")
    func parentInBody() async throws {
        for (lines, expected) in [
            ("    form: { channel: '{issue.id}' }", ["/notes channel=1", "/notes channel=2"]),
            (
                "    body: { variables: { id: '{issue.id}' } }",
                [
                    #"/notes {"variables":{"id":"1"}}"#, #"/notes {"variables":{"id":"2"}}"#,
                ]
            ),
            (
                "    with: { issue: 'id {issue.id}' }\n    body: { q: '{issue}' }",
                [
                    #"/notes {"q":"id 1"}"#, #"/notes {"q":"id 2"}"#,
                ]
            ),
        ] {
            let server = Server { $0.hasPrefix("/issues") ? Self.issues : #"[{"id":7}]"# }
            let store = try MirrorStore(yaml: Self.yaml("    path: /notes\n" + lines))
            let report = try await store.sync(nil, transport: server.transport)
            #expect(report.failures.isEmpty, "\(report.texts)")
            #expect(server.requests.dropFirst().sorted() == expected)
            #expect(try store.count("Note") == 2)
            guard lines.contains("with") else { continue }
            let note = try store.read { try $0.record("Note", RecordKey([.int(2), .int(7)])) }
            #expect(note?["via"] == .string("id 2"))
        }
    }

    @Test("a request to the URL that a record names has parameters with its values, too")
    func parentBesideURL() async throws {
        let server = Server { target in
            target.hasPrefix("/issues")
                ? #"[{"id":1,"notes":"https://api.test.example/of/1?a=b"},{"id":2,"notes":"/of/2"}]"# : #"[{"id":7}]"#
        }
        let store = try MirrorStore(
            yaml: """
                api: { base: 'https://api.test.example' }
                entities:
                  Issue: { key: id, attributes: { id: int, notes: url } }
                  Note: { key: id, attributes: { id: int } }
                endpoints:
                  issues: { path: /issues, entity: Issue, paginate: single_page }
                  notes: { url: '{issue.notes}', for_each: Issue, with: { of: '{issue.id}' }, entity: Note, paginate: single_page }
                """)
        let report = try await store.sync(nil, transport: server.transport)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(server.requests.dropFirst().sorted() == ["/of/1?a=b&of=1", "/of/2?of=2"])
    }

    @Test("each list of the records of for_each sends the text of since, with the values of its record in it")
    func sinceOfParent() async throws {
        for (text, queries) in [
            ("after {value}", ["after 0", "after 0"]), ("{issue.title} after {value}", ["a b after 0", "é after 0"]),
        ] {
            let server = Server { $0.hasPrefix("/issues?") || $0 == "/issues" ? Self.issues : #"[{"id":7}]"# }
            let store = try MirrorStore(
                yaml: Self.yaml(
                    """
                        path: '/issues/{issue.id}/notes'
                        since: { param: q, field: id, text: '\(text)', initial: '0' }
                    """))
            let report = try await store.sync(nil, transport: server.transport)
            #expect(report.failures.isEmpty, "\(report.texts)")
            let found = server.requests.dropFirst().map { $0.replacing("+", with: " ") }.sorted()
            #expect(found == zip(1..., queries).map { "/issues/\($0)/notes?q=\($1)" }, "\(text)")
        }
    }

    @Test("the mapping finds the value that was sent, and a record without one is passed over")
    func sentValue() async throws {
        let server = Server {
            $0.hasPrefix("/issues")
                ? #"[{"id":1,"title":"a","changed_at":null},{"id":2,"title":"b","changed_at":"2025-01-01T00:00:00Z"}]"#
                : #"[{"id":7}]"#
        }
        let store = try MirrorStore(
            yaml: Self.yaml("    path: /notes\n    with: { issue: 'n{issue.id}', at: '{issue.changedAt}' }"))
        let report = try await store.sync(nil, transport: server.transport)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(server.requests.count == 2)
        try store.read { reader in
            let note = try #require(try reader.record("Note", RecordKey([.int(2), .int(7)])))
            #expect(note["via"] == .string("n2"))
        }
    }

    @Test("an escaped quote ends no quotes")
    func escapedQuote() {
        #expect(QuotedValue(in: #"name = "a\"{x}""#, ["x": "\""], escapes: true)?.name == "x")
        #expect(QuotedValue(in: #"name = "a\"{x}""#, ["x": "\""], escapes: false) == nil)
    }

    @Test("a value that would end the quotes around it is not sent: the scan passes over its record and names it")
    func quotedValues() async throws {
        let issues = #"[{"id":1,"title":"a\" OR \"b"},{"id":2,"title":"it's"},{"id":3,"title":"c\\"}]"#
        for (name, text, passed) in [
            ("q", #"title:"{issue.title}""#, [1, 3]), ("q", "title eq ''{issue.title}''", [2, 3]),
            ("q", "{issue.title}", []), ("q", #"don''t "x" {issue.title} "y""#, []),
            // In the filter of OData, a backslash is a character as others.
            ("$filter", "title eq ''{issue.title}''", [2]),
        ] {
            let server = Server { $0.hasPrefix("/issues") ? issues : #"[{"id":7}]"# }
            let store = try MirrorStore(yaml: Self.yaml("    path: /notes\n    with: { \(name): '\(text)' }"))
            let report = try await store.sync(nil, transport: server.transport)
            #expect(server.requests.count == 4 - passed.count, "\(text)")
            #expect(try store.count("Note") == 3 - passed.count)
            #expect(report.failures.isEmpty == passed.isEmpty)
            #expect(passed.isEmpty || report.texts.first?.contains("has a quote or a backslash") == true)
        }
    }

    @Test("records that came in one of several lists are followed, and one for which an equal request was sent is not")
    func newRecordsOfSeveralLists() async throws {
        let server = Server { target in
            target == "/blocks"
                ? #"[{"id":"a","kind":"x"}]"#
                : #"{"users":[],"blocks":[{"id":"0","kind":"x"},{"id":"c","kind":"y"}]}"#
        }
        let store = try MirrorStore(
            yaml: """
                api: { base: 'https://api.test.example' }
                entities:
                  User: { key: id, attributes: { id: string } }
                  Block: { key: id, attributes: { id: string, kind: string } }
                endpoints:
                  blocks: { path: /blocks, entity: Block, paginate: single_page }
                  kinds:
                    path: '/kinds/{block.kind}'
                    for_each: Block
                    records: { users: User, blocks: Block }
                    paginate: single_page
                """)
        let report = try await store.sync(nil, transport: server.transport)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(server.requests == ["/blocks", "/kinds/x", "/kinds/y"])
        #expect(report.endpoint("kinds")?.newParents == 0)
    }

    @Test(
        "a name in a parameter that no record has is an error, not a text that is sent",
        arguments: [
            (
                "    path: /notes\n    with: { issue: '{issue.nope}' }",
                "notes.with.issue: {issue.nope}: unknown attribute"
            ),
            (
                "    path: /notes\n    with: { a: '{issue.id}', issue: '{issue}' }",
                "notes.with.issue: {issue} is a whole record"
            ),
            (
                "    path: /notes\n    with: { a: '{issue.id}', issue: '{note.id}' }",
                "the record of for_each is called issue here"
            ),
            ("    path: /notes\n    form: { issue: '{issue.nope}' }", "notes.form: {issue.nope}: unknown attribute"),
            ("    path: /notes\n    with: { issue: 'all' }", "the path does not use {issue.…}"),
        ])
    func problems(lines: String, message: String) {
        let found = TarnTests.problems(Self.yaml(lines))
        #expect(found.count == 1 && found[0].contains(message), "\(found)")
    }

    @Test("a name of a record without for_each is an error that names for_each")
    func withoutForEach() {
        let found = TarnTests.problems(
            """
            api: { base: 'https://api.test.example' }
            entities:
              Issue: { key: id, attributes: { id: int } }
            endpoints:
              notes: { path: /notes, with: { issue: '{issue.id}' }, entity: Issue }
            """)
        #expect(found.count == 1 && found[0].contains("write for_each: Issue"), "\(found)")
    }

    // MARK: since

    private static func search(_ since: String, _ rest: String = "", type: String = "date") -> String {
        """
        api: { base: 'https://api.test.example' }
        entities:
          Issue: { key: id, attributes: { id: int, changedAt: \(type) } }
        endpoints:
          issues:
            path: /search
            records: items
            entity: Issue
            paginate: single_page
            since: \(since)
        \(rest)
        """
    }

    private static let found = #"{"items":[{"id":1,"changed_at":"2026-01-03T10:00:30.5Z"}]}"#

    @Test(
        "the value of the last scan is sent in a text, with parameters beside it; the first scan sends the initial one")
    func sinceInText() async throws {
        let server = Server { _ in Self.found }
        let store = try MirrorStore(
            yaml: Self.search(
                "{ param: q, field: changed_at, text: 'in {area} since \"{value}\"', format: 'yyyy-MM-dd HH:mm', initial: 1970-01-01 00:00 }",
                "    partitions: { area: [north, south] }"))
        for expected in ["1970-01-01 00:00", "2026-01-03 10:00"] {
            let report = try await store.sync(nil, transport: server.transport)
            #expect(report.failures.isEmpty, "\(report.texts)")
            #expect(
                server.requests.map { $0.replacing("+", with: " ") }.sorted() == [
                    "/search?q=in north since \"\(expected)\"", "/search?q=in south since \"\(expected)\"",
                ])
        }
    }

    @Test("the cursor behind the last page may be the token of the next scan, and be sent as the pages' cursors are")
    func cursorAsToken() async throws {
        let changes = Mutex(5)
        let server = Server { target in
            let since = target.split(separator: "=").last.flatMap { Int($0) } ?? 0, count = changes.withLock(\.self)
            let end = min(since + 2, count)
            let items = (since..<end).map { #"{"id":\#($0)}"# }.joined(separator: ",")
            return #"{"items":[\#(items)],"seq":"\#(end)","pending":\#(count - end)}"#
        }
        let store = try MirrorStore(
            yaml: """
                api: { base: 'https://api.test.example' }
                entities: { Item: { key: id, attributes: { id: int } } }
                endpoints:
                  feed:
                    path: /feed
                    records: items
                    entity: Item
                    paginate: { cursor: { path: seq, param: since, has_more: pending } }
                    since: { cursor: seq, param: since }
                """)
        for (count, expected) in [
            (5, ["/feed", "/feed?since=2", "/feed?since=4"]), (5, ["/feed?since=5"]),
            (8, ["/feed?since=5", "/feed?since=7"]), (8, ["/feed?since=8"]),
        ] {
            changes.withLock { $0 = count }
            let report = try await store.sync(nil, transport: server.transport)
            #expect(report.failures.isEmpty, "\(report.texts)")
            #expect(server.requests == expected)
            #expect(try store.count("Item") == count)
        }
    }

    @Test("a body has the value in a list: no other part of it is replaced")
    func sinceInList() async throws {
        let server = Server { _ in Self.found }
        let store = try MirrorStore(
            yaml: Self.search(
                "{ body: 'groups[0].filters[1].value', field: changed_at, initial: '2000' }",
                "    body: { groups: [{ filters: [{ name: a, value: 1 }, { name: b, value: ~ }] }] }"))
        for value in ["2000", #""2026-01-03T10:00:30.5Z""#] {
            let report = try await store.sync(nil, transport: server.transport)
            #expect(report.failures.isEmpty, "\(report.texts)")
            #expect(
                server.requests == [
                    #"/search {"groups":[{"filters":[{"name":"a","value":1},{"name":"b","value":\#(value)}]}]}"#
                ])
        }
    }

    @Test("a text that is no attribute of a date is read as a date if a format for sending is declared")
    func formatOfText() async throws {
        let server = Server { _ in Self.found }
        let yaml = Self.search("{ param: since, field: changed_at, format: day }", type: "string")
        // The record need not have the value as an attribute.
        for yaml in [yaml, yaml.replacing(", changedAt: string", with: "")] {
            let store = try MirrorStore(yaml: yaml)
            _ = try await store.sync(nil, transport: server.transport)
            #expect(server.requests == ["/search"])
            _ = try await store.sync(nil, transport: server.transport)
            #expect(server.requests == ["/search?since=2026-01-03"])
        }
    }

    @Test(
        "a text without a place, without an initial value or with unknown names, and a list that the body lacks, are errors",
        arguments: [
            (
                "{ param: q, field: x }\n    with: { q: all }",
                "with.q: since sends this parameter: remove the line, or move it"
            ),
            ("{ param: q, field: x, text: 'since', initial: a }", "since.text: the text has no place for the value"),
            ("{ param: q, field: x, text: 'since {value}' }", "since.text: the first scan would send nothing"),
            ("{ param: q, field: x, text: '{value} {area}', initial: a }", "since.text: no value for {area}"),
            ("{ link: next, text: '{value}' }", "since.text: the link is the whole request"),
            ("{ param: q, field: x, format: dayz }", "since.format: \"dayz\" is not a date format"),
            ("{ cursor: x, param: c }\n    more: ignore", "since.param: paginate sends this with the first request"),
            ("{ body: 'a[0].b', field: x }\n    body: { a: [] }", "since.body: the body has no a.[0].b"),
            ("{ body: 'a.*.b', field: x }\n    body: { a: [] }", "since.body: a.*.b does not lead to one value"),
        ])
    func sinceProblems(since: String, message: String) {
        let text = Self.search(since).replacing(
            "single_page", with: since.contains("param: c }") ? "{ offset: { param: c } }" : "single_page")
        let found = TarnTests.problems(text)
        #expect(found.count == 1 && found[0].contains(message), "\(found)")
    }

    // MARK: Flags

    @Test("a flag of the last page ends the scan where it is true, also beside a cursor")
    func lastPage() async throws {
        for style in [
            "cursor: { path: cursor, param: c, is_last: isLast }",
            "page_number: { param: c, start: 0, is_last: isLast }",
            "offset: { param: c, is_last: isLast }",
            // A name that tells nothing.
            "page_number: { param: c, start: 0, is_last: rest }", "offset: { param: c, is_last: rest }",
        ] {
            let server = Server { target in
                let page = target.hasSuffix("c=2") ? 2 : target.hasSuffix("c=1") ? 1 : 0
                return #"{"items":[{"id":\#(page)}],"cursor":"\#(page + 1)","isLast":\#(page > 1),"rest":\#(page > 1)}"#
            }
            let store = try MirrorStore(
                yaml: """
                    api: { base: 'https://api.test.example' }
                    entities: { Item: { key: id, attributes: { id: int } } }
                    endpoints:
                      items: { path: /items, records: items, entity: Item, paginate: { \(style) } }
                    """)
            let report = try await store.sync(nil, transport: server.transport)
            #expect(report.failures.isEmpty, "\(report.texts)")
            #expect(server.requests.count == 3)
            #expect(try store.count("Item") == 3)
        }
    }

    @Test("a flag ends a list whose every page has the URL of a next one")
    func lastLink() async throws {
        for flag in ["has_more: meta.has_more", "is_last: meta.done"] {
            let server = Server { target in
                let page = Int(target.suffix(1)) ?? 0
                return
                    #"{"items":[{"id":\#(page)}],"next":"/items?c=\#(page + 1)","meta":{"has_more":\#(page < 2),"done":\#(page == 2)}}"#
            }
            let store = try MirrorStore(
                yaml: """
                    api: { base: 'https://api.test.example' }
                    entities: { Item: { key: id, attributes: { id: int } } }
                    endpoints:
                      items: { path: /items, records: items, entity: Item, paginate: { json_link: { path: next, \(flag) } } }
                    """)
            let report = try await store.sync(nil, transport: server.transport)
            #expect(report.failures.isEmpty && report.endpoint("items")?.doubts.isEmpty == true, "\(report.texts)")
            #expect(server.requests == ["/items", "/items?c=1", "/items?c=2"])
        }
    }

    @Test("a refused link that is not below the base URL names aliases as the way out, and they are one")
    func prefix() async throws {
        let transport = ClosureTransport { request in
            guard request.url.hasPrefix("https://api.test.example/wiki/rest/") else {
                return TransportResponse(status: 404)
            }
            let isFirst = !request.url.contains("start")
            let body =
                #"{"items":[{"id":\#(isFirst ? 1 : 2)}],"next":\#(isFirst ? #""/rest/items?start=1""# : "null")}"#
            return TransportResponse(status: 200, body: Array(body.utf8))
        }
        func yaml(_ more: String) -> String {
            """
            api: { base: 'https://api.test.example/wiki'\(more) }
            entities: { Item: { key: id, attributes: { id: int } } }
            endpoints:
              items: { path: /rest/items, records: items, entity: Item, paginate: json_link }
            """
        }
        let failed = try await MirrorStore(yaml: yaml("")).sync(nil, transport: transport)
        #expect(
            failed.texts.first?.contains("add aliases: [https://api.test.example] beside base") == true,
            "\(failed.texts)")
        let store = try MirrorStore(yaml: yaml(", aliases: [https://api.test.example]"))
        let report = try await store.sync(nil, transport: transport)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(try store.count("Item") == 2)
    }

    @Test("so does a refused link of a header field, and one below the base URL does not")
    func prefixOfHeader() async throws {
        for (link, isPrefix) in [("/rest/items?start=1", true), ("/wiki/rest/items?start=1", false)] {
            let transport = ClosureTransport { request in
                guard request.url.hasSuffix("/wiki/rest/items") else { return TransportResponse(status: 404) }
                var headers = TransportHeaders()
                headers["Link"] = "<\(link)>; rel=next"
                return TransportResponse(status: 200, headers: headers, body: Array(#"[{"id":1}]"#.utf8))
            }
            let store = try MirrorStore(
                yaml: """
                    api: { base: 'https://api.test.example/wiki' }
                    entities: { Item: { key: id, attributes: { id: int } } }
                    endpoints: { items: { path: /rest/items, entity: Item, paginate: header_link } }
                    """)
            let report = try await store.sync(nil, transport: transport)
            #expect(report.failures.count == 1, "\(link): \(report.texts)")
            #expect(report.texts.contains { $0.contains("add aliases: ") } == isPrefix, "\(link): \(report.texts)")
        }
    }

    @Test(
        "a flag under the key of its opposite is an error: the scan would end at its first page",
        arguments: [
            ("has_more: isLast", "has_more: `isLast` is true on the last page: write is_last: isLast"),
            ("has_more: meta.end_of_stream", "write is_last: meta.end_of_stream"),
            ("is_last: has_more", "is_last: `has_more` is false on the last page: write has_more: has_more"),
            ("has_more: a, is_last: b", "is_last: one flag ends the scan"),
        ])
    func opposites(key: String, message: String) {
        let found = TarnTests.problems(
            """
            api: { base: 'https://api.test.example' }
            entities: { Item: { key: id, attributes: { id: int } } }
            endpoints:
              items: { path: /items, entity: Item, paginate: { cursor: { path: c, param: c, \(key) } } }
            """)
        #expect(found.count == 1 && found[0].contains(message), "\(found)")
    }
}
