// A received part of a representation, and its union with the stored parts (RFC 9111 §3.4).

import TarnHTTP
import TarnStore

/// A 206 with a strong validator.
struct ReceivedPart: Sendable {
    var message: CachedResponse
    var validator: String
    var content: ContentRange
    var body: [UInt8]
    var received: Timestamp
    /// The time at which validators are compared, in seconds since 1970.
    var seconds: Int

    /// The received part together with the stored parts of the same representation.
    struct Union {
        var message: CachedResponse
        var parts: BodyParts
        /// The entry of the stored parts, and the size of its body; nil if there are none.
        var old: (id: UInt64, size: Int)?
        /// The received bytes that were not stored yet.
        var added: [UInt8] = []

        /// The locations of the representation in the parts' bytes; nil if the parts have gaps.
        var wholePlaces: [Range<Int>]? { parts.isWhole ? parts.places(of: 0..<parts.length) : nil }
    }

    /// Whether one of the stored entries is a more recent response of another representation: the
    /// part of a slow transfer arrives late.
    func isOvertaken(_ keys: [RequestKey], _ access: StoreAccess) throws -> Bool {
        try keys.contains { key in
            guard let view = try access.responses.view(key.digest) else { return false }
            let stored = CachedResponse(view)
            return !stored.isInvalidated && stored.isLater(than: message, at: received.seconds)
                && stored.strongValidator(at: seconds) != validator
        }
    }

    /// Updates the stored whole response, if the part is of it; else removes it.
    ///
    /// - Returns: whether it was updated.
    func confirmWhole(_ key: RequestKey, _ rules: CacheRules, _ writer: inout StoreWriter) throws -> Bool {
        guard let whole = try writer.access.responses.view(key.digest), var entry = whole.entry else { return false }
        let stored = CachedResponse(whole)
        guard stored.status == 200, stored.strongValidator(at: seconds) == validator, whole.bodySize == content.length
        else {
            try writer.removeResponse(id: whole.id)
            return false
        }
        entry.update(
            rules.storedFields(of: stored.headers.confirmed(byNotModified: message.headers)), message, received)
        try writer.putResponse(entry)
        return true
    }

    /// Returns the union with the stored parts, if they are of the same representation.
    func union(_ key: RequestKey, _ rules: CacheRules, _ access: StoreAccess) throws -> Union {
        var union = Union(message: message, parts: BodyParts(length: content.length))
        if let view = try access.responses.view(key.digest), let known = view.parts, known.length == content.length {
            let stored = CachedResponse(view)
            // If filling the gaps would need too many parts, the parts begin anew.
            if stored.strongValidator(at: seconds) == validator,
                known.ranges.count + known.missing(in: content.range).count <= BodyParts.limit
            {
                union.message.headers = rules.storedFields(of: stored.headers.confirmed(byNotModified: message.headers))
                (union.parts, union.old) = (known, (view.id, known.size))
            }
        }
        let start = content.range.lowerBound
        for range in union.parts.missing(in: content.range) where union.parts.append(range) {
            union.added += body[(range.lowerBound - start)..<(range.upperBound - start)]
        }
        return union
    }

    /// Stores a union without gaps as a whole response.
    ///
    /// - Returns: false, without an effect, if the stored parts are unreadable.
    func putWhole(_ union: Union, _ places: [Range<Int>], _ key: RequestKey, _ writer: inout StoreWriter) throws -> Bool
    {
        let stored = try union.old.map { try writer.access.responses.body(of: $0.id, 0..<$0.size) } ?? []
        guard let stored else { return false }
        let all = stored + union.added
        var message = union.message
        (message.status, message.headers["Content-Length"]) = (200, String(content.length))
        let entry = ResponseEntry(message, key, received, bodySize: content.length)
        try writer.putResponse(entry, body: places.count == 1 ? all : places.flatMap { all[$0] })
        if let old = union.old { try writer.removeResponse(id: old.id) }
        return true
    }

    /// Stores a union with gaps as parts.
    func putParts(_ union: Union, _ key: RequestKey, _ writer: inout StoreWriter) throws {
        let entry = ResponseEntry(union.message, key, received, bodySize: union.parts.size, parts: union.parts)
        if let old = union.old {
            try writer.responses.append(entry, body: union.added, at: old.size)
        } else {
            try writer.putResponse(entry, body: union.added)
        }
    }
}
