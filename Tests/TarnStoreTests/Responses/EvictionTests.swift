// Cache eviction beside the responses of mirrors.

import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite("Cache eviction")
struct EvictionTests {
    private let folder: TemporaryFolder
    private let store: Store
    private let now = Timestamp(microseconds: 1_000_000_000)

    init() throws {
        folder = try TemporaryFolder()
        store = try Forge.open(folder("s"))
    }

    private func put(_ numbers: Range<Int>, areCaches: Bool) throws {
        try store.write { writer in
            for number in numbers {
                let time = Timestamp(microseconds: Int64(number))
                var entry = ResponseEntry(
                    request: RequestKey(url: "https://api.example.org/\(number)", endpoint: "issues:1"),
                    validation: .init(status: 200, headers: [], fetchedAt: time, validatedAt: time),
                    listing: .init([], count: 0, scan: 1))
                if areCaches { entry.caching = ResponseCaching(requestedAt: time, usedAt: time) }
                try writer.putResponse(entry)
            }
        }
    }

    @Test("an eviction reads a bounded number of entries, however many mirrors have before those of caches")
    func passesMirrorsOnce() throws {
        try put(0..<3000, areCaches: false)
        try put(3000..<3040, areCaches: true)
        // The samples of the newest ids, which are these, find none.
        try put(3040..<6000, areCaches: false)
        var random = SeededRandom(seed: 1)
        let (examined, left) = try store.write { writer -> ([Int], CacheTotals) in
            var examined: [Int] = []
            for _ in 0..<20 {
                let (victim, count) = try writer.access.responses.evictionVictim([:], nil, CacheLimits(), now) {
                    // Among the later entries of mirrors.
                    Double.random(in: 0..<0.4, using: &random)
                }
                examined.append(count)
                try writer.removeResponse(id: #require(victim))
            }
            return (examined, try writer.reader().cacheTotals)
        }
        #expect(left.entries == 20)
        // The first one passes the entries of mirrors, the others go on behind it.
        #expect(examined[0] > 3000)
        #expect(examined.dropFirst().allSatisfy { $0 < 300 }, "\(examined)")
    }

    @Test("entries before those of mirrors are evicted, too, and an entry that was just written stays")
    func evictsAll() throws {
        try put(0..<20, areCaches: true)
        try put(20..<400, areCaches: false)
        try put(400..<420, areCaches: true)
        let kept = try store.read { try $0.access.responses.lastID }
        let removed = try store.write { writer in
            try writer.responses.evict(CacheLimits(entries: 0), uses: [:], kept: kept, atMost: 100, now: now) { 0.5 }
        }
        #expect(removed.count == 39 && !removed.contains(kept))
        #expect(try store.read { try $0.cacheTotals.entries } == 1)
    }

    @Test("behind the entries of mirrors, the entry that was used least recently is evicted first")
    func leastRecentlyUsed() throws {
        try put(0..<400, areCaches: false)
        try put(400..<405, areCaches: true)
        try put(405..<800, areCaches: false)
        let ids = try store.read { reader in
            var ids: [UInt64] = []
            try reader.access.responses.forEach { view in
                if view.isCaches { ids.append(view.id) }
                return true
            }
            return ids
        }
        let uses = [ids[0]: now, ids[1]: now]
        let removed = try store.write { writer in
            try writer.responses.evict(CacheLimits(entries: 4), uses: uses, atMost: 100, now: now) { 0.1 }
        }
        #expect(removed == [ids[2]])
    }

    @Test("an entry that was used while the clock was ahead is evicted first, unless it was used again since")
    func usedAhead() throws {
        try put(0..<3, areCaches: true)
        let ahead = Timestamp(microseconds: now.microseconds + 400 * 86_400 * 1_000_000)
        let ids = try store.write { writer in
            var ids: [UInt64] = []
            try writer.access.responses.forEach { view in
                ids.append(view.id)
                return true
            }
            try writer.responses.noteUses([ids[0]: ahead, ids[1]: ahead, ids[2]: now])
            return ids
        }
        let removed = try store.write { writer in
            var sample = 0
            return try writer.responses.evict(CacheLimits(entries: 1), uses: [ids[0]: now], atMost: 100, now: now) {
                sample += 1
                // Each entry in turn.
                return Double(sample % 3) * 0.4
            }
        }
        #expect(removed.first == ids[1] && removed.count == 2)
    }

    /// The ids of the caches' entries, ascending.
    private func caches() throws -> [UInt64] {
        try store.read { reader in
            var ids: [UInt64] = []
            try reader.access.responses.forEach { view in
                if view.isCaches { ids.append(view.id) }
                return true
            }
            return ids
        }
    }

    @Test("an entry that was used while the clock was ahead is evicted by its last use once that is stored")
    func usedAgain() throws {
        try put(0..<3, areCaches: true)
        let ids = try caches()
        func time(_ microseconds: Int64) -> Timestamp { Timestamp(microseconds: now.microseconds + microseconds) }
        try store.write { writer in
            try writer.responses.noteUses([ids[0]: time(400 * 86_400 * 1_000_000), ids[1]: time(-2), ids[2]: time(-1)])
            try writer.responses.noteUses([ids[0]: now])
        }
        let removed = try store.write { writer in
            var sample = 0
            return try writer.responses.evict(CacheLimits(entries: 2), uses: [:], atMost: 100, now: now) {
                sample += 1
                // Each entry in turn.
                return Double(sample % 3) * 0.4
            }
        }
        #expect(removed == [ids[1]])
    }

    @Test("entries before the one that was evicted last among mirrors are evicted when none is left behind it")
    func beginsAnew() throws {
        try put(0..<100, areCaches: false)
        try put(100..<103, areCaches: true)
        try put(103..<400, areCaches: false)
        let ids = try caches()
        let removed = try store.write { writer in
            // Samples among the later entries of mirrors. The last of the caches is the oldest.
            let uses = [ids[0]: now, ids[1]: now]
            return try writer.responses.evict(CacheLimits(entries: 0), uses: uses, atMost: 100, now: now) { 0.1 }
        }
        #expect(removed.first == ids[2] && Set(removed) == Set(ids))
        #expect(try store.read { try $0.cacheTotals.entries } == 0)
    }

    @Test("of a store that had very many entries, the one behind their gap is not evicted when it was used last")
    func behindGap() throws {
        try put(0..<1000, areCaches: true)
        let ids = try caches(), left = ids.suffix(20)
        try store.write { writer in for id in ids.dropLast(20) { try writer.removeResponse(id: id) } }
        let first = try #require(left.first)
        var random = SeededRandom(seed: 1)
        let removed = try store.write { writer in
            try writer.responses.evict(CacheLimits(entries: 15), uses: [first: now], atMost: 100, now: now) {
                // Of all ids, these are in the gap.
                Double.random(in: 0.1..<0.5, using: &random)
            }
        }
        #expect(removed.count == 5 && !removed.contains(first), "\(removed)")
    }
}
