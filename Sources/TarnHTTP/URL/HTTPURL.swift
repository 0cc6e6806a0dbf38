// Absolute http and https URLs, parsed strictly, and their origins. Pure.

/// An absolute `http` or `https` URL without userinfo; a fragment is dropped.
package struct HTTPURL: Sendable, Hashable, CustomStringConvertible {
    /// `http` or `https`, in lower case.
    package var scheme: String
    /// The host in lower case; an IPv6 address has its brackets.
    package var host: String
    /// The port as written, or nil; see `port`.
    var writtenPort: Int?
    /// The path, which starts with `/`.
    package var path: String
    /// The query without its `?`; nil if there is none.
    package var query: String?

    /// Parses a URL.
    ///
    /// - Throws: `HTTPURLError` for another scheme, for a missing host, for userinfo (RFC 9110
    ///   §4.2.4: it hides the destination of a request), for bytes that must be percent-encoded,
    ///   and for an incomplete percent-encoding.
    package init(_ text: String) throws(HTTPURLError) {
        self = if let plain = HTTPURL(plain: text) { plain } else { try HTTPURL(parsing: text) }
    }

    /// Parses a URL of any form, valid or not.
    init(parsing text: String) throws(HTTPURLError) {
        let reference = URLReference(text)
        guard let scheme = reference.scheme?.lowercased(), scheme == "http" || scheme == "https",
            let authority = reference.authority
        else { throw HTTPURLError(text, "expected an absolute URL with http:// or https://") }
        guard !authority.utf8.contains(UInt8(ascii: "@")) else {
            throw HTTPURLError(text, "a URL must not contain a user or password")
        }
        let (host, port) = try HTTPURL.hostAndPort(authority, in: text)
        for part in [reference.path, reference.query ?? ""] {
            if let problem = HTTPURL.problem(ofPathOrQuery: part) { throw HTTPURLError(text, problem) }
        }
        self.scheme = scheme
        self.host = host
        writtenPort = port
        path = reference.path.isEmpty ? "/" : reference.path
        query = reference.query
    }

    /// The port of connections: the written one, or the scheme's default (RFC 9110 §4.2.1, §4.2.2).
    package var port: Int { writtenPort ?? (scheme == "https" ? 443 : 80) }

    /// The path and the query: the request target (RFC 9112 §3.2.1).
    package var target: String { query.map { path + "?" + $0 } ?? path }

    /// Returns the URL without a query parameter.
    package func removing(parameter name: String) -> HTTPURL {
        guard let query else { return self }
        let rest = query.split(separator: "&", omittingEmptySubsequences: false).filter {
            QueryParameters.name(of: $0) != name
        }
        var url = self
        url.query = rest.isEmpty ? nil : rest.joined(separator: "&")
        return url
    }

    /// The scheme, the host, and the port if it is not the default one.
    package var origin: String {
        let isDefault = port == (scheme == "https" ? 443 : 80)
        return scheme + "://" + host + (isDefault ? "" : ":\(port)")
    }

    /// Returns whether scheme, host and port are equal (RFC 6454 §5).
    package func hasSameOrigin(as other: HTTPURL) -> Bool {
        scheme == other.scheme && host == other.host && port == other.port
    }

    /// Returns whether the last segments of the paths are equal, in whatever encoding.
    ///
    /// A slash at the end does not count.
    package func hasSameName(as other: HTTPURL) -> Bool { name == other.name }

    private var name: String? { path.split(separator: "/").last.map { PercentEncoding.decode($0) } }

    package var description: String {
        scheme + "://" + host + (writtenPort.map { ":\($0)" } ?? "") + target
    }

    /// Resolves a reference, such as the target of a link, against this URL (RFC 3986 §5.2).
    ///
    /// - Throws: `HTTPURLError` if the result is not an `http` or `https` URL.
    package func resolving(_ reference: String) throws(HTTPURLError) -> HTTPURL {
        try HTTPURL(URLReference(reference).resolved(against: URLReference(description)).description)
    }

    /// Returns a link of a server, moved onto the base at which the server is reached.
    ///
    /// `origins` are base URLs. The link is below one of them if scheme, host and port are equal
    /// and the base's path is a prefix of the link's on a segment boundary. The remaining path and
    /// the link's query are then appended to `base`. A recorded
    /// `https://api.forge.example/issues?page=2` is followed at
    /// `http://127.0.0.1:4040/issues?page=2`.
    ///
    /// - Returns: nil if the link is below none of `origins`, or if `link` or `base` is not a valid
    ///   URL.
    package static func rebase(link: String, from origins: [String], onto base: String) -> String? {
        guard let link = try? HTTPURL(link), var result = try? HTTPURL(base) else { return nil }
        let path = URLReference.removingDotSegments(link.path)
        for text in origins {
            guard let origin = try? HTTPURL(text), origin.hasSameOrigin(as: link) else { continue }
            let prefix = origin.path.droppingTrailingSlash
            guard path == prefix || path.hasPrefix(prefix + "/") else { continue }
            result.path = result.path.droppingTrailingSlash + path.dropFirst(prefix.count)
            if result.path.isEmpty { result.path = "/" }
            result.query = link.query
            return result.description
        }
        return nil
    }

    /// Parses an authority without userinfo.
    private static func hostAndPort(_ authority: String, in text: String) throws(HTTPURLError) -> (String, Int?) {
        var host = authority
        var portText: String?
        let closing = authority.lastIndex(of: "]")
        if let colon = authority.lastIndex(of: ":"), closing.map({ $0 < colon }) ?? true {
            host = String(authority[..<colon])
            portText = String(authority[authority.index(after: colon)...])
        }
        var port: Int?
        // RFC 3986 §3.2.3: the port may be empty.
        if let portText, !portText.isEmpty {
            guard let number = HTTPSyntax.decimal(portText), (1...65535).contains(number) else {
                throw HTTPURLError(text, "the port is not a number from 1 to 65535")
            }
            port = number
        }
        let isAddress = host.hasPrefix("[") && host.hasSuffix("]") && host.utf8.count > 2
        let isValid =
            isAddress
            ? host.utf8.dropFirst().dropLast().allSatisfy { byte in
                Character(UnicodeScalar(byte)).isHexDigit || byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".")
            }
            : !host.isEmpty
                && host.utf8.allSatisfy { PercentEncoding.isUnreserved($0) && $0 != UInt8(ascii: "~") }
        guard isValid else {
            throw HTTPURLError(
                text, host.isEmpty ? "the host is missing" : "the host is not a name or an address in ASCII")
        }
        return (host.lowercased(), port)
    }

    /// Returns the reason why a path or query is not valid, or nil.
    ///
    /// Brackets, braces and bars are accepted although RFC 3986 requires their encoding:
    /// `page[number]=2` is common.
    private static func problem(ofPathOrQuery text: String) -> String? {
        var bytes = Array(text.utf8)[...]
        while let byte = bytes.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard bytes.count >= 2, bytes.prefix(2).allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }) else {
                    return "a percent sign must be followed by two hexadecimal digits"
                }
            case ...0x20, 0x7F...: return "spaces, control characters and non-ASCII must be percent-encoded"
            case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"):
                return "quotes, angle brackets and backslashes must be percent-encoded"
            default: break
            }
        }
        return nil
    }
}

extension String {
    fileprivate var droppingTrailingSlash: String { hasSuffix("/") ? String(dropLast()) : self }
}
