// The status of endpoints and requests: what the store tells about them, to any process.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

@Suite("Status of endpoints", .timeLimit(.minutes(5)))
struct EndpointStatusTests {
    private static let yaml = """
        api: { base: 'https://api.test.example/v1' }
        entities:
          Box: { key: id, attributes: { id: int } }
          Item: { key: id, attributes: { id: int, name: string } }
        endpoints:
          items: { path: /items, entity: Item, paginate: header_link }
          boxes: { path: /boxes, entity: Box }
          content: { path: '/boxes/{box.id}/items', entity: Item, for_each: Box }
        """

    /// A server whose paths fail as long as a test wants it.
    private struct Server {
        private final class Failing: Sendable {
            let paths = Mutex<Set<String>>([])
        }

        private let failing: Failing
        let inner: ScriptedServer

        init() throws {
            let failing = Failing()
            self.failing = failing
            inner = try ScriptedServer { request in
                let path = String(request.target.dropFirst("/v1".count))
                if failing.paths.withLock({ $0.contains(path) }) {
                    return .init(status: "500 Internal Server Error", body: #"{"message":"out of order"}"#)
                }
                switch path {
                case "/items":
                    return .init(
                        fields: [
                            "Link: </v1/items?page=2&access_token=hunter2>; rel=\"next\"", "Cache-Control: max-age=60",
                        ], body: #"[{"id":1,"name":"a"},{"id":2,"name":"b"}]"#)
                case "/items?page=2&access_token=hunter2":
                    return .init(fields: ["Cache-Control: max-age=30"], body: #"[{"id":3,"name":"c"}]"#)
                case "/boxes": return .init(body: #"[{"id":7},{"id":8}]"#)
                case "/boxes/7/items", "/boxes/8/items": return .init(body: #"[{"id":9,"name":"n"}]"#)
                default: return .init(status: "404 Not Found")
                }
            }
        }

        var base: String { inner.base + "/v1" }
        func fail(_ paths: String...) { failing.paths.withLock { $0 = Set(paths) } }
    }

    private let clock = TestClock()

    private func mirror(_ store: MirrorStore, _ base: String) throws -> APIMirror {
        var options = SyncOptions()
        (options.base, options.retry, options.client.time) = (base, .never, clock.source)
        return try APIMirror(
            store.description, store: store.open(), transport: MirrorStore.impatient(), client: options.client,
            options: options.mirror)
    }

    private func status(_ store: MirrorStore, _ name: String = "items") async throws -> EndpointStatus {
        // A mirror of its own, as in another process.
        try #require(try await mirror(store, "http://127.0.0.1:1").status(of: [name]).first)
    }

    @Test("nothing is stored at first; a complete scan has a time, an age, and the freshness of HTTP")
    func complete() async throws {
        let store = try MirrorStore(yaml: Self.yaml), server = try Server()
        let open = try store.open()
        var status = try await status(store)
        #expect(status.name == "items" && status.lists == 1 && status.completeLists == 0)
        #expect(status.completedAt == nil && status.age == nil && status.unfinished == nil && status.failure == nil)
        #expect(status.freshUntil == nil && status.processID == nil)
        _ = try await mirror(store, server.base).sync(["items"])
        clock.pass(40)
        status = try await self.status(store)
        #expect(status.age == 40 && status.completeLists == 1 && status.unfinished == nil && status.failure == nil)
        let now = Timestamp(clock.source.now())
        #expect(status.isFresh(at: now) && status.freshUntil.map { $0.microseconds - now.microseconds } == 20_000_000)
        clock.pass(21)
        #expect(try await !self.status(store).isFresh(at: Timestamp(clock.source.now())))
        clock.pass(-1000)
        status = try await self.status(store)
        #expect(status.age == 0 && !status.isFresh(at: Timestamp(clock.source.now())), "the clock was set back")
        withExtendedLifetime(open) {}
    }

    @Test("a failure is stored with its time and without secrets, beside the pages so far, until a sync succeeds")
    func failure() async throws {
        let store = try MirrorStore(yaml: Self.yaml), server = try Server(), open = try store.open()
        server.fail("/items?page=2&access_token=hunter2")
        let report = try await mirror(store, server.base).sync(["items"])
        #expect(report.failures.count == 1)
        let failedAt = clock.source.now()
        clock.pass(10)
        var status = try await status(store)
        #expect(status.completedAt == nil && status.unfinished?.pages == 1 && status.unfinished?.records == 2)
        let failure = try #require(status.failure)
        #expect(failure.at == Timestamp(failedAt))
        #expect(failure.message.contains("500: out of order") && failure.message.contains("/v1/items?page=2"))
        #expect(!failure.message.contains("hunter2"))
        // Another failure replaces it, and the interrupted scan stays.
        server.fail("/items?page=2&access_token=hunter2", "/items")
        _ = try await mirror(store, try CacheFixture.nobody()).sync(["items"])
        status = try await self.status(store)
        #expect(status.failure?.message.contains("500") == false && status.unfinished?.pages == 1)
        server.fail()
        _ = try await mirror(store, server.base).sync(["items"])
        status = try await self.status(store)
        #expect(status.failure == nil && status.unfinished == nil && status.age == 0)
        #expect(server.inner.targets.filter { $0 == "/v1/items" }.count == 1)
        // After a complete scan, a failed one leaves its time.
        server.fail("/items")
        clock.pass(100)
        _ = try await mirror(store, server.base).sync(["items"])
        status = try await self.status(store)
        #expect(status.age == 100 && status.completeLists == 1 && status.failure != nil && status.unfinished == nil)
        withExtendedLifetime(open) {}
    }

    @Test("numbers and times of any size in the store give a status, and no overflow")
    func hostileNumbers() async throws {
        let store = try MirrorStore(yaml: Self.yaml), server = try Server(), open = try store.open()
        _ = try await mirror(store, server.base).sync(["boxes"])
        for time in [Int64.min, .max] {
            try await open.write { writer in
                for name in ["items", "content 7", "content 8", "! items", "! content"] {
                    var checkpoint = Checkpoint(
                        state: .underWay, plan: "", scan: 1, startedAt: Timestamp(microseconds: time),
                        completedAt: Timestamp(microseconds: time))
                    (checkpoint.pages, checkpoint.records) = (.max, .max)
                    checkpoint.lastFailure = .init(at: Timestamp(microseconds: time), text: "HTTP 500")
                    try writer.setCheckpoint(name, checkpoint)
                }
            }
            #expect(try await status(store).failure?.message == "HTTP 500")
            #expect(try await status(store, "content").unfinished?.records == .max)
            // Another failure is stored, whenever the last one was.
            server.fail("/items")
            _ = try await mirror(store, server.base).sync(["items"])
            #expect(try await status(store).failure?.at == Timestamp(clock.source.now()))
        }
    }

    @Test("a failure before the first page leaves no progress, and the next sync begins as ever")
    func first() async throws {
        let store = try MirrorStore(yaml: Self.yaml), server = try Server(), open = try store.open()
        server.fail("/items")
        _ = try await mirror(store, server.base).sync(["items"])
        var status = try await status(store)
        #expect(status.failure != nil && status.unfinished == nil && status.completedAt == nil)
        // The same failure again within a minute is not written again; later it is.
        let before = try open.read { try $0.sequence }
        clock.pass(5)
        _ = try await mirror(store, server.base).sync(["items"])
        #expect(try open.read { try $0.sequence } == before)
        clock.pass(120)
        _ = try await mirror(store, server.base).sync(["items"])
        #expect(try await self.status(store).failure?.at == Timestamp(clock.source.now()))
        server.fail()
        let report = try await mirror(store, server.base).sync(["items"])
        #expect(report.failures.isEmpty && report.endpoint("items")?.pages == 2 && report.resumed == nil)
        status = try await self.status(store)
        #expect(status.failure == nil && status.completeLists == 1)
    }

    @Test("with for_each, the lists of all parents count, and the oldest of them is the age")
    func parents() async throws {
        let store = try MirrorStore(yaml: Self.yaml), server = try Server(), open = try store.open()
        server.fail("/boxes/8/items")
        _ = try await mirror(store, server.base).sync(["boxes", "content"])
        var status = try await status(store, "content")
        #expect(status.lists == 2 && status.completeLists == 1 && status.completedAt == nil)
        #expect(status.failure?.message.contains("skipped 1 Box") == true, "\(status)")
        server.fail()
        clock.pass(50)
        _ = try await mirror(store, server.base).sync(["boxes", "content"])
        clock.pass(5)
        status = try await self.status(store, "content")
        #expect(status.lists == 2 && status.completeLists == 2 && status.age == 5 && status.failure == nil)
        withExtendedLifetime(open) {}
    }

    @Test("a running sync is named by its process, and its cancellation is no failure")
    func underWay() async throws {
        let store = try MirrorStore(yaml: Self.yaml), open = try store.open()
        let isAsked = Mutex(false)
        let transport = ClosureTransport { _ in
            isAsked.withLock { $0 = true }
            try await Task.sleep(for: .seconds(600))
            return TransportResponse(status: 200, headers: TransportHeaders(), body: [])
        }
        let mirror = try APIMirror(store.description, store: open, transport: transport)
        let task = Task { await mirror.sync(["items"]) }
        while !isAsked.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
        #expect(try await mirror.status(of: ["items"]).first?.processID == getpid())
        #expect(try await mirror.status(of: ["boxes"]).first?.processID == nil)
        task.cancel()
        _ = await task.value
        let status = try #require(try await mirror.status(of: ["items"]).first)
        #expect(status.processID == nil && status.failure == nil && status.unfinished == nil)
    }

    @Test("all endpoints are listed in the order of the description; an unknown name is an error")
    func names() async throws {
        let store = try MirrorStore(yaml: Self.yaml), mirror = try mirror(store, "http://127.0.0.1:1")
        #expect(try await mirror.status().map(\.name) == ["items", "boxes", "content"])
        #expect(try await mirror.client.status(of: ["boxes"]).map(\.name) == ["boxes"])
        let error = await #expect(throws: MirrorError.self) { try await mirror.status(of: ["item"]) }
        #expect(error?.description.contains("items") == true)
    }

    @Test("a request of a cache: its stored pages, its own last failure, and its freshness")
    func cached() async throws {
        let server = try Server(), fixture = try CacheFixture(yaml: Self.yaml)
        let cache = try fixture.cache(server.base), request = CacheRequest("items")
        var status = try await cache.status(of: request)
        #expect(
            status.completedAt == nil && status.unfinished == nil && status.failure == nil && status.freshUntil == nil)
        let first = try await cache.fetch(request)
        status = try await cache.status(of: request)
        #expect(status.completedAt == nil && status.unfinished?.pages == 1 && status.unfinished?.records == 2)
        let next = try #require(first.next)
        server.fail("/items?page=2&access_token=hunter2")
        await #expect(throws: CacheError.self) { try await cache.fetch(next) }
        status = try await fixture.cache("http://127.0.0.1:1").status(of: request)
        #expect(status.failure?.message.contains("out of order") == true && status.unfinished?.pages == 1)
        #expect(status.failure?.message.contains("hunter2") == false)
        // The failure is not that of another request of the endpoint.
        #expect(try await cache.status(of: CacheRequest("items", parameters: [.init("q", "1")])).failure == nil)
        server.fail()
        fixture.clock.pass(10)
        _ = try await cache.fetch(next)
        fixture.clock.pass(5)
        status = try await cache.status(of: request)
        #expect(status.failure == nil && status.unfinished == nil && status.completeLists == 1 && status.age == 15)
        #expect(status.complete?.pages == 2 && status.complete?.records == 3)
        let now = Timestamp(fixture.clock.source.now())
        // The first page is fresh for 60 seconds, the second one for 30.
        #expect(status.freshUntil.map { $0.microseconds - now.microseconds } == 25_000_000)
    }

    @Test("a failure leaves the checkpoint of the scan as it is: what does not know failures reads what it knows")
    func stored() async throws {
        let store = try MirrorStore(yaml: Self.yaml), server = try Server(), open = try store.open()
        server.fail("/items?page=2&access_token=hunter2")
        _ = try await mirror(store, server.base).sync(["items"])
        let checkpoint = try #require(try store.checkpoint("items"))
        #expect(checkpoint.state == .underWay && checkpoint.pages == 1 && checkpoint.failure == nil)
        #expect(checkpoint.nextURL?.contains("page=2") == true && checkpoint.lastFailure == nil)
        let outcome = try #require(try store.checkpoint("! items"))
        #expect(outcome.lastFailure != nil && outcome.scan == 0 && outcome.completedAt == nil)
        withExtendedLifetime(open) {}
    }
}
