// The parser of plain URLs: one pass over the bytes.

extension HTTPURL {
    /// Parses a URL of the form that nearly all have: in lower case up to the path, without
    /// userinfo, percent-encodings and a fragment.
    ///
    /// - Returns: nil for all others, valid or not.
    init?(plain text: String) {
        var text = text
        let parsed: HTTPURL? = text.withUTF8 { bytes in
            guard let host = HTTPURL.startOfHost(bytes) else { return nil }
            var end = host
            while end < bytes.count, HTTPURL.isPlainInHost(bytes[end]) { end += 1 }
            guard end > host else { return nil }
            let hostEnd = end
            var port: Int?
            if end < bytes.count, bytes[end] == UInt8(ascii: ":") {
                var number = 0
                end += 1
                while end < bytes.count, (0x30...0x39).contains(bytes[end]), number <= 65535 {
                    number = number * 10 + Int(bytes[end] - 0x30)
                    end += 1
                }
                guard (1...65535).contains(number), bytes[hostEnd + 1] != 0x30 else { return nil }
                port = number
            }
            var mark = bytes.count
            guard end == bytes.count || bytes[end] == UInt8(ascii: "/") || bytes[end] == UInt8(ascii: "?") else {
                return nil
            }
            for index in end..<bytes.count {
                if bytes[index] == UInt8(ascii: "?"), mark == bytes.count { mark = index }
                guard HTTPURL.isPlainInTarget(bytes[index]) else { return nil }
            }
            func string(_ range: Range<Int>) -> String {
                String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)
            }
            return HTTPURL(
                scheme: bytes[4] == UInt8(ascii: "s") ? "https" : "http", host: string(host..<hostEnd), port: port,
                path: mark == end ? "/" : string(end..<mark),
                query: mark < bytes.count ? string(mark + 1..<bytes.count) : nil)
        }
        guard let parsed else { return nil }
        self = parsed
    }

    private init(scheme: String, host: String, port: Int?, path: String, query: String?) {
        self.scheme = scheme
        self.host = host
        writtenPort = port
        self.path = path
        self.query = query
    }

    /// Returns the offset behind `http://` or `https://`; nil for other texts.
    private static func startOfHost(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        if bytes.starts(with: "http://".utf8) { return 7 }
        return bytes.starts(with: "https://".utf8) ? 8 : nil
    }

    private static func isPlainInHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
            UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func isPlainInTarget(_ byte: UInt8) -> Bool {
        switch byte {
        case ...0x20, 0x7F..., UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"),
            UInt8(ascii: "%"), UInt8(ascii: "#"):
            false
        default: true
        }
    }
}
