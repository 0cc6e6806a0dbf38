// A description that changed since the last sync.

import Foundation
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: changed descriptions")
struct MirrorChangeTests {
    private static let body = #"""
        {"items":[{"id":1,"name":"one","size":10,"note":"x"},{"id":2,"name":"two","size":20,"note":"y"}],
         "others":[{"id":7,"name":"seven","size":70,"note":"z"}]}
        """#

    private func yaml(_ attributes: String = "", ignore: String = "[size, note]", records: String = "items") -> String {
        itemsYAML("records: \(records)", attributes: attributes + (ignore.isEmpty ? "" : "\n    ignore: \(ignore)"))
    }

    private func server() throws -> LocalServer {
        try LocalServer([recording("/v1/items", MirrorChangeTests.body, "ETag: \"v1\"")])
    }

    @Test("an attribute that was added is filled by the next sync, which does not ask conditionally")
    func addedAttributeIsFilled() async throws {
        let server = try server()
        let store = try MirrorStore(yaml: yaml())
        _ = try await store.sync(server.base + "/v1")
        #expect(try store.record("Item", 1)["size"] == nil)
        let wider = try store.edited(yaml("      size: int", ignore: "[note]"))
        let report = try await wider.sync(server.base + "/v1")
        #expect(report.failures.isEmpty && report.notModified == 0 && report.report.updated == 2, "\(report.texts)")
        #expect(try wider.record("Item", 1)["size"] == .int(10))
        #expect(try wider.record("Item", 2)["size"] == .int(20))
        #expect(server.requests.filter { $0.contains("conditional") } == [])
        #expect(try await wider.sync(server.base + "/v1").notModified == 1)
    }

    /// Expects that the next sync imports anew, with the label of the current mapping.
    private func expectOwnValues(_ store: MirrorStore, _ server: LocalServer, _ label: String) async throws {
        let report = try await store.sync(server.base + "/v1")
        #expect(report.failures.isEmpty && report.notModified == 0, "\(report.texts)")
        #expect(try store.record("Item", 1)["label"] == .string(label))
    }

    @Test("a mapping that is changed and taken back has its own values again: nothing confirms those of the other one")
    func takenBack() async throws {
        let server = try server(), first = yaml("      label: { type: string?, from: name }", ignore: "[size]")
        let second = yaml("      label: { type: string?, from: note }", ignore: "[size]")
        var store = try MirrorStore(yaml: first)
        for (yaml, label) in [(first, "one"), (second, "x"), (first, "one"), (second, "x")] {
            store = try store.edited(yaml)
            try await expectOwnValues(store, server, label)
        }
        #expect(try await store.sync(server.base + "/v1").notModified == 1)
    }

    @Test(
        "an endpoint that is renamed and mapped in another way has its own values when both are taken back",
        arguments: [false, true])
    func renamedAndBack(isIncremental: Bool) async throws {
        let later = #"{"items":[{"id":2,"name":"two","size":20,"note":"y"}],"others":[]}"#
        let server = try LocalServer([
            recording("/v1/items", MirrorChangeTests.body, "ETag: \"v1\""), recording("/v1/items?since=20", later),
        ])
        let records = isIncremental ? "items\n    since: { param: since, field: size }" : "items"
        func yaml(_ source: String) -> String {
            self.yaml("      label: { type: string?, from: \(source) }", ignore: "[size]", records: records)
        }
        let first = yaml("name"), second = yaml("note").replacing("\n  items:", with: "\n  things:")
        var store = try MirrorStore(yaml: first)
        for (yaml, label) in [(first, "one"), (first, "one"), (second, "x"), (first, "one")] {
            store = try store.edited(yaml)
            let report = try await store.sync(server.base + "/v1")
            #expect(report.failures.isEmpty, "\(report.texts)")
            #expect(try store.record("Item", 1)["label"] == .string(label))
        }
    }

    @Test("a mapping that was taken back has its own values, although the other one has sent another request")
    func takenBackByAnotherRequest() async throws {
        let server = try LocalServer(
            ["", "?size=9"].map { recording("/v1/items\($0)", MirrorChangeTests.body, "ETag: \"v1\"") })
        let first = yaml("      label: { type: string?, from: name }", ignore: "[size]")
        let second = yaml(
            "      label: { type: string?, from: note }", ignore: "[size]", records: "items\n    with: { size: 9 }")
        var store = try MirrorStore(yaml: first)
        for (yaml, label) in [(first, "one"), (second, "x"), (first, "one"), (second, "x")] {
            store = try store.edited(yaml)
            try await expectOwnValues(store, server, label)
        }
        #expect(try await store.sync(server.base + "/v1").notModified == 1)
    }

    @Test("a mapping that was taken back has its own values, although the other one has a list without validators")
    func takenBackWithoutValidators() async throws {
        let body = MirrorChangeTests.body
        let server = try LocalServer([recording("/v1/items", body, "ETag: \"v1\""), recording("/v1/things", body)])
        let first = yaml("      label: { type: string?, from: name }", ignore: "[size]")
        let second = yaml("      label: { type: string?, from: note }", ignore: "[size]")
            .replacing("\n  items:", with: "\n  things:").replacing("path: /items", with: "path: /things")
        var store = try MirrorStore(yaml: first)
        for (yaml, label) in [(first, "one"), (second, "x"), (first, "one"), (second, "x"), (first, "one")] {
            store = try store.edited(yaml)
            try await expectOwnValues(store, server, label)
        }
        #expect(try await store.sync(server.base + "/v1").notModified == 1)
    }

    @Test(
        "an endpoint that comes back after another mapping has imported its records lists anew, also without validators"
    )
    func incrementalComesBack() async throws {
        let later = #"{"items":[{"id":2,"name":"two","size":20,"note":"y"}],"others":[]}"#
        let server = try LocalServer([
            recording("/v1/items", MirrorChangeTests.body), recording("/v1/items?since=20", later),
            recording("/v1/things/a", MirrorChangeTests.body),
        ])
        let first = yaml(
            "      label: { type: string?, from: name }", ignore: "[size]",
            records: "items\n    since: { param: since, field: size }")
        let second = yaml(
            "      label: { type: string?, from: note }", ignore: "[size]",
            records: "items\n    partitions: { part: [a] }"
        ).replacing("\n  items:", with: "\n  things:").replacing("path: /items", with: "path: '/things/{part}'")
        var store = try MirrorStore(yaml: first)
        for (yaml, label) in [
            (first, "one"), (first, "one"), (second, "x"), (first, "one"), (second, "x"), (first, "one"),
        ] {
            store = try store.edited(yaml)
            let report = try await store.sync(server.base + "/v1")
            #expect(report.failures.isEmpty, "\(report.texts)")
            #expect(try store.record("Item", 1)["label"] == .string(label))
        }
    }

    @Test(
        "a mapping that was taken back has its own values, although a cache has fetched a response with the other one")
    func takenBackAfterFetch() async throws {
        let server = try server(), first = yaml("      label: { type: string?, from: name }", ignore: "[size]")
        let second = yaml("      label: { type: string?, from: note }", ignore: "[size]")
        var store = try MirrorStore(yaml: first)
        try await expectOwnValues(store, server, "one")
        store = try store.edited(second)
        var client = APIClient.Options()
        client.base = server.base + "/v1"
        let cache = try RecordCache(
            store.description, store: try store.open(), transport: MirrorStore.impatient(), client: client)
        _ = try await cache.fetch(CacheRequest("items"), policy: .networkFirst)
        #expect(try store.record("Item", 1)["label"] == .string("x"))
        store = try store.edited(first)
        try await expectOwnValues(store, server, "one")
    }

    @Test("a mapping that was taken back has its own values of records that the other one has found nested in others")
    func takenBackNested() async throws {
        let server = try LocalServer([
            recording("/v1/orders", #"[{"id":1,"item":{"id":9,"note":"x"}}]"#, "ETag: \"o\""),
            recording("/v1/items", #"[{"id":9,"name":"nine","note":"x"}]"#, "ETag: \"i\""),
        ])
        func yaml(_ source: String) -> String {
            """
            api: { base: https://api.test.example/v1 }
            entities:
              Item: { key: id, attributes: { id: int, label: { type: string?, from: \(source) } }, ignore: ['*'] }
              Order: { key: id, attributes: { id: int }, relationships: { item: Item } }
            endpoints:
              orders: { path: /orders, entity: Order, paginate: single_page }
              items: { path: /items, entity: Item, paginate: single_page }
            """
        }
        var store = try MirrorStore(yaml: yaml("name"))
        #expect(try await store.sync(server.base + "/v1").failures.isEmpty)
        #expect(try store.record("Item", 9)["label"] == .string("nine"))
        store = try store.edited(yaml("note"))
        let report = try await store.sync(server.base + "/v1", names: ["orders"])
        #expect(report.failures.isEmpty && report.report.keyLimit == 100, "\(report.texts)")
        #expect(try store.record("Item", 9)["label"] == .string("x"))
        store = try store.edited(yaml("name"))
        #expect(try await store.sync(server.base + "/v1").failures.isEmpty)
        #expect(try store.record("Item", 9)["label"] == .string("nine"))
    }

    @Test("what is ignored decides nothing about the records: the next sync is still conditional")
    func changedIgnoreIsConditional() async throws {
        let server = try server()
        let store = try MirrorStore(yaml: yaml(ignore: ""))
        let first = try await store.sync(server.base + "/v1")
        #expect(first.report.unmapped.map(\.path) == ["note", "size"])
        let report = try await store.edited(yaml()).sync(server.base + "/v1")
        #expect(report.notModified == 1 && report.report.unmapped == [])
    }

    @Test("another place of the records, or another entity for them, is fetched again")
    func changedPlaceIsFetchedAgain() async throws {
        let server = try server()
        let store = try MirrorStore(yaml: yaml())
        _ = try await store.sync(server.base + "/v1")
        let other = try store.edited(yaml(records: "others"))
        let report = try await other.sync(server.base + "/v1")
        #expect(report.notModified == 0)
        #expect(try other.count("Item") == 3)

        let both =
            "\n  Thing:\n    key: id\n    attributes: { id: int, name: string }\n    ignore: [size, note]\nendpoints:"
        let things = try store.edited(
            yaml(records: "others").replacing("\nendpoints:", with: both).replacing(
                "entity: Item", with: "entity: Thing"))
        let second = try await things.sync(server.base + "/v1")
        #expect(second.failures.isEmpty && second.notModified == 0, "\(second.texts)")
        #expect(try things.count("Thing") == 1)
    }

    @Test("an attribute whose type changed is refused by name, and the store stays as it is")
    func changedTypeIsRefused() async throws {
        let server = try server()
        let store = try MirrorStore(yaml: yaml("      size: int", ignore: "[note]"))
        _ = try await store.sync(server.base + "/v1")
        let before = try store.dump(versions: true)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: store.path + "/data.mdb"))
        let other = try store.edited(yaml("      size: string", ignore: "[note]"))
        await #expect {
            try await other.sync(server.base + "/v1")
        } throws: { error in
            guard case StoreOpenError.schema(let schema) = error else { return false }
            return schema.entity == "Item" && schema.field == "size" && "\(error)".contains("Item.size")
        }
        #expect(server.requests.count == 1)
        #expect(try Data(contentsOf: URL(fileURLWithPath: store.path + "/data.mdb")) == bytes)
        #expect(try store.dump(versions: true) == before)
    }

    @Test("progress of a description that has changed is not continued: the walk begins at the first page")
    func progressOfAnotherPlanIsNotContinued() async throws {
        let pages = itemPages(3).map { $0.replacing("GET /items", with: "GET /v1/items") }
        let store = try MirrorStore(yaml: itemsYAML())
        let failing = try LocalServer(pages, "--fault", "page=3:status:500")
        _ = try await store.sync(failing.base + "/v1")
        let other = try store.edited(itemsYAML(attributes: "      size: int?"))
        let sound = try LocalServer(pages)
        let report = try await other.sync(sound.base + "/v1")
        #expect(report.endpoints.first?.isResumed == false)
        #expect(sound.requests.count == 3 && !sound.requests.contains { $0.contains("conditional") })
    }
}
