/// The servers to which redirects may lead. Credentials are sent to the request's origin only.
package struct RedirectScope: Sendable, Hashable {
    /// Base URLs. A redirect to a URL below one of them is followed unchanged.
    var bases: [String]
    /// A server with another URL: a redirect to the first base URL is followed at the second.
    var moved: Moved?
    /// The query parameter that carries a key.
    ///
    /// It is removed from redirects to other servers, which may repeat it.
    var secretParameter: String?
    /// The section of the description that declares the base URLs, for messages.
    package var section = "api"
    /// The way out of a redirect to another server, for requests to which no base URL applies.
    private(set) var wayOut: String?

    /// The scope of token requests: their own server. Another one could use the request to reach
    /// servers that only this machine reaches.
    static let ofTokens: RedirectScope = {
        var scope = RedirectScope()
        scope.wayOut = "if that is the authorization server, name it by token_url"
        return scope
    }()

    /// The scope of logins: their own server. Their redirects are not followed, but a transport may
    /// do so by its own rules.
    static let ofLogins: RedirectScope = {
        var scope = RedirectScope()
        scope.wayOut = "if that is the server of the login, name it by auth.session.login"
        return scope
    }()

    /// A base URL in redirects, and the one by which its server is reached.
    package struct Moved: Sendable, Hashable {
        /// The base URL in redirects.
        package var from: String
        /// The base URL by which the server is reached.
        package var to: String

        /// Creates a pair of base URLs.
        package init(from: String, to: String) {
            self.from = from
            self.to = to
        }
    }

    /// Creates a scope.
    package init(bases: [String] = [], moved: Moved? = nil, secretParameter: String? = nil) {
        self.bases = bases
        self.moved = moved
        self.secretParameter = secretParameter
    }
}
