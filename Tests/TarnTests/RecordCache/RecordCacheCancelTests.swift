// Callers that are cancelled while a transfer is under way: they return, and it ends with the last
// of them.

import Foundation
import Tarn
import TestSupport
import Testing

@Suite("Record cache: cancelling", .serialized, .timeLimit(.minutes(5)))
struct RecordCacheCancelTests {
    /// Waits for an event elsewhere; fails after a minute.
    private func eventually(_ what: String, _ condition: () -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while !condition() {
            guard ContinuousClock.now < deadline else {
                throw LocalServer.Failure(description: "waited in vain until \(what)")
            }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    private func isCancelled(_ result: Result<CachedAnswer, any Error>) -> Bool {
        if case .failure(let error) = result, case .request(.cancelled, _)? = error as? CacheError {
            true
        } else {
            false
        }
    }

    @Test(
        "a caller that is cancelled returns, and its transfer ends: the connection is closed", arguments: [true, false])
    func alone(_ sharesBetweenProcesses: Bool) async throws {
        let server = try HoldingServer()
        let fixture = try CacheFixture(yaml: itemsYAML())
        let cache = try fixture.cache(server.base) { $0.sharesTransfersBetweenProcesses = sharesBetweenProcesses }
        let caller = Task { try await cache.fetch(CacheRequest("items")) }
        try await eventually("the server has the request") { server.held == 1 }
        caller.cancel()
        // The server answers nothing: without the cancellation nothing would end this but a
        // time-out.
        let result = await caller.result
        #expect(isCancelled(result))
        try await eventually("the connection is closed") { server.leftByClient == 1 }
        // The next caller has its own transfer.
        server.answer(twoItems)
        #expect(try await cache.fetch(CacheRequest("items")).text == "fetched 2")
        #expect(server.held == 2)
    }

    @Test("a caller that is cancelled returns at once, and the transfer goes on for those that share it")
    func shared() async throws {
        let server = try HoldingServer()
        let fixture = try CacheFixture(yaml: itemsYAML())
        let cache = try fixture.cache(server.base)
        let first = Task { try await cache.fetch(CacheRequest("items")) }
        try await eventually("the server has the request") { server.held == 1 }
        let others = (0..<3).map { _ in Task { try await cache.fetch(CacheRequest("items")) } }
        // They are in the same flight, or will be.
        for _ in 0..<20 { await Task.yield() }
        first.cancel()
        others[0].cancel()
        let results = [await first.result, await others[0].result]
        #expect(results.allSatisfy(isCancelled))
        #expect(server.leftByClient == 0 || server.held > 1)
        server.answer(twoItems)
        for other in others.dropFirst() { #expect(try await other.value.records.count == 2) }
    }

    @Test("a caller that was cancelled before it asks sends nothing, and one whose answer is stored has it")
    func before() async throws {
        let server = try itemServer("Cache-Control: max-age=60")
        let fixture = try CacheFixture(yaml: itemsYAML())
        let cache = try fixture.cache(server.base)
        let early = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await cache.fetch(CacheRequest("items"))
        }
        early.cancel()
        let result = await early.result
        #expect(isCancelled(result))
        #expect(server.requests.isEmpty)
        _ = try await cache.fetch(CacheRequest("items"))
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await cache.fetch(CacheRequest("items"))
        }
        late.cancel()
        #expect(try await late.value.text == "stored 2")
    }

    @Test("leaving a stream of answers ends the transfer")
    func stream() async throws {
        let server = try HoldingServer()
        let fixture = try CacheFixture(yaml: itemsYAML())
        let cache = try fixture.cache(server.base)
        let caller = Task { for try await _ in cache.answers(CacheRequest("items")) {} }
        try await eventually("the server has the request") { server.held == 1 }
        caller.cancel()
        _ = await caller.result
        try await eventually("the connection is closed") { server.leftByClient == 1 }
    }
}
