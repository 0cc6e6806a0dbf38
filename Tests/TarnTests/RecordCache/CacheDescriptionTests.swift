// Caching in a description, and the examples of the page about it.

import Foundation
import Tarn
import TarnDescription
import Testing

@Suite("Description file: caching")
struct CacheDescriptionTests {
    private func cache(_ text: String) throws -> CacheDescription {
        try Description.parse(itemsYAML(api: "  cache: " + text), file: "tarn.yaml").api.cache
    }

    @Test("policy, rules and limits are read; without a word they are a private cache's")
    func settings() throws {
        #expect(try Description.parse(itemsYAML(), file: "tarn.yaml").api.cache == CacheDescription())
        let written = try cache(
            "{ policy: network_first, shared: true, heuristic: 0.25, heuristic_limit: 60, off_line: never, entries: 5, bytes: 1000, age: 7 }"
        )
        let rules = CacheRules(
            isShared: true, heuristicFraction: 0.25, heuristicLimit: 60, answersWhenDisconnected: false)
        #expect(
            written
                == CacheDescription(
                    policy: .networkFirst, rules: rules, limits: CacheLimits(entries: 5, bytes: 1000, age: 7)))
        #expect(try cache("{ older_than: 600 }").policy == .olderThan(seconds: 600))
    }

    @Test(
        "each mistake is told with its line and column",
        arguments: [
            ("{ policy: sometimes }", "3:20", "api.cache.policy"),
            ("{ older_than: -1 }", "3:24", "api.cache.older_than"),
            ("{ heuristic: 2 }", "3:23", "api.cache.heuristic"), ("{ entries: 0 }", "3:21", "api.cache.entries"),
            ("{ shared: perhaps }", "3:20", "api.cache.shared"), ("{ off_line: maybe }", "3:22", "api.cache.off_line"),
            ("{ polices: x }", "3:12", "polices"), ("{ policy: cache_only, older_than: 5 }", "3:44", "remove policy"),
            ("5", "3:10", "expected a mapping"),
        ])
    func mistakes(_ text: String, _ place: String, _ words: String) throws {
        #expect { try cache(text) } throws: { "\($0)".contains("tarn.yaml:\(place)") && "\($0)".contains(words) }
    }

    @Test("metadata are names to key paths; what is none is told")
    func metadata() throws {
        let endpoint = try #require(
            try Description.parse(itemsYAML("metadata: { total: meta.total }"), file: "tarn.yaml").endpoints.first)
        #expect(endpoint.metadata.map(\.name) == ["total"] && endpoint.metadata.first?.path == JSONPath("meta.total"))
        for wrong in ["metadata: { total: '' }", "metadata: [a]", "metadata: { total: [a] }"] {
            #expect(throws: DescriptionError.self) { try Description.parse(itemsYAML(wrong), file: "tarn.yaml") }
        }
    }

    @Test("the settings of the description are those of a cache that has none of its own")
    func used() async throws {
        let server = try itemServer("Cache-Control: max-age=60")
        let fixture = try CacheFixture(yaml: itemsYAML(api: "  cache: { policy: network_only }"))
        var client = APIClient.Options()
        client.base = server.base
        let cache = try RecordCache(
            fixture.mirrored.description, store: fixture.store, transport: MirrorStore.impatient(),
            client: client, environment: [:])
        #expect(try await cache.fetch(CacheRequest("items")).source == .fetched)
        #expect(try await cache.fetch(CacheRequest("items")).source == .fetched)
        #expect(
            try RecordCache(fixture.mirrored.description, store: fixture.store, transport: MirrorStore.impatient())
                .options.policy == .networkOnly)
    }

    @Test("an unsafe method that goes through a cached transport makes the record cache ask again")
    func unsafe() async throws {
        let origin = Origin([.init("Cache-Control", "max-age=60"), .init("ETag", "\"a\"")], twoItems)
        let fixture = try CacheFixture(yaml: itemsYAML()), cache = try fixture.cache(nil, transport: origin.transport)
        _ = try await cache.fetch(CacheRequest("items"))
        let transport = CachedTransport(origin.transport, store: fixture.store)
        _ = try await transport.send(
            TransportRequest(method: "POST", url: "https://api.test.example/v1/items", body: [1]))
        #expect(try await cache.explain(CacheRequest("items")).decision.rule == .unsafeMethod)
        origin.become(304, [.init("ETag", "\"a\"")])
        #expect(try await cache.fetch(CacheRequest("items")).source == .revalidated)
        #expect(try await cache.fetch(CacheRequest("items")).source == .stored)
    }
}
