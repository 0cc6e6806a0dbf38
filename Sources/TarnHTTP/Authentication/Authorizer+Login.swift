// The access tokens of a person's login, which processes share and renew in turns.

import Foundation

extension Authorizer {
    /// Returns the access token of a login: the kept one, or a new one if it has expired or was
    /// refused.
    func tokenOfLogin(
        _ settings: OAuth2, _ secrets: [Secret], at place: LoginPlace
    ) async throws(TransportError) -> Credentials {
        let path: String
        do throws(SecretError) { path = try place.path(environment: environment) } catch {
            throw Authorizer.failure(error.description, settings)
        }
        // The server may accept a refresh token only once: those that share the login take turns.
        let lock = await FolderLock.take(around: path)
        defer { withExtendedLifetime(lock) {} }
        let login = try stored(place, settings)
        if rotated == nil, login.isValid(at: time.now(), besides: refusedToken), let access = login.access {
            return Authorizer.credentials(secrets, login, access)
        }
        let endpoint = TokenEndpoint(settings, transport, time)
        guard let refresh = rotated ?? login.refresh else {
            try note(refused: login, at: place, path, settings)
            let reason = login.access == refusedToken ? "the server has refused the login" : "the login has expired"
            throw Authorizer.failure("\(reason): sign in again with `\(place.command)`", settings)
        }
        let asked = time.now(), answer: Result<OAuth2.Token, OAuth2Refusal>
        do {
            let room = try Authorizer.reserveRoom(beside: path, settings)
            defer { withExtendedLifetime(room) {} }
            answer = try await endpoint.token(secrets, refresh: refresh)
        }
        switch answer {
        case .success(let token):
            var renewed = login
            renewed.renew(token, endsAt: settings.end(of: token, asked: asked))
            rotated = renewed.refresh
            try save(renewed, at: place, path, settings)
            // From now on the file counts: another process may replace it.
            rotated = nil
            return Authorizer.credentials(secrets, renewed, token.access)
        case .failure(let refusal):
            var error = endpoint.error(refusal)
            guard refusal.isInvalidGrant else { throw error }
            rotated = nil
            // Another program may have signed in, without the lock.
            let other = try stored(place, settings)
            if other.isValid(at: time.now(), besides: refusedToken), let access = other.access {
                return Authorizer.credentials(secrets, other, access)
            }
            if other.refresh == login.refresh { try note(refused: other, at: place, path, settings) }
            error.detail += "; the login has ended: sign in again with `\(place.command)`"
            throw error
        }
    }

    private func stored(_ place: LoginPlace, _ settings: OAuth2) throws(TransportError) -> StoredLogin {
        do throws(SecretError) { return try place.login(environment: environment) } catch {
            throw Authorizer.failure(error.description, settings)
        }
    }

    /// Notes in the file that the server accepts a login no longer, for `tarn status`.
    private func note(
        refused login: StoredLogin, at place: LoginPlace, _ path: String, _ settings: OAuth2
    ) throws(TransportError) {
        guard !login.isRefused else { return }
        var login = login
        login.isRefused = true
        try save(login, at: place, path, settings)
    }

    private func save(
        _ login: StoredLogin, at place: LoginPlace, _ path: String, _ settings: OAuth2
    ) throws(TransportError) {
        let code = place.save(login, to: path)
        guard code == 0 else { throw Authorizer.unwritten(path, code, settings) }
    }

    private static func credentials(
        _ secrets: [Secret], _ login: StoredLogin, _ access: Secret
    ) -> Credentials {
        // The place of the refresh token in the sources is that of the access token without one.
        Credentials(secrets: secrets + [login.refresh ?? access, access], endsAt: login.endsAt)
    }

    private static func failure(_ detail: String, _ settings: OAuth2) -> TransportError {
        TransportError(.credentials, method: "POST", url: settings.tokenURL, detail: detail)
    }
}
