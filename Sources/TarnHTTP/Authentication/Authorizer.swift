// Credentials in memory: secrets are read once, and concurrent requests share one renewal.

import Foundation
import Locking

/// The owner of an API's credentials.
actor Authorizer {
    let authentication: Authentication
    /// The name of the account; nil if the secrets distinguish accounts.
    private let account: String?
    let transport: any Transport
    /// The address of the API, which logins are relative to.
    let address: SessionLogin.Address
    let environment: [String: String]
    let time: TimeSource
    /// The current credentials; nil before they are read, and while they are renewed after a 401.
    private(set) var credentials: Credentials?
    /// The number of renewals, from 1 on: requests without credentials have 0.
    ///
    /// A request with a 401 compares it to detect that another request renewed the credentials
    /// already.
    private var generation = 1
    /// Whether the credentials are those that another client with the same keeper has got.
    private var areKept = false
    /// The sessions that a logout ends.
    let sessions: OpenSessions
    /// The session that a logout ends, among ``sessions``; nil for none.
    var openSession: UInt64?
    /// The renewal in progress.
    private var renewal: Task<Result<Credentials, TransportError>, Never>?
    /// The last refresh token that the token endpoint issued, if it could not be written to its
    /// file.
    private var rotated: Secret?
    /// The renewed login that could not be written to its file, and the refresh token in that.
    var unsaved: (login: StoredLogin, replacing: Secret)?
    /// The identifier of the login that the last scope named; nil if the account is named, or no
    /// person signs in.
    private(set) var scopedLogin: String?
    /// The access token that the API has refused last; nil if it has refused none.
    private(set) var refusedToken: Secret?
    /// The room in the folder of that file for the refresh token that a token request may bring.
    private var room: ReservedRoom?
    /// The refresh tokens that the process shares; nil if they are in a file, or not read yet.
    private var rotation: RefreshTokenRotation?
    /// The number of requests that wait for the renewal.
    private var waiting = 0
    /// Whether the commands of the renewal were ended, because nobody waits for it any more.
    private var isGivenUp = false
    /// The commands that the renewal runs.
    let commands = SecretCommands()
    /// Keeps tokens for the next authorizer of the same authentication; nil for none.
    private let keeper: TokenKeeper?
    /// Keeps refused logins: the keeper of tokens, or one of this authorizer.
    let refusals: TokenKeeper
    /// The times of the last logins and renewals because of a refused session or login.
    private var repeatedLogins: [Date] = []
    /// Called with the new scope when secrets were read, which may have changed.
    private let onScope: (@Sendable (Secret?) -> Void)?

    /// The result of a renewal after a refusal.
    enum Refresh: Sendable {
        /// There are no other credentials.
        case unavailable
        /// Another client has got these ones, perhaps before the server has refused them, too.
        case kept
        case renewed
    }

    struct Credentials: Sendable {
        /// The secrets in the order of ``Authentication/sources``.
        ///
        /// Tokens that were requested or signed with them are the last ones.
        var secrets: [Secret]
        /// The time from which the credentials are not used; nil if they do not expire.
        var endsAt: Date?
        /// The session that a logout ends, among ``Authorizer/sessions``; nil for none.
        var openSession: UInt64?
        /// The identifier of the person's login; nil without one.
        var login: String?
    }

    init(
        _ authentication: Authentication, account: String?, transport: any Transport, address: SessionLogin.Address,
        environment: [String: String], time: TimeSource, keeper: TokenKeeper? = nil,
        sessions: OpenSessions = .ofProcess, onScope: (@Sendable (Secret?) -> Void)? = nil
    ) {
        self.authentication = authentication
        self.account = account
        self.keeper = keeper
        self.sessions = sessions
        refusals = keeper ?? TokenKeeper()
        self.onScope = onScope
        if let known = keeper?.tokens(of: authentication, at: address) {
            (credentials, rotation, openSession) = (known.credentials, known.rotation, known.credentials.openSession)
        }
        self.transport = transport
        self.address = address
        self.environment = environment
        self.time = time
    }

    /// Returns the request with its credentials.
    ///
    /// - Returns: the request, the scrubber of its secrets and the generation of its credentials.
    func authorize(_ request: TransportRequest) async throws(TransportError) -> (
        TransportRequest, Scrubber, generation: Int
    ) {
        switch authentication {
        case .none: return (request, Scrubber(carriedBy: request), 0)
        case .signer(let signer):
            let signed: TransportRequest
            do { signed = try await signer.sign(request) } catch {
                if Task.isCancelled { throw Authorizer.cancelled(request) }
                throw TransportError(
                    .credentials, method: request.method, url: request.url,
                    detail: "cannot sign the request (\(signer.name)): \(error)")
            }
            return (signed, Scrubber(carriedBy: signed), 0)
        default: break
        }
        let credentials = try await current(for: request)
        var authorized = request
        authentication.add(credentials.secrets, to: &authorized)
        let shown = shownSecrets(credentials.secrets)
        let scrubber = Scrubber(
            shown, parameter: authentication.queryParameter, carried: CarriedSecrets.of(request))
        return (authorized, scrubber, generation)
    }

    /// Returns the secrets that a server may repeat, in responses to requests with credentials.
    private func shownSecrets(_ secrets: [Secret]) -> [String] {
        if case .basic = authentication {
            // The user name is not secret.
            let field = BasicCredentials.field(user: secrets[0].exposed, password: secrets[1].exposed)
            return [secrets[1].exposed, String(field.dropFirst("Basic ".count))]
        }
        let sources = authentication.sources, keys = authentication.keySources
        let tokens = secrets.dropFirst(sources.count).map(\.exposed)
        switch authentication {
        // The secrets of a login are sent to nothing else, and a key to nothing at all.
        // A token may have a scheme before it: `Bearer …`.
        case .session, .jwt:
            return tokens + tokens.compactMap { $0.split(separator: " ").dropFirst().last.map(String.init) }
        case .oauth2(let settings):
            let own = zip(sources, secrets).filter { !keys.contains($0.0) }.map(\.1.exposed)
            // The identifier of the client is not secret (RFC 6749 §2.2).
            return own.dropFirst(settings.clientID == nil ? 0 : 1) + tokens
        default: return secrets.map(\.exposed)
        }
    }

    /// Renews the credentials, unless they already differ from those of a generation.
    ///
    /// - Parameters:
    ///   - used: the generation that got a 401; nil for the current one.
    ///   - takingKept: whether the token of another client is taken, if there is one.
    func refresh(
        instead used: Int?, takingKept: Bool = true, request: TransportRequest
    ) async throws(TransportError) -> Refresh {
        if let used, used != generation, credentials != nil { return areKept ? .kept : .renewed }
        switch authentication {
        case .none, .signer: return .unavailable
        case .oauth2, .session, .jwt: break
        default: guard authentication.sources.contains(where: \.mayChange) else { return .unavailable }
        }
        // A renewal in progress already replaces the credentials.
        let before = credentials?.secrets
        if takingKept, renewal == nil, let before, takeKept(besides: before) { return .kept }
        if renewal == nil {
            if isOfPerson, !mayRepeatLogin() { return .unavailable }
            refusedToken = before?.last
            credentials = nil
        }
        let renewed = try await current(for: request)
        return before != renewed.secrets ? .renewed : .unavailable
    }

    /// Whether the credentials are a session, or the login of a person.
    private var isOfPerson: Bool {
        switch authentication {
        case .session: true
        case .oauth2(let settings): settings.loginPlace != nil
        default: false
        }
    }

    /// Returns whether a refused session or login may be renewed, and notes its renewal.
    ///
    /// A server may refuse every session, such as for one of its resources: not each request logs
    /// in, or renews a login that is valid.
    private func mayRepeatLogin() -> Bool {
        let now = time.now()
        repeatedLogins.removeAll { abs(now.timeIntervalSince($0)) >= 60 }
        guard repeatedLogins.count < 3 else { return false }
        repeatedLogins.append(now)
        return true
    }

    /// Takes the token that another client with the same keeper has got since.
    ///
    /// A server may accept the newest token only: clients that each renew their own would end one
    /// another's.
    ///
    /// - Returns: whether there is one besides the refused one that has not expired.
    private func takeKept(besides refused: [Secret]) -> Bool {
        guard let known = keeper?.tokens(of: authentication, at: address),
            known.credentials.secrets != refused, known.credentials.endsAt.map({ $0 > time.now() }) ?? true
        else { return false }
        (credentials, rotation, areKept) = (known.credentials, known.rotation ?? rotation, true)
        openSession = known.credentials.openSession
        generation += 1
        return true
    }

    /// Returns a text that is unique to the account; see ``AuthorizedTransport/scope()``.
    func scope() async throws(TransportError) -> Secret? {
        switch authentication {
        case .none, .signer: return authentication.scope(of: [], account: account)
        case .oauth2(let settings):
            let secrets = try await readApart(
                settings.sources, TransportRequest(method: "POST", url: settings.tokenURL))
            // Requests from now on belong to that login.
            if settings.loginPlace != nil, (account ?? settings.account) == nil { scopedLogin = secrets.last?.exposed }
            return authentication.scope(of: secrets, account: account)
        // No token is requested for the name of the account.
        case .session, .jwt:
            guard account == nil else { return authentication.scope(of: [], account: account) }
            // The call of a program stands for what it prints.
            let sources = authentication.sources
            var read = try await readApart(sources.filter { !$0.isCommand }, TransportRequest(url: ""))[...]
            let secrets = sources.map { $0.isCommand ? Secret("") : read.popFirst() ?? Secret("") }
            return authentication.scope(of: secrets, account: nil)
        default:
            let secrets = try await current(for: TransportRequest(url: "")).secrets
            return authentication.scope(of: secrets, account: account)
        }
    }

    // MARK: One for all

    /// Returns valid credentials; renews them if they are missing or expired.
    private func current(for request: TransportRequest) async throws(TransportError) -> Credentials {
        if let credentials, renewal == nil, isCurrent(credentials) { return credentials }
        // A renewal that was given up ends at once.
        while isGivenUp, let renewal { _ = await renewal.value }
        // A detached lifetime: if the first caller is cancelled, the others still get the
        // credentials.
        // Nobody has to wait for the end of a token request.
        RequestProgress.current?.waits()
        let task = renewal ?? RequestProgress.$current.withValue(nil) { Task { await self.renew() } }
        renewal = task
        waiting += 1
        let outcome = SettledOnce<Result<Credentials, TransportError>?>()
        Task { outcome.settle(await task.value) }
        let result = await withTaskCancellationHandler {
            await outcome.value()
        } onCancel: {
            outcome.settle(nil)
        }
        waiting -= 1
        var error: TransportError
        switch result {
        case .success(let credentials): return credentials
        case .failure(let failure): error = failure
        case nil:
            // Nobody needs the secret any more.
            if waiting == 0, renewal == task { isGivenUp = commands.end() }
            throw Authorizer.cancelled(request)
        }
        let target = request.url.isEmpty ? "" : " for \(Redaction.url(request.url))"
        error.detail = "no credentials\(target): \(error.detail)"
        error.isFinal = true
        throw error
    }

    private func isCurrent(_ credentials: Credentials) -> Bool {
        let isOfScope = scopedLogin == nil || credentials.login == nil || credentials.login == scopedLogin
        return isOfScope && credentials.endsAt.map { $0 > time.now() } ?? true
    }

    /// Reads or requests new credentials and stores them.
    private func renew() async -> Result<Credentials, TransportError> {
        let result: Result<Credentials, TransportError>
        do throws(TransportError) {
            switch authentication {
            case .oauth2(let settings): result = .success(try await token(settings))
            case .session(let login): result = .success(try await session(login))
            case .jwt(let token): result = .success(try await signed(token))
            default:
                let secrets = try await read(authentication.sources, TransportRequest(url: ""))
                result = .success(Credentials(secrets: secrets))
            }
        } catch {
            result = .failure(error)
        }
        if case .success(let renewed) = result {
            (credentials, areKept) = (renewed, false)
            generation += 1
            switch authentication {
            case .oauth2, .session:
                keeper?.keep(.init(credentials: renewed, rotation: rotation), of: authentication, at: address)
            case .jwt: break
            default: onScope?(authentication.scope(of: renewed.secrets, account: account))
            }
        }
        renewal = nil
        isGivenUp = false
        return result
    }

    /// Requests an access token from the token endpoint, and saves a new refresh token.
    private func token(_ settings: OAuth2) async throws(TransportError) -> Credentials {
        let place = TransportRequest(method: "POST", url: settings.tokenURL)
        if let problem = OAuth2.problem(ofTokenURL: settings.tokenURL) {
            throw TransportError(.credentials, method: "POST", url: settings.tokenURL, detail: problem)
        }
        var sources = settings.sources, refreshSource: SecretSource?
        if case .refreshToken(let source) = settings.grant {
            sources.removeLast()
            refreshSource = source
        }
        // A program that asks a person must not delay the others: it runs before the lock.
        let secrets = try await read(sources, place)
        guard let refreshSource else { return try await exchange(settings, secrets, refresh: nil).get() }
        if case .login(let place) = refreshSource { return try await tokenOfLogin(settings, secrets, at: place) }
        guard case .file(let path) = refreshSource else {
            return try await sharedToken(settings, secrets, refreshSource)
        }
        // The server may accept a refresh token only once: those that share the file take turns.
        let lock = await FolderLock.take(around: path)
        defer { withExtendedLifetime(lock) {} }
        let refresh = if let rotated { rotated } else { try await read([refreshSource], place)[0] }
        room = try Authorizer.reserveRoom(beside: path, settings)
        defer { room = nil }
        let result = try await exchange(settings, secrets, refresh: refresh)
        // Another program may have replaced the token, without the lock.
        if case .failure(let error) = result {
            let other = try? await read([refreshSource], place)[0]
            guard let other, other != refresh else { throw error }
            rotated = nil
            return try await exchange(settings, secrets, refresh: other).get()
        }
        return try result.get()
    }

    /// Requests an access token with a refresh token that is in no file: the clients of the process
    /// share the newest one.
    private func sharedToken(
        _ settings: OAuth2, _ secrets: [Secret], _ source: SecretSource
    ) async throws(TransportError) -> Credentials {
        let place = TransportRequest(method: "POST", url: settings.tokenURL), known = rotation
        func shared(_ token: Secret) -> RefreshTokenRotation {
            .of(token, client: secrets.first ?? Secret(""), at: settings.tokenURL)
        }
        func exchange(
            _ rotation: RefreshTokenRotation, declared: Secret? = nil, after refused: Secret? = nil
        ) async throws(TransportError) -> (Result<Credentials, TransportError>, token: Secret) {
            self.rotation = rotation
            await rotation.take()
            defer { rotation.release() }
            // Another client may have a newer one by now.
            if let declared, rotation.newest == refused { rotation.newest = declared }
            let token = rotation.newest, result = try await self.exchange(settings, secrets, refresh: token)
            if case .failure = result { rotation.refuse(token) }
            return (result, token)
        }
        let newest: RefreshTokenRotation, first: Secret?
        if let known {
            (newest, first) = (known, nil)
        } else {
            let token = try await read([source], place)[0]
            (newest, first) = (shared(token), token)
        }
        var (result, refused) = try await exchange(newest)
        if case .failure = result {
            // The source may have another token by now, or the server may have forgotten those that
            // have replaced the declared one.
            let declared: Secret? = if let first { first } else { try? await read([source], place)[0] }
            if let declared, declared != refused {
                (result, refused) = try await exchange(shared(declared), declared: declared, after: refused)
            }
        }
        guard case .failure(var error) = result else { return try result.get() }
        error.detail +=
            "; if the server accepts a refresh token only once, another process has used it: keep a new one in a "
            + "file that all of them share (refresh_token: { file: … })"
        throw error
    }

    /// Occupies room for the refresh token that a token request may bring.
    static func reserveRoom(beside path: String, _ settings: OAuth2) throws(TransportError) -> ReservedRoom {
        do throws(ReservedRoom.Full) { return try ReservedRoom(beside: path) } catch {
            throw TransportError(
                .credentials, method: "POST", url: settings.tokenURL,
                detail:
                    "there is no room for a new refresh token in \(path): \(String(cString: strerror(error.code))). "
                    + "No token was requested; free some space")
        }
    }

    /// Sends one token request, and saves a new refresh token.
    ///
    /// - Returns: the credentials, or a failure because the grant is not valid (RFC 6749 §5.2).
    private func exchange(
        _ settings: OAuth2, _ secrets: [Secret], refresh: Secret?
    ) async throws(TransportError) -> Result<Credentials, TransportError> {
        let asked = time.now(), endpoint = TokenEndpoint(settings, transport, time)
        let token: OAuth2.Token
        switch try await endpoint.token(secrets, refresh: refresh) {
        case .failure(let refusal):
            guard refusal.isInvalidGrant else { throw endpoint.error(refusal) }
            return .failure(endpoint.error(refusal))
        case .success(let issued): token = issued
        }
        if let next = token.refresh, case .refreshToken(let source) = settings.grant {
            if case .file(let path) = source {
                rotated = next
                room = nil
                if next != refresh { try Authorizer.save(next, path, settings) }
                // From now on the file counts: another process may replace it.
                rotated = nil
            } else {
                rotation?.newest = next
            }
        }
        return .success(
            Credentials(
                secrets: secrets + [refresh, token.access].compactMap(\.self),
                endsAt: settings.end(of: token, asked: asked)))
    }

    static func cancelled(_ request: TransportRequest) -> TransportError {
        TransportError(.cancelled, method: request.method, url: request.url, detail: "the task was cancelled")
    }

    /// Saves a refresh token atomically: the file has the whole new token or the old one.
    private static func save(_ secret: Secret, _ path: String, _ settings: OAuth2) throws(TransportError) {
        let code = PrivateFile.replace(path, with: Array((secret.exposed + "\n").utf8))
        guard code == 0 else { throw unwritten(path, code, settings) }
    }

    /// Returns the error of a refresh token that could not be written.
    static func unwritten(_ path: String, _ code: Int32, _ settings: OAuth2) -> TransportError {
        TransportError(
            .credentials, method: "POST", url: settings.tokenURL,
            detail: "cannot write the new refresh token to \(path): \(String(cString: strerror(code))); "
                + "the one in that file may no longer be valid")
    }
}

extension Authorizer: CustomReflectable {
    /// No children: the environment may have secrets of the whole process.
    nonisolated var customMirror: Mirror { Mirror(self, children: [:]) }
}
