// Endpoints with `for_each`: the parent record, named or found in the URL.

import Foundation
import Tarn
import TestSupport
import Testing

@Suite("Record cache: parents", .serialized, .timeLimit(.minutes(5)))
struct RecordCacheParentTests {
    private static let yaml = """
        api: { base: 'https://api.test.example/v1' }
        entities:
          Milestone: { key: id, attributes: { id: int, number: int, name: string? } }
          Item:
            key: id
            attributes: { id: int, name: string }
            relationships: { milestone: { to: Milestone, inverse: items } }
        endpoints:
          milestones: { path: /milestones, entity: Milestone }
          items: { path: '/milestones/{milestone.number}/items', entity: Item, for_each: { entity: Milestone, parent: milestone } }
          byName: { path: '/named/{milestone.name}/items', entity: Item, for_each: { entity: Milestone, parent: milestone } }
          byQuery: { path: /items, with: { in: '{milestone.number}' }, entity: Item, for_each: { entity: Milestone, parent: milestone } }
        """

    private func fixture(_ milestones: [(id: Int64, number: Int64)]) throws -> CacheFixture {
        let fixture = try CacheFixture(yaml: Self.yaml)
        try fixture.store.write { writer in
            for (id, number) in milestones {
                try writer.put(
                    "Milestone", RecordKey(id),
                    [.init("id", .int(id)), .init("number", .int(number)), .init("name", .string("m \(number)"))])
            }
        }
        return fixture
    }

    private func server() throws -> LocalServer {
        try LocalServer([
            recording("/v1/milestones/3/items", twoItems, "Cache-Control: max-age=60"),
            recording("/v1/named/m%203/items", twoItems, "Cache-Control: max-age=60"),
            recording("/v1/items?in=3", twoItems, "Cache-Control: max-age=60"),
            recording("/v1/elsewhere", twoItems, "Cache-Control: max-age=60"),
        ])
    }

    private static let url = "https://api.test.example/v1/milestones/3/items"

    @Test("a parameter of the query may name the parent, too")
    func inQuery() async throws {
        let fixture = try fixture([(10, 3), (11, 4)]), server = try server()
        let cache = try fixture.cache(server.base + "/v1")
        let answer = try await cache.fetch(CacheRequest("byQuery", parent: RecordKey(10)))
        #expect(answer.records.map { $0["milestone"] } == [.reference(RecordKey(10)), .reference(RecordKey(10))])
        let asked = CacheRequest("byQuery", url: "https://api.test.example/v1/items?in=3")
        #expect(try await cache.fetch(asked).source == .stored)
        #expect(server.requests.count == 1)
    }

    @Test("asked by URL, the records have the parent that the URL names, and so has what is cached")
    func found() async throws {
        let fixture = try fixture([(10, 3), (11, 4)])
        let server = try server()
        let cache = try fixture.cache(server.base + "/v1")
        let asked = try #require(cache.request(for: Self.url))
        let answer = try await cache.fetch(asked)
        #expect(answer.records.map { $0["milestone"] } == [.reference(RecordKey(10)), .reference(RecordKey(10))])
        let named = try await cache.fetch(CacheRequest("items", parent: RecordKey(10)))
        #expect(
            named.source == .stored
                && named.records.map { $0["milestone"] } == [.reference(RecordKey(10)), .reference(RecordKey(10))])
        #expect(try await cache.fetch(CacheRequest("items", url: Self.url)).source == .stored)
        #expect(server.requests.count == 1)
        let byName = try await cache.fetch(CacheRequest("byName", url: "https://api.test.example/v1/named/m%203/items"))
        #expect(byName.records.map { $0["milestone"] } == [.reference(RecordKey(10)), .reference(RecordKey(10))])
    }

    @Test("where the URL does not tell which record it is, the request is refused, and nothing is cached")
    func refused() async throws {
        let server = try server()
        let none = try fixture([(11, 4)])
        let two = try fixture([(10, 3), (12, 3)])
        for (fixture, url, message) in [
            (none, Self.url, "no stored Milestone"), (two, Self.url, "several"),
            (two, "https://api.test.example/v1/elsewhere", "name the Milestone"),
        ] {
            let cache = try fixture.cache(server.base + "/v1")
            await #expect { try await cache.fetch(CacheRequest("items", url: url)) } throws: {
                "\($0)".contains(message)
            }
            #expect(try cache.totals.entries == 0 && fixture.count() == 0)
        }
        #expect(server.requests.isEmpty)
        // A parent that is named decides, also for URLs of another form, such as the server's own
        // links.
        let cache = try two.cache(server.base + "/v1")
        for url in [Self.url, "https://api.test.example/v1/elsewhere"] {
            #expect(
                try await cache.fetch(CacheRequest("items", url: url, parent: RecordKey(12))).records.map {
                    $0["milestone"]
                } == [.reference(RecordKey(12)), .reference(RecordKey(12))])
        }
    }

    @Test("a URL that names another record than the parent is refused")
    func other() async throws {
        let fixture = try fixture([(10, 3), (11, 4)])
        let server = try server()
        let cache = try fixture.cache(server.base + "/v1")
        await #expect { try await cache.fetch(CacheRequest("items", url: Self.url, parent: RecordKey(11))) } throws: {
            "\($0)".contains("another Milestone")
        }
        await #expect { try await cache.fetch(CacheRequest("items", parent: RecordKey(99))) } throws: {
            "\($0)".contains("Milestone 99 is not in the store")
        }
        await #expect(throws: CacheError.self) {
            try await cache.fetch(CacheRequest("items", parent: RecordKey("ten")))
        }
        #expect(server.requests.isEmpty)
    }

    @Test("a URL whose name only looks like that of the parent names another record")
    func equivalentNames() async throws {
        let fixture = try fixture([(10, 3)])
        try await fixture.store.write { writer in
            try writer.put("Milestone", RecordKey(10), [.init("id", .int(10)), .init("name", .string("caf\u{E9}"))])
        }
        let server = try server()
        let cache = try fixture.cache(server.base + "/v1")
        let url = "https://api.test.example/v1/named/cafe%CC%81/items"
        await #expect { try await cache.fetch(CacheRequest("byName", url: url, parent: RecordKey(10))) } throws: {
            "\($0)".contains("another Milestone")
        }
        #expect(server.requests.isEmpty)
    }

    @Test("a parent is looked up by its key: as quick among thousands as among ten")
    func direct() async throws {
        func quickest(_ count: Int64) async throws -> Duration {
            let fixture = try fixture((1...count).map { ($0, $0) })
            let cache = try fixture.cache(nil)
            var best = Duration.seconds(1000)
            for _ in 0..<30 {
                let start = ContinuousClock.now
                _ = try await cache.prepare(CacheRequest("items", parent: RecordKey(count)))
                best = min(best, ContinuousClock.now - start)
            }
            return best
        }
        let few = try await quickest(10)
        let many = try await quickest(10_000)
        #expect(many < few * 20, "\(few) \(many)")
    }
}
