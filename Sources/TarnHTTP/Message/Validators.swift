// Conditional requests: the validators of a response, and what a 304 changes (RFC 9110 §8.8, §13; RFC 9111 §3.2). Pure.

/// What a later request can be made conditional on.
public struct Validators: Sendable, Hashable, Codable {
    /// The entity tag as received, with its quotes and its weakness.
    public var etag: String?
    /// The date as received.
    public var lastModified: String?

    public init(etag: String? = nil, lastModified: String? = nil) {
        self.etag = etag
        self.lastModified = lastModified
    }

    /// The validators of a response. An ETag that is not a well-formed entity tag (RFC 9110 §8.8.3) is ignored: a server
    /// could not compare it; so is an empty Last-Modified.
    public init(_ headers: HTTPHeaders) {
        etag = headers["ETag"].flatMap(EntityTag.init)?.text
        lastModified = headers["Last-Modified"].flatMap { $0.isEmpty ? nil : $0 }
    }

    public var isEmpty: Bool { etag == nil && lastModified == nil }

    /// Makes the request conditional: If-None-Match; If-Modified-Since only without an entity tag, since it would be
    /// ignored beside it (RFC 9110 §13.1.3). Conditions that the request has already are replaced.
    public func apply(to request: inout HTTPRequest) {
        guard !isEmpty else { return }
        request.headers["If-None-Match"] = etag
        request.headers["If-Modified-Since"] = etag == nil ? lastModified : nil
    }
}

extension HTTPHeaders {
    /// The stored fields of a response, brought up to date by those of a 304 (RFC 9111 §3.2).
    ///
    /// A field of the 304 replaces the stored ones of its name; the rest stays. Not taken: fields of the connection
    /// (RFC 9110 §7.6.1, RFC 9111 §3.1) and those that describe the stored body (Content-Length, -Encoding, -Range,
    /// -Type): a 304 has no body, and what it says of one is often wrong.
    public func updated(byNotModified headers: HTTPHeaders) -> HTTPHeaders {
        let connectionOptions = headers.all("Connection").flatMap { value in
            value.split(separator: ",").map { String($0.filter { $0 != " " && $0 != "\t" }) }
        }
        let excluded = HTTPHeaders.notUpdated + connectionOptions
        var updates = headers.fields.filter { field in
            !excluded.contains { HTTPHeaders.same($0, field.name) }
        }
        var result: [Field] = []
        for field in fields {
            guard headers[field.name] != nil, !excluded.contains(where: { HTTPHeaders.same($0, field.name) }) else {
                result.append(field)
                continue
            }
            // All new fields of a name stand where its first old one stood.
            result += updates.filter { HTTPHeaders.same($0.name, field.name) }
            updates.removeAll { HTTPHeaders.same($0.name, field.name) }
        }
        return HTTPHeaders(result + updates)
    }

    /// The stored fields of a response that a 304 has confirmed: brought up to date, and without an `Age` and a `Date` that the 304 does not
    /// repeat. They were said of another moment; without a date a response was made when it came (RFC 9110 §6.6.1).
    public func confirmed(byNotModified headers: HTTPHeaders) -> HTTPHeaders {
        let silent = ["Age", "Date"].filter { headers[$0] == nil }
        return updated(byNotModified: headers).without(silent)
    }

    private static let notUpdated = [
        "Connection", "Proxy-Connection", "Keep-Alive", "TE", "Transfer-Encoding", "Upgrade", "Trailer",
        "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
        "Content-Length", "Content-Encoding", "Content-Range", "Content-Type",
    ]
}
