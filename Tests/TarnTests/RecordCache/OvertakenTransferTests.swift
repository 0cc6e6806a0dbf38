// Transfers of a record cache that unsafe requests of an HTTP cache overtake.

import Synchronization
import Tarn
import TestSupport
import Testing

@Suite("Record cache: unsafe requests", .timeLimit(.minutes(5)))
struct OvertakenTransferTests {
    /// A list whose item has the number of unsafe requests as its key.
    private static func list(_ count: Int64) -> TransportResponse {
        TransportResponse(
            status: 200,
            headers: TransportHeaders([.init("Cache-Control", "max-age=60"), .init("ETag", "\"\(count)\"")]),
            body: Array(#"[{"id":\#(count),"name":"n"}]"#.utf8))
    }

    @Test("a request after an unsafe one joins no transfer that began before it, whose response is not fresh")
    func joining() async throws {
        let gate = Gate(), count = Mutex<Int64>(0)
        let origin = Origin { request in
            guard request.method == "GET" else {
                count.withLock { $0 += 1 }
                return TransportResponse(status: 200)
            }
            let seen = count.withLock(\.self)
            if seen == 0 { await gate.wait() }
            return Self.list(seen)
        }
        let fixture = try CacheFixture(yaml: itemsYAML()), cache = try fixture.cache(nil, transport: origin.transport)
        let sender = CachedTransport(origin.transport, store: fixture.store)
        async let older = cache.fetch(CacheRequest("items"))
        try await eventually("a transfer") { origin.requests.count == 1 }
        _ = try await sender.send(TransportRequest(method: "POST", url: origin.requests[0].url))
        // The older transfer is still held.
        async let later = cache.fetch(CacheRequest("items"))
        try await eventually("a transfer of its own") { origin.requests.count == 3 }
        #expect(try await later.records.map(\.key) == [RecordKey(1)])
        gate.open()
        #expect(try await older.records.map(\.key) == [RecordKey(0)])
        // The older response came last.
        let last = try await cache.fetch(CacheRequest("items"))
        #expect(last.source == .fetched && last.records.map(\.key) == [RecordKey(1)])
        #expect(try await cache.fetch(CacheRequest("items")).source == .stored)
        #expect(origin.requests.count == 4)
    }

    @Test("a 304 to a request before an unsafe one confirms nothing")
    func confirming() async throws {
        let gate = Gate(), count = Mutex<Int64>(0)
        let origin = Origin { request in
            guard request.method == "GET" else {
                count.withLock { $0 += 1 }
                return TransportResponse(status: 200)
            }
            let seen = count.withLock(\.self)
            guard seen == 1 else { return Self.list(seen) }
            await gate.wait()
            return TransportResponse(status: 304, headers: TransportHeaders([.init("ETag", "\"0\"")]))
        }
        let fixture = try CacheFixture(yaml: itemsYAML()), cache = try fixture.cache(nil, transport: origin.transport)
        let sender = CachedTransport(origin.transport, store: fixture.store)
        _ = try await cache.fetch(CacheRequest("items"))
        let unsafe = TransportRequest(method: "POST", url: origin.requests[0].url)
        _ = try await sender.send(unsafe)
        async let answer = cache.fetch(CacheRequest("items"))
        try await eventually("a conditional request") { origin.requests.count == 3 }
        // The response is stale already: in the store, only the note of the request is new.
        _ = try await sender.send(unsafe)
        gate.open()
        #expect(try await answer.records.map(\.key) == [RecordKey(2)])
        #expect(origin.requests.map { $0.headers["If-None-Match"] } == [nil, nil, "\"0\"", nil, nil])
    }
}
