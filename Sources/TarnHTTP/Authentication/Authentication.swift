// The authentication schemes of APIs.

/// The authentication scheme of an API: the credentials of its requests.
public enum Authentication: Sendable, Hashable {
    /// No credentials.
    case none
    /// `Authorization: Bearer …` (RFC 6750 §2.1).
    case bearer(SecretSource)
    /// `Authorization: Basic …` (RFC 7617).
    case basic(user: SecretSource, password: SecretSource)
    /// An API key in a header field, a query parameter or a cookie.
    case apiKey(SecretSource, APIKeyPlace)
    /// A bearer token from an OAuth 2.0 token endpoint (RFC 6749 §3.2).
    case oauth2(OAuth2)
    /// A signature that a closure computes for each request.
    case signer(RequestSigner)

    /// The place of an API key in a request.
    public enum APIKeyPlace: Sendable, Hashable {
        /// The value of a header field, after a prefix such as `Token `.
        case header(String, prefix: String = "")
        /// A query parameter. It is removed from everything that is stored or shown.
        case query(String)
        /// A cookie with this name.
        case cookie(String)
    }

    /// The secrets that are read before a request can be sent.
    package var sources: [SecretSource] {
        switch self {
        case .none, .signer: []
        case .bearer(let source), .apiKey(let source, _): [source]
        case .basic(let user, let password): [user, password]
        case .oauth2(let settings): settings.sources
        }
    }

    /// Whether every secret can be read, and no program that prints one may ask a person for it.
    package func isReadable(environment: [String: String]) -> Bool {
        sources.allSatisfy { source in
            if case .command = source { return false }
            return (try? source.read(environment: environment)) != nil
        }
    }

    /// The query parameter that carries a key, or nil.
    package var queryParameter: String? {
        if case .apiKey(_, .query(let name)) = self { name } else { nil }
    }

    /// The header field that authentication overwrites; nil if there is none.
    ///
    /// A cookie is added to others.
    package var headerField: String? {
        switch self {
        case .none, .signer, .apiKey(_, .query), .apiKey(_, .cookie): nil
        case .bearer, .basic, .oauth2: "Authorization"
        case .apiKey(_, .header(let name, _)): name
        }
    }
}
