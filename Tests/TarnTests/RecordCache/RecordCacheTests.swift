// The record-level cache over a real store, with a real server, and with an unreachable one.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@testable import TarnStore

@Suite("Record cache", .timeLimit(.minutes(5)))
struct RecordCacheTests {
    @Test("a fresh answer comes from records, in the order of the response, without a request")
    func fresh() async throws {
        let server = try itemServer(
            "Cache-Control: max-age=60", body: #"[{"id":2,"name":"two"},{"id":1,"name":"one"}]"#)
        let fixture = try CacheFixture(yaml: itemsYAML()), cache = try fixture.cache(server.base)
        let first = try await cache.fetch(CacheRequest("items"))
        #expect(first.text == "fetched 2" && first.report?.entities["Item"]?.created == 2 && first.isStored)
        fixture.clock.pass(30)
        let second = try await cache.fetch(CacheRequest("items"))
        #expect(second.text == "stored 2" && second.age == 30 && second.report == nil)
        #expect(
            second.records.map(\.key) == [RecordKey(2), RecordKey(1)] && second.records.first?["name"] == .string("two")
        )
        #expect(second.listed == first.listed)
        #expect(server.requests.count == 1)
        // Another process: another cache over the same store.
        #expect(try await fixture.cache(server.base).fetch(CacheRequest("items")).text == "stored 2")
        #expect(server.requests.count == 1)
    }

    @Test("a stale answer is confirmed by a 304: nothing is parsed, nothing is imported, and it is fresh again")
    func revalidated() async throws {
        let server = try itemServer("Cache-Control: max-age=60", "ETag: \"a\"")
        let fixture = try CacheFixture(yaml: itemsYAML()), cache = try fixture.cache(server.base)
        _ = try await cache.fetch(CacheRequest("items"))
        // Were it imported again, the name would be the server's.
        try await fixture.store.write { try $0.put("Item", RecordKey(1), [.init("name", .string("mine"))]) }
        fixture.clock.pass(100)
        let answer = try await cache.fetch(CacheRequest("items"))
        #expect(answer.text == "revalidated 2" && answer.age == 0 && answer.report == nil)
        #expect(answer.records.first?["name"] == .string("mine"))
        #expect(server.requests.last?.contains("304 conditional") == true)
        #expect(try await cache.fetch(CacheRequest("items")).text == "stored 2")
        #expect(server.requests.count == 2)
    }

    @Test("another answer than 304 replaces what is stored")
    func replaced() async throws {
        let fixture = try CacheFixture(yaml: itemsYAML())
        let old = try itemServer("Cache-Control: max-age=60", "ETag: \"a\"")
        _ = try await fixture.cache(old.base).fetch(CacheRequest("items"))
        let new = try itemServer("Cache-Control: max-age=60", "ETag: \"b\"", body: #"[{"id":3,"name":"three"}]"#)
        fixture.clock.pass(100)
        let cache = try fixture.cache(new.base)
        #expect(try await cache.fetch(CacheRequest("items")).text == "fetched 1")
        #expect(try await cache.fetch(CacheRequest("items")).records.map(\.key) == [RecordKey(3)])
        #expect(try cache.entries(listing: "Item", RecordKey(1)).isEmpty)
        #expect(try fixture.count() == 3)
    }

    @Test("off line, with the server gone, the stale answer is given, with its age and the reason")
    func offLine() async throws {
        let fixture = try CacheFixture(yaml: itemsYAML())
        do {
            let server = try itemServer("Cache-Control: max-age=60")
            _ = try await fixture.cache(server.base).fetch(CacheRequest("items"))
        }
        fixture.clock.pass(100)
        let cache = try fixture.cache(try CacheFixture.nobody())
        let answer = try await cache.fetch(CacheRequest("items"))
        #expect(answer.text == "stale 2" && answer.age == 100 && answer.decision.rule == .disconnected)
        #expect(answer.failure?.isUnreachable == true)
        #expect(try await cache.fetch(CacheRequest("items"), policy: .networkFirst).text == "stale 2")
        await #expect { try await cache.fetch(CacheRequest("items"), policy: .networkOnly) } throws: {
            ($0 as? CacheError)?.isUnreachable == true
        }
        await #expect { try await cache.fetch(CacheRequest("items", parameters: [.init("q", "1")])) } throws: {
            ($0 as? CacheError)?.isUnreachable == true
        }
    }

    @Test("what must be revalidated is not given off line")
    func mustRevalidate() async throws {
        let fixture = try CacheFixture(yaml: itemsYAML())
        do {
            let server = try itemServer("Cache-Control: max-age=60, must-revalidate")
            _ = try await fixture.cache(server.base).fetch(CacheRequest("items"))
        }
        fixture.clock.pass(100)
        let cache = try fixture.cache(try CacheFixture.nobody())
        await #expect { try await cache.fetch(CacheRequest("items")) } throws: {
            "\($0)".contains("must-revalidate (RFC 9111 §5.2.2.2)")
        }
        await #expect { try await cache.fetch(CacheRequest("items"), policy: .cacheOnly) } throws: {
            "\($0)".contains("must-revalidate")
        }
    }

    @Test(
        "each policy answers from where it says",
        arguments: [
            (CachePolicy.cacheFirst, "stored", "stale", 1), (.networkFirst, "revalidated", "revalidated", 3),
            (.cacheOnly, "stored", "stale", 1),
            (.networkOnly, "fetched", "fetched", 3), (.olderThan(seconds: 50), "stored", "stored", 1),
            (.olderThan(seconds: 5), "revalidated", "revalidated", 3),
        ])
    func policies(_ policy: CachePolicy, _ fresh: String, _ stale: String, _ requests: Int) async throws {
        let server = try itemServer("Cache-Control: max-age=60", "ETag: \"a\"")
        let fixture = try CacheFixture(yaml: itemsYAML()), cache = try fixture.cache(server.base)
        _ = try await cache.fetch(CacheRequest("items"))
        fixture.clock.pass(20)
        #expect("\(try await cache.fetch(CacheRequest("items"), policy: policy).source)" == fresh)
        fixture.clock.pass(policy == .olderThan(seconds: 50) ? 30 : 100)
        if policy == .cacheFirst {
            #expect(try await cache.fetch(CacheRequest("items"), policy: policy).source == .revalidated)
            return
        }
        #expect("\(try await cache.fetch(CacheRequest("items"), policy: policy).source)" == stale)
        #expect(server.requests.count == requests)
    }

    @Test(
        "older than a limit is about time alone: what is stale but young enough is used, what is fresh but too old is not"
    )
    func olderThan() async throws {
        let server = try itemServer("Cache-Control: max-age=60", "ETag: \"a\"")
        let fixture = try CacheFixture(yaml: itemsYAML()), cache = try fixture.cache(server.base)
        _ = try await cache.fetch(CacheRequest("items"))
        fixture.clock.pass(100)
        #expect(try await cache.fetch(CacheRequest("items"), policy: .olderThan(seconds: 100)).source == .stale)
        #expect(try await cache.fetch(CacheRequest("items"), policy: .olderThan(seconds: 99)).source == .revalidated)
    }

    @Test("first what is stored, then what the server says")
    func cacheAndNetwork() async throws {
        let server = try itemServer("ETag: \"a\"")
        let fixture = try CacheFixture(yaml: itemsYAML()), cache = try fixture.cache(server.base)
        func sources() async throws -> [CachedAnswer.Source] {
            var sources: [CachedAnswer.Source] = []
            for try await answer in cache.answers(CacheRequest("items")) { sources.append(answer.source) }
            return sources
        }
        #expect(try await sources() == [.fetched])
        fixture.clock.pass(1)
        #expect(try await sources() == [.stale, .revalidated])
    }

    @Test("deleting a listed record invalidates the responses that list it, in the same transaction")
    func deletion() async throws {
        let server = try itemServer("Cache-Control: max-age=60")
        let fixture = try CacheFixture(yaml: itemsYAML()), cache = try fixture.cache(server.base)
        _ = try await cache.fetch(CacheRequest("items"))
        #expect(
            try cache.entries(listing: "Item", RecordKey(2)).map(\.request.url) == ["https://api.test.example/v1/items"]
        )
        #expect(try cache.totals.entries == 1)
        try await fixture.store.write { _ = try $0.delete("Item", RecordKey(2), ifVersion: nil) }
        #expect(try cache.entries(listing: "Item", RecordKey(1)).isEmpty)
        #expect(try cache.totals == CacheTotals())
        #expect(try await cache.fetch(CacheRequest("items")).text == "fetched 2")
        #expect(server.requests.count == 2)
    }

    @Test("another schema or mapping is another request, and the old entry goes")
    func fingerprint() async throws {
        let server = try itemServer("Cache-Control: max-age=600", body: #"[{"id":1,"name":"one","size":5}]"#)
        var fixture = try CacheFixture(yaml: itemsYAML())
        _ = try await fixture.cache(server.base).fetch(CacheRequest("items"))
        let path = fixture.mirrored.path
        let changed = try MirrorStore(yaml: itemsYAML(attributes: "      size: int?"))
        var description = changed.description
        description.storePath = path
        let store = try Store.open(at: path, schema: description.schema, options: Store.Options(durability: .relaxed))
        var client = APIClient.Options()
        client.base = server.base
        client.time = fixture.clock.source
        let cache = try RecordCache(
            description, store: store, transport: MirrorStore.impatient(), client: client, environment: [:])
        let answer = try await cache.fetch(CacheRequest("items"))
        #expect(answer.source == .fetched && answer.records.first?["size"] == .int(5))
        #expect(try cache.totals.entries == 1)
        fixture = try CacheFixture(yaml: itemsYAML())
    }

    @Test("what must not be stored is answered all the same, and neither it nor its records are in the store")
    func noStore() async throws {
        let server = try itemServer("Cache-Control: no-store")
        let fixture = try CacheFixture(yaml: itemsYAML()), cache = try fixture.cache(server.base)
        let answer = try await cache.fetch(CacheRequest("items"))
        #expect(answer.text == "fetched 2" && !answer.isStored && answer.records.first?["name"] == .string("one"))
        #expect(try fixture.count() == 0 && cache.totals == CacheTotals())
    }

    @Test("a 304 that forbids to keep the response is its last use: it answers, and leaves the store")
    func forbiddenBy304() async throws {
        let transport = ClosureTransport { request in
            let isConditional = request.headers["If-None-Match"] != nil
            return TransportResponse(
                status: isConditional ? 304 : 200,
                headers: TransportHeaders([
                    .init("ETag", "\"1\""), .init("Cache-Control", isConditional ? "no-store" : "max-age=0"),
                ]), body: isConditional ? [] : Array(twoItems.utf8))
        }
        let fixture = try CacheFixture(yaml: itemsYAML()), cache = try fixture.cache(nil, transport: transport)
        #expect(try await cache.fetch(CacheRequest("items")).text == "fetched 2")
        let answer = try await cache.fetch(CacheRequest("items")), totals = try cache.totals
        #expect(answer.text == "revalidated 2" && !answer.isStored && totals == CacheTotals())
        await #expect(throws: CacheError.self) { try await cache.fetch(CacheRequest("items"), policy: .cacheOnly) }
        // Without an entry there is no condition.
        #expect(try await cache.fetch(CacheRequest("items")).text == "fetched 2")
    }

    @Test("metadata by key path is kept, and given back with every answer, also after a 304")
    func metadata() async throws {
        let server = try itemServer(
            "Cache-Control: max-age=60", "ETag: \"a\"",
            body: #"{"items":[{"id":1,"name":"one"}],"meta":{"total":41,"more":{"a":[1.50,null]}}}"#)
        let fixture = try CacheFixture(
            yaml: itemsYAML("records: items\n    metadata: { total: meta.total, more: meta.more, gone: meta.gone }"))
        let cache = try fixture.cache(server.base)
        let expected = ["total": "41", "more": #"{"a":[1.50,null]}"#]
        #expect(try await cache.fetch(CacheRequest("items")).metadata == expected)
        #expect(try await cache.fetch(CacheRequest("items")).metadata == expected)
        fixture.clock.pass(100)
        let answer = try await cache.fetch(CacheRequest("items"))
        #expect(answer.source == .revalidated && answer.metadata == expected)
        let prepared = try await cache.prepare(CacheRequest("items"))
        #expect(try cache.withHit(prepared) { $1.metadata } == expected)
    }

    @Test("Vary is obeyed: with other request fields it is another answer")
    func vary() async throws {
        let server = try itemServer("Cache-Control: max-age=60", "Vary: Accept-Language")
        let yaml = { (language: String) in itemsYAML(api: "  headers: { Accept-Language: '\(language)' }") }
        let fixture = try CacheFixture(yaml: yaml("de"))
        _ = try await fixture.cache(server.base).fetch(CacheRequest("items"))
        #expect(try await fixture.cache(server.base).fetch(CacheRequest("items")).source == .stored)
        let other = try Description.parse(yaml("en"), file: "tarn.yaml")
        var client = APIClient.Options()
        client.base = server.base
        client.time = fixture.clock.source
        let cache = try RecordCache(
            other, store: fixture.store, transport: MirrorStore.impatient(), client: client, environment: [:])
        let explanation = try await cache.explain(CacheRequest("items"))
        #expect(explanation.decision.rule == .varies)
        #expect(try await cache.fetch(CacheRequest("items")).source == .fetched)
    }

    @Test("what belongs to one who asks does not answer another")
    func scopes() async throws {
        let server = try itemServer("Cache-Control: max-age=60")
        let fixture = try CacheFixture(yaml: itemsYAML(api: "  auth: { bearer: { env: TOKEN } }"))
        #expect(
            try await fixture.cache(server.base, environment: ["TOKEN": "ada"]).fetch(CacheRequest("items")).source
                == .fetched)
        #expect(
            try await fixture.cache(server.base, environment: ["TOKEN": "ada"]).fetch(CacheRequest("items")).source
                == .stored)
        #expect(
            try await fixture.cache(server.base, environment: ["TOKEN": "bob"]).fetch(CacheRequest("items")).source
                == .fetched)
    }

    @Test("a stale answer may be used while it is revalidated in the background")
    func staleWhileRevalidate() async throws {
        let server = try itemServer("Cache-Control: max-age=60, stale-while-revalidate=600", "ETag: \"a\"")
        let fixture = try CacheFixture(yaml: itemsYAML()), cache = try fixture.cache(server.base)
        _ = try await cache.fetch(CacheRequest("items"))
        fixture.clock.pass(100)
        let answer = try await cache.fetch(CacheRequest("items"))
        #expect(answer.source == .stale && answer.decision.rule == .staleWhileRevalidate)
        await cache.finishBackground()
        #expect(server.requests.count == 2)
        #expect(try await cache.fetch(CacheRequest("items")).source == .stored)
    }

    @Test(
        "when the server fails, stale-if-error allows the stale answer, and must-revalidate forbids it: the error is told",
        arguments: [true, false])
    func staleIfError(_ isAllowed: Bool) async throws {
        let fixture = try CacheFixture(yaml: itemsYAML())
        let good = try itemServer(
            "Cache-Control: max-age=60" + (isAllowed ? ", stale-if-error=600" : ", must-revalidate"))
        _ = try await fixture.cache(good.base).fetch(CacheRequest("items"))
        fixture.clock.pass(100)
        let failing = try itemServer(body: "no", status: "503 Service Unavailable"),
            cache = try fixture.cache(failing.base)
        if isAllowed {
            let answer = try await cache.fetch(CacheRequest("items"))
            #expect(answer.text == "stale 2" && answer.decision.rule == .staleIfError && answer.failure != nil)
        } else {
            await #expect { try await cache.fetch(CacheRequest("items")) } throws: { "\($0)".contains("503") }
        }
    }

    @Test("what is gone at the server is gone here", arguments: ["404 Not Found", "410 Gone"])
    func gone(_ status: String) async throws {
        let fixture = try CacheFixture(yaml: itemsYAML())
        let good = try itemServer("Cache-Control: max-age=60")
        _ = try await fixture.cache(good.base).fetch(CacheRequest("items"))
        fixture.clock.pass(100)
        let server = try itemServer(body: "{}", status: status), cache = try fixture.cache(server.base)
        await #expect(throws: CacheError.self) { try await cache.fetch(CacheRequest("items")) }
        #expect(try cache.totals.entries == 0)
    }

    @Test("a mirror's pages answer too, and stay the mirror's")
    func mirrored() async throws {
        let server = try LocalServer(
            itemPages(2).map { $0.replacingOccurrences(of: "ETag", with: "Cache-Control: max-age=60\nETag") })
        let fixture = try CacheFixture(yaml: itemsYAML())
        let report = try await fixture.mirrored.sync(server.base) { $0.time = fixture.clock.source }
        #expect(report.failures.isEmpty)
        let requests = server.requests.count
        let cache = try fixture.cache(server.base)
        let first = try await cache.fetch(CacheRequest("items"))
        #expect(first.text == "stored 2")
        let next = try #require(first.next)
        let second = try await cache.fetch(next)
        #expect(
            second.text == "stored 2" && second.records.map(\.key) == [RecordKey(3), RecordKey(4)] && second.next == nil
        )
        #expect(server.requests.count == requests)
        #expect(try cache.totals.entries == 0)
        #expect(try await cache.fetch(CacheRequest("items"), policy: .networkFirst).source == .revalidated)
        #expect(try cache.totals.entries == 0)
        #expect(try await cache.fetch(CacheRequest("items"), policy: .networkOnly).source == .fetched)
        #expect(try cache.totals.entries == 0)
        #expect(try await cache.purge(.all) == 0)
    }

    @Test("a mirror's page answers if Vary names a field of the description, also after a 304 to another one")
    func mirroredWithVary() async throws {
        let server = try itemServer("Cache-Control: max-age=60", "ETag: \"a\"", "Vary: Accept, X-Version")
        let yaml = { (version: Int) in
            itemsYAML(api: "  headers: { Accept: application/json, X-Version: '\(version)' }")
        }
        let fixture = try CacheFixture(yaml: yaml(1)), cache = try fixture.cache(server.base)
        for round in 0..<2 {
            let report = try await fixture.mirrored.sync(server.base) { $0.time = fixture.clock.source }
            #expect(report.failures.isEmpty && report.notModified == round)
            #expect(try await cache.fetch(CacheRequest("items")).text == "stored 2")
            #expect(try await cache.fetch(CacheRequest("items"), policy: .cacheOnly).text == "stored 2")
        }
        #expect(try server.requests.count == 2 && cache.totals.entries == 0)
        // With other fields it is another answer. The server confirms that it is the same one.
        let other = try Description.parse(yaml(2), file: "tarn.yaml")
        var client = APIClient.Options()
        client.base = server.base
        client.time = fixture.clock.source
        let second = try RecordCache(
            other, store: fixture.store, transport: MirrorStore.impatient(), client: client, environment: [:])
        #expect(try await second.explain(CacheRequest("items")).decision.rule == .varies)
        #expect(try await second.fetch(CacheRequest("items")).source == .revalidated)
        #expect(try await second.fetch(CacheRequest("items")).text == "stored 2")
        #expect(server.requests.count == 3)
    }

    @Test("a URL is found to be of the endpoint that has its path")
    func ofURL() async throws {
        let yaml = """
            api: { base: 'https://api.test.example/v1' }
            entities: { Item: { key: id, attributes: { id: int } } }
            endpoints:
              one: { path: '/items/{id}', with: { id: 1 }, entity: Item }
              new: { path: /items/new, entity: Item }
              all: { path: /items, entity: Item }
            """
        let cache = try CacheFixture(yaml: yaml).cache(nil)
        func endpoint(_ url: String) -> String? { cache.request(for: url)?.endpoint }
        #expect(
            endpoint("https://api.test.example/v1/items/7?x=1") == "one"
                && endpoint("https://api.test.example/v1/items/new") == "new")
        #expect(
            endpoint("https://api.test.example/v1/items") == "all"
                && endpoint("https://api.test.example/v1/other") == nil)
        #expect(
            endpoint("https://other.example/v1/items") == nil && endpoint("https://api.test.example/v1/items/") == nil)
        #expect(cache.request(for: "https://api.test.example/v1/items/7?x=1")?.parameters == [.init("id", "7")])
        let prepared = try await cache.prepare(
            try #require(cache.request(for: "https://api.test.example/v1/items/7?x=1")))
        #expect(prepared.url == "https://api.test.example/v1/items/7?x=1")
        await #expect(throws: CacheError.self) { try await cache.prepare(CacheRequest("none")) }
        await #expect(throws: CacheError.self) {
            try await cache.prepare(CacheRequest("all", url: "https://other.example/v1/items"))
        }
    }

    @Test("a page that a mirror stores while a cache fetches it keeps its place among the pages of the scan")
    func placeInScan() async throws {
        let fixture = try CacheFixture(yaml: itemsYAML()), store = fixture.store
        let transport = ClosureTransport { _ in TransportResponse(status: 200, body: Array(twoItems.utf8)) }
        let first = try fixture.cache(nil, transport: transport)
        _ = try await first.fetch(CacheRequest("items"))
        var page = try #require(try first.entries(listing: "Item", RecordKey(1)).first)
        (page.listing.scan, page.listing.identity) = (7, "items")
        let scanned = page
        let cache = try fixture.cache(nil, transport: transport) { options in
            options.client.interleave = { _ = try? await store.write { try $0.putResponse(scanned) } }
        }
        _ = try await cache.fetch(CacheRequest("items"), policy: .networkOnly)
        let stored = try #require(try cache.entries(listing: "Item", RecordKey(1)).first)
        #expect(stored.listing.scan == 7 && stored.listing.identity == "items")
    }

    @Test("the explanation names each rule with its paragraph")
    func explained() async throws {
        let server = try itemServer("Cache-Control: max-age=60", "ETag: \"a\"")
        let fixture = try CacheFixture(yaml: itemsYAML()), cache = try fixture.cache(server.base)
        #expect(
            try await cache.explain(CacheRequest("items")).description.hasSuffix(
                "miss: request to the server\n  no stored response for this request (RFC 9111 §4)"))
        _ = try await cache.fetch(CacheRequest("items"))
        fixture.clock.pass(61)
        let lines = try await cache.explain(CacheRequest("items")).description.split(separator: "\n").map(String.init)
        #expect(
            lines.dropFirst() == [
                "revalidate: request to the server with a condition",
                "  the lifetime is max-age: 60 s (RFC 9111 §5.2.2.1)",
                "  the age has reached the lifetime: age 61 s of 60 s (RFC 9111 §4.2.4)",
            ])
        #expect(server.requests.count == 1)
    }
}
