// Selection of stored responses by Vary (RFC 9111 §4.1). Pure.

/// The request fields that selected a stored response.
struct Variance {
    private let stored: CachedResponse

    init(_ stored: CachedResponse) { self.stored = stored }

    /// Returns the rule by which a request does not match the stored response, or nil.
    func mismatch(_ request: TransportHeaders) -> CacheRule? {
        for name in Variance.names(stored.headers) {
            if name == "*" { return .variesByEverything }
            guard Variance.normalized(name, request) == Variance.normalized(name, stored.selecting) else {
                return .varies
            }
        }
        return nil
    }

    /// The maximum number of names in `Vary` that are compared.
    static let nameLimit = 100

    /// Returns the distinct names in `Vary`, in lower case. `*` is returned as it is.
    ///
    /// More than ``nameLimit`` names count as `*`: no request selects the response then, except to
    /// validate it. Each stored response is compared name by name with each request.
    static func names(_ headers: TransportHeaders) -> [String] {
        var names: [String] = [], known: Set<String> = []
        for value in headers.fields where TransportHeaders.same(value.name, "Vary") {
            for part in value.value.utf8.split(separator: UInt8(ascii: ",")) {
                let name = String(decoding: part.trimmingWhitespace(), as: UTF8.self).lowercased()
                guard !name.isEmpty, known.insert(name).inserted else { continue }
                guard names.count < nameLimit else { return ["*"] }
                names.append(name)
            }
        }
        return names
    }

    /// Returns the request fields that `Vary` names.
    static func selecting(_ response: TransportHeaders, _ request: TransportHeaders) -> TransportHeaders {
        let names = names(response)
        return names.isEmpty
            ? TransportHeaders() : TransportHeaders(request.fields.filter { names.contains($0.name.lowercased()) })
    }

    /// The preference lists of RFC 9110 §12.5.
    private static let preferences = ["accept", "accept-encoding", "accept-language", "accept-charset"]

    /// Returns the value of a field in normalized form for comparison; nil if the field is absent.
    ///
    /// Several lines become one. In preference lists, white space, the order, the case, repetitions
    /// and the notation of weights are ignored. The meaning of other fields is unknown: they are
    /// compared byte by byte.
    static func normalized(_ name: String, _ headers: TransportHeaders) -> [UInt8]? {
        let values = headers.all(name)
        guard !values.isEmpty else { return nil }
        guard preferences.contains(name) else { return Array(values.joined(separator: ", ").utf8) }
        let members = values.flatMap { parts(Array($0.utf8), UInt8(ascii: ",")) }.map { preference($0, name) }
        return Array(
            Set(members).sorted { $0.lexicographicallyPrecedes($1) }.joined(separator: [UInt8(ascii: ",")]))
    }

    /// Splits a text at a separator outside quoted strings (RFC 9110 §5.6.4), without empty parts.
    private static func parts(_ text: [UInt8], _ separator: UInt8) -> [[UInt8]] {
        var parts: [[UInt8]] = [[]], isQuoted = false, isEscaped = false
        for byte in text {
            if byte == separator, !isQuoted {
                parts.append([])
                continue
            }
            parts[parts.count - 1].append(byte)
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = isQuoted
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            }
        }
        return parts.map { Array($0[...].trimmingWhitespace()) }.filter { !$0.isEmpty }
    }

    /// Returns a member of a preference list with its weight in thousandths (RFC 9110 §12.4.2).
    ///
    /// `q=1` is omitted, and `q=0.50` equals `q=0.5`. The values of other parameters may be
    /// case-sensitive.
    private static func preference(_ member: [UInt8], _ name: String) -> [UInt8] {
        var parts = parts(member, UInt8(ascii: ";"))
        guard !parts.isEmpty else { return member }
        parts[0] = lowercased(parts[0])
        // RFC 9110 §8.4.1: `x-gzip` and `x-compress` are aliases.
        let aliases = [Array("x-gzip".utf8), Array("x-compress".utf8)]
        if name == "accept-encoding", aliases.contains(parts[0]) { parts[0].removeFirst(2) }
        let parameters = parts.dropFirst().compactMap { part -> [UInt8]? in
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            let name = lowercased(Array(part[..<equals])), value = part[equals...]
            guard name == [UInt8(ascii: "q")], let weight = weight(value.dropFirst()) else { return name + value }
            return weight == 1000 ? nil : Array("q=\(weight)".utf8)
        }
        return Array(([parts[0]] + parameters).joined(separator: [UInt8(ascii: ";")]))
    }

    /// Returns a text with ASCII letters in lower case.
    private static func lowercased(_ text: [UInt8]) -> [UInt8] {
        text.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    }

    /// Returns a weight in thousandths: `0` or `1` with up to three decimals.
    ///
    /// Nil if it is malformed.
    private static func weight(_ text: ArraySlice<UInt8>) -> Int? {
        let bytes = Array(text)
        guard (1...5).contains(bytes.count), bytes[0] == UInt8(ascii: "0") || bytes[0] == UInt8(ascii: "1"),
            bytes.count == 1 || bytes[1] == UInt8(ascii: ".")
        else { return nil }
        var decimals = Array(bytes.dropFirst(2))
        while decimals.count < 3 { decimals.append(UInt8(ascii: "0")) }
        guard let fraction = DeltaSeconds.parse(decimals) else { return nil }
        let weight = (bytes[0] == UInt8(ascii: "1") ? 1000 : 0) + fraction
        return weight <= 1000 ? weight : nil
    }
}

extension CacheRules {
    /// Returns the index of the stored response to use for a request (RFC 9111 §4, §4.1).
    ///
    /// Of several responses that match, the one with the latest date is used.
    ///
    /// - Returns: nil if none matches.
    package func select(_ stored: [CachedResponse], for request: TransportRequest, at now: Int) -> Int? {
        stored.indices.filter { selects(stored[$0], for: request) }.max { a, b in
            let (x, y) = (stored[a].date(now: now), stored[b].date(now: now))
            return x == y ? stored[a].responseTime < stored[b].responseTime : x < y
        }
    }

    /// Returns whether a request may select a stored response (RFC 9111 §4, §4.1).
    package func selects(_ stored: CachedResponse, for request: TransportRequest) -> Bool {
        (stored.method == "GET" || stored.method == request.method)
            && Variance(stored).mismatch(request.headers) == nil
    }

    /// Returns the request fields to store with a response (RFC 9111 §4.1).
    package static func selectingFields(of request: TransportHeaders, by response: TransportHeaders) -> TransportHeaders
    {
        Variance.selecting(response, request)
    }
}

extension CacheRules {
    /// Returns a text that distinguishes the responses to the same request (RFC 9111 §4.1).
    ///
    /// It has the normalized fields that `Vary` names, and is empty if `Vary` names none.
    package static func variant(of stored: CachedResponse) -> String {
        Variance.names(stored.headers).sorted().map { name in
            let value = Variance.normalized(name, stored.selecting).map { String(decoding: $0, as: UTF8.self) }
            return "\(name)=\(value ?? "-")"
        }.joined(separator: "\n")
    }
}
