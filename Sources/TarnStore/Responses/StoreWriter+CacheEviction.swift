// Cache eviction: approximate LRU.

internal import LMDB

extension StoreWriter {
    /// Evicts entries of a cache until it is within its limits, or until `count` are removed.
    ///
    /// No order of use is stored: a hit would have to write. Of a few random entries, the least
    /// recently used one is evicted, as in Redis.
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
        while removed.count < count, try !limits.allow(access.cacheTotals) {
            guard let victim = try access.evictionVictim(uses, kept, limits, now, random) else { break }
            try access.remove(responseID: victim)
            removed.append(victim)
        }
        return removed
    }

    /// Removes entries of a cache that were confirmed before a moment, examining a limited number.
    ///
    /// - Parameters:
    ///   - id: the first id to examine.
    ///   - looking: the maximum number of entries to examine.
    /// - Returns: the number of removed entries, and the id to continue with; nil at the end.
    package mutating func removeExpired(before moment: Timestamp, from id: UInt64, looking: Int) throws -> (
        removed: Int, next: UInt64?
    ) {
        var expired: [UInt64] = [], next: UInt64?, seen = 0
        try access.forEachResponse(from: id) { view in
            guard seen < looking else {
                next = view.id
                return false
            }
            seen += 1
            if view.isCaches, view.validatedAt < moment { expired.append(view.id) }
            return true
        }
        for id in expired { try access.remove(responseID: id) }
        return (expired.count, next)
    }
}

extension StoreAccess {
    private static let samples = 8

    fileprivate func evictionVictim(
        _ uses: [UInt64: Timestamp], _ kept: UInt64?, _ limits: CacheLimits, _ now: Timestamp, _ random: () -> Double
    ) throws -> UInt64? {
        let last = try lastResponseID
        var victim: (id: UInt64, usedAt: Timestamp)?
        for _ in 0..<StoreAccess.samples {
            let start = UInt64(Double(last) * random()) + 1
            guard let view = try cacheEntry(from: start, except: kept) ?? cacheEntry(from: 0, except: kept) else {
                return nil
            }
            // An entry beyond the age limit is evicted first.
            if let age = limits.age, view.validatedAt < now.earlier(bySeconds: age) { return view.id }
            let usedAt = max(view.usedAt, uses[view.id] ?? view.usedAt)
            if victim.map({ usedAt < $0.usedAt }) ?? true { victim = (view.id, usedAt) }
        }
        return victim?.id
    }

    /// The first entry of a cache at or after an id.
    private func cacheEntry(from id: UInt64, except kept: UInt64?) throws -> (
        id: UInt64, usedAt: Timestamp, validatedAt: Timestamp
    )? {
        var found: (id: UInt64, usedAt: Timestamp, validatedAt: Timestamp)?
        try forEachResponse(from: id) { view in
            guard view.isCaches, view.id != kept else { return true }
            found = (view.id, view.usedAt, view.validatedAt)
            return false
        }
        return found
    }
}
