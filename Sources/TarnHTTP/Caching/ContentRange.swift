// The part of a representation in a 206 (RFC 9110 §14.4, §15.3.7). Pure.

/// A `Content-Range` with a known complete length, such as `bytes 0-9/100`.
package struct ContentRange: Sendable, Hashable, CustomStringConvertible {
    /// The bytes of the part, counted from 0.
    package var range: Range<Int>
    /// The length of the complete representation in bytes.
    package var length: Int

    /// Creates a range.
    package init(_ range: Range<Int>, of length: Int) {
        self.range = range
        self.length = length
    }

    /// Parses a field value; nil if it is no byte range, or if the complete length is unknown.
    package init?(_ text: String) {
        let parts = Array(text.utf8).split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 2, TransportHeaders.same(String(decoding: parts[0], as: UTF8.self), "bytes"),
            let slash = parts[1].firstIndex(of: UInt8(ascii: "/")),
            let dash = parts[1][..<slash].firstIndex(of: UInt8(ascii: "-")),
            let first = DeltaSeconds.number(parts[1][..<dash]),
            let last = DeltaSeconds.number(parts[1][(dash + 1)..<slash]),
            let length = DeltaSeconds.number(parts[1][(slash + 1)...]), first <= last, last < length
        else { return nil }
        self.init(first..<last + 1, of: length)
    }

    /// Creates the range of a 206 whose body has exactly the bytes of its only `Content-Range`.
    ///
    /// The result is nil for `multipart/byteranges`.
    package init?(_ response: TransportResponse) {
        let values = response.headers.all("Content-Range")
        guard response.status == 206, values.count == 1, let part = ContentRange(values[0]),
            part.range.count == response.body.count
        else { return nil }
        self = part
    }

    package var description: String { "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)" }
}

extension CachedResponse {
    /// Returns the strong validator that two parts must share to be combined (RFC 9111 §3.4).
    ///
    /// It is a strong entity tag. Without any entity tag, it is a `Last-Modified` at least a second
    /// older than the response (RFC 9110 §8.8.2.2). Nil if there is neither.
    package func strongValidator(at now: Int) -> String? {
        if let field = headers["ETag"] { return EntityTag(field).flatMap { $0.isWeak ? nil : $0.text } }
        guard let modified = headers["Last-Modified"].flatMap({ HTTPDate.seconds($0, now: now) }),
            date(now: now) > modified
        else { return nil }
        return "\(modified)"
    }
}
