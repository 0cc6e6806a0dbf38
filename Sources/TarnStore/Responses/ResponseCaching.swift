// The part of a response's entry that only caches have.

/// The part of an entry that a cache needs to answer by the rules of HTTP.
package struct ResponseCaching: Sendable, Hashable {
    /// The time when the request was sent that fetched or last confirmed the response.
    package var requestedAt: Timestamp
    /// The request fields that have selected the response, as a flat list: name, value, name, …
    package var selecting: [String]
    /// The approximate time of the last use.
    package var usedAt: Timestamp
    /// The size of the body in the table `bodies`, in bytes; nil if no body is stored.
    package var bodySize: Int?
    /// The parts of the representation in the body; nil for a whole representation.
    var parts: BodyParts?

    /// Creates the caching part of an entry.
    package init(
        requestedAt: Timestamp, selecting: [String] = [], usedAt: Timestamp, bodySize: Int? = nil,
        parts: BodyParts? = nil
    ) {
        self.parts = parts
        self.requestedAt = requestedAt
        self.selecting = selecting
        self.usedAt = usedAt
        self.bodySize = bodySize
    }
}

extension ResponseEntry {
    /// Whether the parts of a partial response can be decoded; true for a whole response.
    package var hasReadableParts: Bool {
        request.endpoint != "*part" || validation.status == 206 && caching?.parts != nil
    }

    /// The share of the entry in the size of a cache, in bytes; nil if it is not a cache's entry.
    ///
    /// It approximates the space in the store, including the body. Entries of scans belong to a
    /// mirror.
    package var cacheCost: Int? {
        guard let caching, listing.isCaches else { return nil }
        var cost = 400 + 2 * request.url.utf8.count + (listing.metadata?.utf8.count ?? 0) + (caching.bodySize ?? 0)
        for text in validation.headers { cost += text.utf8.count + 4 }
        for text in caching.selecting { cost += text.utf8.count + 4 }
        // A record is stored in the entry and in the table of members.
        for record in listing.listed { cost += 2 * record.storageKey.count + 30 }
        return cost
    }
}
