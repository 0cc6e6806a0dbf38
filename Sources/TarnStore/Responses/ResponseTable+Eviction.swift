// The sizes of caches, and the choice of the entry to evict.

internal import LMDB

extension ResponseTable {
    var totals: CacheTotals {
        get throws {
            CacheTotals(
                entries: Int(clamping: try raw.number(state.meta, key: MetaKey.cacheEntries)),
                bytes: Int(clamping: try raw.number(state.meta, key: MetaKey.cacheBytes)))
        }
    }

    /// Updates the totals of caches. Nothing is written if neither entry is a cache's.
    ///
    /// - Parameters:
    ///   - before: the cost of the replaced or removed entry; nil if it is no cache's.
    ///   - after: the cost of the new entry; nil if it is no cache's.
    func count(_ before: Int?, _ after: Int?) throws {
        guard before != after else { return }
        var totals = try self.totals
        if let before { (totals.entries, totals.bytes) = (totals.entries - 1, totals.bytes - before) }
        if let after { (totals.entries, totals.bytes) = (totals.entries + 1, totals.bytes + after) }
        try put(totals)
    }

    func put(_ totals: CacheTotals) throws {
        try raw.put(state.meta, key: MetaKey.cacheEntries, number: UInt64(max(0, totals.entries)))
        try raw.put(state.meta, key: MetaKey.cacheBytes, number: UInt64(max(0, totals.bytes)))
    }

    static let samples = 8

    func evictionVictim(
        _ uses: [UInt64: Timestamp], _ kept: UInt64?, _ limits: CacheLimits, _ now: Timestamp, _ random: () -> Double
    ) throws -> UInt64? {
        let entries = try totals.entries
        var victim: (id: UInt64, usedAt: Timestamp)?
        for sample in 0..<ResponseTable.samples {
            guard let view = try randomCacheEntry(sample, of: entries, except: kept, random) else { return nil }
            // An entry beyond the age limit is evicted first.
            if let age = limits.age, view.validatedAt < now.earlier(bySeconds: age) { return view.id }
            let known = max(view.usedAt, uses[view.id] ?? view.usedAt)
            // A use while the clock was ahead would keep the entry until the clock has caught up.
            let usedAt = known.isFarAhead(of: now) ? Timestamp(microseconds: .min) : known
            if victim.map({ usedAt < $0.usedAt }) ?? true { victim = (view.id, usedAt) }
        }
        return victim?.id
    }

    /// A random entry of a cache; nil if there is none.
    ///
    /// Ids are never reused: after years most of them are gaps, behind which the same entries would
    /// be found again and again. Half of the samples are of the newest ids, which are dense.
    ///
    /// - Parameters:
    ///   - sample: the number of the sample.
    ///   - entries: the number of the caches' entries.
    ///   - limit: the maximum number of entries that are examined from an id on: those of mirrors
    ///     may be many.
    func randomCacheEntry(
        _ sample: Int, of entries: Int, except kept: UInt64?, examining limit: Int = .max, _ random: () -> Double
    ) throws -> (id: UInt64, usedAt: Timestamp, validatedAt: Timestamp)? {
        let last = try lastID
        let range = sample.isMultiple(of: 2) ? last : min(last, 2 * UInt64(max(0, entries)))
        let start = last - min(range, UInt64(Double(range) * random()))
        return try cacheEntry(from: start, except: kept, examining: limit)
            ?? cacheEntry(from: 0, except: kept, examining: limit)
    }

    /// The first entry of a cache at or after an id.
    private func cacheEntry(from id: UInt64, except kept: UInt64?, examining limit: Int) throws -> (
        id: UInt64, usedAt: Timestamp, validatedAt: Timestamp
    )? {
        var found: (id: UInt64, usedAt: Timestamp, validatedAt: Timestamp)?, left = limit
        try forEach(from: id) { view in
            left -= 1
            guard view.isCaches, view.id != kept else { return left > 0 }
            found = (view.id, view.usedAt, view.validatedAt)
            return false
        }
        return found
    }
}
