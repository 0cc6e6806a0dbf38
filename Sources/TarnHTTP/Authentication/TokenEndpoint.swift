// Requests to the authorization server, and the removal of their secrets from its answers.

/// The endpoints of an authorization server, for one client.
struct TokenEndpoint: Sendable {
    let settings: OAuth2
    let transport: any Transport
    let time: TimeSource

    init(_ settings: OAuth2, _ transport: any Transport, _ time: TimeSource) {
        self.settings = settings
        self.transport = transport
        self.time = time
    }

    /// Sends one token request.
    ///
    /// - Parameter secrets: the secrets of ``OAuth2/sources`` without the refresh token.
    /// - Returns: the tokens, or the refusal of the server.
    func token(
        _ secrets: [Secret], refresh: Secret? = nil, for exchange: OAuth2.Exchange = .declared
    ) async throws(TransportError) -> Result<OAuth2.Token, OAuth2Refusal> {
        let credentials = try credentials(secrets, refresh: refresh)
        let request = settings.request(credentials, for: exchange)
        let codes: [Secret] =
            switch exchange {
            case .declared: []
            case .deviceCode(let code): [code]
            case .authorizationCode(let code, let verifier, _): [code, verifier]
            }
        return OAuth2.token(from: try await send(request, secrets, credentials, hiding: codes))
    }

    /// Returns the secrets of a request, with the assertions that it needs.
    func credentials(
        _ secrets: [Secret], refresh: Secret? = nil
    ) throws(TransportError) -> OAuth2.Credentials {
        do throws(SecretError) {
            return try settings.credentials(secrets, refresh: refresh, now: time.now())
        } catch {
            throw TransportError(.credentials, method: "POST", url: settings.tokenURL, detail: error.description)
        }
    }

    /// Sends a request of the client.
    ///
    /// - Returns: the response. A refusal has `***` in place of every secret.
    func send(
        _ request: TransportRequest, _ secrets: [Secret], _ credentials: OAuth2.Credentials, hiding others: [Secret]
    ) async throws(TransportError) -> TransportResponse {
        let sent = [credentials.refreshToken, credentials.assertion, credentials.clientAssertion].compactMap(\.self)
        let scrubber = Scrubber(
            (secrets.dropFirst(settings.clientID == nil ? 0 : 1) + sent + others).map(\.exposed)
                + [request.headers["Authorization"].map { String($0.dropFirst("Basic ".count)) }].compactMap(\.self),
            parameter: nil)
        var response: TransportResponse
        do throws(TransportError) {
            response = try await RedirectGuard(transport, .ofTokens).send(request)
        } catch {
            throw scrubber.error(error, of: request)
        }
        // The text of a refusal is cut: the beginning of a secret would not be recognised.
        let status = response.status
        guard !(200..<300).contains(status) || TokenEndpoint.isRefusal(response) else { return response }
        // JSON of a success is not searched: some servers refuse with 200.
        if status < 300 { response.status = 400 }
        response = scrubber.response(response)
        response.status = status
        return response
    }

    private static func isRefusal(_ response: TransportResponse) -> Bool {
        guard response.body.count <= 64 << 10, let object = JSONBody(parsing: response.body.withoutMark) else {
            return false
        }
        return object.text(of: "error") != nil && object.text(of: "access_token") == nil
    }

    /// Returns the error of a refusal.
    func error(_ refusal: OAuth2Refusal, of url: String? = nil) -> TransportError {
        let url = url ?? settings.tokenURL
        return TransportError(
            refusal.kind, method: "POST", url: url, detail: "\(Redaction.url(url)) \(refusal.reason)")
    }
}
