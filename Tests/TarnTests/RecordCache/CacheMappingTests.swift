// Responses of a cache whose records another mapping changes.

import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Record cache: other mappings", .timeLimit(.minutes(2)))
struct CacheMappingTests {
    /// An import of the same records by another mapping, or by the same one.
    enum Importing: CaseIterable, Sendable {
        case mirror, cache, mirrorOfSameEndpoint, nested
    }

    private static let items = #"[{"id":1,"name":"one","note":"x"},{"id":2,"name":"two","note":"y"}]"#
    private static let orders = #"[{"id":1,"item":{"id":1,"name":"one","note":"x"}}]"#

    private static func yaml(_ source: String) -> String {
        """
        api: { base: https://api.test.example/v1, retry: { attempts: 1 } }
        entities:
          Item: { key: id, attributes: { id: int, label: { type: string?, from: \(source) } }, ignore: ['*'] }
          Order: { key: id, attributes: { id: int, at: date? }, relationships: { item: Item } }
        endpoints:
          items: { path: /items, entity: Item, paginate: single_page }
          things: { path: /things, entity: Item, paginate: single_page }
          orders: { path: /orders, entity: Order, paginate: single_page }
        """
    }

    private struct Bed {
        let fixture: CacheFixture
        let server: LocalServer
        let cache: RecordCache

        init(_ fields: String) throws {
            fixture = try CacheFixture(yaml: CacheMappingTests.yaml("name"))
            server = try LocalServer([
                recording("/v1/items", CacheMappingTests.items, "ETag: \"i\"", fields),
                recording("/v1/things", CacheMappingTests.items, "ETag: \"t\"", fields),
                recording("/v1/orders", CacheMappingTests.orders, "ETag: \"o\"", fields),
            ])
            cache = try fixture.cache(server.base + "/v1")
        }

        /// The labels and the source of an answer.
        func labels(_ policy: CachePolicy? = nil) async throws -> String {
            let answer = try await cache.fetch(CacheRequest("items"), policy: policy)
            let labels = answer.records.map { record in
                if case .string(let label)? = record["label"] { label } else { "-" }
            }
            return "\(answer.source) " + labels.joined(separator: " ")
        }

        /// Imports the records with the mapping of a description.
        func importRecords(_ yaml: String, _ way: Importing) async throws {
            var store = fixture.mirrored
            let path = store.path
            store.description = try Description.parse(yaml, file: "tarn.yaml")
            store.description.storePath = path
            switch way {
            case .mirror, .mirrorOfSameEndpoint, .nested:
                let name = way == .mirror ? "things" : way == .nested ? "orders" : "items"
                let report = try await store.sync(server.base + "/v1", names: [name])
                #expect(report.failures.isEmpty, "\(report.texts)")
            case .cache:
                var options = APIClient.Options()
                options.base = server.base + "/v1"
                let other = try RecordCache(
                    store.description, store: fixture.store, transport: MirrorStore.impatient(), client: options)
                _ = try await other.fetch(CacheRequest("things"), policy: .networkOnly)
            }
        }
    }

    @Test(
        "after another mapping has changed its records, a response is requested in full: neither a 304 nor freshness confirms them",
        arguments: Importing.allCases, ["no-cache", "max-age=60"])
    func otherMapping(way: Importing, control: String) async throws {
        let bed = try Bed("Cache-Control: \(control)"), confirmed = control == "no-cache" ? "revalidated" : "stored"
        #expect(try await bed.labels() == "fetched one two")
        #expect(try await bed.labels() == "\(confirmed) one two")
        // The order that has a record nested in it does not change: it is not imported again.
        for _ in 0..<(way == .nested ? 1 : 2) {
            try await bed.importRecords(Self.yaml("note"), way)
            await #expect(throws: CacheError.self) { try await bed.labels(.cacheOnly) }
            #expect(try await bed.labels() == "fetched one two")
            #expect(try await bed.labels() == "\(confirmed) one two")
        }
    }

    @Test("another mapping that changes none of its records, or the same one, leaves a response as it is")
    func unchangedRecords() async throws {
        let bed = try Bed("Cache-Control: max-age=60")
        #expect(try await bed.labels() == "fetched one two")
        // The fingerprint is another one, the values are the same.
        try await bed.importRecords(
            Self.yaml("name").replacing("at: date?", with: "at: { type: date?, from: when }"), .mirror)
        #expect(try await bed.labels() == "stored one two")
        try await bed.fixture.store.write { writer in
            _ = try writer.put("Item", RecordKey(1), [.init("label", .string("local"))])
        }
        // The endpoint of the same mapping brings back its own value.
        try await bed.importRecords(Self.yaml("name"), .mirror)
        #expect(try await bed.labels() == "stored one two")
    }
}
