// Unsafe requests and transfers that began before them, over a real server.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

@Suite("Cached transport: unsafe requests", .timeLimit(.minutes(5)))
struct UnsafeRequestTests {
    /// A resource `/x` whose GETs read the value at once, and answer after the release.
    private final class Resource: Sendable {
        private let state = Mutex((version: 1, isReleased: false))
        private let lifetime: Int

        init(lifetime: Int = 60) { self.lifetime = lifetime }

        func release() { state.withLock { $0.isReleased = true } }
        /// Holds the answers to GETs until the next release.
        func hold() { state.withLock { $0.isReleased = false } }

        func answer(_ request: ScriptedServer.Request, _ field: String) -> ScriptedServer.Answer {
            guard request.method == "GET" else {
                state.withLock { $0.version += 1 }
                return .init(fields: field.isEmpty ? [] : [field])
            }
            let version = state.withLock { $0.version }
            for _ in 0..<2000 where state.withLock({ !$0.isReleased }) { usleep(10_000) }
            return .tagged("v", request, "version \(version)", "Cache-Control: max-age=\(lifetime)")
        }
    }

    private func cached(_ store: Store) -> CachedTransport { CachedTransport(CurlTransport(), store: store) }

    private func store(_ folder: TemporaryFolder) throws -> Store {
        try Store.open(
            at: folder.path + "/cache.tarn", schema: Schema([]), options: Store.Options(durability: .relaxed))
    }

    @Test(
        "a request after an unsafe one joins no transfer that began before it, whose response is not stored",
        arguments: [
            ("POST /x", ""), ("DELETE /x", ""), ("POST /list", "Location: /x"), ("POST /list", "Content-Location: /x"),
        ], [false, true])
    func joining(_ unsafe: (line: String, field: String), isAnothers: Bool) async throws {
        let folder = try TemporaryFolder(), store = try store(folder), cached = cached(store), resource = Resource()
        // Caches know of each other by the store and by locks of their own: as two processes do.
        let sender = isAnothers ? self.cached(store) : cached
        let server = try ScriptedServer { resource.answer($0, unsafe.field) }
        let method = String(unsafe.line.prefix { $0 != " " }),
            target = String(unsafe.line.drop { $0 != " " }.dropFirst())
        let url = server.base + "/x"
        async let older = cached.answer(TransportRequest(url: url))
        try await eventually { server.requests.count == 1 }
        let answer = try await sender.answer(TransportRequest(method: method, url: server.base + target))
        #expect(answer.response.status == 200)
        // The older transfer is still held: the new one reaches the server, and lets it go on.
        async let later = cached.answer(TransportRequest(url: url))
        try await eventually { server.requests.count == 3 }
        resource.release()
        let (first, second) = try await (older, later)
        #expect(String(decoding: first.response.body, as: UTF8.self) == "version 1" && !first.status.isStored)
        #expect(String(decoding: second.response.body, as: UTF8.self) == "version 2")
        #expect(second.status.isStored && !second.status.isCollapsed)
        let third = try await cached.answer(TransportRequest(url: url))
        #expect(third.status.isHit && String(decoding: third.response.body, as: UTF8.self) == "version 2")
        #expect(server.requests.count == 3)
    }

    @Test(
        "the response of a transfer that began before an unsafe request is not stored when it comes last",
        arguments: [false, true])
    func notStored(isAnothers: Bool) async throws {
        let folder = try TemporaryFolder(), store = try store(folder), cached = cached(store), resource = Resource()
        let sender = isAnothers ? self.cached(store) : cached
        let server = try ScriptedServer { resource.answer($0, "") }
        let request = TransportRequest(url: server.base + "/x")
        async let older = cached.answer(request)
        try await eventually { server.requests.count == 1 }
        _ = try await sender.answer(TransportRequest(method: "PUT", url: request.url))
        resource.release()
        #expect(try await !older.status.isStored)
        let later = try await cached.answer(request)
        #expect(!later.status.isHit && String(decoding: later.response.body, as: UTF8.self) == "version 2")
    }

    @Test(
        "a 304 to a request before an unsafe one does not make the stored response fresh", arguments: [false, true])
    func notConfirmed(isAnothers: Bool) async throws {
        let folder = try TemporaryFolder(), store = try store(folder), cached = cached(store), resource = Resource()
        let sender = isAnothers ? self.cached(store) : cached
        resource.release()
        let server = try ScriptedServer { resource.answer($0, "") }
        let request = TransportRequest(url: server.base + "/x")
        _ = try await cached.answer(request)
        // Stale already: the second unsafe request changes nothing in the store.
        _ = try await cached.answer(TransportRequest(method: "POST", url: request.url))
        resource.hold()
        async let older = cached.answer(request)
        try await eventually { server.requests.count == 3 }
        _ = try await sender.answer(TransportRequest(method: "POST", url: request.url))
        resource.release()
        _ = try await older
        let count = server.requests.count
        #expect(try await !cached.answer(request).status.isHit)
        #expect(server.requests.count == count + 1)
    }

    @Test("without an unsafe request, equal requests share a transfer, and one after it is a hit")
    func shared() async throws {
        let folder = try TemporaryFolder(), cached = cached(try store(folder)), resource = Resource()
        let server = try ScriptedServer { resource.answer($0, "") }
        let request = TransportRequest(url: server.base + "/x")
        async let first = cached.answer(request)
        try await eventually { server.requests.count == 1 }
        async let second = cached.answer(request)
        try await Task.sleep(for: .milliseconds(100))
        resource.release()
        let both = try await [first, second]
        #expect(both.filter(\.status.isCollapsed).count == 1 && both.allSatisfy(\.status.isStored))
        #expect(try await cached.answer(request).status.isHit)
        #expect(server.requests.count == 1)
    }

    @Test("unsafe requests beside no transfer are not noted; a transfer that too many have overtaken is not stored")
    func noted() async throws {
        let folder = try TemporaryFolder(), store = try store(folder), cached = cached(store), resource = Resource()
        let sender = self.cached(store), server = try ScriptedServer { resource.answer($0, "") }
        let request = TransportRequest(url: server.base + "/x")
        func noted() throws -> UInt64 { try store.read { try $0.access.settings.unsafeRequests.count } }
        _ = try await sender.answer(TransportRequest(method: "POST", url: request.url))
        #expect(try noted() == 0)
        async let older = cached.answer(request)
        try await eventually { server.requests.count == 2 }
        // Requests to other resources, which the transfer does not concern.
        _ = try await sender.answer(TransportRequest(method: "POST", url: server.base + "/y"))
        #expect(try noted() == 0)
        _ = try await sender.answer(TransportRequest(method: "POST", url: request.url))
        #expect(try noted() == 1)
        try await store.write { try $0.access.settings.noteUnsafeRequests((0..<100).map { UInt64($0) }) }
        resource.release()
        #expect(try await !older.status.isStored)
        #expect(try noted() == 101)
        #expect(try await cached.answer(request).status.isStored)
    }

    @Test(
        "an unsafe request whose response does not arrive whole invalidates; one that was not sent does not",
        arguments: [TransportError.Kind.cutShort, .timeout, .protocol, .connect])
    func unanswered(_ kind: TransportError.Kind) async throws {
        let minute = TransportHeaders.Field("Cache-Control", "max-age=60")
        let fixture = try ShelfFixture(Origin([minute], "version 1")), cached = fixture.cached()
        _ = try await cached.answer(get())
        fixture.origin.become { throw TransportError(kind, method: $0.method, url: $0.url, detail: "failed") }
        await #expect(throws: TransportError.self) { try await cached.answer(get(method: "PUT")) }
        fixture.origin.become(200, [minute], "version 2")
        let answer = try await cached.answer(get())
        let isSent = kind != .connect
        #expect(answer.status.isHit == !isSent)
        #expect(answer.response.body == Array((isSent ? "version 2" : "version 1").utf8))
    }

    // MARK: A store that takes no writes

    @Test("a full store passes responses on, unstored, and uses no response that an unsafe request has made stale")
    func full() async throws {
        let folder = try TemporaryFolder(), store = try store(folder), cached = cached(store)
        let body = String(repeating: "0123456789", count: 5000), count = Mutex(0)
        let server = try ScriptedServer { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return .tagged(
                request.target == "/small" ? "s" : "n\(number)", request,
                request.target == "/small"
                    ? "small"
                    : String(repeating: "\(number) \(body)", count: request.target.contains("large") ? 16 : 1),
                "Cache-Control: max-age=60")
        }
        func fetch(_ target: String, _ method: String = "GET", _ fields: TransportHeaders.Field...) async throws
            -> CachedTransport.Answer
        {
            let request = TransportRequest(method: method, url: server.base + target, headers: TransportHeaders(fields))
            let answer = try await cached.answer(request)
            #expect(answer.response.status == 200 && !answer.response.body.isEmpty)
            return answer
        }
        #expect(try await fetch("/small").status.isStored)
        for number in 0..<10 { #expect(try await fetch("/\(number)").status.isStored) }
        try store.setQuota(1 << 20)
        var answers: [CachedTransport.Answer] = []
        // Too large for others to make room.
        for number in 0..<4 { answers.append(try await fetch("/large\(number)")) }
        let refused = answers.filter { !$0.status.isStored }
        #expect(refused.count == answers.count)
        #expect(refused.allSatisfy { $0.status.detail == "store-full" && $0.storeFailure?.contains("full") == true })
        #expect(answers.allSatisfy { $0.status.isStored == ($0.storeFailure == nil) })
        // The rest of the quota is too small for another body, and perhaps for less.
        #expect(try await fetch("/small").status.isHit)
        _ = try await fetch("/small", "GET", .init("Cache-Control", "no-cache"))
        _ = try await fetch("/small", "POST")
        let after = try await fetch("/small")
        #expect(!after.status.isHit && String(decoding: after.response.body, as: UTF8.self) == "small")
        try store.setQuota(nil)
        _ = try await fetch("/small")
        #expect(try await fetch("/small").status.isHit)
        #expect(try await fetch("/29").status.isStored)
        #expect(try await fetch("/29").status.isHit)
    }

    @Test(
        "a store that takes no writes at all: the answers are the server's, and what an unsafe request has made stale is confirmed"
    )
    func unwritable() async throws {
        let folder = try TemporaryFolder()
        let server = try ScriptedServer { .tagged("a", $0, "body", "Cache-Control: max-age=60") }
        let request = TransportRequest(url: server.base + "/x")
        let store = try store(folder), cached = cached(store)
        #expect(try await cached.answer(request).status.isStored)
        // Reads go on in the mapped file; every write fails, even one that only deletes.
        try FileManager.default.removeItem(atPath: folder.path + "/cache.tarn")
        let changed = try await cached.answer(TransportRequest(method: "POST", url: request.url))
        #expect(changed.response.status == 200 && changed.storeFailure != nil)
        let after = try await cached.answer(request)
        #expect(!after.status.isHit && after.response.status == 200 && after.storeFailure != nil)
        #expect(String(decoding: after.response.body, as: UTF8.self) == "body")
    }
}
