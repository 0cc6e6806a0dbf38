// What a cache keeps of a response beside what every entry has.

internal import LMDB

/// The part of an entry that a cache needs to answer by HTTP's rules.
public struct ResponseCaching: Sendable, Hashable {
    /// When the request was sent, or the one that confirmed the response.
    public var requestedAt: Timestamp
    /// The request's fields that the response was selected by, as a flat list: name, value, name, value, …
    public var selecting: [String]
    /// When it answered last, roughly.
    public var usedAt: Timestamp
    /// Bytes of its body in the table `bodies`; nil if none is kept.
    public var bodySize: Int?
    /// The parts of the representation that the body consists of; nil for a whole one.
    public var parts: BodyParts?

    /// What rules need to know of a response; with the size of its body if that is stored too.
    public init(requestedAt: Timestamp, selecting: [String] = [], usedAt: Timestamp, bodySize: Int? = nil, parts: BodyParts? = nil) {
        self.parts = parts
        self.requestedAt = requestedAt
        self.selecting = selecting
        self.usedAt = usedAt
        self.bodySize = bodySize
    }
}

extension ResponseEntry {
    /// Whether an entry of parts says which; that of a whole response always does.
    package var hasReadableParts: Bool { request.endpoint != "*part" || status == 206 && caching?.parts != nil }

    /// What the entry counts for in the size of a cache, in bytes: about what it takes up in the store, its body included. Nil if it is not a
    /// cache's own: those of walks are the mirror's.
    package var cacheCost: Int? {
        guard let caching, walk == nil else { return nil }
        var cost = 400 + 2 * request.url.utf8.count + (metadata?.utf8.count ?? 0) + (caching.bodySize ?? 0)
        for text in headers { cost += text.utf8.count + 4 }
        for text in caching.selecting { cost += text.utf8.count + 4 }
        // In the entry, and in the table of members.
        for record in listed { cost += 2 * record.storageKey.count + 30 }
        return cost
    }
}

extension StoreAccess {
    package var cacheTotals: CacheTotals {
        get throws {
            CacheTotals(
                entries: Int(clamping: try raw.number(state.meta, key: MetaKey.cacheEntries)),
                bytes: Int(clamping: try raw.number(state.meta, key: MetaKey.cacheBytes)))
        }
    }

    /// Nothing is written for entries that are not a cache's, before and after.
    func count(_ old: ResponseEntry?, _ new: ResponseEntry?) throws {
        let before = old?.cacheCost, after = new?.cacheCost
        guard before != after else { return }
        var totals = try cacheTotals
        if let before { (totals.entries, totals.bytes) = (totals.entries - 1, totals.bytes - before) }
        if let after { (totals.entries, totals.bytes) = (totals.entries + 1, totals.bytes + after) }
        try put(totals)
    }

    func put(_ totals: CacheTotals) throws {
        try raw.put(state.meta, key: MetaKey.cacheEntries, number: UInt64(max(0, totals.entries)))
        try raw.put(state.meta, key: MetaKey.cacheBytes, number: UInt64(max(0, totals.bytes)))
    }
}

extension StoreReader {
    /// How many entries caches have in this store, and how large they are.
    public var cacheTotals: CacheTotals {
        get throws { try access.cacheTotals }
    }
}
