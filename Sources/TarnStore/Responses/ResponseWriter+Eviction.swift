// Cache eviction: approximate LRU.

extension ResponseWriter {
    /// Evicts entries of a cache until it is within its limits, or until `count` are removed.
    ///
    /// No order of use is stored: a hit would have to write. Of a few random entries, the least
    /// recently used one is evicted, as in Redis.
    ///
    /// With an age limit, each call also removes entries beyond it, of a few random ones. A commit
    /// adds one entry at most, so that only a small part of a cache is beyond the limit.
    ///
    /// - Parameters:
    ///   - uses: times of use that are not stored yet.
    ///   - kept: an entry that stays, since it was just written.
    ///   - random: returns a number from 0 up to, but not including, 1.
    /// - Returns: the ids of the removed entries.
    package mutating func evict(
        _ limits: CacheLimits, uses: [UInt64: Timestamp], kept: UInt64? = nil, atMost count: Int, now: Timestamp,
        random: () -> Double
    ) throws -> [UInt64] {
        var removed: [UInt64] = []
        if let age = limits.age { removed = try evictExpired(age, kept, now, random) }
        while removed.count < count, try !limits.allow(table.totals) {
            guard let victim = try table.evictionVictim(uses, kept, limits, now, random).id else { break }
            try table.remove(id: victim)
            removed.append(victim)
        }
        return removed
    }

    /// Removes the entries beyond an age limit, of a few random ones.
    private mutating func evictExpired(
        _ age: Int, _ kept: UInt64?, _ now: Timestamp, _ random: () -> Double
    ) throws -> [UInt64] {
        let entries = try table.totals.entries
        var removed: [UInt64] = []
        guard entries > 0 else { return [] }
        for sample in 0..<ResponseTable.samples {
            var found: [ResponseTable.Candidate] = []
            _ = try table.addRandomCandidate(to: &found, sample, of: entries, except: kept, random)
            guard let entry = found.first, entry.validatedAt.isOlder(thanSeconds: age, at: now) else { continue }
            try table.remove(id: entry.id)
            removed.append(entry.id)
        }
        return removed
    }

    /// Removes entries of a cache beyond an age in seconds, examining a limited number.
    ///
    /// - Parameters:
    ///   - id: the first id to examine.
    ///   - looking: the maximum number of entries to examine.
    /// - Returns: the number of removed entries, and the id to continue with; nil at the end.
    package mutating func removeExpired(
        _ age: Int, at now: Timestamp, from id: UInt64, looking: Int
    ) throws -> (removed: Int, next: UInt64?) {
        var expired: [UInt64] = [], next: UInt64?, seen = 0
        try table.forEach(from: id) { view in
            guard seen < looking else {
                next = view.id
                return false
            }
            seen += 1
            if view.isCaches, view.validatedAt.isOlder(thanSeconds: age, at: now) { expired.append(view.id) }
            return true
        }
        for id in expired { try table.remove(id: id) }
        return (expired.count, next)
    }
}
