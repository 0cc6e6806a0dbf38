// Conditional requests: the validators of a response, and the update of a stored response by a 304
// (RFC 9110 §8.8, §13; RFC 9111 §3.2). Pure.

/// The validators of a response, for later conditional requests.
package struct Validators: Sendable, Hashable, Codable {
    /// The entity tag as received, with its quotes and its weakness.
    package var etag: String?
    /// The date as received.
    package var lastModified: String?

    /// Creates validators.
    package init(etag: String? = nil, lastModified: String? = nil) {
        self.etag = etag
        self.lastModified = lastModified
    }

    /// Creates the validators of a response.
    ///
    /// A malformed entity tag (RFC 9110 §8.8.3) is ignored, since a server could not compare it. An
    /// empty Last-Modified is ignored, too.
    package init(_ headers: TransportHeaders) {
        etag = headers["ETag"].flatMap { EntityTag.isWhole($0) ? $0 : EntityTag($0)?.text }
        lastModified = headers["Last-Modified"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The validators without a date that does not distinguish two states of the resource.
    ///
    /// RFC 9110 §8.8.2.2: if a response was made within a second of `Last-Modified`, the resource
    /// may have changed once more in that second.
    package func withoutWeakDate(of headers: TransportHeaders, now: Int) -> Validators {
        guard etag == nil, let modified = lastModified.flatMap({ HTTPDate.seconds($0, now: now) }),
            let date = headers["Date"].flatMap({ HTTPDate.seconds($0, now: now) }), date - modified < 1
        else { return self }
        return Validators()
    }

    /// Whether there is no validator.
    package var isEmpty: Bool { etag == nil && lastModified == nil }

    /// Makes a request conditional; replaces its preconditions.
    ///
    /// If-Modified-Since is sent only without an entity tag: a server ignores it beside
    /// If-None-Match (RFC 9110 §13.1.3).
    package func apply(to request: inout TransportRequest) {
        guard !isEmpty else { return }
        request.headers["If-None-Match"] = etag
        request.headers["If-Modified-Since"] = etag == nil ? lastModified : nil
    }
}

extension TransportHeaders {
    /// Returns the stored header fields of a response, updated by those of a 304 (RFC 9111 §3.2).
    ///
    /// A field of the 304 replaces the stored fields of its name; other fields are kept. Two groups
    /// of fields are not updated: those of the connection (RFC 9110 §7.6.1, RFC 9111 §3.1), and
    /// those of the stored body (Content-Length, Content-Encoding, Content-Range, Content-Type). A
    /// 304 has no body, and its fields about one are often wrong.
    package func updated(byNotModified headers: TransportHeaders) -> TransportHeaders {
        let connectionOptions = headers.connectionOptions
        let updates = headers.fields.filter {
            !TransportHeaders.isNotUpdated($0.name) && !connectionOptions.contains($0.name.lowercased())
        }
        let updatesByName = Dictionary(grouping: updates) { $0.name.lowercased() }
        var result: [Field] = [], placed: Set<String> = []
        result.reserveCapacity(fields.count + updates.count)
        for field in fields {
            let name = field.name.lowercased()
            guard let new = updatesByName[name] else {
                result.append(field)
                continue
            }
            // All new fields of a name take the place of the first old one.
            if placed.insert(name).inserted { result += new }
        }
        result += updates.filter { !placed.contains($0.name.lowercased()) }
        return TransportHeaders(result)
    }

    /// Returns the stored header fields of a response that a 304 has confirmed.
    ///
    /// The fields are updated. `Age` and `Date` are removed unless the 304 repeats them: they refer
    /// to an earlier moment. A response without a date was generated when it was received (RFC 9110
    /// §6.6.1).
    package func confirmed(byNotModified headers: TransportHeaders) -> TransportHeaders {
        var confirmed = updated(byNotModified: headers)
        for name in ["Age", "Date"] where headers.index(of: name) == nil { confirmed[name] = nil }
        return confirmed
    }

    /// The header fields that a 304 does not update.
    private static let notUpdated = [
        "Connection", "Proxy-Connection", "Keep-Alive", "TE", "Transfer-Encoding", "Upgrade", "Trailer",
        "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
        "Content-Length", "Content-Encoding", "Content-Range", "Content-Type",
    ]

    /// Returns whether a 304 does not update a field.
    private static func isNotUpdated(_ name: String) -> Bool {
        // Most names have an initial that none of them has.
        switch name.utf8.first.map({ $0 | 0x20 }) {
        case UInt8(ascii: "c"), UInt8(ascii: "k"), UInt8(ascii: "p"), UInt8(ascii: "t"), UInt8(ascii: "u"):
            notUpdated.contains { same($0, name) }
        default: false
        }
    }
}
