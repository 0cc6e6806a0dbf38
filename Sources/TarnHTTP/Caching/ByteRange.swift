// Ranges of bytes of a stored body (RFC 9110 §14). Pure.

/// One range of a `Range` field.
public struct ByteRange: Sendable, Hashable {
    /// What a `Range` field means for a stored, complete response.
    public enum Selection: Sendable, Hashable {
        /// The field is ignored: another unit, bad syntax, another representation than `If-Range` names.
        case whole
        case part(Range<Int>)
        /// No byte lies in the range: 416.
        case unsatisfiable
        /// Several ranges: the server may do it (§14.2 leaves it to who answers).
        case several
    }

    /// - Parameters:
    ///   - request: the fields `Range` and `If-Range`.
    ///   - stored: the response that the range would be of.
    ///   - length: bytes of the whole representation.
    public static func select(_ request: HTTPHeaders, of stored: CachedResponse, length: Int, at now: Int) -> Selection {
        guard let text = request["Range"], stored.status == 200 || stored.status == 206, condition(request, holdsFor: stored, at: now) else { return .whole }
        guard text.lowercased().hasPrefix("bytes=") else { return .whole }
        let parts = text.utf8.dropFirst(6).split(separator: UInt8(ascii: ","), omittingEmptySubsequences: true).map { $0.trimmingWhitespace() }
            .filter { !$0.isEmpty }
        guard let first = parts.first else { return .whole }
        guard let dash = first.firstIndex(of: UInt8(ascii: "-")) else { return .whole }
        let low = first[..<dash], high = first[first.index(after: dash)...]
        guard parts.count == 1 else { return .several }
        if low.isEmpty {
            // The last bytes.
            guard let count = DeltaSeconds.number(high) else { return .whole }
            return count == 0 || length == 0 ? .unsatisfiable : .part(max(0, length - count)..<length)
        }
        guard let start = DeltaSeconds.number(low) else { return .whole }
        guard !high.isEmpty else { return start < length ? .part(start..<length) : .unsatisfiable }
        guard let end = DeltaSeconds.number(high), end >= start else { return .whole }
        return start < length ? .part(start..<min(end, length - 1) + 1) : .unsatisfiable
    }

    /// `If-Range` (RFC 9110 §13.1.5): a strong validator that is the stored one's.
    private static func condition(_ request: HTTPHeaders, holdsFor stored: CachedResponse, at now: Int) -> Bool {
        guard let value = request["If-Range"] else { return true }
        if let tag = EntityTag(value) {
            return !tag.isWeak && stored.headers["ETag"].flatMap(EntityTag.init) == tag
        }
        // A tag that cannot be read is no date.
        guard !value.utf8.contains(UInt8(ascii: "\"")) else { return false }
        // A date is strong only if the response was made a second later at least (RFC 9110 §8.8.2.2).
        guard let date = HTTPDate.seconds(value, now: now), let modified = stored.headers["Last-Modified"].flatMap({ HTTPDate.seconds($0, now: now) })
        else { return false }
        return date == modified && stored.date(now: now) > modified
    }
}

extension DeltaSeconds {
    /// A non-negative number that fits.
    static func number(_ text: some Collection<UInt8>) -> Int? {
        guard !text.isEmpty, text.count < 19, text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return text.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}
