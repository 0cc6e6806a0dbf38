// Byte ranges of a stored body (RFC 9110 §14). Pure.

/// The evaluation of `Range` fields.
package struct ByteRange: Sendable, Hashable {
    /// The meaning of a `Range` field for a stored, complete response.
    package enum Selection: Sendable, Hashable {
        /// The field is ignored: another unit, invalid syntax, or an `If-Range` without a match.
        case whole
        /// One range of bytes.
        case part(Range<Int>)
        /// The range contains no byte of the body: 416.
        case unsatisfiable
        /// Several ranges, which the server may answer (§14.2 permits ignoring them).
        case several
    }

    /// Selects the part of a stored response that a request asks for.
    ///
    /// - Parameters:
    ///   - request: the header fields of the request, with `Range` and `If-Range`.
    ///   - stored: the stored response.
    ///   - length: the length of the complete representation in bytes.
    ///   - now: the current time in seconds since 1970.
    package static func select(_ request: TransportHeaders, of stored: CachedResponse, length: Int, at now: Int)
        -> Selection
    {
        guard let text = request["Range"], stored.status == 200 || stored.status == 206,
            condition(request, holdsFor: stored, at: now)
        else { return .whole }
        guard text.lowercased().hasPrefix("bytes=") else { return .whole }
        let parts = text.utf8.dropFirst(6).split(separator: UInt8(ascii: ","), omittingEmptySubsequences: true).map {
            $0.trimmingWhitespace()
        }
        .filter { !$0.isEmpty }
        guard let first = parts.first else { return .whole }
        guard let dash = first.firstIndex(of: UInt8(ascii: "-")) else { return .whole }
        let low = first[..<dash], high = first[first.index(after: dash)...]
        guard parts.count == 1 else { return .several }
        if low.isEmpty {
            // A suffix range: the last bytes.
            guard let count = DeltaSeconds.number(high) else { return .whole }
            return count == 0 || length == 0 ? .unsatisfiable : .part(max(0, length - count)..<length)
        }
        guard let start = DeltaSeconds.number(low) else { return .whole }
        guard !high.isEmpty else { return start < length ? .part(start..<length) : .unsatisfiable }
        guard let end = DeltaSeconds.number(high), end >= start else { return .whole }
        return start < length ? .part(start..<min(end, length - 1) + 1) : .unsatisfiable
    }

    /// Returns whether `If-Range` has the stored strong validator, or is absent (RFC 9110 §13.1.5).
    private static func condition(_ request: TransportHeaders, holdsFor stored: CachedResponse, at now: Int) -> Bool {
        guard let value = request["If-Range"] else { return true }
        if let tag = EntityTag(value) {
            return !tag.isWeak && stored.headers["ETag"].flatMap(EntityTag.init) == tag
        }
        // A malformed entity tag is not a date.
        guard !value.utf8.contains(UInt8(ascii: "\"")) else { return false }
        // RFC 9110 §8.8.2.2: a date is a strong validator only if the response is at least a second
        // newer.
        guard let date = HTTPDate.seconds(value, now: now),
            let modified = stored.headers["Last-Modified"].flatMap({ HTTPDate.seconds($0, now: now) })
        else { return false }
        return date == modified && stored.date(now: now) > modified
    }
}

extension DeltaSeconds {
    /// Parses a non-negative integer; nil if it is malformed or has more than 18 digits.
    static func number(_ text: some Collection<UInt8>) -> Int? {
        guard !text.isEmpty, text.count < 19, text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return text.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}
