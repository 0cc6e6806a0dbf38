// URL normalization (RFC 3986 §6.2.2, RFC 9110 §4.2.3), for the keys of stored responses. Pure.

extension HTTPURL {
    /// The normalized URL: equivalent URLs become equal.
    ///
    /// Removed: the scheme's default port, dot segments, and the encoding of unreserved characters.
    /// Other percent-encodings get upper-case digits.
    package var normalized: HTTPURL {
        var url = self
        if port == (scheme == "https" ? 443 : 80) { url.writtenPort = nil }
        url.path = URLReference.removingDotSegments(HTTPURL.normalizedEscapes(path))
        if url.path.isEmpty { url.path = "/" }
        url.query = query.map(HTTPURL.normalizedEscapes)
        return url
    }

    /// Returns a text with normalized percent-encodings.
    private static func normalizedEscapes(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        var bytes: [UInt8] = [], rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            else {
                bytes.append(byte)
                continue
            }
            rest = rest.dropFirst(2)
            if PercentEncoding.isUnreserved(value) {
                bytes.append(value)
            } else {
                bytes +=
                    [UInt8(ascii: "%")] + Array((value < 16 ? "0" : "").utf8)
                    + Array(String(value, radix: 16, uppercase: true).utf8)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
