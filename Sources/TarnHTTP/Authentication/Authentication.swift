// How an API knows who asks.

/// How requests carry credentials.
public enum Authentication: Sendable, Hashable {
    case none
    /// `Authorization: Bearer …` (RFC 6750 §2.1).
    case bearer(SecretSource)
    /// `Authorization: Basic …` (RFC 7617).
    case basic(user: SecretSource, password: SecretSource)
    /// A key at a place that the API has chosen.
    case apiKey(SecretSource, APIKeyPlace)
    /// A bearer token that a server of tokens hands out.
    case oauth2(OAuth2)
    /// Whatever a closure does with a request.
    case signer(RequestSigner)

    /// Where an API key is sent.
    public enum APIKeyPlace: Sendable, Hashable {
        /// As the value of a header field, with a text before it, such as `Token `.
        case header(String, prefix: String = "")
        /// As a query parameter. It is taken out again of everything that is stored or shown.
        case query(String)
        /// As a cookie.
        case cookie(String)
    }

    /// Everything that has to be read before a request can be sent.
    public var sources: [SecretSource] {
        switch self {
        case .none, .signer: []
        case .bearer(let source), .apiKey(let source, _): [source]
        case .basic(let user, let password): [user, password]
        case .oauth2(let settings): settings.sources
        }
    }

    /// The query parameter that carries a key, or nil.
    public var queryParameter: String? {
        if case .apiKey(_, .query(let name)) = self { name } else { nil }
    }

    /// The header field that is set, whatever the request has; nil if none is (a cookie is added to others).
    public var headerField: String? {
        switch self {
        case .none, .signer, .apiKey(_, .query), .apiKey(_, .cookie): nil
        case .bearer, .basic, .oauth2: "Authorization"
        case .apiKey(_, .header(let name, _)): name
        }
    }
}
