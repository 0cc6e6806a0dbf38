// The lines of a head as text.

extension CurlTransfer {
    /// Returns the three-digit status of `HTTP/1.1 103 Early Hints` or `HTTP/2 103`; otherwise 0.
    static func status(_ line: Slice<UnsafeRawBufferPointer>) -> Int {
        let status = line.drop { $0 != UInt8(ascii: " ") }.trimmingWhitespace().prefix { $0 != UInt8(ascii: " ") }
        guard status.count == 3 else { return 0 }
        return HTTPSyntax.decimal(CurlTransfer.text(status)) ?? 0
    }

    /// Returns a field value as text: UTF-8 if it is valid, otherwise ISO-8859-1 (RFC 9110 §5.5).
    static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        let bytes = UnsafeRawBufferPointer(rebasing: bytes)
        // The fast path for ASCII, which nearly all values are: no validation is needed.
        if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
        return String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.map { UnicodeScalar($0) }))
    }

    static func droppingLineEnd(_ line: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
        var line = line[...]
        while line.last == UInt8(ascii: "\n") || line.last == UInt8(ascii: "\r") { line.removeLast() }
        return line
    }
}
