// Orphans of an endpoint with several lists: what one of them misses may have moved to another one.

import Synchronization
import Tarn
import Testing

@Suite("Mirror: orphans of several lists", .timeLimit(.minutes(5)))
struct MirrorOrphanListsTests {
    /// Two lists of one endpoint, with a further rule.
    private func lists(_ rule: String = "", orphans: String = "after_one_scan") throws -> MirrorStore {
        try MirrorStore(
            yaml: """
                api: { base: https://api.test.example/v1 }
                entities:
                  Item: { key: id, attributes: { id: int, name: string } }
                endpoints:
                  items:
                    path: '/lists/{list}'
                    partitions: { list: [1, 2] }
                    entity: Item
                    paginate: header_link
                    orphans: \(orphans)
                    \(rule)
                """)
    }

    @discardableResult
    private func scan(_ store: MirrorStore, _ first: [[Int]], _ second: [[Int]]) async throws -> SyncReport {
        let pages = writtenPages(first, path: "/lists/1") + writtenPages(second, path: "/lists/2")
        return try await store.sync(nil, transport: try WrittenTransport(pages))
    }

    private func isHeld(_ report: SyncReport) -> Bool {
        report.orphans?.refusals.contains { $0.contains("a list of the endpoint is not complete") } == true
    }

    @Test("a record that has moved behind the limit of another list stays")
    func limit() async throws {
        let store = try lists("limit: { pages: 1, then: stop }")
        try await scan(store, [[10, 11]], [[20, 21], [22]])
        for _ in 0..<3 {
            let report = try await scan(store, [[10]], [[20, 21], [11]])
            #expect(isHeld(report) && found(report) == [:])
            #expect(try store.items() == [10, 11, 20, 21])
        }
    }

    @Test("a record that has moved to a list whose last page is in doubt stays, and the next sync decides")
    func inDoubt() async throws {
        let store = try lists()
        try await scan(store, [[10, 11]], [[20], [21]])
        let report = try await scan(store, [[10]], [[20], []])
        #expect(isHeld(report) && found(report) == [:])
        #expect(try store.items() == [10, 11, 20, 21])
        #expect(found(try await scan(store, [[10]], [[20], [21]])) == ["candidates": 1, "deleted": 1])
        #expect(try store.items() == [10, 20, 21])
    }

    @Test("a list that is suddenly empty holds the orphans of the others in that sync; one that stays empty does not")
    func suddenlyEmpty() async throws {
        let store = try lists()
        try await scan(store, [[10, 11]], [[20]])
        #expect(isHeld(try await scan(store, [[10]], [[]])))
        #expect(try store.items() == [10, 11, 20])
        #expect(found(try await scan(store, [[10]], [[]])) == ["candidates": 1, "deleted": 1])
        #expect(try store.items() == [10, 20])
    }

    @Test("a list that a rule ignores holds the orphans of the others, unless it was ignored in the sync before")
    func ignored() async throws {
        let store = try lists("responses: [{ status: 503, then: ignore }]")
        try await scan(store, [[10, 11]], [[20]])
        let down = recording("/v1/lists/2", "{}", status: "503 Service Unavailable")
        let transport = try WrittenTransport(writtenPages([[10]], path: "/lists/1") + [down])
        let report = try await store.sync(nil, transport: transport)
        #expect(isHeld(report) && found(report) == [:] && report.endpoint("items")?.ignored == 1)
        #expect(try store.items() == [10, 11, 20])
        #expect(try store.checkpoint("items [list=2]")?.state == .complete)
        #expect(found(try await store.sync(nil, transport: transport)) == ["candidates": 1, "deleted": 1])
        #expect(try store.items() == [10, 20])
    }

    /// A sync that ends after the first list, because the server is gone.
    private func interrupt(_ store: MirrorStore, _ first: [Int]) async throws {
        let body = "[" + first.map { #"{"id":\#($0),"name":"n\#($0)"}"# }.joined(separator: ",") + "]"
        let cut = ClosureTransport { request in
            guard request.url.hasSuffix("/1") else {
                throw TransportError(.connect, method: request.method, url: request.url, detail: "refused")
            }
            return TransportResponse(status: 200, body: Array(body.utf8))
        }
        let report = try await store.sync(nil, transport: cut) { $0.concurrency = 1 }
        #expect(report.failures.count == 1, "\(report.texts)")
    }

    @Test("the rest of an interrupted sync waits for one scan more: a record may have moved to a list that is finished")
    func continued() async throws {
        let store = try lists()
        try await scan(store, [[10]], [[20, 11]])
        try await interrupt(store, [10])
        let rest = try await scan(store, [[10, 11]], [[20]])
        #expect(rest.endpoint("items")?.finishedParents == 1 && found(rest) == ["candidates": 1, "waiting": 1])
        #expect(try store.items() == [10, 11, 20])
        #expect(found(try await scan(store, [[10, 11]], [[20]])) == ["candidates": 1, "elsewhere": 1])
        #expect(try store.items() == [10, 11, 20])
    }

    @Test("if every sync is interrupted, the orphans of all lists go with the second one")
    func alwaysInterrupted() async throws {
        let store = try lists()
        try await scan(store, [[10, 11]], [[20, 21]])
        for count in [0, 2] {
            try await interrupt(store, [10])
            let rest = try await scan(store, [[10]], [[20]])
            #expect(rest.endpoint("items")?.finishedParents == 1)
            #expect(found(rest) == ["candidates": 2, count == 0 ? "waiting" : "deleted": 2])
        }
        #expect(try store.items() == [10, 20])
    }

    @Test("a finished list that was suddenly empty holds the orphans of the others in the rest of the sync, too")
    func continuedUnknown() async throws {
        let store = try lists()
        try await scan(store, [[10, 11]], [[20, 21]])
        try await interrupt(store, [])
        let rest = try await scan(store, [[]], [[20]])
        #expect(isHeld(rest) && found(rest) == [:])
        #expect(try store.items() == [10, 11, 20, 21])
    }

    @Test("two scans in a row have to miss a record, also if it had left the first list long before")
    func movedLongAgo() async throws {
        let store = try lists(orphans: "after_two_scans")
        try await scan(store, [[10, 11]], [[20]])
        for _ in 0..<3 {
            #expect(found(try await scan(store, [[10]], [[20, 11]])) == ["candidates": 1, "elsewhere": 1])
        }
        #expect(found(try await scan(store, [[10]], [[20]])) == ["candidates": 2, "waiting": 2])
        #expect(try store.items() == [10, 11, 20])
        #expect(found(try await scan(store, [[10]], [[20]])) == ["candidates": 1, "deleted": 1])
        #expect(try store.items() == [10, 20])
    }

    @Test("a list that has as many unreadable records as before does not hold the orphans of the others")
    func unreadable() async throws {
        let store = try lists()
        func scan(_ first: [Int], unreadable: Int) async throws -> SyncReport {
            let bad = String(repeating: #"{"name":"no key"},"#, count: unreadable)
            let second = recording("/v1/lists/2", "[\(bad){\"id\":20,\"name\":\"n20\"}]")
            let pages = writtenPages([first], path: "/lists/1") + [second]
            return try await store.sync(nil, transport: try WrittenTransport(pages))
        }
        _ = try await scan([10, 11], unreadable: 1)
        #expect(isHeld(try await scan([10], unreadable: 2)))
        #expect(try store.items() == [10, 11, 20])
        #expect(try await scan([10], unreadable: 2).orphans?.deleted == 1)
        #expect(try store.items() == [10, 20])
    }

    @Test("while the orphans of the others wait, a request for a record itself decides")
    func checkedWhileHeld() async throws {
        let store = try lists(
            "limit: { pages: 1, then: stop }", orphans: "{ after: one_scan, check: '/items/{item.id}' }")
        try await scan(store, [[10, 11, 12]], [[20], [21]])
        let pages = writtenPages([[10]], path: "/lists/1") + writtenPages([[20], [21]], path: "/lists/2")
        let checks = [
            recording("/v1/items/11", "{}", status: "404 Not Found"), recording("/v1/items/12", #"{"id":12}"#),
        ]
        let report = try await store.sync(nil, transport: try WrittenTransport(pages + checks))
        #expect(isHeld(report) && found(report) == ["candidates": 2, "existing": 1, "deleted": 1])
        #expect(try store.items() == [10, 12, 20])
    }

    @Test("the rest of an interrupted sync waits also for records that may have moved to a finished endpoint")
    func finishedEndpoint() async throws {
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example/v1 }
                entities:
                  Item: { key: id, attributes: { id: int, name: string } }
                endpoints:
                  open: { path: /lists/1, entity: Item, orphans: after_one_scan }
                  closed: { path: /lists/2, entity: Item, orphans: after_one_scan }
                """)
        try await scan(store, [[10]], [[20, 11]])
        try await interrupt(store, [10])
        let rest = try await scan(store, [[10, 11]], [[20]])
        #expect(rest.endpoint("open")?.wasFinished == true && found(rest) == ["candidates": 1, "waiting": 1])
        #expect(found(try await scan(store, [[10, 11]], [[20]])) == ["candidates": 1, "elsewhere": 1])
        #expect(try store.items() == [10, 11, 20])
    }

    @Test("the list of a deleted record keeps no record, also if lists begin with an initial value of since")
    func listOfDeletedRecordWithInitial() async throws {
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example/v1 }
                entities:
                  Box: { key: id, attributes: { id: int } }
                  Item: { key: id, attributes: { id: int, at: int } }
                endpoints:
                  boxes: { path: /boxes, entity: Box, orphans: after_one_scan }
                  content:
                    path: '/boxes/{box.id}'
                    for_each: Box
                    entity: Item
                    since: { param: since, field: at, initial: '0' }
                  items: { path: /items, entity: Item, orphans: after_one_scan }
                """)
        let isEarly = Mutex(true)
        let transport = ClosureTransport { request in
            let early = isEarly.withLock(\.self)
            let body =
                if request.url.hasSuffix("/boxes") {
                    early ? #"[{"id":1},{"id":2}]"# : #"[{"id":1}]"#
                } else if request.url.hasSuffix("/items") {
                    early ? #"[{"id":1,"at":1},{"id":7,"at":1}]"# : #"[{"id":1,"at":1}]"#
                } else if request.url.contains("/boxes/1") {
                    #"[{"id":1,"at":1}]"#
                } else {
                    #"[{"id":7,"at":1}]"#
                }
            return TransportResponse(status: 200, body: Array(body.utf8))
        }
        try await store.sync(nil, transport: transport)
        isEarly.withLock { $0 = false }
        for _ in 0..<3 { try await store.sync(nil, transport: transport) }
        #expect(try store.items() == [1])
    }

    @Test("a list that can never begin holds the orphans of the others in the first sync only")
    func notBegun() async throws {
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example/v1 }
                entities:
                  Box: { key: id, attributes: { id: int, url: url } }
                  Item: { key: id, attributes: { id: int, name: string } }
                endpoints:
                  boxes: { path: /boxes, entity: Box }
                  content: { url: '{box.url}', for_each: Box, entity: Item, orphans: after_one_scan }
                """)
        let boxes = recording(
            "/v1/boxes",
            #"[{"id":1,"url":"https://api.test.example/v1/boxes/1"},{"id":2,"url":"https://elsewhere.example/2"}]"#)
        func scan(_ items: [Int]) async throws -> SyncReport {
            let pages = [boxes] + writtenPages([items], path: "/boxes/1")
            return try await store.sync(nil, transport: try WrittenTransport(pages))
        }
        #expect(isHeld(try await scan([10, 11])))
        let report = try await scan([10])
        #expect(report.failures.count == 1 && report.orphans?.deleted == 1, "\(report.texts)")
        #expect(try store.items() == [10])
    }

    @Test("the list of a deleted record of another endpoint keeps no record, and one of a stored record does")
    func listOfDeletedRecord() async throws {
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example/v1 }
                entities:
                  Box: { key: id, attributes: { id: int, name: string } }
                  Item: { key: id, attributes: { id: int, name: string } }
                endpoints:
                  boxes: { path: /boxes, entity: Box, orphans: after_one_scan }
                  items: { path: /items, entity: Item, orphans: after_one_scan }
                  content: { path: '/boxes/{box.id}/items', entity: Item, for_each: Box }
                """)
        func scan(_ boxes: [Int: [Int]], _ items: [Int]) async throws {
            var pages = writtenPages([boxes.keys.sorted()], path: "/boxes") + writtenPages([items])
            for (box, content) in boxes { pages += writtenPages([content], path: "/boxes/\(box)/items") }
            let report = try await store.sync(nil, transport: try WrittenTransport(pages))
            #expect(report.failures.isEmpty, "\(report.texts)")
        }
        try await scan([1: [5, 6], 2: [7]], [5, 6, 7, 9])
        for _ in 0..<3 { try await scan([2: [7]], [9]) }
        #expect(try store.items() == [7, 9])
    }

    /// A store of two boxes, whose items are requested by their slugs.
    private func boxesWithSlugs() throws -> MirrorStore {
        try MirrorStore(
            yaml: """
                api: { base: https://api.test.example/v1 }
                entities:
                  Box: { key: id, attributes: { id: int, slug: string? } }
                  Item: { key: id, attributes: { id: int, name: string } }
                endpoints:
                  boxes: { path: /boxes, entity: Box }
                  content: { path: '/boxes/{box.slug}', entity: Item, for_each: Box, orphans: after_one_scan }
                """)
    }

    /// Syncs the boxes with their items. Without items, the first box has no slug.
    private func scan(_ store: MirrorStore, _ first: [Int]?, _ second: [Int]) async throws -> [String: Int] {
        let slug = first == nil ? "null" : #""a""#
        let boxes = recording("/v1/boxes", #"[{"id":1,"slug":\#(slug)},{"id":2,"slug":"b"}]"#)
        let lists = writtenPages([first ?? []], path: "/boxes/a") + writtenPages([second], path: "/boxes/b")
        return found(try await store.sync(nil, transport: try WrittenTransport([boxes] + lists)))
    }

    @Test("the list of a record that lacks a value for the path is still in use: what it lists stays")
    func lackingValue() async throws {
        let store = try boxesWithSlugs()
        func scan(_ first: [Int]?, _ second: [Int]) async throws -> [String: Int] {
            try await self.scan(store, first, second)
        }
        #expect(try await scan([1], [2, 3]) == [:])
        #expect(try await scan([1, 3], [2]) == ["candidates": 1, "elsewhere": 1])
        for _ in 0..<3 { #expect(try await scan(nil, [2]) == ["candidates": 1, "elsewhere": 1]) }
        #expect(try store.items() == [1, 2, 3])
    }

    @Test("a record that another list loses when a list cannot be requested any more stays for one sync more")
    func newlyLackingValue() async throws {
        let store = try boxesWithSlugs()
        func scan(_ first: [Int]?, _ second: [Int]) async throws -> [String: Int] {
            try await self.scan(store, first, second)
        }
        #expect(try await scan([1], [2, 3, 4]) == [:])
        // The record 3 moves to the list of the box that has lost its slug.
        #expect(try await scan(nil, [2, 4]) == ["candidates": 1, "waiting": 1])
        #expect(try await scan([1, 3], [2, 4]) == ["candidates": 1, "elsewhere": 1])
        #expect(try store.items() == [1, 2, 3, 4])
        // A list that stays out of reach keeps no record for ever.
        #expect(try await scan(nil, [2]) == ["candidates": 2, "waiting": 1, "elsewhere": 1])
        #expect(try await scan(nil, [2]) == ["candidates": 2, "deleted": 1, "elsewhere": 1])
        #expect(try store.items() == [1, 2, 3])
    }

    @Test("of the syncs in which a list cannot be requested, only the first one holds the orphans of the others")
    func stillLackingValue() async throws {
        let store = try boxesWithSlugs()
        #expect(try await scan(store, [1], [2, 3]) == [:])
        #expect(try await scan(store, nil, [2, 3]) == [:])
        #expect(try await scan(store, nil, [2]) == ["candidates": 1, "deleted": 1])
        #expect(try store.items() == [1, 2])
    }

    /// A store of two boxes, whose second sync has ended after the first box has lost its slug.
    private func interruptedWithoutSlug() async throws -> MirrorStore {
        let store = try boxesWithSlugs()
        #expect(try await scan(store, [1], [2, 3]) == [:])
        let boxes = Array(#"[{"id":1,"slug":null},{"id":2,"slug":"b"}]"#.utf8)
        let cut = ClosureTransport { request in
            guard request.url.hasSuffix("/boxes") else {
                throw TransportError(.connect, method: request.method, url: request.url, detail: "refused")
            }
            return TransportResponse(status: 200, body: boxes)
        }
        #expect(try await store.sync(nil, transport: cut) { $0.concurrency = 1 }.failures.count == 1)
        return store
    }

    @Test("the rest of an interrupted sync that has found a list out of reach waits for one scan more")
    func lackingValueInContinued() async throws {
        let store = try await interruptedWithoutSlug()
        #expect(try await scan(store, nil, [2]) == ["candidates": 1, "waiting": 1])
        #expect(try await scan(store, nil, [2]) == ["candidates": 1, "deleted": 1])
    }

    @Test("a list that is within reach again is scanned in the rest of an interrupted sync")
    func valueIsBackInContinued() async throws {
        let store = try await interruptedWithoutSlug()
        try await store.open().write {
            try $0.put("Box", RecordKey(1), [Record.Field("slug", .string("a"))], isComplete: false)
        }
        _ = try await scan(store, [1, 9], [2, 3])
        #expect(try store.items() == [1, 2, 3, 9])
    }
}
