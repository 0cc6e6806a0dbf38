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

    /// Returns the distinct names in `Vary`, in lower case. `*` is returned as it is.
    static func names(_ headers: TransportHeaders) -> [String] {
        var names: [String] = []
        for value in headers.fields where TransportHeaders.same(value.name, "Vary") {
            for part in value.value.utf8.split(separator: UInt8(ascii: ",")) {
                let name = String(decoding: part.trimmingWhitespace(), as: UTF8.self).lowercased()
                if !name.isEmpty, !names.contains(name) { names.append(name) }
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

    /// Returns the value of a field in normalized form for comparison; nil if the field is absent.
    ///
    /// Several lines become one, without white space around commas. In preference lists (RFC 9110
    /// §12.5), the order, the case, repetitions and the notation of weights are ignored.
    static func normalized(_ name: String, _ headers: TransportHeaders) -> String? {
        let values = headers.all(name)
        guard !values.isEmpty else { return nil }
        var members = values.flatMap { value in
            value.utf8.split(separator: UInt8(ascii: ",")).map {
                String(decoding: $0.trimmingWhitespace(), as: UTF8.self)
            }
        }.filter { !$0.isEmpty }
        if ["accept", "accept-encoding", "accept-language", "accept-charset"].contains(name) {
            members = Set(members.map { preference($0, name) }).sorted()
        }
        return members.joined(separator: ",")
    }

    /// Returns a member of a preference list with its weight in thousandths (RFC 9110 §12.4.2).
    ///
    /// `q=1` is omitted, and `q=0.50` equals `q=0.5`.
    private static func preference(_ member: String, _ name: String) -> String {
        var parts = member.lowercased().filter { $0 != " " && $0 != "\t" }.split(separator: ";").map(String.init)
        parts = parts.compactMap { part in
            guard part.hasPrefix("q="), let weight = weight(part.dropFirst(2)) else { return part }
            return weight == 1000 ? nil : "q=\(weight)"
        }
        // RFC 9110 §8.4.1: `x-gzip` and `x-compress` are aliases.
        if name == "accept-encoding", let coding = parts.first, coding == "x-gzip" || coding == "x-compress" {
            parts[0] = String(coding.dropFirst(2))
        }
        return parts.joined(separator: ";")
    }

    /// Returns a weight in thousandths: `0` or `1` with up to three decimals.
    ///
    /// Nil if it is malformed.
    private static func weight(_ text: Substring) -> Int? {
        let bytes = Array(text.utf8)
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
        Variance.names(stored.headers).sorted().map { "\($0)=\(Variance.normalized($0, stored.selecting) ?? "-")" }
            .joined(separator: "\n")
    }
}
