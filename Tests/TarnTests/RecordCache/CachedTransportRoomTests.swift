// The room of a cached transport: full stores, large bodies, variants.

import Foundation
import Tarn
import TestSupport
import Testing

@Suite("Cached transport: room", .timeLimit(.minutes(5)))
struct CachedTransportRoomTests {
    private static let minute = TransportHeaders.Field("Cache-Control", "max-age=60")

    @Test("in a full store, the least recently used responses make room; one that is too large removes none")
    func room() async throws {
        let body = String(repeating: "0123456789", count: 5000)
        let fixture = try ShelfFixture(Origin([Self.minute], body)), cached = fixture.cached()
        try fixture.store.setQuota(1 << 20)
        for number in 0..<60 {
            let answer = try await cached.answer(get("/\(number)"))
            #expect(answer.status.isStored && answer.storeFailure == nil, "\(number)")
        }
        #expect(try await cached.answer(get("/59")).status.isHit)
        let entries = try fixture.store.read { try $0.cacheTotals.entries }
        #expect(entries > 5 && entries < 30)
        fixture.origin.become(200, [Self.minute], String(repeating: body, count: 40))
        #expect(try await cached.answer(get("/large")).status.detail == "store-full")
        let left = try fixture.store.read { try $0.cacheTotals.entries }
        #expect(left == entries)
    }

    @Test("while a reader sees the space of removed responses, a full store removes no more; then it does again")
    func pinnedRoom() async throws {
        let fixture = try ShelfFixture(Origin([Self.minute], String(repeating: "0123456789", count: 5000)))
        let cached = fixture.cached(), store = fixture.store, gate = ThreadGate()
        try store.setQuota(1 << 20)
        for number in 0..<60 { _ = try await cached.answer(get("/\(number)")) }
        let entries = try store.read { try $0.cacheTotals.entries }
        async let reading: Void = onThread { try store.read { _ in gate.wait() } }
        try await gate.reached()
        for number in 100..<160 { _ = try await cached.answer(get("/\(number)")) }
        let left = try store.read { try $0.cacheTotals.entries }
        #expect(left >= entries - 4, "\(left) of \(entries)")
        gate.open()
        try await reading
        #expect(try await cached.answer(get("/200")).status.isStored)
        #expect(try await cached.answer(get("/200")).status.isHit)
    }

    @Test("a body beyond the limit is passed on, not stored; an empty one is stored")
    func sizes() async throws {
        let fixture = try ShelfFixture(Origin([Self.minute], "12345")),
            cached = fixture.cached { $0.maximumBodySize = 4 }
        #expect(try await cached.answer(get()).status.isStored == false)
        fixture.origin.become(200, [Self.minute], "")
        #expect(try await cached.answer(get()).status.isStored)
        #expect(try await cached.answer(get()).text == "200 ; hit; ttl=60")
    }

    @Test(
        "bodies of all sizes around a chunk come back as they were, and go with their entries",
        arguments: [65_519, 65_520, 65_521, 131_040, 200_000])
    func chunks(_ size: Int) async throws {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let fixture = try ShelfFixture(
            Origin { _ in TransportResponse(status: 200, headers: TransportHeaders([Self.minute]), body: bytes) })
        let cached = fixture.cached()
        _ = try await cached.answer(get())
        #expect(try await cached.answer(get()).response.body == bytes)
        let part = try await cached.answer(get("/a", .init("Range", "bytes=65500-65530")))
        #expect(part.response.body == Array(bytes[65_500..<min(65_531, size)]))
        #expect(try fixture.store.read { try $0.cacheTotals.bytes } > size)
    }

    @Test("of one URL 64 variants are stored; the least recently used one is removed for another")
    func variantLimit() async throws {
        let fixture = try ShelfFixture(Origin([.init("Cache-Control", "max-age=6000"), .init("Vary", "Origin")]))
        let cached = fixture.cached()
        func isHit(_ number: Int) async throws -> Bool {
            try await cached.answer(get("/a", .init("Origin", "http://\(number)"))).status.isHit
        }
        for number in 0..<64 { #expect(try await !isHit(number)) }
        for number in 0..<64 { #expect(try await isHit(number)) }
        fixture.clock.pass(120)
        #expect(try await isHit(0))
        // Another URL has variants of its own.
        _ = try await cached.answer(get("/b", .init("Origin", "http://0")))
        for number in 64..<70 { #expect(try await !isHit(number)) }
        for number in [0, 69, 64, 63, 7] { #expect(try await isHit(number), "\(number)") }
        for number in 1..<7 { #expect(try await !isHit(number), "\(number)") }
        #expect(try fixture.store.read { try $0.cacheTotals.entries } == 65)
    }
}
