// Caches whose store cannot be read, and errors in the background: none is ignored.

import Foundation
import TestSupport
import Testing

@testable import Tarn

@Suite("Caches: failures of the store and in the background", .timeLimit(.minutes(2)))
struct CacheFailureTests {
    @Test("explaining says that the store cannot be read, not that nothing is stored")
    func explain() async throws {
        let fixture = try CacheFixture(yaml: itemsYAML()), cache = try fixture.cache(try CacheFixture.nobody())
        try await withoutReaders(fixture.store) {
            let error = await #expect(throws: CacheError.self) { _ = try await cache.explain(CacheRequest("items")) }
            #expect(error?.description.contains("reader") == true)
        }
        #expect(try await cache.explain(CacheRequest("items")).decision.rule == .nothingStored)
    }

    @Test("a transport whose store cannot be read throws an error of that kind, and asks nobody")
    func transport() async throws {
        let origin = Origin([.init("Cache-Control", "max-age=60")]), fixture = try ShelfFixture(origin),
            cached = fixture.cached()
        let request = TransportRequest(
            url: "http://origin.example/a", headers: TransportHeaders([.init("Authorization", "Bearer a")]))
        try await withoutReaders(fixture.store) {
            let error = await #expect(throws: TransportError.self) { _ = try await cached.answer(request) }
            #expect(error?.kind == .store && error?.detail.contains("reader") == true)
        }
        #expect(origin.requests.isEmpty)
        _ = try await cached.answer(request)
        #expect(try await cached.answer(request).status.isHit)
    }

    @Test("an unsafe request makes a response stale although the store can neither be written nor read")
    func unsafeRequest() async throws {
        let origin = Origin([.init("Cache-Control", "max-age=60")]), fixture = try ShelfFixture(origin),
            cached = fixture.cached()
        #expect(try await cached.answer(get()).status.isStored)
        // Later reads go on in the mapped file; every write fails.
        try FileManager.default.removeItem(atPath: fixture.folder.path + "/cache.tarn")
        #expect(try await cached.answer(get()).status.isHit)
        try await withoutReaders(fixture.store) {
            await #expect(throws: (any Error).self) { try await cached.shelf.invalidate([get().url]) }
        }
        #expect(try await !cached.answer(get()).status.isHit)
    }

    @Test("a revalidation in the background that fails is told to the logger")
    func background() async throws {
        let logs = LogStore()
        let server = try itemServer("Cache-Control: max-age=60, stale-while-revalidate=600"),
            fixture = try CacheFixture(yaml: itemsYAML())
        _ = try await fixture.cache(server.base).fetch(CacheRequest("items"))
        fixture.clock.pass(100)
        let alone = try fixture.cache(try CacheFixture.nobody()) { $0.client.logger = logs.logger }
        #expect(try await alone.fetch(CacheRequest("items")).text == "stale 2")
        await alone.finishBackground()
        #expect(logs.text.contains("warning revalidation of") && logs.text.contains("/items failed"))
    }

    @Test("dictionaries are trained when an answer has come")
    func training() async throws {
        let name = String(repeating: "what many names have in common, as long as a row that is worth it; ", count: 8)
        let body = "[" + (1...3000).map { #"{"id":\#($0),"name":"\#(name)\#($0)"}"# }.joined(separator: ",") + "]"
        let server = try itemServer(body: body), fixture = try CacheFixture(yaml: itemsYAML()),
            cache = try fixture.cache(server.base)
        _ = try await cache.fetch(CacheRequest("items"), copying: .keys)
        await cache.finishBackground()
        // Nothing is left to train.
        #expect(try fixture.store.trainDictionaries() == [])
    }

    /// Runs a body while all places of readers are taken.
    private func withoutReaders(_ store: Store, _ body: () async throws -> Void) async throws {
        let areTaken = DispatchSemaphore(value: 0), release = DispatchSemaphore(value: 0)
        let holder = Task.detached {
            await withCheckedContinuation { ended in
                DispatchQueue.global().async {
                    func takeAll() {
                        do {
                            try store.read { _ in takeAll() }
                        } catch {
                            areTaken.signal()
                            release.wait()
                        }
                    }
                    takeAll()
                    ended.resume()
                }
            }
        }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                areTaken.wait()
                continuation.resume()
            }
        }
        let outcome: Result<Void, any Error>
        do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
        release.signal()
        await holder.value
        try outcome.get()
    }
}
