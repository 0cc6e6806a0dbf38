// Records that are deleted and come back, and lists of changes whose records refer to them.

import Synchronization
import Tarn
import TarnDescription
import Testing

@Suite("Mirror: records that come back, and lists of changes that refer to them", .timeLimit(.minutes(2)))
struct ReturningOwnerTests {
    /// A server of boxes, and of items that it lists with their boxes, by `since`.
    private final class Boxes: Sendable {
        private let state = Mutex((boxes: [1, 2], log: [String]()))

        func set(_ boxes: [Int]) { state.withLock { $0.boxes = boxes } }

        /// The requests for items since the last call.
        var log: [String] {
            state.withLock { state in
                defer { state.log = [] }
                return state.log
            }
        }

        var transport: ClosureTransport {
            ClosureTransport { [state] request in
                let since = QueryParameters.values(in: request.url).first { $0.name == "since" }?.value
                let boxes = state.withLock { state in
                    if request.url.contains("/items") { state.log.append(since ?? "all") }
                    return state.boxes
                }
                guard request.url.contains("/items") else {
                    let body = boxes.map { #"{"id":\#($0)}"# }.joined(separator: ",")
                    return TransportResponse(status: 200, body: Array("[\(body)]".utf8))
                }
                let items = [(id: 10, box: 1), (id: 11, box: 1), (id: 20, box: 2)].filter { item in
                    boxes.contains(item.box) && item.id >= since.flatMap { Int($0) } ?? 0
                }
                let body = items.map { #"{"id":\#($0.id),"box":\#($0.box)}"# }.joined(separator: ",")
                return TransportResponse(status: 200, body: Array("[\(body)]".utf8))
            }
        }
    }

    private let server = Boxes()

    private func yaml(_ rule: String, hasItems: Bool = true) -> String {
        """
        api: { base: https://api.test.example }
        entities:
          Box:
            key: id
            attributes: { id: int }
            relationships: { items: { to: [Item], inverse: box, on_delete: \(rule) } }
          Item: { key: id, attributes: { id: int }, relationships: { box: { to: Box, inverse: items } } }
        endpoints:
          boxes: { path: /boxes, entity: Box, paginate: single_page, orphans: after_one_scan }
        """
            + (hasItems
                ? "\n  items: { path: /items, entity: Item, paginate: single_page, since: { param: since, field: id } }"
                : "")
    }

    private func sync(_ store: MirrorStore, boxes: [Int]) async throws {
        server.set(boxes)
        let report = try await store.sync(nil, transport: server.transport)
        #expect(report.failures.isEmpty, "\(report.texts)")
    }

    @Test(
        "if a record comes back, a list of changes whose records went with it, or have lost it, is requested whole",
        arguments: ["cascade", "nullify"])
    func owner(rule: String) async throws {
        let store = try MirrorStore(yaml: yaml(rule))
        try await sync(store, boxes: [1, 2])
        // A record that is new, or only gone, leaves the value as it is.
        try await sync(store, boxes: [2])
        try await sync(store, boxes: [2, 3])
        #expect(server.log == ["all", "20", "20"])
        #expect(try store.keys("Box", 2, "items") == [20] && store.count("Item") == (rule == "cascade" ? 1 : 3))
        try await sync(store, boxes: [1, 2, 3])
        #expect(server.log == ["all"])
        #expect(try store.keys("Box", 1, "items") == [10, 11] && store.count("Item") == 3)
        try await sync(store, boxes: [1, 2, 3])
        #expect(server.log == ["20"])
    }

    @Test(
        "if a record with a list of its own comes back, only that list is whole, whichever entity has the relationship",
        arguments: ["Box", "Thing"])
    func parent(entity: String) async throws {
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example }
                entities:
                  Thing:
                    key: id
                    attributes: { id: int }
                    relationships: { items: { to: [Item], inverse: thing, on_delete: cascade } }
                  Box: { parent: Thing }
                  Item: { key: id, attributes: { id: int }, relationships: { thing: { to: Thing, inverse: items } } }
                endpoints:
                  boxes: { path: /boxes, entity: Box, paginate: single_page, orphans: after_one_scan }
                  items:
                    path: '/boxes/{id}/items'
                    entity: Item
                    paginate: single_page
                    for_each: \(entity)
                    since: { param: since, field: id }
                """)
        let log = Mutex<[String]>([])
        for (boxes, requests) in [([1, 2], ["1 all", "2 all"]), ([1], ["1 11"]), ([1, 2], ["1 11", "2 all"])] {
            let transport = ClosureTransport { request in
                let since = QueryParameters.values(in: request.url).first { $0.name == "since" }?.value
                var elements = boxes.map { #"{"id":\#($0)}"# }
                if request.url.contains("/items") {
                    let box = request.url.contains("/boxes/1/") ? 1 : 2
                    log.withLock { $0.append("\(box) \(since ?? "all")") }
                    let ids = [10, 11, 20].filter { $0 / 10 == box && $0 >= since.flatMap { Int($0) } ?? 0 }
                    elements = ids.map { #"{"id":\#($0),"thing":\#(box)}"# }
                }
                let body = elements.joined(separator: ",")
                return TransportResponse(status: 200, body: Array("[\(body)]".utf8))
            }
            #expect(try await store.sync(nil, transport: transport).failures.isEmpty)
            #expect(
                log.withLock { log in
                    defer { log = [] }
                    return log.sorted()
                } == requests)
        }
        #expect(try store.count("Item") == 3)
    }

    /// Syncs the boxes alone.
    private func syncBoxes(_ store: MirrorStore, _ lists: [[Int]]) async throws {
        for boxes in lists {
            server.set(boxes)
            let report = try await store.sync(nil, transport: server.transport, names: ["boxes"])
            #expect(report.failures.isEmpty, "\(report.texts)")
        }
    }

    @Test(
        "it is requested whole if the record came back while only others were synced, also if the log has begun since",
        arguments: [false, true])
    func ownerAlone(isTrimmed: Bool) async throws {
        let store = try MirrorStore(yaml: yaml("cascade"))
        try await sync(store, boxes: [1, 2])
        if isTrimmed {
            try store.open().setChangeRetention(.nothing)
            try store.open().setChangeRetention(.standard)
        }
        try await syncBoxes(store, [[2], [1, 2]])
        #expect(try store.count("Item") == 1 && server.log == ["all"])
        try await sync(store, boxes: [1, 2])
        #expect(server.log == ["all"])
        #expect(try store.count("Item") == 3)
    }

    @Test("it is not requested whole for a record that has gone again: each sync may bring and delete one")
    func goneAgain() async throws {
        let store = try MirrorStore(yaml: yaml("cascade"))
        try await sync(store, boxes: [1, 2])
        try await syncBoxes(store, [[2], [1, 2], [2]])
        try await sync(store, boxes: [2])
        #expect(server.log == ["all", "20"])
        // It comes back later.
        try await sync(store, boxes: [1, 2])
        #expect(server.log == ["all"])
        #expect(try store.count("Item") == 3)
    }

    /// A server of boxes, and of a list of items on two pages, the second of which has a token.
    private final class Token: Sendable {
        private let state = Mutex((boxes: [1, 2], fails: true, log: [String]()))

        func set(_ boxes: [Int]) { state.withLock { $0 = (boxes, false, []) } }

        /// The parameters of the requests for items since the last change.
        var log: [String] { state.withLock { $0.log } }

        var transport: ClosureTransport {
            ClosureTransport { [state] request in
                let name = QueryParameters.values(in: request.url).first?.name ?? "all"
                let (boxes, fails) = state.withLock { state in
                    if request.url.contains("/items") { state.log.append(name) }
                    return (state.boxes, state.fails)
                }
                if name == "after", fails { return TransportResponse(status: 500) }
                let body =
                    switch name {
                    case _ where request.url.contains("/boxes"):
                        "[\(boxes.map { #"{"id":\#($0)}"# }.joined(separator: ","))]"
                    case "after": #"{"items":[{"id":20,"box":2}],"sync":"t"}"#
                    case "token": #"{"items":[],"sync":"t"}"#
                    default: #"{"items":[{"id":10,"box":1}],"next":"p2"}"#
                    }
                return TransportResponse(status: 200, body: Array(body.utf8))
            }
        }
    }

    private func tokenYAML(_ yaml: String) -> String {
        yaml.replacing(
            "entity: Item, paginate: single_page, since: { param: since, field: id }",
            with: "records: items, entity: Item, paginate: { cursor: { path: next, param: after } }, "
                + "since: { cursor: sync, param: token }")
    }

    @Test("a first scan that is under way begins anew: its value is on the last page")
    func underWay() async throws {
        let store = try MirrorStore(yaml: tokenYAML(yaml("cascade"))), server = Token()
        #expect(try await store.sync(nil, transport: server.transport).failures.count == 1)
        for boxes in [[2], [1, 2]] {
            server.set(boxes)
            #expect(try await store.sync(nil, transport: server.transport, names: ["boxes"]).failures.isEmpty)
        }
        #expect(try store.count("Item") == 0)
        #expect(try await store.sync(nil, transport: server.transport).failures.isEmpty)
        #expect(try server.log == ["all", "after"] && store.count("Item") == 2)
        #expect(try await store.sync(nil, transport: server.transport).failures.isEmpty)
        #expect(server.log.last == "token")
    }

    @Test("so does one of an endpoint that the description has again, also if the log no longer has the deletion")
    func formerUnderWay() async throws {
        var store = try MirrorStore(yaml: tokenYAML(yaml("cascade")))
        let path = store.path, server = Token()
        func describe(hasItems: Bool) throws {
            store.description = try Description.parse(
                tokenYAML(yaml("cascade", hasItems: hasItems)), file: "tarn.yaml")
            store.description.storePath = path
        }
        #expect(try await store.sync(nil, transport: server.transport).failures.count == 1)
        #expect(try store.count("Item") == 1 && store.checkpoint("items")?.isIncremental == false)
        try describe(hasItems: false)
        server.set([2])
        #expect(try await store.sync(nil, transport: server.transport).failures.isEmpty)
        #expect(try store.count("Item") == 0)
        try store.open().setChangeRetention(.nothing)
        server.set([1, 2])
        #expect(try await store.sync(nil, transport: server.transport).failures.isEmpty)
        try describe(hasItems: true)
        #expect(try await store.sync(nil, transport: server.transport).failures.isEmpty)
        #expect(server.log == ["all", "after"])
        #expect(try store.keys("Box", 1, "items") == [10])
    }

    @Test(
        "so is the list of an endpoint that the description has again, also if the log no longer has the deletion",
        arguments: ["cascade", "nullify"])
    func former(rule: String) async throws {
        var store = try MirrorStore(yaml: yaml(rule))
        let path = store.path
        func describe(hasItems: Bool) throws {
            store.description = try Description.parse(yaml(rule, hasItems: hasItems), file: "tarn.yaml")
            store.description.storePath = path
        }
        try await sync(store, boxes: [1, 2])
        try describe(hasItems: false)
        try await sync(store, boxes: [2])
        #expect(try store.checkpoint("items")?.since == nil)
        try store.open().setChangeRetention(.nothing)
        try await sync(store, boxes: [1, 2])
        try describe(hasItems: true)
        _ = server.log
        try await sync(store, boxes: [1, 2])
        #expect(server.log == ["all"])
        #expect(try store.keys("Box", 1, "items") == [10, 11])
    }
}
