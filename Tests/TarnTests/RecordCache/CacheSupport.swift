// Shared helpers of the cache tests: a clock, a store, caches over it, and servers that respond or
// are unreachable.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

/// The time of day as a test sets it.
final class TestClock: Sendable {
    private let now = Mutex(Date(timeIntervalSince1970: 1_000_000_000))

    func pass(_ seconds: Double) { now.withLock { $0 += seconds } }

    var source: TimeSource {
        TimeSource(
            now: { self.now.withLock { $0 } }, sleep: { try await Task.sleep(for: $0) },
            random: { Double.random(in: 0..<1) })
    }
}

/// Caches over one store, as of processes that come and go.
struct CacheFixture {
    let mirrored: MirrorStore
    let clock = TestClock()
    /// Kept open, so that a cache's store is this one.
    let store: Store

    init(yaml: String) throws { try self.init(try Description.parse(yaml, file: "tarn.yaml")) }

    init(_ description: Description) throws {
        mirrored = try MirrorStore(description)
        store = try mirrored.open()
    }

    func cache(
        _ base: String?, transport: (any Transport)? = nil, environment: [String: String] = [:],
        options change: (inout CacheOptions) -> Void = { _ in }
    ) throws -> RecordCache {
        var options = CacheOptions()
        options.client.base = base
        options.client.retry = .never
        options.client.time = clock.source
        change(&options)
        return try RecordCache(
            mirrored.description, store: store, transport: transport ?? MirrorStore.impatient(),
            client: options.client, options: options.cache, environment: environment)
    }

    /// An address without a listener. No other test's server gets its port.
    static func nobody() throws -> String { "http://127.0.0.1:\(dead.port)" }

    private static let dead = DeadPort()

    func count(_ entity: String = "Item") throws -> Int { try store.read { try $0.count(entity) } }
}

let twoItems = #"[{"id":1,"name":"one"},{"id":2,"name":"two"}]"#

/// A server with one list of two items.
func itemServer(_ fields: String..., body: String = twoItems, status: String = "200 OK") throws -> LocalServer {
    try LocalServer(["GET /items\nHTTP/1.1 \(status)\n" + fields.map { $0 + "\n" }.joined() + "\n" + body])
}

extension CachedAnswer {
    /// `stored 2 records`.
    var text: String { "\(source) \(records.count)" }
}

/// A transport that runs a closure, for exact timing that a server cannot provide.
struct ClosureTransport: Transport {
    let body: @Sendable (TransportRequest) async throws -> TransportResponse

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        do {
            return try await body(request)
        } catch let error as TransportError {
            throw error
        } catch {
            throw TransportError(.cancelled, method: request.method, url: request.url, detail: "\(error)")
        }
    }
}

/// The options of a cache and of its client, as one.
@dynamicMemberLookup
struct CacheOptions {
    var client = APIClient.Options()
    var cache = RecordCache.Options()

    subscript<Value>(dynamicMember path: WritableKeyPath<RecordCache.Options, Value>) -> Value {
        get { cache[keyPath: path] }
        set { cache[keyPath: path] = newValue }
    }
}
