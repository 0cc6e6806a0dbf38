// `full_every`: everything is requested again when the last scan of everything was long ago.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: everything again, from time to time", .timeLimit(.minutes(5)))
struct MirrorPeriodicFullTests {
    private typealias Items = IncrementalItems
    private static let first = [
        (1, "2001-01-01T10:00:00Z"), (2, "2001-01-02T10:00:00Z"), (3, "2001-01-03T10:00:00Z"),
    ]
    private let clock = TestClock()

    private static func yaml(_ more: String = ", full_every: 7d") -> String {
        Items.yaml(
            "{ param: since, field: changed_at\(more) }", more: "paginate: header_link\n    orphans: after_one_scan")
    }

    private func sync(_ store: MirrorStore, _ items: Items) async throws -> [String] {
        let report = try await store.sync(nil, transport: items.transport) { $0.client.time = clock.source }
        #expect(report.failures.isEmpty, "\(report.texts)")
        return items.log
    }

    @Test("a deletion that a list of changes does not tell is found after the interval, not before it")
    func deletion() async throws {
        let store = try MirrorStore(yaml: Self.yaml()), items = Items()
        items.set(Self.first)
        #expect(try await sync(store, items) == ["/items", "/items?page=2"])
        items.set(Array(Self.first.dropFirst()))
        clock.pass(6 * 86_400)
        #expect(try await sync(store, items) == ["/items?since=2001-01-03T10:00:00Z"])
        #expect(try store.items() == [1, 2, 3])
        clock.pass(86_400)
        #expect(try await sync(store, items) == ["/items"])
        #expect(try store.items() == [2, 3])
        // The interval counts from the beginning of that scan.
        #expect(try await sync(store, items) == ["/items?since=2001-01-03T10:00:00Z"])
        #expect(try store.checkpoint("items")?.wholeSince == Timestamp(clock.source.now()))
    }

    @Test("a store from before the line lists everything once; so does one whose time is in the future")
    func unknownTime() async throws {
        let former = try MirrorStore(yaml: Self.yaml("")), items = Items()
        items.set(Self.first)
        _ = try await sync(former, items)
        var checkpoint = try #require(try former.checkpoint("items"))
        checkpoint.wholeSince = nil
        let unknown = checkpoint
        try await former.open().write { try $0.setCheckpoint("items", unknown) }
        let store = try former.edited(Self.yaml())
        #expect(try await sync(store, items).first == "/items")
        #expect(try await sync(store, items) == ["/items?since=2001-01-03T10:00:00Z"])
        clock.pass(-86_400)
        #expect(try await sync(store, items).first == "/items")
    }

    @Test("a scan of everything that fails is due again, and keeps the value for since")
    func failure() async throws {
        let store = try MirrorStore(yaml: Self.yaml()), items = Items()
        items.set(Self.first)
        _ = try await sync(store, items)
        clock.pass(8 * 86_400)
        items.state.withLock { $0.failing = ["/items?page=2"] }
        let report = try await store.sync(nil, transport: items.transport) { $0.client.time = clock.source }
        #expect(report.failures.count == 1 && items.log == ["/items", "/items?page=2"])
        #expect(try store.checkpoint("items")?.since == "2001-01-03T10:00:00Z")
        items.state.withLock { $0.failing = [] }
        #expect(try await sync(store, items) == ["/items?page=2"], "it continues")
        #expect(try await sync(store, items) == ["/items?since=2001-01-03T10:00:00Z"])
    }

    @Test("a scan of everything that ends at the limit of the endpoint is repeated after the interval only")
    func limit() async throws {
        let store = try MirrorStore(
            yaml: Items.yaml(
                "{ param: since, field: changed_at, full_every: 7d }",
                more: "paginate: header_link\n    limit: { pages: 1, then: stop }"))
        let items = Items()
        items.set(Array(Self.first.dropLast()))
        #expect(try await sync(store, items) == ["/items"])
        items.set(Self.first)
        clock.pass(7 * 86_400)
        #expect(try await sync(store, items) == ["/items"])
        #expect(try await sync(store, items) == ["/items?since=2001-01-02T10:00:00Z"])
    }

    @Test("the status has the time at which everything is requested again")
    func status() async throws {
        let store = try MirrorStore(yaml: Self.yaml()), items = Items()
        items.set(Self.first)
        _ = try await sync(store, items)
        var options = SyncOptions()
        options.client.time = clock.source
        let mirror = try APIMirror(
            store.description, store: store.open(), transport: items.transport, client: options.client,
            options: options.mirror)
        let status = try #require(try await mirror.status(of: ["items"]).first)
        #expect(status.nextWhole == Timestamp(clock.source.now()).earlier(bySeconds: -7 * 86_400))
    }

    @Test("a scan of everything knows the value for since best: one that no record has any more is not sent")
    func smallerValue() async throws {
        let store = try MirrorStore(yaml: Self.yaml()), items = Items()
        items.set(Self.first)
        _ = try await sync(store, items)
        items.set(Array(Self.first.dropLast()))
        clock.pass(7 * 86_400)
        #expect(try await sync(store, items).first == "/items")
        #expect(try await sync(store, items) == ["/items?since=2001-01-02T10:00:00Z"])
    }
}
