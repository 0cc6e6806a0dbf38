/// The identity of a stored response.
public struct RequestKey: Sendable, Hashable {
    /// The HTTP method.
    public var method: String
    /// The normalised URL, independent of the server that actually responds.
    public var url: String
    /// The endpoint's name and a digest of its mapping: a changed mapping is another request.
    public var endpoint: String
    /// The auth scope as a keyed hash; empty without credentials.
    package var authScope: String
    /// The variant among responses that request fields have selected; empty if there is only one.
    /// Responses with records have a keyed hash of the credentials in header fields.
    package var variant: String

    /// Creates a request key.
    package init(method: String = "GET", url: String, endpoint: String, authScope: String = "", variant: String = "") {
        self.method = method
        self.url = url
        self.endpoint = endpoint
        self.authScope = authScope
        self.variant = variant
    }

    /// Returns an endpoint as in the keys of requests: its name, and the digest of its mapping.
    package static func endpoint(_ name: String, mapping: String) -> String { "\(name) \(mapping)" }

    /// Returns the name of an endpoint, without the digest of its mapping.
    package static func name(ofEndpoint endpoint: String) -> Substring {
        endpoint[..<(endpoint.lastIndex(of: " ") ?? endpoint.endIndex)]
    }

    /// The digest by which a store finds the entry: ``RequestDigest``.
    package var digest: RequestDigest {
        var text = ByteWriter(capacity: 512)
        func append(_ part: String) {
            text.append(UInt8(ascii: "\n"))
            text.append(part)
        }
        text.append(method)
        append(url)
        append(endpoint)
        append(authScope)
        if !variant.isEmpty { append(variant) }
        return RequestDigest(of: text.bytes)
    }
}

extension RequestKey {
    /// The key in the table of URLs under which a response is found.
    func urlKey(_ id: UInt64, into writer: inout ByteWriter) {
        writer.removeAll()
        // A scope is a digest of fixed length or empty; 00 keeps one URL from being another's
        // prefix.
        writer.append(authScope)
        writer.append(Array(url.utf8.prefix(400)))
        writer.append(0)
        writer.appendBigEndian(id)
    }
}
