// The audience of a response: all requests, those of one user, or none other (RFC 9111 §3.5, §7.3).
// Pure.

extension CacheRules {
    /// The requests for which a response may be reused, as far as their fields tell.
    package enum Audience: Sendable, Hashable {
        /// All requests with these values of `CacheRules.targetFields`; usually there are none.
        case everyone(TransportHeaders)
        /// The requests with these fields: one user's.
        case user(TransportHeaders)
        /// No other request. The field is a credential without a rule, changes the method, or has
        /// an unreadable value.
        case nobody(field: String)
    }

    /// Returns the audience of the response to a request.
    ///
    /// In a private cache, every credential distinguishes users. In a shared cache, only `fields`
    /// do, and a request with another credential bypasses the cache. `Authorization` is an
    /// exception: the response decides (RFC 9111 §3.5).
    ///
    /// - Parameter fields: names of request fields whose values distinguish users, compared without
    ///   case.
    package func audience(of request: TransportHeaders, scopedBy fields: [String] = []) -> Audience {
        var user = TransportHeaders(), target = TransportHeaders(), open: String?
        for field in request.fields {
            let name = field.name.lowercased()
            if CacheRules.methodFields.contains(name) || CacheRules.isUnreadable(field.value) {
                return .nobody(field: field.name)
            }
            if CacheRules.targetFields.contains(name) { target.fields.append(.init(name, field.value)) }
            if fields.contains(where: { TransportHeaders.same($0, field.name) })
                || !isShared && CacheRules.distinguishesUsers(name)
            {
                user.fields.append(.init(name, field.value))
            } else if isShared, CacheRules.distinguishesUsers(name), open == nil || name != "authorization" {
                open = field.name
            }
        }
        // §3.5 applies to a cache for all users: it permits nothing beside a user's own entries.
        if let open, open.lowercased() != "authorization" || !user.fields.isEmpty { return .nobody(field: open) }
        return user.fields.isEmpty ? .everyone(target) : .user(TransportHeaders(user.fields + target.fields))
    }

    /// Returns whether a value has a replacement character: it stands for bytes that are not UTF-8,
    /// and different ones look the same.
    private static func isUnreadable(_ value: String) -> Bool {
        value.utf8.contains(0xEF) && value.unicodeScalars.contains("\u{FFFD}")
    }

    /// Returns whether a request field may hold a credential, by its name.
    ///
    /// The names of common APIs and all names with typical words are recognized. A false positive
    /// costs cache hits, and each other value begins the lists of mirrors anew. A secret in the
    /// query needs no rule: it is part of the URL, which identifies the response.
    package static func isCredential(_ name: String) -> Bool {
        let name = name.lowercased()
        guard !harmlessFields.contains(name) else { return false }
        return isCredential(lowercased: name)
    }

    private static func isCredential(lowercased name: String) -> Bool {
        identityFields.contains(name) || contains(credentialWords, in: name)
            || name.split { $0 == "-" || $0 == "_" }.contains("key")
    }

    /// Returns whether the values of a request field may distinguish users: it may hold a
    /// credential, or a server in front may name the user in it.
    ///
    /// - Parameter name: the name in lower case.
    private static func distinguishesUsers(_ name: String) -> Bool {
        guard !harmlessFields.contains(name) else { return false }
        return isCredential(lowercased: name) || contains(userParts, in: name) || hasUserWord(name)
    }

    private static func hasUserWord(_ name: String) -> Bool {
        let words = name.split { $0 == "-" || $0 == "_" }
        return words.indices.contains { index in
            guard userWords.contains(words[index]) else { return false }
            // `X-Original-User-Agent` and the like name a program.
            return words[index] != "user" || !(words.indices.contains(index + 1) && words[index + 1] == "agent")
        }
    }

    /// Returns whether a name contains one of the parts, without its hyphens and underscores.
    private static func contains(_ parts: [String.UTF8View], in name: String) -> Bool {
        let joined = name.utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }
        return parts.contains { contains($0, in: joined) }
    }

    /// Foundation's search converts the text to UTF-16 first.
    private static func contains(_ word: String.UTF8View, in text: [UInt8]) -> Bool {
        guard let first = word.first, text.count >= word.count else { return false }
        return (0...text.count - word.count).contains { text[$0] == first && text[$0...].starts(with: word) }
    }

    /// Typical words in names of credentials.
    ///
    /// Examples: `PRIVATE-TOKEN`, `X-Auth-Token`, `X-Csrf-Token`, `X-Session-Id`.
    private static let credentialWords: [String.UTF8View] = [
        "auth", "token", "apikey", "secret", "session", "password", "passwd", "credential", "jwt", "csrf", "xsrf",
        "cookie", "signature", "assertion",
        "clientcert", "subscriptionkey",
    ].map(\.utf8)
    /// Typical parts of the names of fields that name a user.
    ///
    /// Examples: `X-Ms-Client-Principal`, `X-Amzn-Oidc-Data`, `X-Forwarded-Email`, `X-Userinfo`.
    private static let userParts: [String.UTF8View] = [
        "bearer", "oidc", "saml", "principal", "identity", "impersonat", "onbehalfof", "email", "login", "userid",
        "userinfo", "username",
    ].map(\.utf8)
    /// Typical words of such names that other words contain as well.
    ///
    /// Examples: `Remote-User`, `X-Pat`, `X-Consumer-Id`, `X-Ssl-Client-S-Dn`.
    private static let userWords: Set<Substring> = [
        "pat", "user", "users", "uid", "upn", "eppn", "dn", "account", "consumer", "customer", "member", "person",
        "subject", "sudo", "claim", "claims", "group", "groups", "role", "roles", "tenant",
    ]
    /// Fields in which a reverse proxy declares the user, and credentials without a typical word.
    private static let identityFields: Set<String> = [
        "remote-user", "x-remote-user", "x-forwarded-user", "x-forwarded-email", "x-forwarded-groups", "x-user",
        "x-user-id", "x-user-email", "remote-name",
        "x-forwarded-preferred-username", "dpop", "x-client-id", "x-ssl-client-s-dn", "x-ssl-client-verify",
    ]
    /// Fields that hold no credential: those of most requests, so that these are not searched, and
    /// those with a typical word in their names.
    private static let harmlessFields: Set<String> = [
        "accept", "accept-encoding", "accept-language", "cache-control", "connection", "content-type", "host",
        "if-modified-since", "if-none-match", "origin", "pragma", "range", "referer", "te", "upgrade-insecure-requests",
        "user-agent", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "x-request-id",
        "idempotency-key", "x-idempotency-key", "sec-fetch-user", "sec-websocket-key",
    ]

    /// Request fields that can change the target URL, or URLs in the response, on some servers.
    ///
    /// The response to a request with such a field is reused only for requests with the same
    /// values. A `Host` is one if it names another server than the URL.
    static let targetFields: Set<String> = [
        "host", "forwarded", "x-forwarded-host", "x-forwarded-server", "x-forwarded-proto", "x-forwarded-protocol",
        "x-forwarded-scheme", "x-forwarded-ssl",
        "x-forwarded-port", "x-forwarded-prefix", "x-forwarded-path", "x-forwarded-uri", "x-original-url",
        "x-original-host", "x-original-uri",
        "x-rewrite-url", "x-host", "x-http-host-override", "x-url-scheme", "x-scheme", "x-script-name",
        "front-end-https",
    ]
    /// Request fields that change the method on some servers.
    static let methodFields: Set<String> = ["x-http-method-override", "x-http-method", "x-method-override"]
}
