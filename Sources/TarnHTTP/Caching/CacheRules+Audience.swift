// The requests that may share an answer: those of everybody, of one user, or of nobody (RFC 9111 §3.5, §7.3). Pure.

extension CacheRules {
    /// The requests that an answer may be given to, as far as their fields tell.
    public enum Audience: Sendable, Hashable {
        /// All requests with these values of the fields that name another target; usually there are none.
        case everyone(HTTPHeaders)
        /// The requests with these fields: one user's.
        case user(HTTPHeaders)
        /// No other request. The field is a credential that no rule covers, or changes what the method means.
        case nobody(field: String)
    }

    /// The audience of an answer to a request.
    ///
    /// In a private cache, every credential distinguishes users. In a shared one, `fields` do; a request with another credential passes by the
    /// cache, but for `Authorization`, about which the response decides (RFC 9111 §3.5).
    ///
    /// - Parameter fields: names of request fields each value of which is one user, compared without case.
    public func audience(of request: HTTPHeaders, scopedBy fields: [String] = []) -> Audience {
        var user = HTTPHeaders(), target = HTTPHeaders(), open: String?
        for field in request.fields {
            let name = field.name.lowercased()
            if CacheRules.methodFields.contains(name) { return .nobody(field: field.name) }
            if CacheRules.targetFields.contains(name) { target.fields.append(.init(name, field.value)) }
            if fields.contains(where: { HTTPHeaders.same($0, field.name) }) || !isShared && CacheRules.isCredential(name) {
                user.fields.append(.init(name, field.value))
            } else if isShared, CacheRules.isCredential(name), open == nil || name != "authorization" {
                open = field.name
            }
        }
        // §3.5 is about a cache for everybody: beside a user's own entries it covers nothing.
        if let open, open.lowercased() != "authorization" || !user.fields.isEmpty { return .nobody(field: open) }
        return user.fields.isEmpty ? .everyone(target) : .user(HTTPHeaders(user.fields + target.fields))
    }

    /// Whether a request field may hold a credential, by its name: those of common APIs, and all whose names sound like one. A field that is taken for a
    /// credential by mistake costs hits, and nothing else.
    ///
    /// A secret in the query needs no rule: the URL with it is what is asked for.
    public static func isCredential(_ name: String) -> Bool {
        let name = name.lowercased()
        guard !harmlessFields.contains(name) else { return false }
        if identityFields.contains(name) { return true }
        let joined = String(decoding: name.utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }, as: UTF8.self)
        return credentialWords.contains { joined.contains($0) } || name.split { $0 == "-" || $0 == "_" }.contains("key")
    }

    /// Parts of names: `PRIVATE-TOKEN`, `X-Auth-Token`, `X-Csrf-Token`, `X-Session-Id`, …
    private static let credentialWords = [
        "auth", "token", "apikey", "secret", "session", "password", "passwd", "credential", "jwt", "csrf", "xsrf", "cookie", "signature", "assertion",
        "clientcert", "subscriptionkey",
    ]
    /// Who asks, as a server in front declares it, and names that no word tells.
    private static let identityFields: Set<String> = [
        "remote-user", "x-remote-user", "x-forwarded-user", "x-forwarded-email", "x-forwarded-groups", "x-user", "x-user-id", "x-user-email",
        "x-forwarded-preferred-username", "dpop", "x-client-id", "x-ssl-client-s-dn", "x-ssl-client-verify",
    ]
    private static let harmlessFields: Set<String> = ["idempotency-key", "x-idempotency-key", "sec-websocket-key"]

    /// Fields by which some servers take another URL than the request's, or put a URL of the client's choice into what they answer: an answer to a
    /// request with one of them answers only requests with the same.
    static let targetFields: Set<String> = [
        "forwarded", "x-forwarded-host", "x-forwarded-server", "x-forwarded-proto", "x-forwarded-protocol", "x-forwarded-scheme", "x-forwarded-ssl",
        "x-forwarded-port", "x-forwarded-prefix", "x-forwarded-path", "x-forwarded-uri", "x-original-url", "x-original-host", "x-original-uri",
        "x-rewrite-url", "x-host", "x-http-host-override", "x-url-scheme", "x-scheme", "x-script-name", "front-end-https",
    ]
    /// Fields by which some servers take another method than the request's.
    static let methodFields: Set<String> = ["x-http-method-override", "x-http-method", "x-method-override"]
}
