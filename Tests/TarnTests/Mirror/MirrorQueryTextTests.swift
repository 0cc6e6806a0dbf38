// The text of `since` as the query of a list: in every request, and in the identity of the list.

import Foundation
import Synchronization
import TarnDescription
import TestSupport
import Testing

@testable import Tarn

@Suite("Mirror: the text of since as the query of a list", .timeLimit(.minutes(5)))
struct MirrorQueryTextTests {
    /// The requests that a transport has answered.
    private final class Log: Sendable {
        private let targets = Mutex<[String]>([])

        func add(_ request: TransportRequest) -> String {
            let url = request.url.replacing("https://api.test.example", with: "").replacing("+", with: " ")
            let target = url.removingPercentEncoding ?? url
            targets.withLock { $0.append(target) }
            return target
        }

        var requests: [String] {
            targets.withLock { targets in
                defer { targets = [] }
                return targets
            }
        }
    }

    private static func yaml(_ since: String, _ more: String = "", issue: String = "changedAt: date") -> String {
        """
        api: { base: 'https://api.test.example' }
        entities:
          Issue: { key: id, attributes: { id: int, \(issue) } }
        endpoints:
          found:
            path: /search
            records: items
            entity: Issue
            paginate: single_page
            since: \(since)
        \(more)
        """
    }

    private static let items = #"{"items":[{"id":1,"changed_at":"2026-01-03T10:00:30.5Z"}],"token":"t1"}"#

    private static func answering(_ log: Log) -> ClosureTransport {
        ClosureTransport { request in
            _ = log.add(request)
            return TransportResponse(status: 200, body: Array(items.utf8))
        }
    }

    @Test("a parameter that only the text has is part of the list: another value requests everything")
    func otherParameter() async throws {
        func yaml(_ area: String) -> String {
            Self.yaml(
                "{ param: q, field: changed_at, text: 'in {area} since {value}', format: day, initial: '1970-01-01' }",
                "    with: { area: \(area) }")
        }
        let log = Log(), transport = Self.answering(log)
        var store = try MirrorStore(yaml: yaml("north"))
        _ = try await store.sync(nil, transport: transport)
        _ = try await store.sync(nil, transport: transport)
        #expect(log.requests == ["/search?q=in north since 1970-01-01", "/search?q=in north since 2026-01-03"])
        var other = try Description.parse(yaml("south"), file: "tarn.yaml")
        other.storePath = store.path
        store.description = other
        let report = try await store.sync(nil, transport: transport)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(log.requests == ["/search?q=in south since 1970-01-01"])
    }

    @Test("another text, and other members of a map that are no records, make another list")
    func otherList() throws {
        func fingerprint(_ text: String, _ except: String) throws -> String {
            let yaml = Self.yaml("{ param: q, field: changed_at, text: '\(text) {value}', initial: a }")
                .replacing("records: items\n", with: "records: { '*': { entity: Issue, except: \(except) } }\n")
                .replacing("    entity: Issue\n", with: "")
            let description = try Description.parse(yaml, file: "tarn.yaml")
            return description.fingerprint(of: description.endpoints[0])
        }
        let own = try fingerprint("since", "[token, next]")
        #expect(try own == fingerprint("since", "[next, token]"))
        #expect(try own != fingerprint("after", "[next, token]") && own != fingerprint("since", "token"))
    }

    @Test("braces of JSON in a text belong to it")
    func braces() async throws {
        let log = Log()
        let text = #"{"and":[{"area":{"is":1}},{"since":"{value}"}]}"#
        let since = "{ param: q, field: changed_at, text: '\(text)', initial: '2000' }"
        let store = try MirrorStore(yaml: Self.yaml(since))
        let report = try await store.sync(nil, transport: Self.answering(log))
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(log.requests == ["/search?q=" + text.replacing("{value}", with: "2000")])
    }

    @Test("behind a token that has expired, the query is sent with the initial value")
    func expired() async throws {
        let log = Log()
        let transport = ClosureTransport { request in
            let target = log.add(request)
            return TransportResponse(status: target.hasSuffix("since t1") ? 410 : 200, body: Array(Self.items.utf8))
        }
        let yaml = Self.yaml("{ cursor: token, param: q, text: 'open since {value}', initial: t0, expired: 410 }")
        let store = try MirrorStore(yaml: yaml)
        _ = try await store.sync(nil, transport: transport)
        #expect(log.requests == ["/search?q=open since t0"])
        let report = try await store.sync(nil, transport: transport)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(log.requests == ["/search?q=open since t1", "/search?q=open since t0"])
        let refused = ClosureTransport { request in
            _ = log.add(request)
            return TransportResponse(status: 410)
        }
        #expect(try await store.sync(nil, transport: refused).failures.count == 1)
        #expect(log.requests == ["/search?q=open since t1", "/search?q=open since t0"])
        // A refused initial value has not expired: it is not sent twice.
        let other = try MirrorStore(yaml: yaml)
        #expect(try await other.sync(nil, transport: refused).failures.count == 1)
        #expect(log.requests == ["/search?q=open since t0"])
    }

    @Test("a request of the record cache sends the query with the initial value")
    func cached() async throws {
        let yaml = Self.yaml("{ param: q, field: changed_at, text: 'open-{value}', initial: '0' }")
        let server = try LocalServer([recording("/search?q=open-0", Self.items, "Cache-Control: max-age=60")])
        let fixture = try CacheFixture(yaml: yaml)
        let answer = try await fixture.cache(server.base).fetch(CacheRequest("found"))
        #expect(answer.records.map(\.key) == [RecordKey(1)])
    }

    @Test(
        "a pattern without seconds or a time is moved back by its own step, so that no record of this step is missed",
        arguments: [("yyyy-MM-dd HH:mm", "2026-01-03 09:59"), ("yyyy/MM/dd", "2026/01/02"), ("day", "2026-01-02")])
    func stepOfPattern(format: String, expected: String) async throws {
        let log = Log()
        let store = try MirrorStore(
            yaml: Self.yaml("{ param: since, field: changed_at, format: '\(format)', range: open }"))
        for _ in 1...2 { _ = try await store.sync(nil, transport: Self.answering(log)) }
        #expect(log.requests == ["/search", "/search?since=\(expected)"])
    }

    @Test("a flag that promises a page whose URL is missing is an error: the list would end early")
    func promise() async throws {
        for (flag, text) in [("has_more: rest", "rest is true"), ("is_last: rest", "rest is false")] {
            let value = flag.hasPrefix("has_more"), log = Log()
            let transport = ClosureTransport { request in
                _ = log.add(request)
                return TransportResponse(status: 200, body: Array(#"{"items":[{"id":1}],"rest":\#(value)}"#.utf8))
            }
            for (more, isPromise) in [("", true), (", more: { ignore: [rest] }", false)] {
                let style = "{ json_link: { path: next, \(flag) } }"
                let store = try MirrorStore(
                    yaml: """
                        api: { base: 'https://api.test.example' }
                        entities: { Item: { key: id, attributes: { id: int } } }
                        endpoints:
                          items: { path: /items, records: items, entity: Item, paginate: \(style)\(more) }
                        """)
                let report = try await store.sync(nil, transport: transport)
                let isFound = report.texts.contains { $0.contains("\(text), and next has no URL") }
                #expect(isFound == isPromise && report.failures.isEmpty != isPromise, "\(report.texts)")
            }
        }
    }

    @Test("the short form of a value that no request can have is an error, and so is a record's value in a check")
    func values() {
        let rest = """
              notes:
                path: /notes
                for_each: Issue
                entity: Issue
                paginate: single_page
            """
        func found(_ lines: String) -> [String] {
            let yaml = Self.yaml("{ param: q, field: id }", rest + "\n" + lines, issue: "tags: json")
            return TarnTests.problems(yaml)
        }
        let list = found("    with: { id: '{issue.id}', q: '{tags}' }")
        #expect(list.count == 1 && list[0].contains("notes.with.q: {tags} is of type json"), "\(list)")
        let check = found(
            "    with: { id: ['{issue.id}'] }\n    orphans: { check: '/notes/{id}/{issue.id}' }")
        #expect(check.count == 1 && check[0].contains("orphans.check: no value for {id}"), "\(check)")
    }
}
