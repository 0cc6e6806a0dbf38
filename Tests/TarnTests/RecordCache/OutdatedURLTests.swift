// Unsafe requests while the store takes no writes: the number of URLs that a cache remembers.

import Foundation
import TestSupport
import Testing

@testable import Tarn
@testable import TarnStore

@Suite("Cached transport: unsafe requests without a writable store", .timeLimit(.minutes(5)))
struct OutdatedURLTests {
    @Test("of many URLs that unsafe requests were sent to, those without a stored response are not remembered")
    func unstored() async throws {
        let folder = try TemporaryFolder()
        let server = try ScriptedServer { .tagged("a", $0, "body", "Cache-Control: max-age=60") }
        let store = try Store.open(
            at: folder.path + "/cache.tarn", schema: Schema([]), options: Store.Options(durability: .relaxed))
        let cached = CachedTransport(CurlTransport(), store: store)
        let request = TransportRequest(url: server.base + "/x")
        #expect(try await cached.answer(request).status.isStored)
        // Reads go on in the mapped file; every write fails.
        try FileManager.default.removeItem(atPath: folder.path + "/cache.tarn")
        for number in 0..<200 {
            let order = TransportRequest(method: "POST", url: "\(server.base)/orders/\(number)")
            #expect(try await cached.answer(order).storeFailure != nil)
        }
        #expect(cached.shelf.outdatedCount == 0)
        #expect(try await cached.answer(request).status.isHit)
        for _ in 0..<2 { _ = try await cached.answer(TransportRequest(method: "POST", url: request.url)) }
        #expect(cached.shelf.outdatedCount == 1)
        #expect(try await !cached.answer(request).status.isHit)
    }

    @Test("beyond ten thousand URLs every entry from before is outdated, and no more URLs are remembered")
    func limit() throws {
        var outdated = OutdatedURLs(), now = Timestamp(microseconds: 1_000_000)
        for number in 0..<OutdatedURLs.limit { outdated.add(["https://a.example/\(number)"], at: now) }
        #expect(outdated.end(of: "https://a.example/none") == nil)
        now = Timestamp(microseconds: 2_000_000)
        for number in 0..<50_000 { outdated.add(["https://b.example/\(number)"], at: now) }
        #expect(outdated.attempts.count == OutdatedURLs.limit)
        // Those that are remembered until the store was written; all others from before.
        #expect(outdated.end(of: "https://a.example/0") == Timestamp(microseconds: .max))
        #expect(outdated.end(of: "https://b.example/49999") == now)
        #expect(outdated.end(of: "https://c.example/") == now)
        outdated.remove(outdated.attempts)
        #expect(outdated.attempts.isEmpty && outdated.end(of: "https://a.example/0") == now)
    }

    @Test("a URL whose invalidation fails again while an earlier one is made up for stays outdated")
    func failedAgain() {
        var outdated = OutdatedURLs()
        let now = Timestamp(microseconds: 1_000_000)
        outdated.add(["https://a.example/1", "https://a.example/2"], at: now)
        let invalidated = outdated.attempts
        outdated.add(["https://a.example/1"], at: now)
        outdated.remove(invalidated)
        #expect(outdated.end(of: "https://a.example/1") != nil && outdated.end(of: "https://a.example/2") == nil)
        outdated.remove(outdated.attempts)
        #expect(outdated.end(of: "https://a.example/1") == nil)
    }

    @Test("a URL without a stored response is remembered beside a transfer of another process")
    func overtaking() async throws {
        let fixture = try ShelfFixture(Origin([.init("Cache-Control", "max-age=60")])), cached = fixture.cached()
        let url = get().url
        try FileManager.default.removeItem(atPath: fixture.folder.path + "/cache.tarn")
        await #expect(throws: (any Error).self) { try await cached.shelf.invalidate([url]) }
        #expect(cached.shelf.outdatedCount == 0)
        // The transfer has begun before the unsafe request, and may store its response later.
        await #expect(throws: (any Error).self) { try await cached.shelf.invalidate([url], overtaking: [1]) }
        #expect(cached.shelf.outdatedCount == 1)
    }
}
