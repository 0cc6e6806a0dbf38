// Orphans beside incremental scans: a scan of changes lists only a part.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: orphans beside incremental scans", .timeLimit(.minutes(5)))
struct MirrorIncrementalOrphanTests {
    private typealias Items = IncrementalItems

    @Test("what an incremental scan does not list is no orphan; a full one finds orphans")
    func orphans() async throws {
        let
            store = try MirrorStore(
                yaml: Items.yaml(
                    "{ param: since, field: changed_at }", more: "paginate: header_link\n    orphans: after_one_scan")),
            items = Items()
        items.set(Items.first)
        try await store.sync(nil, transport: items.transport)
        items.set(Array(Items.first.dropFirst()))
        for _ in 0..<2 {
            let report = try await store.sync(nil, transport: items.transport)
            #expect(report.orphans?.refusals.first?.contains("--full") == true)
            #expect(try store.items() == [1, 2, 3])
        }
        try await store.sync(nil, transport: items.transport) { $0.isFull = true }
        #expect(try store.items() == [2, 3])
    }

    @Test("with an initial value, a full sync finds orphans of what the endpoint has listed")
    func orphansWithInitialValue() async throws {
        let rule = "{ param: since, field: changed_at, initial: 2026-01-01 }"
        let store = try MirrorStore(
            yaml: Items.yaml(rule, more: "paginate: header_link\n    orphans: after_one_scan"))
        let items = Items()
        items.set(Items.first)
        try await store.sync(nil, transport: items.transport)
        items.set(Array(Items.first.dropFirst()))
        try await store.sync(nil, transport: items.transport) { $0.isFull = true }
        #expect(items.log.last == "/items?since=2026-01-01")
        #expect(try store.items() == [2, 3])
    }

    @Test("another initial value lists anew: what only the scans before it have listed is no orphan")
    func raisedInitialValue() async throws {
        let yaml = Items.yaml(
            "{ param: since, field: changed_at, initial: 2026-01-01 }",
            more: "paginate: header_link\n    orphans: after_one_scan")
        var store = try MirrorStore(yaml: yaml)
        let items = Items(), path = store.path
        items.set(Items.first)
        try await store.sync(nil, transport: items.transport)
        store.description = try Description.parse(
            yaml.replacing("initial: 2026-01-01", with: "initial: 2026-01-02"), file: "tarn.yaml")
        store.description.storePath = path
        _ = items.log
        try await store.sync(nil, transport: items.transport)
        #expect(items.log == ["/items?since=2026-01-02"])
        try await store.sync(nil, transport: items.transport) { $0.isFull = true }
        #expect(try store.items() == [1, 2, 3])
    }

    @Test(
        "records that a scan has listed from before the initial value are no orphans of scans from there",
        arguments: ["", ", lag: 30d"])
    func behindInitialValue(lag: String) async throws {
        let store = try MirrorStore(
            yaml: Items.yaml(
                "{ param: since, field: changed_at, initial: 2026-01-02\(lag) }",
                more: "paginate: header_link\n    orphans: after_one_scan"))
        let items = Items()
        items.set(Items.first)
        try await store.sync(nil, transport: items.transport)
        #expect(try store.items() == [2, 3])
        try await store.sync(nil, transport: items.transport) { if lag.isEmpty { $0.since = "2025-06-01" } }
        #expect(try store.items() == [1, 2, 3])
        items.set([Items.first[0], Items.first[2]])
        for _ in 0..<2 { try await store.sync(nil, transport: items.transport) { $0.isFull = true } }
        #expect(try store.items() == [1, 3])
    }
}
