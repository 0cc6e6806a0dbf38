// The authorization code grant with PKCE over a loopback redirect (RFC 6749 §4.1, RFC 7636,
// RFC 8252 §7.3): a browser of this machine.

import Foundation

extension SignInFlow {
    /// Waits for a browser, and exchanges the code that it brings.
    func browserToken(
        _ secrets: [Secret], _ prompt: @Sendable (Prompt) -> Void
    ) async throws(TransportError) -> (OAuth2.Token, asked: Date) {
        guard let page = signIn.authorizeURL else { throw error("no authorize_url is declared") }
        let state = OAuth2.randomText(), verifier = OAuth2.randomText()
        let listener = try listener(state)
        let client = try endpoint.credentials(secrets).clientID?.exposed
        prompt(
            .browser(
                url: authorizationURL(
                    page, client: client, redirect: listener.url, state: state, verifier: verifier)))
        switch await listener.answer(within: limit) {
        case .code(let code):
            let asked = time.now()
            switch try await endpoint.token(
                secrets, for: .authorizationCode(code, verifier: verifier, redirect: listener.url))
            {
            case .success(let token): return (token, asked)
            case .failure(let refusal): throw endpoint.error(refusal)
            }
        case .refused(let code, let description): throw refused(code, description, of: page)
        case .timedOut:
            throw error(
                "no browser has returned within \(Int(limit.inSeconds / 60)) minutes: run `\(place.command)` again",
                of: page)
        case .cancelled: throw error("the task was cancelled", of: page, kind: .cancelled)
        case .failed(let reason): throw error(reason, of: page, kind: .resources)
        }
    }

    private func listener(_ state: Secret) throws(TransportError) -> RedirectListener {
        let redirect: HTTPURL
        do throws(HTTPURLError) { redirect = try HTTPURL(signIn.redirectURL) } catch {
            throw self.error("redirect_url: \(error.reason)")
        }
        do throws(RedirectListener.Failure) {
            return try RedirectListener(redirect, signIn.redirectURL, state: state)
        } catch {
            let way = error.code == EADDRINUSE ? "; end the program that uses it" : ""
            throw self.error(
                "cannot listen on port \(error.port) of 127.0.0.1: \(String(cString: strerror(error.code)))\(way)",
                kind: .resources)
        }
    }

    /// Returns the authorization request (RFC 6749 §4.1.1, RFC 7636 §4.3). It has no secret of the
    /// client.
    private func authorizationURL(
        _ page: String, client: String?, redirect: String, state: Secret, verifier: Secret
    ) -> String {
        var fields: [(name: String, value: String)] = [("response_type", "code")]
        if let client { fields.append(("client_id", client)) }
        if !settings.scopes.isEmpty { fields.append(("scope", settings.scopes.joined(separator: " "))) }
        fields += signIn.parameters.map { ($0.name, $0.value) }
        fields += [
            ("redirect_uri", redirect), ("state", state.exposed),
            ("code_challenge", OAuth2.challenge(of: verifier)), ("code_challenge_method", "S256"),
        ]
        return QueryParameters.append(fields, to: page)
    }
}
