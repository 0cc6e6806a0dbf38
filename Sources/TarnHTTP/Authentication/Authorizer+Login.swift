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
        let login = try saved(try stored(place, settings), at: place, path, settings)
        if login.isValid(at: time.now(), besides: refusedToken), let access = login.access {
            return Authorizer.credentials(secrets, login, access)
        }
        let endpoint = TokenEndpoint(settings, transport, time)
        guard let refresh = login.refresh else {
            let isRefused = login.access == refusedToken
            if isRefused { note(refused: login, at: place, path) }
            let reason = isRefused ? "the server has refused the login" : "the login has expired"
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
            unsaved = (renewed, replacing: refresh)
            try save(renewed, at: place, path, settings)
            // From now on the file counts: another process may replace it.
            unsaved = nil
            return Authorizer.credentials(secrets, renewed, token.access)
        case .failure(let refusal):
            var error = endpoint.error(refusal)
            guard refusal.isInvalidGrant else { throw error }
            // Another program may have signed in, without the lock.
            let other = try stored(place, settings)
            if other.isValid(at: time.now(), besides: refusedToken), let access = other.access {
                return Authorizer.credentials(secrets, other, access)
            }
            if other.refresh == login.refresh { note(refused: other, at: place, path) }
            error.detail += "; the login has ended: sign in again with `\(place.command)`"
            throw error
        }
    }

    /// Reads the login. Its responses would not be those of the person whose login was replaced.
    private func stored(_ place: LoginPlace, _ settings: OAuth2) throws(TransportError) -> StoredLogin {
        let login: StoredLogin
        do throws(SecretError) { login = try place.login(environment: environment) } catch {
            throw Authorizer.failure(error.description, settings)
        }
        guard scopedLogin == nil || login.identifier == scopedLogin else {
            throw Authorizer.failure("somebody has signed in anew since this began: begin it again", settings)
        }
        return login
    }

    /// Writes a renewed login that could not be written before, unless another one has replaced the
    /// file since.
    ///
    /// - Returns: the login in the file.
    private func saved(
        _ login: StoredLogin, at place: LoginPlace, _ path: String, _ settings: OAuth2
    ) throws(TransportError) -> StoredLogin {
        if let unsaved, unsaved.login.identifier == login.identifier, unsaved.replacing == login.refresh {
            try save(unsaved.login, at: place, path, settings)
            self.unsaved = nil
            return unsaved.login
        }
        unsaved = nil
        return login
    }

    /// Notes in the file that the server accepts a login no longer.
    ///
    /// Only `tarn status` needs the note: a file that cannot be written stays.
    private func note(refused login: StoredLogin, at place: LoginPlace, _ path: String) {
        guard !login.isRefused else { return }
        var login = login
        login.isRefused = true
        _ = place.save(login, to: path)
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
        var credentials = Credentials(secrets: secrets + [login.refresh ?? access, access], endsAt: login.endsAt)
        credentials.login = login.identifier
        return credentials
    }

    private static func failure(_ detail: String, _ settings: OAuth2) -> TransportError {
        TransportError(.credentials, method: "POST", url: settings.tokenURL, detail: detail)
    }
}
