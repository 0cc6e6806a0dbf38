// Hits of the record-level cache: a fresh entry of 100 adjacent records.

import Foundation
import Tarn

/// Medians, in µs.
struct CachingMeasurement: Encodable {
    /// A hit that looks at the keys.
    var keys: Double
    /// A hit that reads a field of each record.
    var fields: Double
    /// The stored body of the same page, read and decoded with `JSONDecoder`.
    var decoded: Double
    var durability = "full"
    var compression: String
}

enum TarnCaching {
    /// The decoded form: as little as possible of each element.
    private struct Element: Decodable {
        var id: Int64
        var comments: Int64
    }

    struct Pretended: Transport {
        let body: [UInt8]

        func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
            TransportResponse(status: 200, headers: TransportHeaders([.init("Cache-Control", "max-age=1000000"), .init("ETag", "\"a\"")]), body: body)
        }
    }

    static func measure(_ options: Options, _ compression: EntityDefinition.Compression) async throws -> CachingMeasurement {
        let store = try await TarnCases.fill(options, compression)
        if compression == .zstd { try store.rewrite() }
        let pages = try Pages(in: options.pages), body = [UInt8](pages.bodies[pages.bodies.count / 2])
        let cache = try cache(options, compression, store, body)
        let prepared = try await cache.prepare(CacheRequest("issues"))
        guard try await cache.fetch(prepared).records.count == 100 else { throw BenchmarkError("a page has not 100 records") }
        try check(cache, prepared, body)
        var total: Int64 = 0
        let keys = try median(20_000) {
            let hit: Void? = try cache.withHit(prepared) { _, listed in
                listed.forEachKey(as: Int64.self) {
                    total &+= $0
                    return true
                }
            }
            guard hit != nil else { throw BenchmarkError("no hit") }
        }
        let fields = try median(5_000) {
            let hit: Void? = try cache.withHit(prepared) { _, listed in
                try listed.forEach(TarnIssue.self) { row in
                    total &+= try row.get(.comments)
                    return true
                }
            }
            guard hit != nil else { throw BenchmarkError("no hit") }
        }
        let whole = CachedTransport(Pretended(body: body), store: store), request = TransportRequest(url: "https://api.test.example/whole")
        _ = try await whole.answer(request)
        var times: [Double] = []
        for _ in 0..<200 {
            let start = ContinuousClock.now
            let answer = try await whole.answer(request)
            let elements = try JSONDecoder().decode([Element].self, from: Data(answer.response.body))
            times.append((ContinuousClock.now - start) / .microseconds(1))
            guard answer.status.isHit, elements.count == 100 else { throw BenchmarkError("the body is not the page") }
        }
        guard total != 0 else { throw BenchmarkError("nothing was read") }
        return CachingMeasurement(keys: keys, fields: fields, decoded: times.sorted()[times.count / 2], compression: compression.rawValue)
    }

    /// The result of a hit is the page: its keys in its order, adjacent ones, and its values.
    private static func check(_ cache: RecordCache, _ prepared: PreparedRequest, _ body: [UInt8]) throws {
        let elements = try JSONDecoder().decode([Element].self, from: Data(body)), ids = elements.map(\.id)
        guard Set(ids).count == 100, let first = ids.min(), let last = ids.max(), last - first == 99 else {
            throw BenchmarkError("the records of the page are not adjacent")
        }
        var keys: [Int64] = [], comments: [Int64] = []
        let hit = try cache.withHit(prepared) { decision, listed in
            listed.forEachKey(as: Int64.self) {
                keys.append($0)
                return true
            }
            try listed.forEach(TarnIssue.self) { row in
                comments.append(try row.get(.comments))
                return true
            }
            return decision.outcome == .fresh
        }
        guard hit == true, keys == ids, comments == elements.map(\.comments) else { throw BenchmarkError("a hit does not give what the page says") }
    }

    /// A cache in front of a server that gives one page, with limits or without.
    static func cache(
        _ options: Options, _ compression: EntityDefinition.Compression, _ store: Store, _ body: [UInt8], limits: CacheLimits = CacheLimits()
    ) throws -> RecordCache {
        let description = Description(
            file: "bench", storePath: options.store.path, api: APIDescription(base: "https://api.test.example"),
            schema: TarnModel.schema(compression), mapping: TarnModel.mapping, endpoints: [Endpoint(name: "issues", path: "/issues", entity: "Issue")])
        var settings = RecordCache.Options()
        settings.limits = limits
        return try RecordCache(description, store: store, transport: Pretended(body: body), options: settings)
    }

    static func median(_ count: Int, _ work: () throws -> Void) rethrows -> Double {
        for _ in 0..<min(count, 500) { try work() }
        var times: [Double] = []
        times.reserveCapacity(count)
        for _ in 0..<count {
            let start = ContinuousClock.now
            try work()
            times.append((ContinuousClock.now - start) / .microseconds(1))
        }
        return times.sorted()[count / 2]
    }
}
