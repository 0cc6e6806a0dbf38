// OAuth 2.0 (RFC 6749): requests to the token endpoint and its responses. Pure.

import Foundation

/// The OAuth 2.0 settings of an API: the token endpoint, the client and the grant.
public struct OAuth2: Sendable, Hashable {
    /// The authorization grant of a token.
    public enum Grant: Sendable, Hashable {
        /// The client acts on its own behalf (RFC 6749 §4.4).
        case clientCredentials
        /// The client acts on behalf of a resource owner, with a refresh token (RFC 6749 §6).
        ///
        /// If the token endpoint issues a new refresh token and the old one came from a file, the
        /// new one replaces it in the file.
        case refreshToken(SecretSource)
        /// The client signs an assertion of the account itself (RFC 7523 §2.1).
        case assertion(JSONWebToken)
    }

    /// The client authentication (RFC 6749 §2.3.1).
    public enum ClientAuthentication: String, Sendable, Hashable, CaseIterable {
        /// HTTP Basic authentication with the client's identifier and secret.
        case basic
        /// Form fields in the body, for servers that support nothing else.
        case body
    }

    /// The absolute URL of the token endpoint: `https`, or `http` on this machine.
    package var tokenURL: String
    /// The client's identifier (RFC 6749 §2.2); nil if an assertion names it.
    var clientID: SecretSource?
    /// The client secret; nil for a public client.
    var clientSecret: SecretSource?
    /// The client authentication (RFC 6749 §2.3.1).
    public var clientAuthentication = ClientAuthentication.basic
    /// The key that signs the client's authentication instead of a secret (RFC 7523 §2.2).
    public var clientKey: JSONWebToken?
    /// The authorization grant (RFC 6749 §4.4, §6).
    public var grant = Grant.clientCredentials
    /// The way a person signs in for the first refresh token; nil for none.
    package var signIn: SignIn?
    /// The requested scopes (RFC 6749 §3.3); empty for the server's default.
    package var scopes: [String]
    /// Additional form fields, such as `audience`.
    package var parameters: [TransportBody.FormField]
    /// The account, for a client with several ones.
    ///
    /// Stored data of one account is not served to another.
    var account: String?
    /// The time before its expiry at which a token is no longer used, at most half of its lifetime.
    var leeway = Duration.seconds(30)

    /// Creates settings.
    public init(
        tokenURL: String, clientID: SecretSource?, clientSecret: SecretSource? = nil, scopes: [String] = [],
        parameters: [TransportBody.FormField] = [], account: String? = nil
    ) {
        self.tokenURL = tokenURL
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.scopes = scopes
        self.parameters = parameters
        self.account = account
    }

    /// The tokens that the client signs.
    var tokens: [JSONWebToken] {
        let assertion: JSONWebToken? = if case .assertion(let token) = grant { token } else { nil }
        return [assertion, clientKey].compactMap(\.self)
    }

    /// The client's identifier, its secret, its keys and its refresh token, as far as it has them.
    var sources: [SecretSource] {
        var sources = [clientID, clientSecret].compactMap(\.self) + tokens.flatMap(\.sources)
        if case .refreshToken(let source) = grant { sources.append(source) }
        return sources
    }

    /// Returns the reason why a URL cannot be a token endpoint; nil if it can.
    package static func problem(ofTokenURL text: String) -> String? {
        let url: HTTPURL
        do throws(HTTPURLError) { url = try HTTPURL(text) } catch { return error.reason }
        let isLocal = ["localhost", "127.0.0.1", "[::1]"].contains(url.host)
        return url.scheme == "https" || isLocal ? nil : "tokens are only requested over https (RFC 6749 §3.2)"
    }

    // MARK: The exchange

    /// The grant of one token request.
    enum Exchange: Sendable {
        /// That of the settings.
        case declared
        /// The code of a device that a person has authorized (RFC 8628 §3.4).
        case deviceCode(Secret)
        /// The code that a browser has brought, and the proof of its request (RFC 7636 §4.5).
        case authorizationCode(Secret, verifier: Secret, redirect: String)
    }

    /// The secrets of one token request.
    struct Credentials: Sendable {
        var clientID: Secret?
        var clientSecret: Secret?
        var refreshToken: Secret?
        /// The assertion of the account.
        var assertion: Secret?
        /// The assertion that authenticates the client.
        var clientAssertion: Secret?
    }

    /// Returns the secrets of a token request, with the assertions that it needs.
    ///
    /// - Parameter secrets: the secrets of ``sources`` without the refresh token.
    func credentials(_ secrets: [Secret], refresh: Secret?, now: Date) throws(SecretError) -> Credentials {
        var rest = secrets[...], credentials = Credentials(refreshToken: refresh)
        if clientID != nil { credentials.clientID = rest.popFirst() }
        if clientSecret != nil { credentials.clientSecret = rest.popFirst() }
        let audience = JSONBody.Member("aud", .string(tokenURL))
        let identifier = UUID().uuidString.lowercased()
        let client = credentials.clientID.map { JSONBody.string($0.exposed) }
        if case .assertion(let token) = grant {
            var claims = [audience, .init("jti", .string(identifier))]
            if let client { claims.append(.init("iss", client)) }
            // Google and DocuSign read the scopes there.
            if !scopes.isEmpty { claims.append(.init("scope", .string(scopes.joined(separator: " ")))) }
            let own = Array(rest.prefix(token.sources.count))
            rest = rest.dropFirst(own.count)
            credentials.assertion = try token.signed(own, now: now, defaults: claims).token
        }
        if let clientKey {
            var claims = [audience, .init("jti", .string(identifier))]
            if let client { claims += [.init("iss", client), .init("sub", client)] }
            credentials.clientAssertion = try clientKey.signed(Array(rest), now: now, defaults: claims).token
        }
        return credentials
    }

    /// Returns the texts that distinguish accounts: in place of a key that of its account, since
    /// keys are replaced.
    ///
    /// - Parameter names: the texts that distinguish the secrets of ``sources``.
    func names(of names: [String]) -> [String] {
        guard !tokens.isEmpty else { return names }
        let own = [clientID, clientSecret].compactMap(\.self).count
        var rest = names.dropFirst(own), identities: [String] = []
        for token in tokens {
            identities.append(token.identity(of: Array(rest.prefix(token.sources.count))))
            rest = rest.dropFirst(token.sources.count)
        }
        return (clientID == nil ? identities : names.prefix(own) + identities) + names.suffix(rest.count)
    }

    /// Returns the token request (RFC 6749 §4.1.3, §4.4.2, §6; RFC 7523 §2; RFC 8628 §3.4).
    func request(_ credentials: Credentials, for exchange: Exchange = .declared) -> TransportRequest {
        request(to: tokenURL, form(credentials, for: exchange) + parameters, credentials)
    }

    private func form(_ credentials: Credentials, for exchange: Exchange) -> [TransportBody.FormField] {
        var form: [TransportBody.FormField]
        switch exchange {
        case .deviceCode(let code):
            return [
                .init("grant_type", "urn:ietf:params:oauth:grant-type:device_code"), .init("device_code", code.exposed),
            ]
        case .authorizationCode(let code, let verifier, let redirect):
            return [
                .init("grant_type", "authorization_code"), .init("code", code.exposed),
                .init("redirect_uri", redirect), .init("code_verifier", verifier.exposed),
            ]
        case .declared: break
        }
        switch grant {
        case .clientCredentials: form = [.init("grant_type", "client_credentials")]
        case .refreshToken:
            form = [
                .init("grant_type", "refresh_token"), .init("refresh_token", credentials.refreshToken?.exposed ?? ""),
            ]
        case .assertion:
            form = [
                .init("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
                .init("assertion", credentials.assertion?.exposed ?? ""),
            ]
        }
        // A login has the scopes that the person has granted: others would be refused (§6).
        if !scopes.isEmpty, signIn == nil { form.append(.init("scope", scopes.joined(separator: " "))) }
        return form
    }

    /// Returns a request of the client to its authorization server.
    ///
    /// - Parameter credentials: the secrets that authenticate the client, as far as it has them.
    func request(
        to url: String, _ form: [TransportBody.FormField], _ credentials: Credentials
    ) -> TransportRequest {
        var form = form
        var headers = TransportHeaders([
            .init("Content-Type", TransportBody.form([]).contentType), .init("Accept", "application/json"),
        ])
        let client = credentials.clientID?.exposed
        let secret = credentials.clientSecret?.exposed ?? (signIn?.sendsEmptySecret == true ? "" : nil)
        if let secret, clientAuthentication == .basic {
            headers["Authorization"] = BasicCredentials.field(
                // RFC 6749 §2.3.1: both values are form-encoded first.
                user: PercentEncoding.encode(client ?? ""), password: PercentEncoding.encode(secret))
        } else {
            if let client { form.append(.init("client_id", client)) }
            if let assertion = credentials.clientAssertion {
                form += [
                    .init("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
                    .init("client_assertion", assertion.exposed),
                ]
            }
            if let secret { form.append(.init("client_secret", secret)) }
        }
        var request = TransportRequest(
            method: "POST", url: url, headers: headers, body: Array(TransportBody.form(form).text.utf8))
        request.responseLimits = OAuth2.responseLimits
        return request
    }

    /// The maximum size of a response of the token endpoint, in bytes.
    private static let tokenAnswerLimit = 64 << 10
    static let responseLimits = TransportRequest.ResponseLimits(body: tokenAnswerLimit, refusal: tokenAnswerLimit)

    /// The tokens of a response.
    struct Token: Sendable {
        /// The access token.
        var access: Secret
        /// The lifetime in seconds from the response; nil if the server does not specify it.
        var lifetime: Double?
        /// A new refresh token; nil if the server issued none.
        var refresh: Secret?
    }

    /// Parses a response of the token endpoint (RFC 6749 §5.1, §5.2).
    static func token(from response: TransportResponse) -> Result<Token, OAuth2Refusal> {
        // The limit holds even if the transport ignores it: no header field fits a token of that
        // length.
        let body = response.body.withoutMark
        let object = body.count <= tokenAnswerLimit ? JSONBody(parsing: body) ?? .null : .null
        // GitHub refuses with 200.
        let error = object.text(of: "error"), hasToken = object.text(of: "access_token") != nil
        guard response.status == 200 || response.status == 201, hasToken || error == nil else {
            let said = [error, object.text(of: "error_description")].compactMap {
                $0.map { String($0.prefix(200)) }
            }
            .joined(separator: ": ")
            var refusal = OAuth2Refusal(reason: "returned \(response.status)\(said.isEmpty ? "" : ": \(said)")")
            if RetryPolicy.isPassing(.answer(status: response.status, headers: response.headers)) {
                refusal.kind = [403, 429].contains(response.status) ? .rateLimit : .protocol
            }
            refusal.error = error.map { String($0.prefix(200)) }
            return .failure(refusal)
        }
        guard let access = object.text(of: "access_token"), !access.isEmpty else {
            return .failure(OAuth2Refusal(reason: "returned no access_token"))
        }
        // Apigee calls its bearer tokens BearerToken.
        if let type = object.text(of: "token_type"), !["bearer", "bearertoken"].contains(type.lowercased()) {
            return .failure(OAuth2Refusal(reason: "returned a token of a type other than Bearer"))
        }
        guard access.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value < 0x7F }) else {
            return .failure(
                OAuth2Refusal(reason: "returned a token with characters that a header field cannot contain"))
        }
        // RFC 6749 §A.17: a token has at least one character. Some servers send an empty text for
        // none, which must not replace the token in a file.
        let refresh = object.text(of: "refresh_token").flatMap { $0.isEmpty ? nil : $0 }
        // A secret is one line. Others would be lines of a file, and could not be read from it.
        guard refresh?.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) ?? true else {
            return .failure(OAuth2Refusal(reason: "returned a refresh token with control characters"))
        }
        return .success(
            Token(
                access: Secret(access), lifetime: object.number(of: "expires_in"), refresh: refresh.map(Secret.init)))
    }
}
