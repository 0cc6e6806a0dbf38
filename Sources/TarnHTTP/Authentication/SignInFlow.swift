// The sign-in of a person: the first tokens, and the end of a login.

import Foundation

/// Signs a person in and out. Each call is one attempt.
package struct SignInFlow: Sendable {
    /// An instruction for the person.
    package enum Prompt: Sendable {
        /// Enter the code at the URL; `complete` is a URL that has the code already.
        case device(code: String, url: String, complete: String?, until: Date)
        /// Open the URL in a browser of this machine.
        case browser(url: String)

        /// The URL to open.
        package var url: String {
            switch self {
            case .device(_, let url, let complete, _): complete ?? url
            case .browser(let url): url
            }
        }
    }

    /// The result of signing out.
    package enum End: Sendable {
        case wasSignedOut
        /// The server has revoked the tokens.
        case revoked
        /// The server has no revocation endpoint in the description: it still accepts the tokens.
        case forgotten
        /// The server could not be told, for a reason: it may still accept the tokens.
        case notRevoked(TransportError)
    }

    let settings: OAuth2
    let signIn: OAuth2.SignIn
    let place: LoginPlace
    let endpoint: TokenEndpoint
    let environment: [String: String]
    let time: TimeSource
    /// Reads the secrets of the client.
    private let authorizer: Authorizer
    /// The time that a person has for a visit in a browser.
    let limit: Duration

    /// Creates a flow; nil if no person signs in by these settings.
    package init?(
        _ settings: OAuth2, transport: any Transport, environment: [String: String],
        time: TimeSource = .system, limit: Duration = .seconds(600)
    ) {
        guard let signIn = settings.signIn, let place = settings.loginPlace else { return nil }
        self.settings = settings
        self.signIn = signIn
        self.place = place
        self.environment = environment
        self.time = time
        self.limit = limit
        endpoint = TokenEndpoint(settings, transport, time)
        authorizer = Authorizer(
            .oauth2(settings), account: nil, transport: transport, address: SessionLogin.Address(),
            environment: environment, time: time)
    }

    /// Signs in, and keeps the tokens.
    ///
    /// - Parameter prompt: shows the person what to do.
    /// - Returns: the path of the login.
    package func begin(
        by way: OAuth2.SignIn.Way, prompt: @Sendable (Prompt) -> Void
    ) async throws(TransportError) -> String {
        for url in [settings.tokenURL, signIn.deviceURL, signIn.authorizeURL].compactMap(\.self) {
            if let problem = OAuth2.problem(ofTokenURL: url) { throw error(problem, of: url) }
        }
        let path: String
        do throws(SecretError) { path = try place.path(environment: environment) } catch {
            throw self.error(error.description)
        }
        let secrets = try await self.secrets()
        let asked: Date, answer: OAuth2.Token
        switch way {
        case .device: (answer, asked) = try await deviceToken(secrets, prompt)
        case .browser: (answer, asked) = try await browserToken(secrets, prompt)
        }
        let lock = await FolderLock.take(around: path)
        defer { withExtendedLifetime(lock) {} }
        let login = StoredLogin(answer, endsAt: settings.end(of: answer, asked: asked), at: time.now())
        let code = place.save(login, to: path)
        guard code == 0 else {
            throw error("cannot write the login to \(path): \(String(cString: strerror(code)))")
        }
        return path
    }

    /// Signs out: asks the server to revoke the tokens, and removes them.
    package func end() async throws(TransportError) -> End {
        let path: String
        do throws(SecretError) { path = try place.path(environment: environment) } catch { return .wasSignedOut }
        guard access(path, F_OK) == 0 else { return .wasSignedOut }
        let lock = await FolderLock.take(around: path)
        defer { withExtendedLifetime(lock) {} }
        var end = End.forgotten
        if let url = signIn.revokeURL {
            do throws(TransportError) {
                let login: StoredLogin
                do throws(SecretError) { login = try place.login(environment: environment) } catch {
                    throw self.error(error.reason, of: url)
                }
                try await revoke(login, at: url)
                end = .revoked
            } catch {
                if error.kind == .cancelled { throw error }
                end = .notRevoked(error)
            }
        }
        // A link to the file may stay: the tokens may not.
        guard unlink(PrivateFile.target(of: path)) == 0 || errno == ENOENT else {
            throw error("cannot remove \(path): \(String(cString: strerror(errno)))")
        }
        return end
    }

    /// Revokes the token that outlives the others (RFC 7009 §2.1).
    private func revoke(_ login: StoredLogin, at url: String) async throws(TransportError) {
        if let problem = OAuth2.problem(ofTokenURL: url) { throw error(problem, of: url) }
        guard let token = login.refresh ?? login.access else { return }
        let hint = login.refresh == nil ? "access_token" : "refresh_token"
        let secrets = try await self.secrets(), credentials = try endpoint.credentials(secrets)
        let request = settings.request(
            to: url, [.init("token", token.exposed), .init("token_type_hint", hint)], credentials)
        let response = try await endpoint.send(request, secrets, credentials, hiding: [token])
        guard !(200..<300).contains(response.status) else { return }
        // The reason is that of a token request: the form of errors is the same (RFC 7009 §2.2.1).
        if case .failure(let refusal) = OAuth2.token(from: response) { throw endpoint.error(refusal, of: url) }
    }

    /// The secrets of the client, without those of a login.
    private func secrets() async throws(TransportError) -> [Secret] {
        try await authorizer.readApart(
            settings.sources.filter { $0 != .login(place) },
            TransportRequest(method: "POST", url: settings.tokenURL))
    }

    // MARK: Errors

    func error(
        _ detail: String, of url: String? = nil, kind: TransportError.Kind = .credentials
    ) -> TransportError {
        TransportError(
            kind, method: url != nil && url == signIn.authorizeURL ? "GET" : "POST", url: url ?? settings.tokenURL,
            detail: detail)
    }

    /// Returns the error of a refusal by the person or the server.
    func refused(_ code: String, _ description: String?, of url: String?) -> TransportError {
        // `authorization_declined` is Microsoft's word.
        if ["access_denied", "authorization_declined"].contains(code) {
            return error("the sign-in was denied", of: url)
        }
        return error(
            "the server has refused the sign-in: " + [code, description].compactMap(\.self).joined(separator: ": "),
            of: url)
    }
}
