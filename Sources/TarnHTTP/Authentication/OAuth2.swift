// Tokens by OAuth 2.0 (RFC 6749): what the server of tokens is asked, and what its answer means. Pure.

import Foundation

/// How to get tokens.
public struct OAuth2: Sendable, Hashable {
    /// By what a token is granted.
    public enum Grant: Sendable, Hashable {
        /// The client asks for itself (RFC 6749 §4.4).
        case clientCredentials
        /// The client asks for somebody who allowed it once (RFC 6749 §6). If the server hands out a new refresh token and the old one came
        /// from a file, the new one is written there.
        case refreshToken(SecretSource)
    }

    /// How the client proves who it is (RFC 6749 §2.3.1).
    public enum ClientAuthentication: String, Sendable, Hashable, CaseIterable {
        case basic
        /// As fields of the form, for servers that know nothing else.
        case body
    }

    /// Absolute; `https`, or `http` on this machine.
    public var tokenURL: String
    /// The client's identifier (RFC 6749 §2.2).
    public var clientID: SecretSource
    /// Nil for a public client.
    public var clientSecret: SecretSource?
    /// How the client proves who it is (RFC 6749 §2.3.1).
    public var clientAuthentication: ClientAuthentication
    /// By what a token is granted (RFC 6749 §4.4, §6).
    public var grant: Grant
    /// What access is asked for (RFC 6749 §3.3); empty for the server's default.
    public var scopes: [String]
    /// Additional fields of the form, such as `audience`.
    public var parameters: [RequestBody.FormField]
    /// Distinguishes accounts for which the same client asks: what is stored for one is not served to another.
    public var account: String?
    /// A token is not used any more so long before it ends.
    public var leeway: Duration

    public init(
        tokenURL: String, clientID: SecretSource, clientSecret: SecretSource? = nil, clientAuthentication: ClientAuthentication = .basic,
        grant: Grant = .clientCredentials, scopes: [String] = [], parameters: [RequestBody.FormField] = [], account: String? = nil,
        leeway: Duration = .seconds(30)
    ) {
        self.tokenURL = tokenURL
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.clientAuthentication = clientAuthentication
        self.grant = grant
        self.scopes = scopes
        self.parameters = parameters
        self.account = account
        self.leeway = leeway
    }

    var sources: [SecretSource] {
        var sources = [clientID] + [clientSecret].compactMap(\.self)
        if case .refreshToken(let source) = grant { sources.append(source) }
        return sources
    }

    /// Why a URL cannot be one of a server of tokens; nil if it can.
    public static func problem(ofTokenURL text: String) -> String? {
        let url: HTTPURL
        do throws(HTTPURLError) { url = try HTTPURL(text) } catch { return error.reason }
        let isLocal = ["localhost", "127.0.0.1", "[::1]"].contains(url.host)
        return url.scheme == "https" || isLocal ? nil : "tokens are only asked for over https (RFC 6749 §3.2)"
    }

    // MARK: The exchange

    /// The secrets of one exchange.
    struct Credentials: Sendable {
        var clientID: Secret
        var clientSecret: Secret?
        var refreshToken: Secret?
    }

    func request(_ credentials: Credentials) -> HTTPRequest {
        var form: [RequestBody.FormField] = []
        switch grant {
        case .clientCredentials: form.append(.init("grant_type", "client_credentials"))
        case .refreshToken:
            form += [.init("grant_type", "refresh_token"), .init("refresh_token", credentials.refreshToken?.exposed ?? "")]
        }
        if !scopes.isEmpty { form.append(.init("scope", scopes.joined(separator: " "))) }
        form += parameters
        var headers = HTTPHeaders([
            .init("Content-Type", RequestBody.form([]).contentType), .init("Accept", "application/json"),
        ])
        if let secret = credentials.clientSecret, clientAuthentication == .basic {
            headers["Authorization"] = BasicCredentials.field(
                // RFC 6749 §2.3.1: form-encoded first.
                user: PercentEncoding.encode(credentials.clientID.exposed), password: PercentEncoding.encode(secret.exposed))
        } else {
            form.append(.init("client_id", credentials.clientID.exposed))
            if let secret = credentials.clientSecret { form.append(.init("client_secret", secret.exposed)) }
        }
        var request = HTTPRequest(method: "POST", url: tokenURL, headers: headers, body: Array(RequestBody.form(form).text.utf8))
        request.responseLimits = OAuth2.responseLimits
        return request
    }

    /// Of an answer of the server of tokens, in bytes.
    private static let tokenAnswerLimit = 64 << 10
    static let responseLimits = HTTPRequest.ResponseLimits(body: tokenAnswerLimit, refusal: tokenAnswerLimit)

    /// A token, and what comes with it.
    struct Token: Sendable {
        var access: Secret
        /// In seconds from the answer on; nil if the server does not say.
        var lifetime: Double?
        var refresh: Secret?
    }

    /// Reads the answer of the server of tokens (RFC 6749 §5.1, §5.2).
    static func token(from response: HTTPResponse) -> Result<Token, OAuth2Refusal> {
        // Whatever the transport has read: a token of such a length fits into no field.
        let object = response.body.count <= tokenAnswerLimit ? JSONBody(parsing: response.body[...]) ?? .null : .null
        guard response.status == 200 || response.status == 201 else {
            let said = [object.text(of: "error"), object.text(of: "error_description")].compactMap { $0.map { String($0.prefix(200)) } }
                .joined(separator: ": ")
            return .failure(OAuth2Refusal(reason: "answers \(response.status)\(said.isEmpty ? "" : ": \(said)")"))
        }
        guard let access = object.text(of: "access_token"), !access.isEmpty else {
            return .failure(OAuth2Refusal(reason: "answers without an access_token"))
        }
        if let type = object.text(of: "token_type"), type.lowercased() != "bearer" {
            return .failure(OAuth2Refusal(reason: "hands out a token of another type than Bearer"))
        }
        guard access.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value < 0x7F }) else {
            return .failure(OAuth2Refusal(reason: "hands out a token that no header field can hold"))
        }
        return .success(
            Token(access: Secret(access), lifetime: object.number(of: "expires_in"), refresh: object.text(of: "refresh_token").map(Secret.init)))
    }
}
