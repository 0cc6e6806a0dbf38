// Answers that state an error beside their records, in a record cache.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

@Suite("Record cache: answers with errors beside their records", .timeLimit(.minutes(5)))
struct PartialAnswerCacheTests {
    private static let yaml = itemsYAML("records: items\n    paginate: single_page")
    private static let whole = #"{"items":[{"id":1,"name":"one"},{"id":2,"name":"two"}]}"#
    private static let part = #"{"incomplete_results":true,"items":[{"id":1,"name":"new"}]}"#

    /// A server with a body, and the requests that it gets.
    private final class Origin: Sendable {
        let body = Mutex(PartialAnswerCacheTests.whole)
        let seen = Mutex<[TransportRequest]>([])

        var transport: ClosureTransport {
            ClosureTransport { request in
                self.seen.withLock { $0.append(request) }
                let headers = TransportHeaders([.init("Cache-Control", "max-age=60"), .init("ETag", "\"a\"")])
                return TransportResponse(
                    status: 200, headers: headers, body: Array(self.body.withLock { $0 }.utf8))
            }
        }
    }

    @Test("a part is returned with its failure, its records are stored, and it answers no other request")
    func part() async throws {
        let fixture = try CacheFixture(yaml: Self.yaml), origin = Origin()
        let cache = try fixture.cache(nil, transport: origin.transport)
        #expect(try await cache.fetch(CacheRequest("items")).text == "fetched 2")
        origin.body.withLock { $0 = Self.part }
        let part = try await cache.fetch(CacheRequest("items"), policy: .networkFirst)
        #expect(part.text == "fetched 1" && !part.isStored && part.records.first?["name"] == .string("new"))
        #expect(part.failure.map { "\($0)".contains("`incomplete_results` says") } == true)
        #expect(try fixture.store.read { try $0.record("Item", RecordKey(1))?["name"] } == .string("new"))
        // The stored answer stays until the server has another one, and is not confirmed.
        #expect(try cache.entries(listing: "Item", RecordKey(2)).count == 1)
        origin.body.withLock { $0 = Self.whole }
        let whole = try await cache.fetch(CacheRequest("items"), policy: .networkFirst)
        #expect(whole.text == "fetched 2" && whole.failure == nil && whole.isStored)
        #expect(origin.seen.withLock { $0 }.last?.headers["If-None-Match"] == nil)
    }

    @Test("a page with an error that a mirror has stored answers nothing, not even without a network")
    func mirrored() async throws {
        let fixture = try CacheFixture(yaml: Self.yaml), origin = Origin()
        origin.body.withLock { $0 = Self.part }
        let report = try await fixture.mirrored.sync(nil, transport: origin.transport) {
            $0.client.time = fixture.clock.source
        }
        #expect(report.failures.count == 1)
        origin.body.withLock { $0 = Self.whole }
        let offline = try fixture.cache(try CacheFixture.nobody())
        await #expect(throws: CacheError.self) { try await offline.fetch(CacheRequest("items")) }
        let cache = try fixture.cache(nil, transport: origin.transport)
        #expect(try await cache.fetch(CacheRequest("items")).text == "fetched 2")
    }

    @Test("an endpoint with partitions is requested with a value of each")
    func partitions() async throws {
        let fixture = try CacheFixture(yaml: itemsYAML("partitions: { kind: [a, b] }\n    paginate: single_page"))
        let cache = try fixture.cache(
            nil,
            transport: ClosureTransport { request in
                TransportResponse(status: 200, body: request.url.contains("kind=b") ? Array(twoItems.utf8) : [])
            })
        await #expect { try await cache.fetch(CacheRequest("items")) } throws: {
            "\($0)".contains("each value of kind")
        }
        #expect(try await cache.fetch(CacheRequest("items", parameters: [.init("kind", "b")])).text == "fetched 2")
        let request = try #require(cache.request(for: "https://api.test.example/v1/items?kind=b"))
        #expect(try await cache.fetch(request).records.count == 2)
    }
}
