// Records that a list of an owner has lost, and that come back on the same page as before.

import Synchronization
import Tarn
import TarnDescription
import Testing

@Suite("Mirror: records that come back to their owner", .timeLimit(.minutes(2)))
struct ReturningRecordTests {
    /// A server of boxes, each with pages of items whose ETag depends on their content only.
    ///
    /// A last page with fewer items than the one before is confirmed without a look behind it.
    private final class Boxes: Sendable {
        private let content = Mutex<[[[Int]]]>([])

        func set(_ boxes: [[Int]]...) { content.withLock { $0 = boxes } }

        var transport: ClosureTransport {
            ClosureTransport { [content] request in
                let boxes = content.withLock(\.self)
                let parts = request.url.replacing("https://api.test.example/", with: "").split(separator: "?")
                var headers = TransportHeaders(), ids = Array(1...boxes.count)
                if let box = parts[0].split(separator: "/").dropFirst().first.flatMap({ Int($0) }) {
                    let query = QueryParameters.values(in: request.url)
                    let page = query.first { $0.name == "page" }.flatMap { Int($0.value) } ?? 1
                    ids = boxes[box - 1][page - 1]
                    if page < boxes[box - 1].count {
                        let since = query.first { $0.name == "since" }.map { "since=\($0.value)&" } ?? ""
                        headers["Link"] = "</\(parts[0])?\(since)page=\(page + 1)>; rel=\"next\""
                    }
                }
                headers["ETag"] =
                    "\"\(ids.map(String.init).joined(separator: "-"))\(headers["Link"] == nil ? "" : "+")\""
                if let tag = request.headers["If-None-Match"], tag == headers["ETag"] {
                    return TransportResponse(status: 304, headers: headers)
                }
                let body = "[" + ids.map { #"{"id":\#($0),"at":\#($0)}"# }.joined(separator: ",") + "]"
                return TransportResponse(status: 200, headers: headers, body: Array(body.utf8))
            }
        }
    }

    /// A server of items in two states, with a log of the states and of the values of `since`.
    private final class States: Sendable {
        private let log = Mutex<[String]>([])

        static func yaml(_ lists: String, orphans: String = "") -> String {
            """
            api: { base: https://api.test.example }
            entities:
              Item: { key: id, attributes: { id: int, at: int } }
            endpoints:
              items:
                path: /items
                entity: Item
                paginate: single_page
                since: { param: since, field: at }
                \(lists)
                \(orphans)
            """
        }

        var transport: ClosureTransport {
            ClosureTransport { [self] request in
                let values = QueryParameters.values(in: request.url)
                let state = values.first { $0.name == "state" }?.value
                let since = values.first { $0.name == "since" }.flatMap { Int($0.value) } ?? 0
                log.withLock { $0.append("\(state ?? "") \(since)") }
                let ids = state == nil ? [10, 11, 20, 30] : state == "open" ? [10, 11] : [20, 30]
                let items = ids.filter { $0 >= since }.map { #"{"id":\#($0),"at":\#($0)}"# }
                let body = "[" + items.joined(separator: ",") + "]"
                return TransportResponse(status: 200, body: Array(body.utf8))
            }
        }

        /// The requests since the last call, in the order of the states.
        func take() -> [String] {
            log.withLock { log in
                defer { log = [] }
                return log.sorted()
            }
        }
    }

    private let server = Boxes()

    private func store(_ rules: String) throws -> MirrorStore {
        try MirrorStore(
            yaml: """
                api: { base: https://api.test.example }
                entities:
                  Box: { key: id, attributes: { id: int, at: int } }
                  Item:
                    key: id
                    attributes: { id: int, at: int }
                    relationships: { box: { to: Box, inverse: items } }
                endpoints:
                  boxes: { path: /boxes, entity: Box, paginate: single_page }
                  content:
                    path: '/boxes/{box.id}/items'
                    entity: Item
                    paginate: header_link
                    for_each: { entity: Box, parent: box }
                    \(rules)
                """)
    }

    private func sync(_ store: MirrorStore) async throws {
        let report = try await store.sync(nil, transport: server.transport) { $0.isFull = true }
        #expect(report.failures.isEmpty, "\(report.texts)")
    }

    @Test(
        "a record that was unlinked belongs to its owner again when the list has it again, on a page that is unchanged",
        arguments: ["", "since: { param: since, field: at, initial: '0' }"])
    func unlinked(since: String) async throws {
        let store = try store("orphans: { after: one_scan, then: unlink }\n    \(since)")
        server.set([[1, 4], [2]])
        try await sync(store)
        #expect(try store.keys("Box", 1, "items") == [1, 2, 4])
        server.set([[1, 4]])
        try await sync(store)
        #expect(try store.keys("Box", 1, "items") == [1, 4] && store.record("Item", 2)["box"] == .null)
        server.set([[1, 4], [2]])
        try await sync(store)
        #expect(try store.keys("Box", 1, "items") == [1, 2, 4])
    }

    @Test("a record that has moved to another owner and back belongs to the first one, although its page is unchanged")
    func movedBack() async throws {
        let store = try store("")
        server.set([[1, 4], [2]], [[3]])
        try await sync(store)
        server.set([[1, 4]], [[3, 2]])
        try await sync(store)
        #expect(try store.keys("Box", 1, "items") == [1, 4] && store.keys("Box", 2, "items") == [2, 3])
        server.set([[1, 4], [2]], [[3]])
        try await sync(store)
        #expect(try store.keys("Box", 1, "items") == [1, 2, 4] && store.keys("Box", 2, "items") == [3])
    }

    @Test(
        "the list of a value that the description has again is requested as a whole, and the others only for changes",
        arguments: [false, true])
    func takenBack(endsWithDeletion: Bool) async throws {
        func yaml(_ states: String) -> String {
            States.yaml("partitions: { state: [\(states)] }", orphans: "orphans: { scope: entity, after: one_scan }")
        }
        let server = States()
        var store = try MirrorStore(yaml: yaml("open, closed"))
        let path = store.path
        func describe(_ states: String) throws {
            store.description = try Description.parse(yaml(states), file: "tarn.yaml")
            store.description.storePath = path
        }
        _ = try await store.sync(nil, transport: server.transport)
        #expect(try store.count("Item") == 4)
        try describe("open")
        for _ in 0..<4 where try !endsWithDeletion || store.count("Item") > 2 {
            _ = try await store.sync(nil, transport: server.transport) { $0.isFull = true }
        }
        // The list of closed items is no longer in use.
        #expect(try store.count("Item") == 2)
        try describe("open, closed")
        _ = server.take()
        let report = try await store.sync(nil, transport: server.transport)
        #expect(report.failures.isEmpty && server.take() == ["closed 0", "open 11"], "\(report.texts)")
        #expect(try store.count("Item") == 4)
    }

    @Test("the list of a value that the description has again after one sync is requested as a whole")
    func takenBackAfterOneSync() async throws {
        let log = Mutex<[String]>([])
        let transport = ClosureTransport { request in
            let values = QueryParameters.values(in: request.url)
            let state = values.first { $0.name == "state" }?.value
            log.withLock { $0.append("\(state ?? "all") \(values.first { $0.name == "since" }?.value ?? "")") }
            let ids = state == "closed" ? [20, 30] : [10, 11]
            let body = "[" + ids.map { #"{"id":\#($0),"at":\#($0)}"# }.joined(separator: ",") + "]"
            return TransportResponse(status: 200, body: Array(body.utf8))
        }
        func yaml(_ states: String) -> String {
            """
            api: { base: https://api.test.example }
            entities:
              Item: { key: id, attributes: { id: int, at: int } }
            endpoints:
              all: { path: /all, entity: Item, paginate: single_page, orphans: { scope: entity, after: one_scan } }
              items:
                path: /items
                entity: Item
                paginate: single_page
                partitions: { state: [\(states)] }
                since: { param: since, field: at }
            """
        }
        var store = try MirrorStore(yaml: yaml("open, closed"))
        let path = store.path
        for states in ["open, closed", "open", "open, closed"] {
            store.description = try Description.parse(yaml(states), file: "tarn.yaml")
            store.description.storePath = path
            log.withLock { $0 = [] }
            let report = try await store.sync(nil, transport: transport, names: ["items"])
            #expect(report.failures.isEmpty, "\(report.texts)")
        }
        // Without it, nothing has kept the records of its responses.
        #expect(log.withLock(\.self).sorted() == ["closed ", "open 11"])
    }

    @Test("the one list of an endpoint that had several meanwhile is requested as a whole, not only for changes")
    func takenBackAsOneList() async throws {
        let orphans = "orphans: { scope: entity, after: one_scan }"
        let server = States(), one = States.yaml("", orphans: orphans)
        var store = try MirrorStore(yaml: one)
        let path = store.path
        for yaml in [one, States.yaml("partitions: { state: [open, closed] }", orphans: orphans), one] {
            store.description = try Description.parse(yaml, file: "tarn.yaml")
            store.description.storePath = path
            _ = server.take()
            let report = try await store.sync(nil, transport: server.transport)
            #expect(report.failures.isEmpty, "\(report.texts)")
        }
        #expect(server.take() == [" 0"])
    }

    @Test("without a rule for orphans, the list of a value that the description has again is requested for changes")
    func takenBackWithoutRule() async throws {
        let server = States(), both = States.yaml("partitions: { state: [open, closed] }")
        var store = try MirrorStore(yaml: both)
        let path = store.path
        for yaml in [both, States.yaml("partitions: { state: [open] }"), both] {
            store.description = try Description.parse(yaml, file: "tarn.yaml")
            store.description.storePath = path
            _ = server.take()
            let report = try await store.sync(nil, transport: server.transport)
            #expect(report.failures.isEmpty, "\(report.texts)")
        }
        #expect(server.take() == ["closed 30", "open 11"])
    }

    @Test("the list of an endpoint that the description has again is requested for changes if orphans were unlinked")
    func endpointTakenBackAfterUnlinking() async throws {
        let items = """
            api: { base: https://api.test.example }
            entities:
              Box: { key: id, attributes: { id: int, at: int } }
              Item: { key: id, attributes: { id: int, at: int }, relationships: { box: { to: Box, inverse: items } } }
            endpoints:
              boxes: { path: /boxes, entity: Box, paginate: single_page }
              content:
                path: '/boxes/{box.id}/items'
                entity: Item
                paginate: header_link
                for_each: { entity: Box, parent: box }
                orphans: { after: one_scan, then: unlink }
            """
        let both =
            items
            + "\n  closed: { path: /closed, entity: Item, paginate: single_page, since: { param: since, field: at } }"
        let log = Mutex<[String]>([]), boxes = server.transport
        let transport = ClosureTransport { request in
            guard request.url.contains("/closed") else { return try await boxes.send(request) }
            log.withLock { $0.append(request.url.replacing("https://api.test.example", with: "")) }
            return TransportResponse(status: 200, body: Array(#"[{"id":2,"at":2}]"#.utf8))
        }
        var store = try MirrorStore(yaml: both)
        let path = store.path
        server.set([[1, 2]])
        for (yaml, syncs, keys) in [(both, 1, [1, 2]), (items, 4, [1]), (both, 1, [1])] as [(String, Int, [Int64])] {
            store.description = try Description.parse(yaml, file: "tarn.yaml")
            store.description.storePath = path
            for _ in 0..<syncs {
                let report = try await store.sync(nil, transport: transport)
                #expect(report.failures.isEmpty, "\(report.texts)")
                server.set([[1]])
            }
            #expect(try store.keys("Box", 1, "items") == keys)
        }
        #expect(log.withLock(\.self) == ["/closed", "/closed?since=2"])
    }

    @Test("the list of an endpoint that the description has again is requested as a whole if orphans were deleted")
    func endpointTakenBack() async throws {
        let log = Mutex<[String]>([])
        let transport = ClosureTransport { request in
            let since =
                QueryParameters.values(in: request.url).first { $0.name == "since" }.flatMap { Int($0.value) } ?? 0
            let isOpen = request.url.contains("/open")
            log.withLock { $0.append("\(isOpen ? "open" : "closed") \(since)") }
            let body = (isOpen ? [10] : [20, 30]).filter { $0 >= since }.map { #"{"id":\#($0),"at":\#($0)}"# }
            return TransportResponse(status: 200, body: Array("[\(body.joined(separator: ","))]".utf8))
        }
        let open = """
            api: { base: https://api.test.example }
            entities:
              Item: { key: id, attributes: { id: int, at: int } }
            endpoints:
              open: { path: /open, entity: Item, paginate: single_page, orphans: { scope: entity, after: one_scan } }
            """
        let both =
            open
            + "\n  closed: { path: /closed, entity: Item, paginate: single_page, since: { param: since, field: at } }"
        var store = try MirrorStore(yaml: both)
        let path = store.path
        for (yaml, syncs, count) in [(both, 1, 3), (open, 4, 1), (both, 1, 3)] {
            store.description = try Description.parse(yaml, file: "tarn.yaml")
            store.description.storePath = path
            log.withLock { $0 = [] }
            for _ in 0..<syncs {
                let report = try await store.sync(nil, transport: transport)
                #expect(report.failures.isEmpty, "\(report.texts)")
            }
            #expect(try store.count("Item") == count, "\(log.withLock(\.self))")
        }
        #expect(log.withLock(\.self).sorted() == ["closed 0", "open 0"])
    }
}
