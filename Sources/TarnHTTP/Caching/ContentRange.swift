// The part of a representation that a 206 carries (RFC 9110 §14.4, §15.3.7). Pure.

/// A `Content-Range` with a known complete length, such as `bytes 0-9/100`.
public struct ContentRange: Sendable, Hashable, CustomStringConvertible {
    /// The bytes, counted from 0.
    public var range: Range<Int>
    /// The length of the whole representation.
    public var length: Int

    /// A part of a representation.
    public init(_ range: Range<Int>, of length: Int) {
        self.range = range
        self.length = length
    }

    /// Reads a field value; nil if it is no range of bytes, or the complete length is not known.
    public init?(_ text: String) {
        let parts = Array(text.utf8).split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 2, HTTPHeaders.same(String(decoding: parts[0], as: UTF8.self), "bytes"),
            let slash = parts[1].firstIndex(of: UInt8(ascii: "/")), let dash = parts[1][..<slash].firstIndex(of: UInt8(ascii: "-")),
            let first = DeltaSeconds.number(parts[1][..<dash]), let last = DeltaSeconds.number(parts[1][(dash + 1)..<slash]),
            let length = DeltaSeconds.number(parts[1][(slash + 1)...]), first <= last, last < length
        else { return nil }
        self.init(first..<last + 1, of: length)
    }

    /// The part that a response carries: of a 206 with one `Content-Range` and exactly its bytes. Nil for `multipart/byteranges`.
    public init?(_ response: HTTPResponse) {
        let values = response.headers.all("Content-Range")
        guard response.status == 206, values.count == 1, let part = ContentRange(values[0]), part.range.count == response.body.count else { return nil }
        self = part
    }

    public var description: String { "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)" }
}

extension CachedResponse {
    /// What two parts must have in common to be of the same bytes (RFC 9111 §3.4): a strong entity tag; without any tag a `Last-Modified` that is at
    /// least a second older than the response (RFC 9110 §8.8.2.2). Nil if there is none.
    public func strongValidator(at now: Int) -> String? {
        if let field = headers["ETag"] { return EntityTag(field).flatMap { $0.isWeak ? nil : $0.text } }
        guard let modified = headers["Last-Modified"].flatMap({ HTTPDate.seconds($0, now: now) }), date(now: now) > modified else { return nil }
        return "\(modified)"
    }
}
