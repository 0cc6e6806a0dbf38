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

    private static let samples = 8

    func evictionVictim(
        _ uses: [UInt64: Timestamp], _ kept: UInt64?, _ limits: CacheLimits, _ now: Timestamp, _ random: () -> Double
    ) throws -> UInt64? {
        let last = try lastID
        var victim: (id: UInt64, usedAt: Timestamp)?
        for _ in 0..<ResponseTable.samples {
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
        try forEach(from: id) { view in
            guard view.isCaches, view.id != kept else { return true }
            found = (view.id, view.usedAt, view.validatedAt)
            return false
        }
        return found
    }
}
