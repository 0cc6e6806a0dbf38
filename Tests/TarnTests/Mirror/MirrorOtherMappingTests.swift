// Two mirrors with different mappings, which share the records of one store.

import Foundation
import TarnDescription
import TarnImport
import TarnStore
import TestSupport
import Testing

@testable import Tarn

/// An item of the mirrors, declared without the macro.
private struct Item: MappedRecord {
    static let entity = "Item"
    typealias Key = Int64
    enum Field: Int, RecordField { case id, label }
    struct Columns: RecordColumns {
        let path: ColumnPath
        init(path: ColumnPath) { self.path = path }
    }
    static var fields: [FieldDeclaration] {
        [.attribute("id", Int64.self, isKey: true), .attribute("label", String.self)]
    }

    var id: Int64
    var label: String?

    init(_ row: Row<Item>) throws(StoreError) {
        id = try row.get(.id)
        label = try row.get(.label)
    }

    func encode(into row: inout RowEncoder<Item>) {
        row.set(.id, id)
        row.set(.label, label)
    }
}

@Suite("Mirror: two mappings in one store", .timeLimit(.minutes(5)))
struct MirrorOtherMappingTests {
    /// A mirror with an endpoint of its own; the label of a record comes from a member of its JSON.
    static func yaml(_ endpoint: String, label: String, path: String? = nil) -> String {
        """
        api: { base: https://api.test.example/v1 }
        entities:
          Item: { key: id, attributes: { id: int, label: { type: string?, from: \(label) } }, ignore: ['*'] }
          Order: { key: id, attributes: { id: int }, relationships: { items: [Item] } }
        endpoints:
          \(endpoint): { path: /\(path ?? endpoint), entity: Item, paginate: single_page }
          orders: { path: /orders, entity: Order, paginate: single_page }
        """
    }

    static func items(_ names: String...) -> String {
        "["
            + names.enumerated().map { #"{"id":\#($0.offset + 1),"name":"\#($0.element)","note":"x"}"# }
            .joined(separator: ",") + "]"
    }

    /// A second mirror in the store of a first one.
    func mirror(_ yaml: String, with other: MirrorStore) throws -> MirrorStore {
        var store = other
        store.description = try Description.parse(yaml, file: "tarn.yaml")
        store.description.storePath = other.path
        return store
    }

    @Test("a mirror leaves the attributes and relationships that only the other one declares as they are")
    func undeclared() async throws {
        func yaml(_ endpoint: String, _ attributes: String) -> String {
            """
            api: { base: https://api.test.example/v1, absent: clear }
            entities:
              Item:
                key: id
                attributes: { id: int, \(attributes) }
                ignore: ['*']
            endpoints:
              \(endpoint): { path: /\(endpoint), entity: Item, paginate: single_page }
            """
        }
        let first = try MirrorStore(
            yaml: yaml("items", "label: { type: string?, from: name }")
                .replacing("    ignore", with: "    relationships: { parts: { to: [Item], from: pieces } }\n    ignore")
        )
        let second = try mirror(yaml("things", "note: string?"), with: first)
        func server(_ note: String) throws -> LocalServer {
            let body = #"[{"id":1,"name":"one","label":"wrong","note":"\#(note)","pieces":[1],"parts":[]}]"#
            return try LocalServer([
                recording("/v1/items", body, "ETag: \"\(note)\""), recording("/v1/things", body, "ETag: \"\(note)\""),
            ])
        }
        for note in ["x", "y"] {
            let server = try server(note)
            // Where the second mirror comes first, the record lacks what only the first one declares.
            for (store, name) in [(second, "things"), (first, "items"), (second, "things"), (first, "items")] {
                let report = try await store.sync(server.base + "/v1", names: [name])
                #expect(report.failures.isEmpty && report.absentAttributes.isEmpty, "\(report.texts)")
                let record = try first.record("Item", 1)
                #expect(record["note"] == .string(note))
                if name == "items" || note == "y" {
                    #expect(record["label"] == .string("one"))
                    #expect(try first.keys("Item", 1, "parts") == [1])
                } else if report.report.created > 0 {
                    #expect(record["label"] == nil)
                }
            }
            // Neither replaces what the other one has stored: both settle.
            for (store, name) in [(second, "things"), (first, "items")] {
                #expect(try await store.sync(server.base + "/v1", names: [name]).notModified == 1)
            }
        }
    }

    @Test("a typed request writes the fields of its records only")
    func undeclaredByRecords() async throws {
        let first = try MirrorStore(
            yaml: Self.yaml("items", label: "name").replacing(
                "label:", with: "note: { type: string?, from: name }, label:"))
        let server = try LocalServer([
            recording("/v1/items", Self.items("one")),
            recording("/v1/other", #"[{"id":1,"label":"other","note":"wrong"}]"#),
        ])
        try await first.sync(server.base + "/v1", names: ["items"])
        var options = APIClient.Options()
        options.base = server.base + "/v1"
        let description = Description(
            file: "records", storePath: first.path, api: first.description.api, schema: Schema(records: [Item.self]),
            mapping: Mapping(records: [Item.self]), endpoints: [])
        let client = RecordClient(
            try APIClient(description, store: try first.open(), transport: MirrorStore.impatient(), options: options))
        #expect(try await client.all(RecordRequest<Item>.get("/other")).map(\.label) == ["other"])
        #expect(try first.record("Item", 1)["note"] == .string("one"))
        let importer = try Importer(Mapping(records: [Item.self]), client.store.catalog)
        _ = try importer.add(Array(#"[{"id":1,"label":"third","note":"wrong"}]"#.utf8), records: "$", entity: "Item")
        _ = try await importer.commit(to: client.store)
        #expect(try first.record("Item", 1)["label"] == .string("third"))
        #expect(try first.record("Item", 1)["note"] == .string("one"))
    }

    @Test("a record that enters the other mirror's list later has that one's value only until the next sync")
    func recordEntersLater() async throws {
        let first = try MirrorStore(yaml: Self.yaml("items", label: "name"))
        let second = try mirror(Self.yaml("things", label: "note"), with: first)
        func server(_ things: String, tag: String) throws -> LocalServer {
            try LocalServer([
                recording("/v1/items", Self.items("one", "two"), "ETag: \"i\""),
                recording("/v1/things", things, "ETag: \"\(tag)\""),
            ])
        }
        let before = try server(#"[{"id":9,"note":"nine"}]"#, tag: "before")
        let after = try server(#"[{"id":9,"note":"nine"},{"id":2,"note":"x"}]"#, tag: "after")
        try await first.sync(before.base + "/v1", names: ["items"])
        try await second.sync(before.base + "/v1", names: ["things"])
        #expect(try await first.sync(before.base + "/v1", names: ["items"]).notModified == 1)
        try await second.sync(after.base + "/v1", names: ["things"])
        #expect(try first.record("Item", 2)["label"] == .string("x"))
        let report = try await first.sync(after.base + "/v1", names: ["items"])
        #expect(report.failures.isEmpty && report.notModified == 0, "\(report.texts)")
        #expect(try first.record("Item", 2)["label"] == .string("two"))
    }

    @Test(
        "two mirrors whose mappings agree settle: after a change at the server, each is answered 304",
        arguments: ["things", "items"])
    func agreeing(path: String) async throws {
        let first = try MirrorStore(yaml: Self.yaml("items", label: "name"))
        let second = try mirror(Self.yaml("things", label: "[name, title]", path: path), with: first)
        for (round, name) in ["one", "other"].enumerated() {
            let body = Self.items(name, "two"), tag = "ETag: \"\(round)\""
            let server = try LocalServer([recording("/v1/items", body, tag), recording("/v1/things", body, tag)])
            for _ in 0..<2 {
                for (store, endpoint) in [(first, "items"), (second, "things")] {
                    let report = try await store.sync(server.base + "/v1", names: [endpoint])
                    #expect(report.failures.isEmpty, "\(report.texts)")
                }
            }
            for (store, endpoint) in [(first, "items"), (second, "things"), (first, "items")] {
                #expect(try await store.sync(server.base + "/v1", names: [endpoint]).notModified == 1)
            }
            #expect(try first.record("Item", 1)["label"] == .string(name))
        }
    }

    /// The ways of a program to import records with a mapping of its own.
    enum Typed: CaseIterable, Sendable {
        case all, atomicBatch, post
    }

    @Test("a typed request with another mapping outdates a mirror's responses as well", arguments: Typed.allCases)
    func typedRequest(way: Typed) async throws {
        let body = Self.items("one", "two")
        let server = try LocalServer([
            recording("/v1/items", body, "ETag: \"i\""), recording("/v1/other", body, "ETag: \"t\""),
            recording("/v1/other", body).replacing("GET ", with: "POST "),
        ])
        let first = try MirrorStore(yaml: Self.yaml("items", label: "name"))
        let second = try mirror(Self.yaml("things", label: "note"), with: first)
        try await first.sync(server.base + "/v1", names: ["items"])
        #expect(try await first.sync(server.base + "/v1", names: ["items"]).notModified == 1)
        var options = APIClient.Options()
        options.base = server.base + "/v1"
        let client = RecordClient(
            try APIClient(
                second.description, store: try second.open(), transport: MirrorStore.impatient(), options: options))
        let labels =
            switch way {
            case .all: try await client.all(RecordRequest<Item>.get("/other"))
            case .atomicBatch: try await client.batch([RecordRequest<Item>.get("/other")], atomic: true)[0]
            case .post: try await client.all(RecordRequest<Item>.post("/other", body: .json(.object([]))))
            }
        #expect(labels.map(\.label) == ["x", "x"])
        let report = try await first.sync(server.base + "/v1", names: ["items"])
        #expect(report.failures.isEmpty && report.notModified == 0, "\(report.texts)")
        #expect(try first.record("Item", 1)["label"] == .string("one"))
        #expect(try await first.sync(server.base + "/v1", names: ["items"]).notModified == 1)
    }

    /// A description of one endpoint, whose items have a time.
    private static func timed(_ endpoint: String, label: String) -> String {
        """
        api: { base: https://api.test.example/v1 }
        entities:
          Item:
            key: id
            attributes: { id: int, at: int, label: { type: string?, from: \(label) } }
            ignore: ['*']
        endpoints:
          \(endpoint)
        """
    }

    /// A mirror of items of which changes are requested, and one of others of the same entity.
    private func timedMirrors(paginate style: String) throws -> (MirrorStore, MirrorStore) {
        let first = try MirrorStore(
            yaml: Self.timed(
                "items: { path: /items, entity: Item, paginate: \(style), since: { param: since, field: at } }",
                label: "name"))
        let others = "others: { path: /others, entity: Item, paginate: single_page }"
        return (first, try mirror(Self.timed(others, label: "note"), with: first))
    }

    @Test("what another mapping changes between two pages of the first scan is listed again by the next one")
    func changedBetweenPages() async throws {
        let state = Mutex((isHeld: true, log: [String]()))
        let transport = ClosureTransport { request in
            let first = #"{"id":1,"name":"one","note":"x","at":1}"#,
                second = #"{"id":2,"name":"two","note":"x","at":2}"#
            guard request.url.contains("/items") else {
                return TransportResponse(status: 200, body: Array("[\(first)]".utf8))
            }
            let query = URLComponents(string: request.url)?.queryItems ?? []
            if query.contains(where: { $0.name == "page" }) {
                while state.withLock(\.isHeld) { try await Task.sleep(for: .milliseconds(2)) }
                return TransportResponse(status: 200, body: Array("[\(second)]".utf8))
            }
            let since = query.first { $0.name == "since" }?.value
            state.withLock { $0.log.append(since ?? "all") }
            guard since == nil else { return TransportResponse(status: 200, body: Array("[\(second)]".utf8)) }
            var headers = TransportHeaders()
            headers["Link"] = "<https://api.test.example/v1/items?page=2>; rel=\"next\""
            return TransportResponse(status: 200, headers: headers, body: Array("[\(first)]".utf8))
        }
        let (first, second) = try timedMirrors(paginate: "header_link")
        @Sendable func sync() async throws {
            let report = try await first.sync(nil, transport: transport)
            #expect(report.failures.isEmpty, "\(report.texts)")
        }
        async let scan: Void = sync()
        while try first.checkpoint("items")?.pages != 1 { try await Task.sleep(for: .milliseconds(2)) }
        let cache = try RecordCache(second.description, store: try second.open(), transport: transport)
        _ = try await cache.fetch(CacheRequest("others"), policy: .networkFirst)
        #expect(try first.record("Item", 1)["label"] == .string("x"))
        state.withLock { $0.isHeld = false }
        try await scan
        try await sync()
        #expect(state.withLock(\.log) == ["all", "all"])
        #expect(try first.record("Item", 1)["label"] == .string("one"))
    }

    @Test("what another mapping changes while an incremental scan is under way is listed again by the next one")
    func changedDuringIncrementalScan() async throws {
        let state = Mutex((isHeld: false, held: 0, log: [String]()))
        let transport = ClosureTransport { request in
            let first = #"{"id":1,"name":"one","note":"x","at":1}"#,
                second = #"{"id":2,"name":"two","note":"x","at":2}"#
            guard request.url.contains("/items") else {
                return TransportResponse(status: 200, body: Array("[\(first)]".utf8))
            }
            let since = URLComponents(string: request.url)?.queryItems?.first { $0.name == "since" }?.value
            state.withLock { state in
                state.log.append(since ?? "all")
                state.held += state.isHeld ? 1 : 0
            }
            while state.withLock({ $0.isHeld }) { try await Task.sleep(for: .milliseconds(2)) }
            return TransportResponse(
                status: 200, body: Array("[\(since == nil ? first + "," + second : second)]".utf8))
        }
        let (first, second) = try timedMirrors(paginate: "single_page")
        @Sendable func sync() async throws {
            let report = try await first.sync(nil, transport: transport)
            #expect(report.failures.isEmpty, "\(report.texts)")
        }
        try await sync()
        state.withLock { $0.isHeld = true }
        async let scan: Void = sync()
        while state.withLock({ $0.held == 0 }) { try await Task.sleep(for: .milliseconds(2)) }
        let cache = try RecordCache(second.description, store: try second.open(), transport: transport)
        _ = try await cache.fetch(CacheRequest("others"), policy: .networkFirst)
        #expect(try first.record("Item", 1)["label"] == .string("x"))
        state.withLock { $0.isHeld = false }
        try await scan
        try await sync()
        #expect(state.withLock { $0.log } == ["all", "2", "all"])
        #expect(try first.record("Item", 1)["label"] == .string("one"))
        // From here on, only changes are requested again.
        try await sync()
        #expect(state.withLock { $0.log.last } == "2")
    }

    @Test(
        "of a fetched response, records behind the hundredth changed one count as well, also for other endpoints",
        arguments: ["items", "things"])
    func manyNested(endpoint: String) async throws {
        let nested = (1...150).map { #"{"id":\#($0),"note":"x"}"# }.joined(separator: ",")
        let server = try LocalServer([
            recording("/v1/items", #"[{"id":150,"name":"last","note":"x"}]"#, "ETag: \"i\""),
            recording("/v1/orders", #"[{"id":1,"items":[\#(nested)]}]"#, "ETag: \"o\""),
        ])
        let first = try MirrorStore(yaml: Self.yaml("items", label: "name"))
        try await first.sync(server.base + "/v1")
        let second = try mirror(Self.yaml(endpoint, label: "note"), with: first)
        var client = APIClient.Options()
        client.base = server.base + "/v1"
        let cache = try RecordCache(
            second.description, store: try second.open(), transport: MirrorStore.impatient(), client: client)
        let answer = try await cache.fetch(CacheRequest("orders"), policy: .networkFirst)
        #expect(answer.report?.keyLimit == 100 && answer.report?.keys(.updated).count == 100)
        #expect(try first.record("Item", 150)["label"] == .string("x"))
        let report = try await first.sync(server.base + "/v1", names: ["items"])
        #expect(report.failures.isEmpty && report.notModified == 0, "\(report.texts)")
        #expect(try first.record("Item", 150)["label"] == .string("last"))
    }

    /// A server with a list for each of two mirrors; the name of each record has a suffix.
    private static func server(_ count: Int, _ suffix: String) throws -> LocalServer {
        let items = (1...count).map { #"{"id":\#($0),"name":"n\#(suffix)","note":"x\#(suffix)"}"# }
        let body = "[\(items.joined(separator: ","))]"
        return try LocalServer([
            recording("/v1/items", body, "ETag: \"i\(suffix)\""), recording("/v1/things", body, "ETag: \"t\(suffix)\""),
        ])
    }

    @Test("the store notes the mappings of its responses, and forgets those whose responses are removed")
    func note() async throws {
        let first = try MirrorStore(yaml: Self.yaml("items", label: "name"))
        let second = try mirror(Self.yaml("things", label: "note"), with: first)
        func mappings() throws -> ResponseMappings { try first.read { try $0.access.responses.mappings } }
        let before = try Self.server(2, "1"), after = try Self.server(2, "2")
        #expect(try mappings() == ResponseMappings())
        try await first.sync(before.base + "/v1", names: ["items"])
        let own = try mappings()
        #expect(own.last == 1 && Array(own.first.values) == [1])
        try await second.sync(before.base + "/v1", names: ["things"])
        #expect(try mappings().first.count == 2 && mappings().last == 2)
        try await first.open().write { try $0.removeResponse(id: 2) }
        try await first.sync(after.base + "/v1", names: ["items"])
        #expect(try mappings().first == own.first && mappings().last == 2)
        // A note of other responses is none.
        try await first.open().write { writer in
            var foreign = own
            foreign.last = 99
            try writer.access.responses.note(foreign)
        }
        #expect(try mappings() == ResponseMappings())
    }

    @Test("all changed records of a sync count, but its report names as many as always", arguments: [false, true])
    func manyChanged(hasOthers: Bool) async throws {
        let first = try MirrorStore(yaml: Self.yaml("items", label: "name"))
        let second = try mirror(Self.yaml("things", label: "note"), with: first)
        let last = #"[{"id":150,"name":"last"}]"#
        let servers = [try Self.server(150, "1"), try Self.server(150, "2")]
        let short = try LocalServer([recording("/v1/items", last, "ETag: \"l\"")])
        try await second.sync(servers[0].base + "/v1", names: ["things"])
        if hasOthers { try await first.sync(short.base + "/v1", names: ["items"]) }
        let report = try await second.sync(servers[1].base + "/v1", names: ["things"])
        #expect(report.report.updated == 150 && report.report.keys(.updated).count == 100)
        #expect(try first.record("Item", 150)["label"] == .string("x2"))
        let again = try await first.sync(short.base + "/v1", names: ["items"])
        #expect(again.failures.isEmpty && again.notModified == 0, "\(again.texts)")
        #expect(try first.record("Item", 150)["label"] == .string("last"))
    }

    @Test("responses that another process stores while a page is imported are outdated, whatever they list")
    func meanwhile() async throws {
        let first = try MirrorStore(yaml: Self.yaml("items", label: "name"))
        let second = try mirror(Self.yaml("things", label: "note"), with: first)
        let server = try Self.server(2, "1")
        try await first.sync(server.base + "/v1", names: ["items"])
        var client = APIClient.Options()
        client.base = server.base + "/v1"
        var others = OtherMirrors(
            than: try APIClient(
                first.description, store: try first.open(), transport: MirrorStore.impatient(), options: client))
        try first.read { try others.examine($0.access.responses) }
        #expect(others.isEmpty)
        try await second.sync(server.base + "/v1", names: ["things"])
        let known = others
        let names = try await first.open().write {
            try $0.outdateResponses(ofCommitted: known, changedBy: ImportReport(keyLimit: 0))
        }
        #expect(names == ["things"])
        #expect(try await second.sync(server.base + "/v1", names: ["things"]).notModified == 0)
    }
}
