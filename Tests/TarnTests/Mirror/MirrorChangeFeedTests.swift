// Change feeds: a token in a response requests what has changed since.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: change feeds", .timeLimit(.minutes(5)))
struct MirrorChangeFeedTests {
    private typealias Items = IncrementalItems

    /// A feed whose responses carry a token, and that forgets tokens.
    private final class Feed: Sendable {
        let state = Mutex((log: [String](), version: 1, forgets: false))

        func transport(_ answer: @escaping @Sendable (_ version: Int) -> (fields: [(String, String)], body: String))
            -> ClosureTransport
        {
            ClosureTransport { [self] request in
                let target = request.url.replacing("https://api.test.example", with: "")
                let (version, isGone) = state.withLock { state in
                    state.log.append(target)
                    return (state.version, state.forgets && target.contains("token"))
                }
                if isGone { return TransportResponse(status: 410) }
                let (fields, body) = answer(version)
                return TransportResponse(
                    status: 200, headers: TransportHeaders(fields.map { .init($0.0, $0.1) }), body: Array(body.utf8))
            }
        }

        var log: [String] {
            state.withLock { state in
                defer { state.log = [] }
                return state.log
            }
        }
        func set(_ version: Int) { state.withLock { $0.version = version } }
        func forget() { state.withLock { $0.forgets = true } }
    }

    @Test("a token of the body, of a header field, or a link is what the next sync sends")
    func tokens() async throws {
        let records = "more: ignore\n    paginate: single_page\n    records: items"
        for (since, expected) in [
            ("{ cursor: meta.sync, param: token }", "/items?token=t1"),
            ("{ header: X-Sync, param: token }", "/items?token=h1"),
            ("{ link: delta }", "/items/delta?token=l1"),
            (#"{ link: '@odata\.deltaLink' }"#, "/items/delta?token=o1"),
        ] {
            let store = try MirrorStore(yaml: Items.yaml(since, type: "date?", more: records)), feed = Feed()
            let transport = feed.transport { version in
                (
                    [("X-Sync", "h\(version)")],
                    #"{"items":[{"id":\#(version)}],"meta":{"sync":"t\#(version)"},"delta":"https://api.test.example/items/delta?token=l\#(version)","@odata.deltaLink":"https://api.test.example/items/delta?token=o\#(version)"}"#
                )
            }
            var report = try await store.sync(nil, transport: transport)
            #expect(report.failures.isEmpty && feed.log == ["/items"], "\(since): \(report.texts)")
            feed.set(2)
            report = try await store.sync(nil, transport: transport)
            #expect(report.failures.isEmpty && feed.log == [expected], "\(since): \(report.texts)")
            report = try await store.sync(nil, transport: transport)
            #expect(feed.log == [expected.replacing("1", with: "2")])
            #expect(try store.items() == [1, 2])
        }
    }

    @Test("an interrupted change feed with counted pages begins again with the token from before")
    func interruptedFeed() async throws {
        let pages = "records: items\n    paginate: { page_number: { param: page, has_more: more } }"
        let store = try MirrorStore(yaml: Items.yaml("{ cursor: sync, param: token }", type: "date?", more: pages))
        let log = Mutex<[String]>([]), isBroken = Mutex(true)
        let transport = ClosureTransport { request in
            let target = request.url.replacing("https://api.test.example", with: "")
            log.withLock { $0.append(target) }
            if !target.contains("page=1"), isBroken.withLock({ $0 }) { return TransportResponse(status: 404) }
            let body =
                target.contains("page=1")
                ? #"{"items":[{"id":1}],"more":true}"# : #"{"items":[{"id":2}],"more":false,"sync":"t"}"#
            return TransportResponse(status: 200, body: Array(body.utf8))
        }
        #expect(try await store.sync(nil, transport: transport).failures.count == 1)
        isBroken.withLock { $0 = false }
        #expect(try await store.sync(nil, transport: transport).failures.isEmpty)
        #expect(try store.checkpoint("items").map { $0.state == .complete && $0.since == nil } == true)
        #expect(try await store.sync(nil, transport: transport).failures.isEmpty)
        #expect(log.withLock { $0 } == [1, 2, 2, 1, 2].map { "/items?page=\($0)" })
        #expect(try store.checkpoint("items")?.since == "t")
    }

    @Test("after a change of the pagination, everything is listed once: the other one may have left records out")
    func otherPagination() async throws {
        func description(_ start: Int) throws -> Description {
            let pages = "paginate: { page_number: { param: page, start: \(start) } }"
            return try Description.parse(
                Items.yaml("{ param: since, field: changed_at }", more: pages), file: "tarn.yaml")
        }
        let log = Mutex<[String]>([])
        let transport = ClosureTransport { request in
            log.withLock { $0.append(request.url.replacing("https://api.test.example", with: "")) }
            let values = URLComponents(string: request.url)?.queryItems ?? []
            let page = values.first { $0.name == "page" }?.value.flatMap { Int($0) } ?? 0
            let since = values.first { $0.name == "since" }?.value ?? ""
            let items = [1, 2, 3].map { (id: $0, at: "2026-01-0\($0)T00:00:00Z") }.filter { $0.at >= since }
            let body = items.dropFirst(page).prefix(1).map { #"{"id":\#($0.id),"changed_at":"\#($0.at)"}"# }
            return TransportResponse(status: 200, body: Array("[\(body.joined())]".utf8))
        }
        var store = try MirrorStore(try description(1)), first: [String?] = []
        for start in [1, 1, 0, 0] {
            let path = store.path
            store.description = try description(start)
            store.description.storePath = path
            let report = try await store.sync(nil, transport: transport)
            #expect(report.failures.isEmpty, "\(report.texts)")
            first.append(log.withLock { log in log.first?.contains("since=") == true ? "since" : log.first })
            log.withLock { $0 = [] }
            #expect(try store.items() == (start == 1 ? [2, 3] : [1, 2, 3]))
        }
        #expect(first == ["/items?page=1", "since", "/items?page=0", "since"])
    }

    @Test(
        "a token that the server has forgotten is dropped: everything is listed again, and the report says so",
        arguments: ["", ", expired: 410", ", expired: [400, 410]"])
    func expired(rule: String) async throws {
        let records = "more: ignore\n    paginate: single_page\n    records: items"
        let
            store = try MirrorStore(
                yaml: Items.yaml("{ cursor: sync, param: token\(rule) }", type: "date?", more: records)),
            feed = Feed()
        let transport = feed.transport { version in ([], #"{"items":[{"id":\#(version)}],"sync":"t\#(version)"}"#) }
        try await store.sync(nil, transport: transport)
        feed.forget()
        feed.set(5)
        _ = feed.log
        let report = try await store.sync(nil, transport: transport)
        #expect(report.failures.isEmpty && feed.log == ["/items?token=t1", "/items"], "\(report.texts)")
        #expect(report.endpoint("items")?.expired == 1 && report.endpoint("items")?.since == nil)
        #expect(try store.checkpoint("items")?.since == "t5")
    }

    @Test("without a refusal that counts as expired, the token stays, and the refusal is the failure")
    func neverExpired() async throws {
        let records = "more: ignore\n    paginate: single_page\n    records: items"
        let yaml = Items.yaml("{ cursor: sync, param: token, expired: [] }", type: "date?", more: records)
        let store = try MirrorStore(yaml: yaml), feed = Feed()
        let transport = feed.transport { version in ([], #"{"items":[{"id":\#(version)}],"sync":"t\#(version)"}"#) }
        try await store.sync(nil, transport: transport)
        feed.forget()
        _ = feed.log
        let report = try await store.sync(nil, transport: transport)
        #expect(report.failures.count == 1 && feed.log == ["/items?token=t1"], "\(report.texts)")
        #expect(try store.checkpoint("items")?.since == "t1")
    }

    @Test("the token of the next changes is no sign of another page", arguments: ["after", "cursor", "next_batch"])
    func tokenOfChanges(name: String) async throws {
        let store = try MirrorStore(
            yaml: Items.yaml(
                "{ cursor: \(name), param: \(name) }", more: "records: items\n    paginate: single_page"))
        let urls = Mutex<[String]>([])
        let transport = ClosureTransport { request in
            urls.withLock { $0.append(request.url) }
            let items = request.url.contains("tok_abc") ? "" : #"{"id":7},{"id":12}"#
            return TransportResponse(
                status: 200, body: Array(#"{"items":[\#(items)],"\#(name)":"tok_abc"}"#.utf8))
        }
        for _ in 0..<2 {
            let report = try await store.sync(nil, transport: transport)
            #expect(report.failures.isEmpty, "\(report.texts)")
        }
        #expect(urls.withLock { $0.map { $0.contains("\(name)=tok_abc") } } == [false, true])
    }

    @Test("a token of the next changes that auto takes for a cursor ends the scan at a page without records")
    func tokenAsCursor() async throws {
        let store = try MirrorStore(
            yaml: Items.yaml("{ cursor: next_batch, param: since }", more: "records: items"))
        let state = Mutex<(urls: [String], batch: Int)>(([], 0))
        let transport = ClosureTransport { request in
            let batch = state.withLock { state in
                state.urls.append(request.url)
                state.batch += 1
                return state.batch
            }
            let items = request.url.contains("since=") ? "" : #"{"id":7},{"id":12}"#
            return TransportResponse(
                status: 200, body: Array(#"{"items":[\#(items)],"next_batch":"s\#(batch)"}"#.utf8))
        }
        for _ in 0..<2 {
            let report = try await store.sync(nil, transport: transport)
            #expect(report.failures.isEmpty, "\(report.texts)")
        }
        #expect(state.withLock { $0.urls.map { $0.split(separator: "=").dropFirst().last } } == [nil, "s1", "s2"])
        #expect(try store.checkpoint("items")?.since == "s3")
    }
}
