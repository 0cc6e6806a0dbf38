// Answers with errors beside their records: parts of them are null, or missing.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: answers with errors beside their records", .timeLimit(.minutes(5)))
struct MirrorPartialAnswerTests {
    private static func store(_ rule: String = "") throws -> MirrorStore {
        try MirrorStore(
            yaml: """
                api: { base: 'https://api.test.example' }
                entities: { Item: { key: id, attributes: { id: int, name: string? } } }
                endpoints:
                  items:
                    path: /graphql
                    body: { query: '{ items { id name } }' }
                    records: data.items
                    entity: Item
                    paginate: single_page
                    orphans: after_one_scan
                \(rule)
                """)
    }

    private static let whole = #"{"data":{"items":[{"id":1,"name":"a"},{"id":2,"name":"b"}]}}"#
    private static let part =
        #"{"errors":[{"message":"boom","path":["items",0,"name"]}],"data":{"items":[{"id":1,"name":null},{"id":3}]}}"#

    @Test("the sync fails with the message, stores what came, clears nothing that is null, and deletes nothing")
    func partial() async throws {
        let store = try Self.store(), answer = Mutex(Self.whole)
        let transport = ClosureTransport { _ in
            TransportResponse(status: 200, body: Array(answer.withLock { $0 }.utf8))
        }
        #expect(try await store.sync(nil, transport: transport).failures.isEmpty)
        answer.withLock { $0 = Self.part }
        for _ in 0..<3 {
            let report = try await store.sync(nil, transport: transport)
            #expect(report.texts.count == 1)
            #expect(report.texts.first?.hasPrefix("POST https://api.test.example/graphql") == true)
            #expect(report.texts.first?.contains(#"`errors` says "boom""#) == true)
            #expect(try store.items() == [1, 2, 3])
            #expect(try store.record("Item", 1)["name"] == .string("a"))
        }
        answer.withLock { $0 = #"{"data":{"items":[{"id":1,"name":null}]}}"# }
        for _ in 0..<2 { #expect(try await store.sync(nil, transport: transport).failures.isEmpty) }
        #expect(try store.items() == [1])
        #expect(try store.record("Item", 1)["name"] != .string("a"))
    }

    @Test("errors that the description ignores, or that have no message, are no failure")
    func ignored() async throws {
        for (rule, body) in [
            ("    more: { ignore: [errors] }", Self.part),
            ("", Self.whole.replacing(#"{"data""#, with: #"{"errors":[{"detail":"gone"}],"data""#)),
            ("", Self.whole.replacing(#"{"data""#, with: #"{"errors":[],"data""#)),
        ] {
            let store = try Self.store(rule)
            let transport = ClosureTransport { _ in TransportResponse(status: 200, body: Array(body.utf8)) }
            let report = try await store.sync(nil, transport: transport)
            #expect(report.failures.isEmpty, "\(report.texts)")
            #expect(try store.items().count == 2)
        }
    }

    @Test(
        "a search that has ended early fails the sync, and deletes nothing, unless the description ignores its sign",
        arguments: [
            (#""incomplete_results":true"#, "incomplete_results"), (#""timed_out":true"#, "timed_out"),
            (#""_shards":{"total":2,"failed":1}"#, "_shards.failed"),
        ])
    func endedEarly(sign: String, name: String) async throws {
        for isIgnored in [false, true] {
            let rule = isIgnored ? "    more: { ignore: ['\(name)'] }" : ""
            let store = try Self.store(rule), answer = Mutex(Self.whole)
            let transport = ClosureTransport { _ in
                TransportResponse(status: 200, body: Array(answer.withLock { $0 }.utf8))
            }
            try await store.sync(nil, transport: transport)
            answer.withLock { $0 = #"{\#(sign),"data":{"items":[{"id":1,"name":null}]}}"# }
            let report = try await store.sync(nil, transport: transport)
            #expect(report.failures.isEmpty == isIgnored, "\(report.texts)")
            #expect(isIgnored || report.texts.first?.contains("`\(name)` says") == true)
            #expect(try store.items() == (isIgnored ? [1] : [1, 2]))
            #expect(try store.record("Item", 1)["name"] != .string("a"))
        }
        let calm = #""incomplete_results":false,"timed_out":false,"_shards":{"total":2,"failed":0}"#
        let body = Self.whole.replacing(#"{"data""#, with: #"{\#(calm),"data""#)
        let transport = ClosureTransport { _ in TransportResponse(status: 200, body: Array(body.utf8)) }
        #expect(try await Self.store().sync(nil, transport: transport).failures.isEmpty)
    }

    @Test("errors beside a list that is not under data are none of GraphQL")
    func otherErrors() async throws {
        let store = try MirrorStore(yaml: itemsYAML("records: items\n    paginate: single_page"))
        let body = #"{"items":[{"id":1,"name":"a"}],"errors":[{"message":"low on quota"}]}"#
        let transport = ClosureTransport { _ in TransportResponse(status: 200, body: Array(body.utf8)) }
        let report = try await store.sync(nil, transport: transport)
        #expect(try report.failures.isEmpty && store.items() == [1], "\(report.texts)")
    }

    @Test("a list with a null among its elements stays as it was, if the answer states errors")
    func nullElement() async throws {
        let store = try MirrorStore(
            yaml: """
                api: { base: 'https://api.test.example' }
                entities:
                  Label: { key: id, attributes: { id: int } }
                  Item: { key: id, attributes: { id: int }, relationships: { labels: { to: [Label] } } }
                endpoints:
                  items: { path: /items, records: data.items, entity: Item, paginate: single_page }
                """)
        for (errors, labels, stored) in [
            ("[]", #"[{"id":1},{"id":2}]"#, [1, 2]), (#"[{"message":"boom"}]"#, #"[null,{"id":2}]"#, [1, 2]),
            ("[]", #"[null,{"id":2}]"#, [2]),
        ] {
            let body = #"{"errors":\#(errors),"data":{"items":[{"id":7,"labels":\#(labels)}]}}"#
            let transport = ClosureTransport { _ in TransportResponse(status: 200, body: Array(body.utf8)) }
            let report = try await store.sync(nil, transport: transport)
            #expect(report.failures.isEmpty == (errors == "[]"), "\(report.texts)")
            #expect(try Set(store.keys("Item", 7, "labels")) == Set(stored.map(Int64.init)))
        }
    }

    @Test("a page with an error is never confirmed without it: it is requested without a condition")
    func unconfirmed() async throws {
        let store = try MirrorStore(
            yaml: itemsYAML("records: items\n    paginate: single_page\n    orphans: after_one_scan"))
        let answer = Mutex((tag: "a", body: #"{"items":[{"id":1,"name":"a"},{"id":2,"name":"b"}]}"#))
        let transport = ClosureTransport { request in
            let (tag, body) = answer.withLock { $0 }
            let headers = TransportHeaders([.init("ETag", "\"\(tag)\"")])
            let isKnown = request.headers["If-None-Match"] == "\"\(tag)\""
            return TransportResponse(
                status: isKnown ? 304 : 200, headers: headers, body: isKnown ? [] : Array(body.utf8))
        }
        #expect(try await store.sync(nil, transport: transport).failures.isEmpty)
        answer.withLock { $0 = ("b", #"{"incomplete_results":true,"items":[{"id":1,"name":"a"}]}"#) }
        for _ in 0..<3 {
            let report = try await store.sync(nil, transport: transport)
            #expect(report.texts.first?.contains("incomplete_results") == true, "\(report.texts)")
            #expect(try store.items() == [1, 2])
        }
    }

    @Test("the value for since stays, also if a refused page ends the list behind the one with the error")
    func since() async throws {
        let store = try MirrorStore(
            yaml: IncrementalItems.yaml(
                "{ field: changed_at, param: since }",
                more: """
                    records: items
                        paginate: { page_number: { param: page, per_page: { size: 1 } } }
                        responses: [{ status: 404, then: stop }]
                    """))
        let transport = ClosureTransport { request in
            guard !request.url.contains("page=2") else { return TransportResponse(status: 404) }
            let body = #"{"incomplete_results":true,"items":[{"id":1,"changed_at":"2026-01-02T00:00:00Z"}]}"#
            return TransportResponse(status: 200, body: Array(body.utf8))
        }
        for _ in 0..<3 {
            let report = try await store.sync(nil, transport: transport)
            #expect(report.texts.count == 1, "\(report.texts)")
            #expect(report.texts.first?.contains("incomplete_results") == true)
            #expect(try store.items() == [1])
            #expect(try store.checkpoint("items")?.since == nil)
        }
    }

    /// Pages of one item each, from 1 to 3: the first one states an error, and the others may fail.
    private static func pages(_ failing: Int?, _ last: Int = 3) -> ClosureTransport {
        ClosureTransport { request in
            let page = request.url.last?.wholeNumberValue ?? 0
            if page == failing { return TransportResponse(status: 500) }
            let sign = page == 1 ? #""incomplete_results":true,"# : ""
            let item = #"{"id":\#(page),"name":"n","changed_at":"2026-01-0\#(page)T00:00:00Z"}"#
            return TransportResponse(
                status: 200, body: Array(#"{\#(sign)"items":[\#(item)],"more":\#(page < last)}"#.utf8))
        }
    }

    private static let numbered = """
        records: items
            paginate: { page_number: { param: page, has_more: more } }
        """

    @Test("a scan that is interrupted behind a page with an error still fails with it at its end", arguments: [2, 3])
    func interrupted(page: Int) async throws {
        let store = try MirrorStore(
            yaml: IncrementalItems.yaml("{ field: changed_at, param: since }", more: Self.numbered))
        let first = try await store.sync(nil, transport: Self.pages(page))
        #expect(first.texts.count == 1 && first.texts.first?.contains("500") == true, "\(first.texts)")
        let report = try await store.sync(nil, transport: Self.pages(nil))
        #expect(report.endpoint("items")?.isResumed == true)
        #expect(report.texts.count == 1, "\(report.texts)")
        #expect(report.texts.first?.contains("page=1: the server returned 200: it lists records") == true)
        #expect(report.texts.first?.contains("`incomplete_results` says \"true\"") == true)
        #expect(try store.items() == [1, 2, 3])
        #expect(try store.checkpoint("items")?.since == nil)
        // The next scan begins anew, and forgets the error with its page.
        let sound = ClosureTransport { request in
            let body = #"{"items":[{"id":7,"name":"n","changed_at":"2026-01-07T00:00:00Z"}],"more":false}"#
            return TransportResponse(status: 200, body: Array(body.utf8))
        }
        for _ in 0..<2 { #expect(try await store.sync(nil, transport: sound).failures.isEmpty) }
        #expect(try store.checkpoint("items")?.since != nil)
    }

    @Test("an interruption behind a page with an error deletes no record, also with unreadable ones before")
    func interruptedOrphans() async throws {
        let store = try MirrorStore(yaml: itemsYAML(Self.numbered + "\n    orphans: after_one_scan"))
        let whole = ClosureTransport { _ in
            let body = #"{"items":[{"id":1,"name":"n"},{"id":9,"name":"n"},{"name":"no key"}],"more":false}"#
            return TransportResponse(status: 200, body: Array(body.utf8))
        }
        try await store.sync(nil, transport: whole)
        #expect(try store.items() == [1, 9])
        try await store.sync(nil, transport: Self.pages(2))
        let report = try await store.sync(nil, transport: Self.pages(nil))
        #expect(report.texts.count == 1, "\(report.texts)")
        #expect(try store.items() == [1, 2, 3, 9])
    }

    @Test("a page with an error that is requested again leaves its error behind")
    func requestedAgain() async throws {
        let store = try MirrorStore(yaml: itemsYAML("records: items\n    paginate: { json_link: { path: next } }"))
        func pages(_ last: String) -> ClosureTransport {
            ClosureTransport { request in
                let first = #"{"items":[{"id":1,"name":"n"}],"next":"/v1/items?page=2"}"#
                let body = request.url.hasSuffix("page=2") ? #"{"items":[{"id":2,"name":"n"}],"# + last : first
                return TransportResponse(status: 200, body: Array(body.utf8))
            }
        }
        let broken = pages(#""incomplete_results":true,"next":"ftp://other.test.example/3"}"#)
        #expect(try await store.sync(nil, transport: broken).texts.count == 1)
        #expect(try store.items() == [1, 2])
        let report = try await store.sync(nil, transport: pages(#""next":null}"#))
        #expect(report.endpoint("items")?.isResumed == true)
        #expect(report.failures.isEmpty, "\(report.texts)")
    }

    @Test("a limited sync reports the error in the run that meets it, and the last one reports it again")
    func limited() async throws {
        let store = try MirrorStore(yaml: itemsYAML(Self.numbered)), transport = Self.pages(nil)
        var counts: [Int] = []
        for _ in 0..<3 {
            let report = try await store.sync(nil, transport: transport, options: { $0.limit = 1 })
            counts.append(report.failures.count)
        }
        #expect(counts == [1, 0, 1])
    }

    @Test("a page that a rule passes over does not end a list with an error without it")
    func ignoredPage() async throws {
        let store = try MirrorStore(
            yaml: itemsYAML(Self.numbered + "\n    responses: [{ status: 500, then: ignore }]"))
        let report = try await store.sync(nil, transport: Self.pages(2))
        #expect(report.texts.first?.contains("`incomplete_results`") == true, "\(report.texts)")
        #expect(try store.items() == [1])
    }

    @Test("an error about the answer to a POST names the method")
    func method() async throws {
        let store = try Self.store()
        for body in ["not JSON", #"{"data":{"items":[{"name":"a"}]}}"#] {
            let transport = ClosureTransport { _ in TransportResponse(status: 200, body: Array(body.utf8)) }
            let report = try await store.sync(nil, transport: transport)
            #expect(report.texts.first?.hasPrefix("POST https://api.test.example/graphql: ") == true, "\(report.texts)")
        }
    }

    @Test("a list that ends with an error begins again at its first page, until no page states one")
    func begunAgain() async throws {
        let store = try MirrorStore(yaml: itemsYAML("records: data.items\n    paginate: header_link"))
        let state = Mutex((log: [String](), fails: true))
        let transport = ClosureTransport { request in
            let target = request.url.replacing("https://api.test.example/v1", with: "")
            let fails = state.withLock { state in
                state.log.append(target)
                return state.fails
            }
            let page = target == "/items" ? 1 : Int(target.suffix(1)) ?? 0
            let error = page == 2 && fails ? #""errors":[{"message":"boom"}],"# : ""
            var headers = TransportHeaders()
            if page < 3 { headers["Link"] = "</v1/items?page=\(page + 1)>; rel=\"next\"" }
            let body = #"{\#(error)"data":{"items":[{"id":\#(page),"name":"n"}]}}"#
            return TransportResponse(status: 200, headers: headers, body: Array(body.utf8))
        }
        for count in [1, 1, 0] {
            if count == 0 { state.withLock { $0.fails = false } }
            let report = try await store.sync(nil, transport: transport)
            #expect(report.failures.count == count, "\(report.texts)")
            let log = state.withLock { state in
                defer { state.log = [] }
                return state.log
            }
            #expect(log == ["/items", "/items?page=2", "/items?page=3"])
        }
        #expect(try store.items() == [1, 2, 3])
    }
}
