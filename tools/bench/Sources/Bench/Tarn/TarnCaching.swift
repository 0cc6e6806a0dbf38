// Hits of the record-level cache: a fresh entry of 100 adjacent records, and one among very many entries.

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
    /// The keys of an entry of ten records among a thousand entries, and among `entries`.
    var few: Double?
    var many: Double?
    var entries: Int?
    /// What the file has grown by for each of them.
    var bytesPerEntry: Double?
    var durability = "full"
    var compression: String

    private enum CodingKeys: String, CodingKey {
        case keys, fields, decoded, few, many, entries, durability, compression
        case bytesPerEntry = "bytes_per_entry"
    }
}

enum TarnCaching {
    /// What `JSONDecoder` is asked for: as little as possible of each element.
    private struct Element: Decodable {
        var id: Int64
        var comments: Int64
    }

    private struct Pretended: Transport {
        let body: [UInt8]

        func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
            HTTPResponse(status: 200, headers: HTTPHeaders([.init("Cache-Control", "max-age=1000000"), .init("ETag", "\"a\"")]), body: body)
        }
    }

    static func measure(_ options: Options, _ compression: EntityDefinition.Compression) async throws -> CachingMeasurement {
        let store = try await TarnCases.fill(options, compression)
        if compression == .zstd { try await store.rewrite() }
        let pages = try Pages(in: options.pages), body = [UInt8](pages.bodies[pages.bodies.count / 2])
        let description = Description(
            file: "bench", storePath: options.store.path, api: APIDescription(base: "https://api.test.example"),
            schema: TarnModel.schema(compression), mapping: TarnModel.mapping, endpoints: [Endpoint(name: "issues", path: "/issues", entity: "Issue")])
        var settings = RecordCache.Options()
        settings.limits = CacheLimits()
        let cache = try RecordCache(description, store: store, transport: Pretended(body: body), options: settings)
        let prepared = try await cache.prepare(CacheRequest("issues"))
        guard try await cache.fetch(prepared).records.count == 100 else { throw BenchmarkError("a page has not 100 records") }
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
        let whole = CachedTransport(Pretended(body: body), store: store), request = HTTPRequest(url: "https://api.test.example/whole")
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
        var measurement = CachingMeasurement(
            keys: keys, fields: fields, decoded: times.sorted()[times.count / 2], compression: compression.rawValue)
        if compression == .none { try await addMany(options, store, cache, prepared, &measurement) }
        return measurement
    }

    /// Entries of ten records each, written as imports write them, but without the records.
    private static func addMany(
        _ options: Options, _ store: Store, _ cache: RecordCache, _ prepared: PreparedRequest, _ measurement: inout CachingMeasurement
    ) async throws {
        let issues = try store.read { try $0.fetch(TarnIssue.self, limit: 1) }
        guard let issue = issues.first, var template = try anyEntry(cache, store, issue) else { throw BenchmarkError("there is no entry") }
        let all = try store.read { reader in try reader.fetch(TarnIssue.self).map(\.id) }
        let listed = template.listed
        let few = 1000, many = 100 * options.records, before = try sizeOfFiles(in: options.store)
        func fill(_ range: Range<Int>) async throws {
            for first in stride(from: range.lowerBound, to: range.upperBound, by: 1000) {
                let end = min(first + 1000, range.upperBound)
                let entry = template
                try await store.write(alone: true) { writer in
                    for number in first..<end {
                        var entry = entry
                        entry.request.url += "?n=\(number)"
                        entry.listed = (0..<10).map { listed[(number + $0) % listed.count] }
                        entry.count = 10
                        try writer.putResponse(entry)
                    }
                }
            }
        }
        template.listed = []
        func hits(_ count: Int) async throws -> Double {
            var requests: [PreparedRequest] = []
            for pick in Reads.picks(all).prefix(2000) {
                requests.append(try await cache.prepare(CacheRequest("issues", url: "https://api.test.example/issues?n=\(Int(pick.magnitude) % count)")))
            }
            var next = 0, total: Int64 = 0
            return try median(requests.count) {
                let hit: Void? = try cache.withHit(requests[next % requests.count]) { _, listed in
                    listed.forEachKey(as: Int64.self) {
                        total &+= $0
                        return true
                    }
                }
                guard hit != nil else { throw BenchmarkError("no hit among many") }
                next += 1
            }
        }
        try await fill(0..<few)
        measurement.few = try await hits(few)
        try await fill(few..<many)
        measurement.many = try await hits(many)
        measurement.entries = many
        measurement.bytesPerEntry = Double(try sizeOfFiles(in: options.store) - before) / Double(many)
    }

    /// The entry of the page that was fetched.
    private static func anyEntry(_ cache: RecordCache, _ store: Store, _ issue: TarnIssue) throws -> ResponseEntry? {
        var found: ResponseEntry?
        try store.read { reader in
            try reader.forEach(TarnIssue.self) { row in
                found = try cache.entries(listing: "Issue", RecordKey(try row.key)).first
                return found == nil
            }
        }
        return found
    }

    private static func median(_ count: Int, _ work: () throws -> Void) rethrows -> Double {
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
