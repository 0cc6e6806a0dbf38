// Sessions that are logged in to, and tokens that the client signs.

import Foundation

extension Authorizer {
    /// Returns a token that is valid from now on.
    func signed(_ settings: JSONWebToken) async throws(TransportError) -> Credentials {
        let secrets = try await read(settings.sources, TransportRequest(url: ""))
        let signed = try sign(settings, secrets, TransportRequest(url: ""))
        return Credentials(secrets: secrets + [signed.token], endsAt: signed.endsAt)
    }

    private func sign(
        _ settings: JSONWebToken, _ secrets: [Secret], _ request: TransportRequest
    ) throws(TransportError) -> (token: Secret, endsAt: Date) {
        do throws(SecretError) {
            let (token, endsAt) = try settings.signed(secrets, now: time.now())
            let rest = endsAt.timeIntervalSince(time.now())
            return (token, time.now().addingTimeInterval(max(rest - JSONWebToken.clockTolerance, rest / 2)))
        } catch {
            throw TransportError(
                .credentials, method: request.method, url: request.url, detail: error.description)
        }
    }

    /// Logs in to a session.
    func session(_ login: SessionLogin) async throws(TransportError) -> Credentials {
        let url = address.url(login.url), place = TransportRequest(method: login.method, url: url)
        if let problem = SessionLogin.problem(ofURL: login.url, base: address.base) {
            throw TransportError(.credentials, method: login.method, url: url, detail: problem)
        }
        let secrets = try await read(login.sources, place)
        let refused = refusals.refusal(of: authentication, at: address)
        if let error = refused?.error(repeating: secrets, at: time.now()) { throw error }
        let (request, scrubber) = try await self.request(login, secrets, place)
        let opening = login.logout == nil ? nil : sessions.begin(transport)
        let session: SessionLogin.Session
        do throws(TransportError) {
            session = try await open(login, request, scrubber, place)
        } catch {
            opening?.end(with: nil)
            if error.kind == .credentials {
                refusals.note(
                    RefusedLogin(secrets, error, after: refused, at: time.now()), of: authentication, at: address)
            }
            throw error
        }
        refusals.note(nil, of: authentication, at: address)
        if let openSession { sessions.remove(openSession) }
        openSession = opening?.end(
            with: session.logout.map { logout in
                var request = logout
                Authentication.session(login).add(session.tokens, to: &request)
                return request
            })
        return Credentials(secrets: secrets + session.tokens, endsAt: session.endsAt, openSession: openSession)
    }

    /// Returns the login with its secrets, and the scrubber of these.
    private func request(
        _ login: SessionLogin, _ secrets: [Secret], _ place: TransportRequest
    ) async throws(TransportError) -> (TransportRequest, Scrubber) {
        let own = Array(secrets.prefix(login.authentication.sources.count))
        var request = login.request(Array(secrets.dropFirst(own.count)), at: address), sent = secrets
        switch login.authentication {
        case .jwt(let settings):
            let token = try sign(settings, own, place).token
            // The key is not sent.
            sent = Array(secrets.dropFirst()) + [token]
            login.authentication.add([token], to: &request)
        case .oauth2, .session, .signer:
            // Their secrets are none that a request carries.
            throw TransportError(
                .credentials, method: place.method, url: place.url,
                detail: "the login of a session can be authenticated by bearer, basic, api_key or jwt only")
        case .none, .bearer, .basic, .apiKey, .apiKeys: login.authentication.add(own, to: &request)
        }
        let field = request.headers["Authorization"].flatMap { $0.split(separator: " ").last.map(String.init) }
        let scrubber = Scrubber(
            sent.map(\.exposed) + [field].compactMap(\.self), parameter: login.authentication.queryParameter,
            carried: CarriedSecrets.of(request))
        return (request, scrubber)
    }

    /// Sends a login.
    private func open(
        _ login: SessionLogin, _ request: TransportRequest, _ scrubber: Scrubber, _ place: TransportRequest
    ) async throws(TransportError) -> SessionLogin.Session {
        let asked = time.now(), response: TransportResponse
        do throws(TransportError) { response = try await RedirectGuard(transport, .ofLogins).send(request) } catch {
            throw scrubber.error(error, of: place)
        }
        // Its text is cut: the beginning of a secret would not be recognised.
        var shown = scrubber.response(response)
        shown.body = shown.shownBody
        switch login.session(from: response, shown: shown, at: address, asked: asked) {
        case .success(let session): return session
        case .failure(let refusal):
            throw TransportError(
                refusal.kind, method: login.method, url: place.url,
                detail: "the login at \(Redaction.url(place.url)) \(refusal.reason); see auth.session")
        }
    }
}
