// Sessions: an API that hands out a token to a request with a password.

/// The login to a session, and the places of its tokens.
public struct SessionLogin: Sendable, Hashable {
    /// The body of the login.
    public enum Body: Sendable, Hashable {
        /// `application/json`.
        case json(SecretValue)
        /// `application/x-www-form-urlencoded`.
        case form([String: SecretValue])
    }

    /// The place of a token in the response to the login.
    public enum TokenSource: Sendable, Hashable {
        /// A member of the body, such as `data.token`; `$` for a body that is the token.
        case body(path: String)
        /// A header field.
        case header(String)
        /// A cookie.
        case cookie(String)
    }

    /// A token of the session.
    public struct Token: Sendable, Hashable {
        /// The place in the response to the login.
        var source: TokenSource
        /// The place in requests.
        package var place: Authentication.APIKeyPlace

        /// Creates a token.
        ///
        /// - Parameter place: the place in requests. Default: `Authorization: Bearer …` for a
        ///   member of the body, otherwise the field or the cookie of the same name.
        public init(_ source: TokenSource, place: Authentication.APIKeyPlace? = nil) {
            self.source = source
            self.place =
                place
                ?? {
                    switch source {
                    case .body: .bearer
                    case .header(let name): .header(name)
                    case .cookie(let name): .cookie(name)
                    }
                }()
        }
    }

    /// The end of a session that is not needed any more.
    public enum Logout: Sendable, Hashable {
        /// A request to a URL, or to a path below the base URL.
        case request(method: String, url: String)
        /// A request to the URL that a header field of the login's response names.
        case location(method: String, header: String)
    }

    /// The path of the login below the base URL, or its absolute URL.
    package var url: String
    /// The method of the login.
    var method: String
    /// The header fields of the login.
    var headers: [TransportHeaders.Field]
    /// The body of the login.
    var body: Body?
    /// The authentication of the login itself.
    var authentication: Authentication
    /// The tokens of the session.
    package var tokens: [Token]
    /// The member of the body with the end of the session: seconds, or a date.
    var expires: String?
    /// The lifetime of a session; nil if the server declares it, or ends it with a 401.
    var lifetime: Duration?
    /// The end of a session that is not needed any more.
    var logout: Logout?
    /// The time before its end at which a session is no longer used, at most half of its lifetime.
    static let leeway = 30.0
    /// The time for which a session is used at least: a server that declares less would get a login
    /// with each request.
    static let shortestUse = 10.0
    /// The maximum size of a response to a login, in bytes.
    static let responseLimit = 64 << 10

    /// Creates a login.
    ///
    /// - Parameters:
    ///   - url: the path of the login below the base URL, or its absolute URL.
    ///   - authentication: the authentication of the login: of any kind except OAuth 2.0 and a
    ///     session.
    ///   - expires: the member of the response with the end of the session.
    public init(
        _ url: String, method: String = "POST", headers: [TransportHeaders.Field] = [], body: Body? = nil,
        authentication: Authentication = .none, tokens: [Token], expires: String? = nil, lifetime: Duration? = nil,
        logout: Logout? = nil
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
        self.authentication = authentication
        self.tokens = tokens
        self.expires = expires
        self.lifetime = lifetime
        self.logout = logout
    }

    /// The secrets of the login: those of its authentication, then those of its body.
    var sources: [SecretSource] { authentication.sources + bodySources }

    private var bodySources: [SecretSource] {
        switch body {
        case .json(let value): value.sources
        case .form(let fields): SecretValue.object(fields).sources
        case nil: []
        }
    }

    /// The texts that distinguish the accounts of a login besides its secrets.
    var identity: [String] {
        let blanks = bodySources.map { _ in Secret("") }
        let content =
            switch body {
            case .json(let value): value.filled(blanks).text
            case .form(let fields): SecretValue.object(fields).filled(blanks).text
            case nil: ""
            }
        return ["session", method, url, content] + headers.map { "\($0.name): \($0.value)" }
    }

    /// Returns the reason why a URL cannot be that of a login; nil if it can.
    ///
    /// - Parameter base: the base URL of the API, at which the password may be sent.
    package static func problem(ofURL text: String, base: String) -> String? {
        if text.utf8.first == UInt8(ascii: "/") || text.utf8.first == UInt8(ascii: "?") { return nil }
        let url: HTTPURL
        do throws(HTTPURLError) { url = try HTTPURL(text) } catch {
            return "expected a path below the base URL that begins with /, or an absolute URL"
        }
        if let home = try? HTTPURL(base), url.hasSameOrigin(as: home) { return nil }
        let isLocal = ["localhost", "127.0.0.1", "[::1]"].contains(url.host)
        return url.scheme == "https" || isLocal ? nil : "secrets are sent to another server over https only"
    }
}
