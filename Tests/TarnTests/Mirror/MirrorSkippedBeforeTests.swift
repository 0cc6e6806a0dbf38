// The records that an interrupted sync has skipped, in the report of the sync that continues it.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

@Suite("Mirror: what was skipped before a sync was continued", .timeLimit(.minutes(2)))
struct MirrorSkippedBeforeTests {
    private static func response(_ body: String, next: String? = nil, status: Int = 200) -> TransportResponse {
        var headers = TransportHeaders()
        if let next { headers["Link"] = "<\(next)>; rel=\"next\"" }
        return TransportResponse(status: status, headers: headers, body: Array(body.utf8))
    }

    @Test("a list that was finished counts what it has skipped, and may go on where it ended")
    func finished() async throws {
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example }
                entities:
                  Item: { key: id, attributes: { id: int } }
                  Tag: { key: id, attributes: { id: int } }
                endpoints:
                  items:
                    path: /items
                    records: items
                    entity: Item
                    paginate: { page_number: { param: page, total: total.value } }
                  tags: { path: /tags, entity: Tag, paginate: single_page }
                """)
        let transport = ClosureTransport { request in
            request.url.contains("/tags")
                ? Self.response("[]")
                : Self.response(#"{"total":{"value":2,"relation":"gte"},"items":[{"id":1},{"name":"no key"}]}"#)
        }
        let first = try await store.sync(nil, transport: transport, options: { $0.concurrency = 1 }) { progress in
            if progress.endpoint == "tags" { withUnsafeCurrentTask { $0?.cancel() } }
        }
        let begun = try #require(first.endpoint("items"))
        #expect(!first.failures.isEmpty && begun.skipped == 1 && begun.skippedBefore == 0 && begun.doubtsBefore == 0)
        #expect(begun.doubts.count == 1, "\(begun)")
        let next = try await store.sync(nil, transport: transport, options: { $0.concurrency = 1 })
        let items = try #require(next.endpoint("items"))
        #expect(next.failures.isEmpty && items.wasFinished && items.pages == 0, "\(next.texts)")
        #expect(items.skipped == 0 && items.skippedBefore == 1 && items.doubtsBefore == 1, "\(items)")
    }

    @Test("a list that begins anew, because its position is refused, has skipped nothing before")
    func anew() async throws {
        let store = try MirrorStore(yaml: itemsYAML()), state = Mutex((status: 500, next: "/items?page=2" as String?))
        let transport = ClosureTransport { request in
            let (status, next) = state.withLock(\.self)
            return request.url.hasSuffix("page=2")
                ? Self.response("{}", status: status)
                : Self.response(#"[{"id":1,"name":"a"},{"name":"no key"}]"#, next: next)
        }
        let first = try await store.sync(nil, transport: transport)
        #expect(first.failures.count == 1 && first.endpoint("items")?.skipped == 1, "\(first.texts)")
        state.withLock { $0 = (410, nil) }
        let next = try await store.sync(nil, transport: transport), items = try #require(next.endpoint("items"))
        #expect(next.failures.isEmpty && items.pages == 1, "\(next.texts)")
        #expect(items.skipped == 1 && items.skippedBefore == 0, "\(items)")
    }
}
