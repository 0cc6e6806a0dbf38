// Responses to requests for changes: those whose records are listed again do not stay.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: responses to requests for changes", .timeLimit(.minutes(5)))
struct MirrorRelistedResponsesTests {
    /// A feed whose every response has a new token, and the records of one version.
    private final class Feed: Sendable {
        private let state = Mutex((ids: [Int](), version: 0))

        func set(_ ids: [Int]) { state.withLock { $0.ids = ids } }

        var transport: ClosureTransport {
            ClosureTransport { [self] request in
                guard !request.url.hasSuffix("/all") else {
                    return TransportResponse(status: 200, body: Array("[]".utf8))
                }
                let (ids, version) = state.withLock { state in
                    state.version += 1
                    return (state.ids, state.version)
                }
                let items = ids.map { #"{"id":\#($0)}"# }.joined(separator: ",")
                return TransportResponse(
                    status: 200, body: Array(#"{"items":[\#(items)],"sync":"t\#(version)"}"#.utf8))
            }
        }
    }

    private static let yaml = """
        api: { base: https://api.test.example }
        entities: { Item: { key: id, attributes: { id: int } } }
        endpoints:
          items:
            { path: /items, records: items, entity: Item, paginate: single_page, since: { cursor: sync, param: token } }
        """

    /// The targets of the stored responses, with the keys that each lists.
    private func stored(_ store: MirrorStore) throws -> [String] {
        try store.read { reader in
            var lines: [String] = []
            try reader.access.responses.forEach { view in
                let target = view.url.replacing("https://api.test.example", with: "")
                lines.append("\(target) \(view.entry?.listing.listed.count ?? 0)")
                return true
            }
            return lines
        }
    }

    @Test("a response goes when later ones list its records, and at once if it lists nothing")
    func relisted() async throws {
        let store = try MirrorStore(yaml: Self.yaml), feed = Feed()
        feed.set([1, 2, 3])
        try await store.sync(nil, transport: feed.transport)
        feed.set([1, 2])
        try await store.sync(nil, transport: feed.transport)
        feed.set([1])
        for _ in 0..<5 { try await store.sync(nil, transport: feed.transport) }
        #expect(try stored(store) == ["/items 3", "/items?token=t1 2", "/items?token=t6 1"])
        feed.set([])
        for _ in 0..<5 { try await store.sync(nil, transport: feed.transport) }
        #expect(try stored(store) == ["/items 3", "/items?token=t1 2", "/items?token=t6 1"])
        feed.set([2])
        try await store.sync(nil, transport: feed.transport)
        #expect(try stored(store) == ["/items 3", "/items?token=t6 1", "/items?token=t12 1"])
    }

    @Test("a record that only an earlier response lists is no orphan of another endpoint")
    func orphans() async throws {
        let
            store = try MirrorStore(
                yaml: Self.yaml
                    + "\n  all: { path: /all, entity: Item, orphans: { scope: entity, after: one_scan, allow_empty: true } }"
            ),
            feed = Feed()
        feed.set([9])
        try await store.sync(nil, transport: feed.transport, names: ["items"])
        for ids in [[1, 2], [2], [3], [3], []] {
            feed.set(ids)
            try await store.sync(nil, transport: feed.transport, names: ["items"])
        }
        let report = try await store.sync(nil, transport: feed.transport, names: ["all"])
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(try store.count("Item") == 4)
    }

    @Test("pages go when a scan of the whole list has found others: cursors may be new in each scan")
    func newCursors() async throws {
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example }
                entities: { Item: { key: id, attributes: { id: int } } }
                endpoints:
                  items: { path: /items, records: items, entity: Item, paginate: { cursor: { path: next, param: c } } }
                """)
        let state = Mutex((version: 1, pages: 3, failing: 0))
        let transport = ClosureTransport { request in
            let cursor = QueryParameters.values(in: request.url).first?.value
            let page = cursor.flatMap { Int($0.prefix(1)) } ?? 1, (version, pages, failing) = state.withLock { $0 }
            guard page != failing else { return TransportResponse(status: 404) }
            let next = page < pages ? #","next":"\#(page + 1)-\#(version)""# : ""
            return TransportResponse(status: 200, body: Array(#"{"items":[{"id":\#(page)}]\#(next)}"#.utf8))
        }
        func sync(_ version: Int, pages: Int = 3, failing: Int = 0) async throws -> [String] {
            state.withLock { $0 = (version, pages, failing) }
            try await store.sync(nil, transport: transport)
            return try stored(store).map { $0.replacing("/items", with: "").replacing("?c=", with: "") }
        }
        #expect(try await sync(1) == [" 1", "2-1 1", "3-1 1"])
        #expect(try await sync(2) == [" 1", "2-2 1", "3-2 1"])
        // The end of the list is unknown.
        #expect(try await sync(3, failing: 3) == [" 1", "2-2 1", "3-2 1", "2-3 1"])
        #expect(try await sync(4) == [" 1", "2-3 1", "3-3 1"])
        #expect(try await sync(4) == [" 1", "2-4 1", "3-4 1"])
        // A list that has become shorter may become longer again.
        #expect(try await sync(4, pages: 2) == [" 1", "2-4 1", "3-4 1"])
        #expect(try store.items() == [1, 2, 3])
    }
}
