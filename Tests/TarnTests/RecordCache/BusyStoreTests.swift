// A cached transport whose store is held by a write: that of an import, or of a stopped process.

import Foundation
import TestSupport
import Testing

@testable import Tarn

@Suite("Cached transport: a store that another write holds", .timeLimit(.minutes(2)))
struct BusyStoreTests {
    private static let minute = TransportHeaders.Field("Cache-Control", "max-age=60")
    private static let tag = TransportHeaders.Field("ETag", "\"a\"")

    /// Runs a closure while a write holds the store.
    private func whileWriting(_ store: Store, _ body: () async throws -> Void) async throws {
        let gate = ThreadGate()
        async let writing: Void = onThread { try store.write { _ in gate.wait() } }
        try await gate.reached()
        do { try await body() } catch {
            gate.open()
            throw error
        }
        gate.open()
        try await writing
    }

    @Test("responses of the server do not wait for the write, and are stored after it; hits do not wait at all")
    func passedOn() async throws {
        let fixture = try ShelfFixture(Origin([Self.minute]))
        let cached = fixture.cached { $0.longestWrite = .seconds(1) }
        #expect(try await cached.answer(get("/old")).status.isStored)
        try await whileWriting(fixture.store) {
            for number in 0..<3 {
                let answer = try await cached.answer(get("/\(number)"))
                #expect(answer.text == "200 hello; fwd=uri-miss; fwd-status=200; detail=store-busy")
                #expect(answer.storeFailure?.contains("busy") == true)
            }
            #expect(try await cached.answer(get("/old")).status.isHit)
        }
        await cached.finishBackground()
        for number in 0..<3 {
            #expect(cached.storedAnswer(get("/\(number)"), maximumBody: .max) != nil)
        }
        #expect(try await cached.answer(get("/new")).status.isStored)
    }

    @Test("once a late write has ended, callers wait again, however many others are under way")
    func recovery() async throws {
        let writes = TimedWrites(wait: .seconds(2))
        let (first, endFirst) = AsyncStream.makeStream(of: Void.self)
        let (second, endSecond) = AsyncStream.makeStream(of: Void.self)
        for stream in [first, second] {
            await #expect(throws: TimedWrites.Late.self) {
                try await writes.run(1) { for await _ in stream { break } }
            }
        }
        endFirst.finish()
        // The end of the first one counts a moment later.
        var isInTime = false
        let deadline = ContinuousClock.now + .seconds(60)
        while !isInTime, ContinuousClock.now < deadline {
            do {
                try await writes.run(1) { try await Task.sleep(for: .milliseconds(20)) }
                isInTime = true
            } catch is TimedWrites.Late {}
        }
        #expect(isInTime)
        endSecond.finish()
        await writes.finish()
    }

    @Test(
        "behind a late write, many others are late at once; when it has ended, callers wait again beside all of these")
    func manyLate() async throws {
        let writes = TimedWrites(wait: .seconds(2)), (first, endFirst) = AsyncStream.makeStream(of: Void.self)
        await #expect(throws: TimedWrites.Late.self) { try await writes.run(1) { for await _ in first { break } } }
        var ends: [AsyncStream<Void>.Continuation] = []
        // Each would wait for two seconds otherwise: too long for the limit of this suite.
        for _ in 1..<TimedWrites.limit.count {
            let (other, end) = AsyncStream.makeStream(of: Void.self)
            ends.append(end)
            await #expect(throws: TimedWrites.Late.self) { try await writes.run(1) { for await _ in other { break } } }
        }
        endFirst.finish()
        var isInTime = false
        let deadline = ContinuousClock.now + .seconds(30)
        while !isInTime, ContinuousClock.now < deadline {
            do {
                try await writes.run(TimedWrites.limit.bytes) {}
                isInTime = true
            } catch is TimedWrites.Late { try await Task.sleep(for: .milliseconds(10)) }
        }
        #expect(isInTime)
        for end in ends { end.finish() }
        await writes.finish()
    }

    @Test("a 304 is answered with the stored response, and what an unsafe request has made stale is confirmed")
    func unsafe() async throws {
        let fixture = try ShelfFixture(Origin([Self.minute, Self.tag], "v1"))
        let cached = fixture.cached { $0.longestWrite = .seconds(1) }
        for path in ["/a", "/b"] { #expect(try await cached.answer(get(path)).status.isStored) }
        try await whileWriting(fixture.store) {
            fixture.origin.become(304, [Self.minute, Self.tag])
            let confirmed = try await cached.answer(get("/a", .init("Cache-Control", "no-cache")))
            #expect(confirmed.text == "200 v1; fwd=request; fwd-status=304; detail=store-busy")
            fixture.origin.become(200, [Self.minute], "v2")
            #expect(try await cached.answer(get("/b", method: "POST")).status.detail == "store-busy")
            #expect(try await cached.answer(get("/b")).text.hasPrefix("200 v2; fwd=stale"))
        }
        for (path, body) in [("/a", "v1"), ("/b", "v2")] {
            try await eventually("\(path) is stored") {
                let stored = cached.storedAnswer(get(path), maximumBody: .max)
                return stored.map { String(decoding: $0.response.body, as: UTF8.self) } == body
            }
        }
    }

    @Test("of the responses that wait for the store, 64 are kept in memory, and no more than 64 MiB")
    func bound() async throws {
        let fixture = try ShelfFixture(Origin([Self.minute]))
        let cached = fixture.cached { $0.longestWrite = .seconds(1) }
        try await whileWriting(fixture.store) {
            for number in 0..<80 {
                let answer = try await cached.answer(get("/\(number)"))
                #expect(answer.status.detail == "store-busy")
            }
        }
        try await eventually("the responses are stored") { try fixture.store.read { try $0.cacheTotals.entries } >= 64 }
        #expect(try fixture.store.read { try $0.cacheTotals.entries } == 64)
    }

    @Test("a write that fails in time gives its own error, and leaves no trace")
    func failure() async throws {
        struct Refused: Error {}
        let writes = TimedWrites(wait: .seconds(60))
        for _ in 0..<2 * TimedWrites.limit.count {
            await #expect(throws: Refused.self) {
                try await writes.run(1 << 20) { () async throws -> Int in throw Refused() }
            }
        }
        #expect(try await writes.run(TimedWrites.limit.bytes) { 1 } == 1)
    }
}
