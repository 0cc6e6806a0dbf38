// Caches over one store as of several processes: their claims, and the limits that they learn.

import Foundation
import TestSupport
import Testing

@testable import Tarn

@Suite("Record cache: other processes", .timeLimit(.minutes(5)))
struct RecordCacheProcessTests {
    @Test("a request waits only so long for another process's transfer of the same response, and is sent then")
    func stoppedProcess() async throws {
        let server = try HoldingServer()
        let fixture = try CacheFixture(yaml: itemsYAML())
        let first = try fixture.cache(server.base)
        let second = try fixture.cache(server.base) { $0.longestClaim = .milliseconds(50) }
        let stopped = Task { try await first.fetch(CacheRequest("items")) }
        try await eventually("the request of the first") { server.held == 1 }
        let other = Task { try await second.fetch(CacheRequest("items")) }
        try await eventually("the request of the second") { server.held == 2 }
        server.answer(twoItems)
        #expect(try await other.value.records.count == 2)
        #expect(try await stopped.value.records.count == 2)
    }

    @Test("a response of the future is not one that another process has fetched since, after the clock was set back")
    func responseOfTheFuture() async throws {
        let server = try itemServer(), fixture = try CacheFixture(yaml: itemsYAML())
        let cache = try fixture.cache(server.base), began = fixture.clock.source.now()
        _ = try await cache.fetch(CacheRequest("items"))
        let prepared = try await cache.prepare(CacheRequest("items"))
        #expect(try cache.fetched(prepared, since: began)?.listed.count == 2)
        fixture.clock.pass(-100)
        #expect(try cache.fetched(prepared, since: fixture.clock.source.now()) == nil)
    }

    @Test("a limit that a refusal has told is kept in the store: the next process sends nothing")
    func keptLimit() async throws {
        let server = try itemServer("Retry-After: 3600", status: "429 Too Many Requests")
        let fixture = try CacheFixture(yaml: itemsYAML())
        for _ in 0..<3 {
            let cache = try fixture.cache(server.base)
            await #expect(throws: CacheError.self) { try await cache.fetch(CacheRequest("items")) }
        }
        #expect(server.requests.count == 1)
    }
}
