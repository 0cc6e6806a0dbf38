// A cache of very many entries: hits among them, and while most of them go.

import Foundation
import Synchronization
import Tarn

/// Times in µs.
struct ManyEntriesMeasurement: Encodable {
    /// The median hit among a thousand entries of ten records, and among `entries`.
    var few: Double
    var many: Double
    var entries: Int
    /// The growth of the file per entry.
    var bytesPerEntry: Double
    /// The median and the longest read of a thread, without a writer, and while entries are evicted
    /// and purged.
    var quiet: Double
    var quietLongest: Double
    var meanwhile: Double
    var longest: Double
    var reads: Int
    var evicted: Int
    var purged: Int
    /// Entries a second.
    var evictions: Double
    var purges: Double
    var durability = "full"
    var compression: String

    private enum CodingKeys: String, CodingKey {
        case few, many, entries, quiet, meanwhile, longest, reads, evicted, purged, evictions, purges, durability, compression
        case bytesPerEntry = "bytes_per_entry"
        case quietLongest = "quiet_longest"
    }
}

/// Entries of ten adjacent records each, of all the workload's, written as imports write them.
struct TarnManyEntries {
    private static let few = 1000
    private let cache: RecordCache
    private let store: Store
    private let template: ResponseEntry
    private let listed: [ListedRecord]

    static func measure(_ options: Options) async throws -> ManyEntriesMeasurement {
        let store = try await TarnCases.fill(options, .none)
        let pages = try Pages(in: options.pages), body = [UInt8](pages.bodies[pages.bodies.count / 2])
        let cache = try TarnCaching.cache(options, .none, store, body)
        let many = try await TarnManyEntries(cache), entries = 100 * options.records
        let before = try sizeOfFiles(in: options.store)
        try await many.fill(0..<few)
        let hitsAmongFew = try await many.hits(few)
        try await many.fill(few..<entries)
        let hitsAmongMany = try await many.hits(entries), grown = try sizeOfFiles(in: options.store) - before
        let quiet = try await many.read(entries) { try await Task.sleep(for: .seconds(2)) }

        // A tenth is evicted, and the numbers that begin with 1 are purged: a ninth, if all digits
        // are equally frequent.
        let total = try cache.totals.entries, kept = total - entries / 10
        let small = try TarnCaching.cache(options, .none, store, body, limits: CacheLimits(entries: kept))
        var evicted = 0, purged = 0, seconds = (eviction: 0.0, purge: 0.0)
        let meanwhile = try await many.read(entries) {
            let start = ContinuousClock.now
            evicted = try await small.trim()
            let then = ContinuousClock.now
            purged = try await cache.purge(.prefix(many.url(1)))
            seconds = ((then - start) / .seconds(1), (ContinuousClock.now - then) / .seconds(1))
        }
        let left = try cache.totals.entries
        guard evicted == entries / 10, purged > entries / 20, left == total - evicted - purged else {
            throw BenchmarkError("of \(total) entries \(left) are left, \(evicted) were evicted and \(purged) purged")
        }
        return ManyEntriesMeasurement(
            few: hitsAmongFew, many: hitsAmongMany, entries: entries, bytesPerEntry: Double(grown) / Double(entries), quiet: quiet.median,
            quietLongest: quiet.longest, meanwhile: meanwhile.median, longest: meanwhile.longest, reads: meanwhile.count,
            evicted: evicted, purged: purged, evictions: Double(evicted) / seconds.eviction, purges: Double(purged) / seconds.purge,
            compression: "none")
    }

    /// Takes the entry that the cache makes of its page for a model, and the records from the
    /// entries of the import.
    private init(_ cache: RecordCache) async throws {
        _ = try await cache.fetch(try await cache.prepare(CacheRequest("issues")))
        let ids = try cache.store.read { try $0.fetch(TarnIssue.self).map(\.id) }.sorted(by: >)
        var listed: [ListedRecord] = [], template: ResponseEntry?
        // A page of the workload has 100 issues.
        for first in stride(from: 0, to: ids.count, by: 100) {
            let entries = try cache.entries(listing: "Issue", RecordKey(ids[first]))
            template = template ?? entries.first { $0.caching != nil }
            listed += entries.first { $0.caching == nil }?.listing.listed ?? []
        }
        guard let template, Set(listed).count == ids.count else { throw BenchmarkError("the entries list \(listed.count) of \(ids.count) issues") }
        (self.cache, store, self.template, self.listed) = (cache, cache.store, template, listed)
    }

    private func url(_ number: Int) -> String { "\(template.request.url)?n=\(number)" }

    private func fill(_ range: Range<Int>) async throws {
        for first in stride(from: range.lowerBound, to: range.upperBound, by: 10_000) {
            let end = min(first + 10_000, range.upperBound)
            try await store.write(alone: true) { writer in
                for number in first..<end {
                    var entry = template
                    let from = number * 10 % (listed.count - 9)
                    entry.request.url = url(number)
                    entry.listing.listed = Array(listed[from..<from + 10])
                    entry.listing.count = 10
                    try writer.putResponse(entry)
                }
            }
        }
    }

    /// Requests for entries at random.
    private func requests(_ entries: Int, seed: UInt64) async throws -> [PreparedRequest] {
        var requests: [PreparedRequest] = []
        for number in Reads.picks((0..<Int64(entries)).map(\.self), seed: seed).prefix(2000) {
            requests.append(try await cache.prepare(CacheRequest("issues", url: url(Int(number)))))
        }
        return requests
    }

    /// Reads the keys of an entry; their number, or nil if the entry was removed.
    private static func hit(_ cache: RecordCache, _ request: PreparedRequest) throws -> Int? {
        try cache.withHit(request) { _, listed in
            var count = 0
            listed.forEachKey(as: Int64.self) { _ in
                count += 1
                return true
            }
            return count
        }
    }

    /// The median hit on pages that the process has touched before: the cost of mapping a page is
    /// not the cache's.
    private func hits(_ entries: Int) async throws -> Double {
        let requests = try await requests(entries, seed: 1)
        for request in requests { _ = try Self.hit(cache, request) }
        var next = 0
        return try TarnCaching.median(10 * requests.count) {
            guard try Self.hit(cache, requests[next % requests.count]) == 10 else { throw BenchmarkError("no hit among \(entries)") }
            next += 1
        }
    }

    /// The reads of a thread at random entries during other work.
    private func read(_ entries: Int, while work: () async throws -> Void) async throws -> (median: Double, longest: Double, count: Int) {
        let requests = try await requests(entries, seed: 2), cache = cache
        for request in requests { _ = try Self.hit(cache, request) }
        let thread = TimedThread { number in
            let count = try Self.hit(cache, requests[number % requests.count])
            guard count == nil || count == 10 else { throw BenchmarkError("an entry lists \(count ?? 0) records") }
        }
        do { try await work() } catch {
            _ = try thread.end()
            throw error
        }
        let times = try thread.end()
        guard times.count > 100 else { throw BenchmarkError("there were \(times.count) reads only") }
        return (times[times.count / 2], times[times.count - 1], times.count)
    }
}

/// A thread that does the same again and again, and how long each time took.
private final class TimedThread: Sendable {
    private let isEnding = Atomic(false)
    private let times = Mutex<Result<[Double], any Error>>(.success([]))
    private let ended = DispatchSemaphore(value: 0)

    init(_ work: @escaping @Sendable (Int) throws -> Void) {
        let thread = Thread { [self] in
            let found = Result {
                var times: [Double] = []
                times.reserveCapacity(1 << 22)
                while !isEnding.load(ordering: .relaxed) {
                    let start = ContinuousClock.now
                    try work(times.count)
                    times.append((ContinuousClock.now - start) / .microseconds(1))
                }
                return times
            }
            times.withLock { $0 = found }
            ended.signal()
        }
        thread.start()
    }

    /// In µs, in their order.
    func end() throws -> [Double] {
        isEnding.store(true, ordering: .relaxed)
        ended.wait()
        return try times.withLock { try $0.get() }.sorted()
    }
}
