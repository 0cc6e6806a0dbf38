// Records that move between endpoints of one entity, some of which are scanned in part or rarely.

import Foundation
import Synchronization
import Tarn
import Testing

@Suite("Mirror: records that move between endpoints", .timeLimit(.minutes(5)))
struct MovedRecordTests {
    private func endpoints(_ orphans: String, isLongFirst: Bool = true) throws -> MirrorStore {
        let long = "  long: { path: /long, entity: Item, paginate: header_link, orphans: \(orphans) }"
        let short = "  short: { path: /short, entity: Item, orphans: \(orphans) }"
        return try MirrorStore(
            yaml: """
                api: { base: https://api.test.example/v1 }
                entities:
                  Item: { key: id, attributes: { id: int, name: string } }
                endpoints:
                \((isLongFirst ? [long, short] : [short, long]).joined(separator: "\n"))
                """)
    }

    @discardableResult
    private func scan(
        _ store: MirrorStore, _ long: [[Int]], _ short: [Int], names: Set<String>? = nil, limit: Int? = nil,
        fails: Bool = false, ahead: Double = 0
    ) async throws -> SyncReport {
        var pages = writtenPages(long, path: "/long")
        if fails {
            let last = "/v1/long?page=\(long.count)"
            pages[long.count - 1] = recording(last, "{}", status: "500 Internal Server Error")
        }
        let transport = try WrittenTransport(pages + writtenPages([short], path: "/short"))
        return try await store.sync(nil, transport: transport, names: names) { options in
            options.mirror.limit = limit
            options.client.time.now = { Date() + ahead }
        }
    }

    @Test(
        "a record that has moved to pages that a scan in parts has passed stays, and one that is gone goes at last",
        arguments: ["after_one_scan", "after_two_scans"], [true, false])
    func passedPages(orphans: String, fails: Bool) async throws {
        let store = try endpoints(orphans)
        let limit = fails ? nil : 1
        try await scan(store, [[1], [2], [3], [4]], [9, 8, 7])
        try await scan(store, [[1], [2], [3], [4]], [9, 8, 7], limit: limit, fails: fails)
        for _ in 0..<4 {
            try await scan(store, [[9], [1], [2], [3], [4]], [8], limit: limit, fails: fails)
            #expect(try store.items() == [1, 2, 3, 4, 7, 8, 9])
        }
        for _ in 0..<4 { try await scan(store, [[9], [1], [2], [3], [4]], [8]) }
        #expect(try store.items() == [1, 2, 3, 4, 8, 9])
    }

    @Test("a record stays while the endpoint that it moved to is not synced, and the report names that endpoint")
    func oneEndpointAlone() async throws {
        let store = try endpoints("after_two_scans")
        try await scan(store, [[1]], [9, 8, 7])
        for _ in 0..<3 { try await scan(store, [[9], [1]], [8], names: ["short"]) }
        #expect(try store.items() == [1, 7, 8, 9])
        let report = try await scan(store, [[9], [1]], [8], names: ["short"])
        #expect(report.orphans?.refusals.first?.contains("no complete scan of long") == true)
        try await scan(store, [[9], [1]], [8])
        try await scan(store, [[9], [1]], [8])
        #expect(try store.items() == [1, 8, 9])
    }

    @Test("a record stays while the endpoint that it moved to was last synced when the clock was ahead")
    func scannedAhead() async throws {
        let store = try endpoints("after_two_scans")
        try await scan(store, [[1]], [9, 8, 7], ahead: 86_400)
        for _ in 0..<4 { try await scan(store, [[9], [1]], [8], names: ["short"]) }
        #expect(try store.items() == [1, 7, 8, 9])
        try await scan(store, [[9], [1]], [8])
        try await scan(store, [[9], [1]], [8])
        #expect(try store.items() == [1, 8, 9])
    }

    @Test("a record that has moved past a scan in parts, and then to another endpoint, stays")
    func movedTwice() async throws {
        let store = try endpoints("after_two_scans")
        try await scan(store, [[1], [2], [3]], [9])
        try await scan(store, [[1], [2], [3]], [9], limit: 1)
        for _ in 0..<2 { try await scan(store, [[3], [1], [2]], [9], limit: 1) }
        try await scan(store, [[3], [1], [2]], [9], names: ["short"])
        for _ in 0..<2 {
            let report = try await scan(store, [[1], [2]], [9, 3])
            #expect(report.failures.isEmpty && report.report.deleted == 0, "\(report.texts)")
        }
        #expect(try store.items() == [1, 2, 3, 9])
    }

    @Test("a record that is gone goes at last, although each scan is one in parts")
    func gone() async throws {
        for orphans in ["after_one_scan", "after_two_scans"] {
            let store = try endpoints(orphans)
            try await scan(store, [[1], [2], [3]], [9])
            for _ in 0..<8 { try await scan(store, [[1], [2]], [9], limit: 1) }
            #expect(try store.items() == [1, 2, 9])
        }
    }

    @Test("a record that has moved to the second list of an answer stays, too")
    func secondList() async throws {
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example/v1 }
                entities:
                  Item: { key: id, attributes: { id: int, name: string } }
                  Note: { key: id, attributes: { id: int } }
                endpoints:
                  items: { path: /items, entity: Item, paginate: header_link, orphans: after_one_scan }
                  board: { path: /board, records: { notes: Note, items: Item } }
                """)
        for (own, others) in [([1, 2], [9]), ([1], [9, 2]), ([1], [9, 2])] {
            let list = others.map { #"{"id":\#($0),"name":"n\#($0)"}"# }.joined(separator: ",")
            let board = recording("/v1/board", #"{"notes":[{"id":5}],"items":[\#(list)]}"#)
            let report = try await store.scan([own], and: [board])
            #expect(report.failures.isEmpty && report.report.deleted == 0, "\(report.texts)")
        }
        #expect(try store.items() == [1, 2, 9])
    }

    private static let boxes = """
        api: { base: https://api.test.example/v1 }
        entities:
          Box:
            key: id
            attributes: { id: int, name: string }
            relationships: { items: { to: [Item], inverse: box } }
          Item:
            key: id
            attributes: { id: int, name: string }
            relationships: { box: { to: Box, inverse: items } }
        endpoints:
          boxes: { path: /boxes, entity: Box }
          latest: { path: /latest, entity: Item, orphans: after_two_scans }
          content: { path: '/boxes/{box.id}/items', entity: Item, for_each: { entity: Box, parent: box } }
        """

    /// Syncs a number of boxes, the last of which is new. The record 3 is only listed beside the
    /// first one.
    private func scan(_ store: MirrorStore, boxes: Int, ahead: Double = 0) async throws {
        let lists = (1...boxes).flatMap { writtenPages([[100 + $0]], path: "/boxes/\($0)/items") }
        let latest = writtenPages([boxes == 1 ? [1, 2, 3] : [1, 2]], path: "/latest")
        let pages = writtenPages([Array(1...boxes)], path: "/boxes") + latest + lists
        let report = try await store.sync(nil, transport: try WrittenTransport(pages)) { options in
            options.client.time.now = { Date() + ahead }
        }
        #expect(report.failures.isEmpty, "\(report.texts)")
    }

    @Test("a record that is gone goes, although each sync finds another parent, whose list was never scanned")
    func newParents() async throws {
        let store = try MirrorStore(yaml: Self.boxes)
        for boxes in 1...4 {
            try await scan(store, boxes: boxes)
            #expect(try store.items().contains(3) == (boxes < 4))
        }
    }

    @Test("a pass over the lists of parents while the clock was ahead does not hold up the orphans of later syncs")
    func newParentsAhead() async throws {
        let store = try MirrorStore(yaml: Self.boxes)
        for boxes in 1...10 { try await scan(store, boxes: boxes, ahead: boxes == 1 ? 86_400 : 0) }
        #expect(try !store.items().contains(3))
    }

    @Test("an endpoint that is scanned first does not delete what a later one lists by now")
    func laterEndpoint() async throws {
        let store = try endpoints("after_one_scan", isLongFirst: false)
        try await scan(store, [[1]], [9, 8])
        let report = try await scan(store, [[9], [1]], [8])
        #expect(report.orphans?.deleted == 0 && report.report.deleted == 0)
        #expect(found(try await scan(store, [[9], [1]], [8])) == ["candidates": 1, "elsewhere": 1])
        #expect(try store.items() == [1, 8, 9])
    }

    @Test(
        "a record that has moved past a continued scan of counted pages stays until a second scan misses it",
        arguments: ["{ page_number: { param: n } }", "{ offset: { param: n } }", "auto"])
    func countedPages(style: String) async throws {
        let store = try MirrorStore(
            yaml: itemsYAML("paginate: \(style)\n    records: items\n    orphans: after_one_scan"))
        let state = Mutex((items: Array(1...6), fails: false)), isNumbered = !style.contains("offset")
        let transport = ClosureTransport { request in
            let number = QueryParameters.values(in: request.url).first.flatMap { Int($0.value) }
            let start = isNumbered ? ((number ?? 1) - 1) * 2 : number ?? 0
            let (found, fails) = state.withLock { ($0.items.dropFirst(start).prefix(2), $0.fails && start == 4) }
            if fails { return TransportResponse(status: 500) }
            let body = found.map { #"{"id":\#($0),"name":"n"}"# }.joined(separator: ",")
            let pages = style == "auto" ? #","pages":3"# : ""
            return TransportResponse(status: 200, body: Array(#"{"items":[\#(body)]\#(pages)}"#.utf8))
        }
        #expect(try await store.sync(nil, transport: transport).failures.isEmpty)
        state.withLock { $0.fails = true }
        #expect(try await store.sync(nil, transport: transport).failures.count == 1)
        state.withLock { $0 = (Array(2...6), false) }
        let continued = try await store.sync(nil, transport: transport)
        // The fifth record is on the second page by now.
        #expect(try continued.orphans?.waiting == 1 && store.items() == Array(1...6), "\(continued.texts)")
        #expect(try await store.sync(nil, transport: transport).orphans?.deleted == 1)
        #expect(try store.items() == Array(2...6))
    }
}
