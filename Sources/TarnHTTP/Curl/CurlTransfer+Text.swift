// The lines of a head, and of libcurl's messages, as text.

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

    /// Returns the proxy that libcurl names in a message about a failed connection; nil if it names
    /// the host of the URL.
    func proxy(_ said: String) -> String? {
        let words = said.split(separator: " ")
        // "Failed to connect to HOST port PORT after …" or, since 8.2, "… port PORT via PROXY …".
        guard said.hasPrefix("Failed to connect to "), words.count > 6, words[5] == "port" else {
            return nil
        }
        if let via = words.firstIndex(of: "via"), via + 1 < words.count { return String(words[via + 1]) }
        let host = words[4], port = words[6].prefix { $0.isNumber }, url = submission.url
        let isHost = [url.host, String(url.host.drop { $0 == "[" }.prefix { $0 != "]" })].contains(String(host))
        return isHost && port == "\(url.port)" ? nil : "\(host):\(port)"
    }
}
