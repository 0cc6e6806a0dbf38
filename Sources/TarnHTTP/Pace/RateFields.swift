// The names of header fields about rate limits, beside those that most servers have. Pure.

/// The names of header fields about rate limits.
enum RateFields {
    /// A limit in two fields.
    struct Pair {
        /// The name of the limit: the field's name without the word for the rest.
        var name: String
        var remaining: String
        /// The end of the window; nil if no field has it.
        var end: End?

        enum End {
            /// A length in seconds or a moment, see ``RateLimit/reset(_:_:now:)``.
            case moment(String)
            /// The length of the window in milliseconds.
            case milliseconds(String)
        }
    }

    /// The maximum number of limits of a response.
    private static let mostPairs = 16

    /// Whether a field's name may be that of a limit: it contains `rate`.
    static func mayBeLimit(_ name: String) -> Bool {
        var name = name
        return name.withUTF8 { bytes in
            guard bytes.count >= 9 else { return false }
            for index in 0...(bytes.count - 4)
            where bytes[index] | 0x20 == 0x72 && bytes[index + 1] | 0x20 == 0x61 && bytes[index + 2] | 0x20 == 0x74
                && bytes[index + 3] | 0x20 == 0x65
            {
                return true
            }
            return false
        }
    }

    /// Whether a field has the limits of the IETF draft.
    static func isStructured(_ name: String) -> Bool {
        guard mayBeLimit(name) else { return false }
        let name = name.lowercased()
        return name == "ratelimit" || name.hasSuffix("-ratelimit")
    }

    /// Returns the limits whose rest has a field of its own.
    static func pairs(in headers: TransportHeaders) -> [Pair] {
        var pairs: [Pair] = []
        for field in headers.fields where mayBeLimit(field.name) {
            let name = field.name.lowercased()
            guard name.contains("ratelimit") || name.contains("rate-limit"), pairs.count < mostPairs,
                let word = name.firstRange(of: "remaining")
            else { continue }
            func sibling(_ other: String) -> String? { headers[name.replacing("remaining", with: other)] }
            let end: Pair.End? =
                if let text = ["reset", "reset-after", "resettime"].lazy.compactMap(sibling).first {
                    .moment(text)
                } else {
                    ["interval-ms", "interval-milliseconds"].lazy.compactMap(sibling).first.map { .milliseconds($0) }
                }
            pairs.append(
                Pair(
                    name: String(name[..<word.lowerBound] + name[word.upperBound...]), remaining: field.value, end: end)
            )
        }
        return pairs
    }

    /// The wait that a refusal states in another field than `Retry-After`, and its unit in seconds.
    static func statedWait(_ headers: TransportHeaders) -> (text: String, unit: Double)? {
        for field in headers.fields {
            let name = field.name.lowercased()
            guard name.contains("retry-after") || name.contains("retry-in") || name.hasSuffix("-retryafter") else {
                continue
            }
            let isShort = name.hasSuffix("ms") || name.hasSuffix("milliseconds") || name.hasSuffix("millis")
            return (field.value, isShort ? 0.001 : 1)
        }
        return nil
    }
}
