/// The query parameters of a URL's text. Other parts keep their place and their bytes.
package enum QueryParameters {
    /// Appends parameters, percent-encoded, to a URL or a path.
    package static func append(_ parameters: [(name: String, value: String)], to url: String) -> String {
        guard !parameters.isEmpty else { return url }
        var reference = URLReference(url)
        let added = parameters.map { PercentEncoding.encode($0.name) + "=" + PercentEncoding.encode($0.value) }
        let before = reference.query.flatMap { $0.isEmpty ? nil : [$0] } ?? []
        reference.query = (before + added).joined(separator: "&")
        return reference.description
    }

    /// Sets the value of a parameter: in place of its first occurrence, or at the end.
    ///
    /// Further occurrences are removed.
    package static func set(_ name: String, to value: String, in url: String) -> String {
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

    /// Returns the decoded parameters of a URL's query in order.
    ///
    /// One without `=` has an empty value.
    package static func values(in url: String) -> [(name: String, value: String)] {
        guard url.utf8.contains(UInt8(ascii: "?")) else { return [] }
        return (URLReference(url).query?.split(separator: "&") ?? []).map { part in
            let value = part.drop { $0 != "=" }.dropFirst()
            return (name(of: part), PercentEncoding.decode(String(value.map { $0 == "+" ? " " : $0 })))
        }
    }

    /// Returns the decoded name of one `name=value` part.
    static func name(of part: some StringProtocol) -> String {
        let bytes = part.prefix { $0 != "=" }
        return PercentEncoding.decode(String(bytes.map { $0 == "+" ? " " : $0 }))
    }
}
