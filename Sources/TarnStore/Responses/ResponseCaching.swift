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

/// The parts of a representation that are stored, in the order in which they came: their bytes follow one another in the body. No two overlap.
public struct BodyParts: Sendable, Hashable {
    /// The length of the whole representation.
    public var length: Int
    /// The bytes of each part, counted from the representation's first.
    public private(set) var ranges: [Range<Int>]

    /// How many parts an entry has at most.
    public static let limit = 256

    /// No part of a representation.
    public init(length: Int) {
        self.length = length
        ranges = []
    }

    /// Bytes of all parts together.
    public var size: Int { ranges.reduce(0) { $0 + $1.count } }

    /// Whether every byte of the representation is in a part.
    public var isWhole: Bool { size == length }

    /// The places in the body of a range's bytes, in the range's order; nil if not all of them are stored.
    public func places(of range: Range<Int>) -> [Range<Int>]? {
        var places: [Range<Int>] = [], position = range.lowerBound
        let sorted = zip(ranges, offsets).sorted { $0.0.lowerBound < $1.0.lowerBound }
        for (part, offset) in sorted where part.upperBound > position {
            guard position < range.upperBound else { break }
            guard part.lowerBound <= position else { return nil }
            let end = min(part.upperBound, range.upperBound)
            places.append(offset + position - part.lowerBound..<offset + end - part.lowerBound)
            position = end
        }
        return position == range.upperBound ? places : nil
    }

    /// What of a range is not stored, in its order.
    public func missing(in range: Range<Int>) -> [Range<Int>] {
        var missing: [Range<Int>] = [], position = range.lowerBound
        for part in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where part.upperBound > position && part.lowerBound < range.upperBound {
            if part.lowerBound > position { missing.append(position..<part.lowerBound) }
            position = part.upperBound
        }
        if position < range.upperBound { missing.append(position..<range.upperBound) }
        return missing
    }

    /// Adds a part behind the others; false, and nothing is added, if it is empty, overlaps one of them, goes beyond the representation, or
    /// is one too many.
    @discardableResult
    public mutating func append(_ range: Range<Int>) -> Bool {
        guard ranges.count < BodyParts.limit, !range.isEmpty, range.lowerBound >= 0, range.upperBound <= length, !ranges.contains(where: { $0.overlaps(range) }) else { return false }
        ranges.append(range)
        return true
    }

    private var offsets: [Int] {
        var offset = 0
        return ranges.map { range in
            defer { offset += range.count }
            return offset
        }
    }

    /// For each: u64 first byte, u64 count, little-endian. Nil if the parts are not of one representation.
    init?(_ bytes: Bytes, length: Int) {
        guard bytes.count % 16 == 0, bytes.count <= 16 * BodyParts.limit, length >= 0 else { return nil }
        self.init(length: length)
        for offset in stride(from: 0, to: bytes.count, by: 16) {
            guard let start = Int(exactly: bytes.load(offset, UInt64.self)), let count = Int(exactly: bytes.load(offset + 8, UInt64.self)),
                start <= length, count <= length - start, append(start..<start + count)
            else { return nil }
        }
    }

    func write(to writer: inout ByteWriter) {
        for range in ranges {
            writer.appendLittleEndian(UInt64(range.lowerBound))
            writer.appendLittleEndian(UInt64(range.count))
        }
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

/// How much a cache has in a store.
public struct CacheTotals: Sendable, Hashable {
    /// How many responses.
    public var entries: Int
    /// About what they take up in the store, their bodies included.
    public var bytes: Int

    /// Counts of a cache.
    public init(entries: Int = 0, bytes: Int = 0) {
        self.entries = entries
        self.bytes = bytes
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
