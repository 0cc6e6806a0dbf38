// The authentication schemes of APIs.

import Foundation

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
    /// Several API keys at once; at most one of them is a query parameter.
    case apiKeys([APIKeyPlace: SecretSource])
    /// A token that the client signs itself (RFC 7519).
    case jwt(JSONWebToken)
    /// The tokens of a session that is logged in to.
    indirect case session(SessionLogin)
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
        case .apiKeys(let keys): Authentication.sorted(keys).map(\.source)
        case .jwt(let token): token.sources
        case .session(let login): login.sources
        case .oauth2(let settings): settings.sources
        }
    }

    /// The keys of several lines, such as private keys in PEM. All other secrets are one line.
    package var keySources: Set<SecretSource> {
        signedTokens.reduce(into: []) { $0.formUnion($1.keySources) }
    }

    /// The tokens that the client signs.
    private var signedTokens: [JSONWebToken] {
        switch self {
        case .none, .signer, .bearer, .basic, .apiKey, .apiKeys: []
        case .jwt(let token): [token]
        case .session(let login): login.authentication.signedTokens
        case .oauth2(let settings): settings.tokens
        }
    }

    /// Returns the reason why a key cannot sign; nil if all can, and for those that programs print
    /// or pipes hold.
    package func problemOfKeys(environment: [String: String]) -> SecretError? {
        for token in signedTokens where !token.sources.contains(where: \.mayBlock) {
            do throws(SecretError) {
                var secrets: [Secret] = []
                for source in token.sources { secrets.append(try read(source, environment: environment)) }
                _ = try token.signed(secrets, now: Date())
            } catch {
                return error
            }
        }
        return nil
    }

    /// Reads one of ``sources``. Blocks until a command ends.
    ///
    /// - Throws: `SecretError` if there is no secret, or if it has characters that no request can
    ///   hold.
    package func read(_ source: SecretSource, environment: [String: String]) throws(SecretError) -> Secret {
        try source.read(environment: environment, SecretCommand(), lines: keySources.contains(source))
    }

    /// Keys in a fixed order.
    private static func sorted(_ keys: [APIKeyPlace: SecretSource]) -> [(place: APIKeyPlace, source: SecretSource)] {
        keys.map { ($0.key, $0.value) }.sorted { "\($0.0)" < "\($1.0)" }
    }

    /// Whether every secret can be read, and no program that prints one may ask a person for it.
    package func isReadable(environment: [String: String]) -> Bool {
        sources.allSatisfy { source in
            if case .command = source { return false }
            return (try? read(source, environment: environment)) != nil
        }
    }

    /// The query parameter that carries a key, or nil.
    package var queryParameter: String? {
        for place in places { if case .query(let name) = place { return name } }
        return nil
    }

    /// The query parameters that carry keys, also that of a login.
    package var secretParameters: Set<String> {
        var names: Set<String> = []
        for place in places { if case .query(let name) = place { names.insert(name) } }
        if case .session(let login) = self { names.formUnion(login.authentication.secretParameters) }
        return names
    }

    /// The header fields that authentication overwrites.
    ///
    /// A cookie is added to others.
    package var headerFields: [String] {
        if case .basic = self { return ["Authorization"] }
        return places.compactMap { if case .header(let name, _) = $0 { name } else { nil } }
    }

    /// The places of credentials in requests, in the order of their secrets.
    var places: [APIKeyPlace] {
        switch self {
        case .none, .signer, .basic: []
        case .bearer, .oauth2: [.bearer]
        case .apiKey(_, let place): [place]
        case .apiKeys(let keys): Authentication.sorted(keys).map(\.place)
        case .jwt(let token): [token.place]
        case .session(let login): login.tokens.map(\.place)
        }
    }

    /// Adds credentials to a request.
    ///
    /// - Parameter secrets: the secrets of ``sources``, and the tokens that were requested behind
    ///   them.
    func add(_ secrets: [Secret], to request: inout TransportRequest) {
        if case .basic = self {
            request.headers["Authorization"] = BasicCredentials.field(
                user: secrets[0].exposed, password: secrets[1].exposed)
        }
        let places = places
        for (place, secret) in zip(places, secrets.suffix(places.count)) { place.put(secret, into: &request) }
    }
}

extension Authentication.APIKeyPlace {
    fileprivate func put(_ secret: Secret, into request: inout TransportRequest) {
        switch self {
        case .header(let name, let prefix): request.headers[name] = prefix + secret.exposed
        case .query(let name): request.url = QueryParameters.set(name, to: secret.exposed, in: request.url)
        case .cookie(let name):
            let before = request.headers.all("Cookie").joined(separator: "; ")
            request.headers["Cookie"] = (before.isEmpty ? "" : before + "; ") + "\(name)=\(secret.exposed)"
        }
    }
}
