// Percent-encoding (RFC 3986 §2) and the parameters of a query. Pure; what is not touched keeps its bytes.

public enum PercentEncoding {
    /// Encodes every byte of the text's UTF-8 that is not unreserved (RFC 3986 §2.3): safe in a path segment and in the
    /// name or value of a query parameter.
    public static func encode(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var output: [UInt8] = []
        output.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isUnreserved(byte) {
                output.append(byte)
            } else {
                output += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Decodes percent-encoded bytes. A percent sign that encodes nothing stays; invalid UTF-8 becomes U+FFFD.
    public static func decode(_ text: some StringProtocol) -> String {
        var output: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2, let high = hexadecimal(rest[rest.startIndex]),
                let low = hexadecimal(rest[rest.startIndex + 1])
            {
                output.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                output.append(byte)
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// ALPHA / DIGIT / "-" / "." / "_" / "~" (RFC 3986 §2.3).
    static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// The query parameters of a URL's text. Everything that is not named keeps its place and its bytes.
public enum QueryParameters {
    /// Appends parameters, percent-encoded, to a URL or a path.
    public static func append(_ parameters: [(name: String, value: String)], to url: String) -> String {
        guard !parameters.isEmpty else { return url }
        var reference = URLReference(url)
        let added = parameters.map { PercentEncoding.encode($0.name) + "=" + PercentEncoding.encode($0.value) }
        let before = reference.query.flatMap { $0.isEmpty ? nil : [$0] } ?? []
        reference.query = (before + added).joined(separator: "&")
        return reference.description
    }

    /// Gives a parameter this value: in the place of its first occurrence (others of that name go), or at the end.
    public static func set(_ name: String, to value: String, in url: String) -> String {
        var reference = URLReference(url)
        let replacement = PercentEncoding.encode(name) + "=" + PercentEncoding.encode(value)
        var isPlaced = false
        var parts: [String] = []
        for part in reference.query?.split(separator: "&", omittingEmptySubsequences: false) ?? [] {
            guard self.name(of: part).utf8.elementsEqual(name.utf8) else {
                parts.append(String(part))
                continue
            }
            if !isPlaced { parts.append(replacement) }
            isPlaced = true
        }
        if parts == [""] { parts = [] }
        if !isPlaced { parts.append(replacement) }
        reference.query = parts.joined(separator: "&")
        return reference.description
    }

    /// The parameters of a URL's query, decoded, in their order. One without `=` has an empty value.
    public static func values(in url: String) -> [(name: String, value: String)] {
        (URLReference(url).query?.split(separator: "&") ?? []).map { part in
            let value = part.drop { $0 != "=" }.dropFirst()
            return (name(of: part), PercentEncoding.decode(String(value.map { $0 == "+" ? " " : $0 })))
        }
    }

    /// The decoded name of one `name=value` part.
    static func name(of part: some StringProtocol) -> String {
        let bytes = part.prefix { $0 != "=" }
        return PercentEncoding.decode(String(bytes.map { $0 == "+" ? " " : $0 }))
    }
}
