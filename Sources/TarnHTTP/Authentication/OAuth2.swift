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
    /// The client's identifier (RFC 6749 §2.2).
    var clientID: SecretSource
    /// The client secret; nil for a public client.
    var clientSecret: SecretSource?
    /// The client authentication (RFC 6749 §2.3.1).
    public var clientAuthentication = ClientAuthentication.basic
    /// The authorization grant (RFC 6749 §4.4, §6).
    public var grant = Grant.clientCredentials
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
        tokenURL: String, clientID: SecretSource, clientSecret: SecretSource? = nil, scopes: [String] = [],
        parameters: [TransportBody.FormField] = [], account: String? = nil
    ) {
        self.tokenURL = tokenURL
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.scopes = scopes
        self.parameters = parameters
        self.account = account
    }

    /// The client's identifier, its secret and its refresh token, as far as it has them.
    var sources: [SecretSource] {
        var sources = [clientID] + [clientSecret].compactMap(\.self)
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

    /// The secrets of one token request.
    struct Credentials: Sendable {
        var clientID: Secret
        var clientSecret: Secret?
        var refreshToken: Secret?
    }

    /// Returns the token request (RFC 6749 §4.4.2, §6).
    func request(_ credentials: Credentials) -> TransportRequest {
        var form: [TransportBody.FormField] = []
        switch grant {
        case .clientCredentials: form.append(.init("grant_type", "client_credentials"))
        case .refreshToken:
            form += [
                .init("grant_type", "refresh_token"), .init("refresh_token", credentials.refreshToken?.exposed ?? ""),
            ]
        }
        if !scopes.isEmpty { form.append(.init("scope", scopes.joined(separator: " "))) }
        form += parameters
        var headers = TransportHeaders([
            .init("Content-Type", TransportBody.form([]).contentType), .init("Accept", "application/json"),
        ])
        if let secret = credentials.clientSecret, clientAuthentication == .basic {
            headers["Authorization"] = BasicCredentials.field(
                // RFC 6749 §2.3.1: both values are form-encoded first.
                user: PercentEncoding.encode(credentials.clientID.exposed),
                password: PercentEncoding.encode(secret.exposed))
        } else {
            form.append(.init("client_id", credentials.clientID.exposed))
            if let secret = credentials.clientSecret { form.append(.init("client_secret", secret.exposed)) }
        }
        var request = TransportRequest(
            method: "POST", url: tokenURL, headers: headers, body: Array(TransportBody.form(form).text.utf8))
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
        guard response.status == 200 || response.status == 201 else {
            let said = [object.text(of: "error"), object.text(of: "error_description")].compactMap {
                $0.map { String($0.prefix(200)) }
            }
            .joined(separator: ": ")
            var refusal = OAuth2Refusal(reason: "returned \(response.status)\(said.isEmpty ? "" : ": \(said)")")
            if RetryPolicy.isPassing(.answer(status: response.status, headers: response.headers)) {
                refusal.kind = [403, 429].contains(response.status) ? .rateLimit : .protocol
            }
            refusal.isInvalidGrant = object.text(of: "error") == "invalid_grant"
            return .failure(refusal)
        }
        guard let access = object.text(of: "access_token"), !access.isEmpty else {
            return .failure(OAuth2Refusal(reason: "returned no access_token"))
        }
        if let type = object.text(of: "token_type"), type.lowercased() != "bearer" {
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
