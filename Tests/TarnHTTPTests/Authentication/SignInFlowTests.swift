// Sign-ins by a device code, the file of a login, and its renewal and end.

import Foundation
import Glibc
import TestSupport
import Testing

@testable import TarnHTTP

@Suite("Sign-ins", .timeLimit(.minutes(5)))
struct SignInFlowTests {
    private let folder: TemporaryFolder
    private let clock = SleepingClock()
    private let request = TransportRequest(url: "https://api.example/items")
    private var environment: [String: String] { ["XDG_STATE_HOME": folder.path] }

    init() throws { folder = try TemporaryFolder() }

    private func settings(_ api: String? = nil, secret: String? = nil, account: String? = nil) -> OAuth2 {
        var settings = OAuth2(
            tokenURL: SignInServer.base + "/token", clientID: .value(Secret("tarn")),
            clientSecret: secret.map { .value(Secret($0)) }, scopes: ["read", "list"],
            parameters: [.init("audience", "forge")], account: account)
        settings.signIn = OAuth2.SignIn(
            deviceURL: SignInServer.base + "/device", authorizeURL: SignInServer.base + "/authorize")
        settings.signIn?.parameters = [.init("access_type", "offline")]
        settings.grant = .refreshToken(
            .login(
                LoginPlace(
                    file: "tarn.yaml", api: api, tokenURL: settings.tokenURL, client: settings.clientID,
                    account: account)))
        return settings
    }

    /// The settings of a login in a file of one's own.
    private func settings(inFile path: String) -> OAuth2 {
        var settings = settings()
        settings.grant = .refreshToken(
            .login(
                LoginPlace(
                    file: "tarn.yaml", api: nil, tokenURL: settings.tokenURL, client: settings.clientID, account: nil,
                    path: path)))
        return settings
    }

    private func transport(_ server: SignInServer, _ settings: OAuth2) -> AuthorizedTransport {
        AuthorizedTransport(
            server, .oauth2(settings), origins: ["https://api.example"], environment: environment, time: clock.source)
    }

    private func flow(_ server: SignInServer, _ settings: OAuth2) throws -> SignInFlow {
        try #require(
            SignInFlow(settings, transport: server, environment: environment, time: clock.source))
    }

    @discardableResult
    private func signIn(_ server: SignInServer, _ settings: OAuth2) async throws -> String {
        try await flow(server, settings).begin(by: .device) { _ in }
    }

    private func send(_ server: SignInServer, _ settings: OAuth2) async throws -> Int {
        try await transport(server, settings).send(request).status
    }

    private func failure(_ body: () async throws -> Void) async -> String {
        do { try await body() } catch { return "\(error)" }
        return ""
    }

    // MARK: The device grant

    @Test("a device waits as the server demands, and a login is a private file that the API's requests use")
    func device() async throws {
        let server = SignInServer([
            .error("authorization_pending"), .error("slow_down"), .failure(.timeout),
            .error("authorization_pending", status: 200),
        ])
        let settings = settings(), shown = Seen<String>()
        let path = try await flow(server, settings).begin(by: .device) { prompt in
            if case .device(let code, let url, _, _) = prompt { shown.set(code + " " + url) }
        }
        #expect(shown.value == "ABCD-EFGH https://auth.example/enter")
        #expect(clock.sleeps == [2, 2, 7, 14, 14])
        #expect(server.forms("/device") == ["scope=read%20list&access_type=offline&client_id=tarn"])
        #expect(
            server.forms("/token").last
                == "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code&device_code=device-code"
                + "&audience=forge&client_id=tarn")
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(path.hasPrefix(folder.path + "/tarn/logins/auth.example-"), "\(path)")
        let before = server.forms("/token").count
        #expect(try await send(server, settings) == 200)
        #expect(server.forms("/token").count == before, "the access token is kept")
    }

    @Test("a denial, the end of a code and an answer without one name the way out, and keep nothing")
    func refusals() async throws {
        let denied = await failure { try await signIn(SignInServer([.error("access_denied")]), settings()) }
        #expect(denied.hasPrefix("POST ") && denied.hasSuffix("the sign-in was denied"), "\(denied)")
        let declined = await failure {
            try await signIn(SignInServer([.error("authorization_declined")]), settings())
        }
        #expect(declined.contains("the sign-in was denied"), "\(declined)")
        let expired = await failure { try await signIn(SignInServer([.error("expired_token")]), settings()) }
        #expect(expired.contains("the code has expired: run `tarn login` again"), "\(expired)")
        let pending = Array(repeating: SignInServer.Answer.error("authorization_pending"), count: 100)
        let server = SignInServer(pending), late = await failure { try await signIn(server, settings("crm")) }
        #expect(late.contains("the code has expired: run `tarn login crm` again"), "\(late)")
        #expect(server.forms("/token").count == 29, "60 seconds at 2 seconds each")
        let other = await failure {
            try await signIn(SignInServer([.error("device_flow_disabled", status: 200)]), settings())
        }
        #expect(other.contains("device_flow_disabled"), "\(other)")
        #expect(settings().loginState(environment: environment) == .signedOut)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/tarn"))
    }

    @Test("answers for devices that a person cannot use are none")
    func codes() throws {
        func code(_ changes: [String: String?]) -> SignInFlow.DeviceCode? {
            var members = ["device_code": "d", "user_code": "u", "verification_uri": "https://a.example/"]
            for (name, value) in changes { members[name] = value }
            return SignInFlow.DeviceCode(
                .object(members.map { .init($0.key, .string($0.value)) }))
        }
        #expect(code([:]).map { $0.interval == 5 && $0.lifetime == 900 } == true)
        #expect(code(["verification_uri": nil, "verification_url": "https://a.example/"]) != nil)
        #expect(code(["verification_uri": "http://a.example/"]) == nil)
        #expect(code(["verification_uri": "javascript:alert(1)"]) == nil)
        #expect(code(["user_code": "a\u{1B}[2J"]) == nil && code(["user_code": ""]) == nil)
        #expect(code(["device_code": nil]) == nil)
        #expect(code(["verification_uri_complete": "file:///etc/passwd"]).map { $0.complete == nil } == true)
        #expect(code(["interval": "0", "expires_in": "1e300"]).map { $0.interval == 1 && $0.lifetime == 3600 } == true)
    }

    @Test("a client with a secret is only named first; one without a secret may send an empty one")
    func clients() async throws {
        let server = SignInServer()
        try await signIn(server, settings(secret: "hush-hush"))
        #expect(server.forms("/device") == ["scope=read%20list&access_type=offline&client_id=tarn"])
        let token = try #require(server.requests.last)
        #expect(token.headers["Authorization"] == "Basic " + Data("tarn:hush-hush".utf8).base64EncodedString())

        var reddit = settings("reddit")
        reddit.signIn?.sendsEmptySecret = true
        try await signIn(server, reddit)
        let field = server.requests.last?.headers["Authorization"]
        #expect(field == "Basic " + Data("tarn:".utf8).base64EncodedString())
    }

    // MARK: The login

    @Test("an expired token and a refused one are renewed without scopes, and the next process uses the new ones")
    func renewal() async throws {
        let server = SignInServer(), settings = settings()
        try await signIn(server, settings)
        clock.advance(by: 3600)
        #expect(try await send(server, settings) == 200)
        #expect(
            server.forms("/token").last
                == "grant_type=refresh_token&refresh_token=refresh-1&audience=forge&client_id=tarn")
        server.revoke()
        #expect(try await send(server, settings) == 200)
        #expect(server.forms("/token").last?.contains("refresh_token=refresh-2&") == true)
        let count = server.forms("/token").count
        #expect(try await send(server, settings) == 200)
        #expect(server.forms("/token").count == count)
    }

    @Test("a token that another process has renewed in between is taken: the replaced one is not sent")
    func rotatedInBetween() async throws {
        let server = SignInServer(), settings = settings()
        try await signIn(server, settings)
        let first = transport(server, settings)
        #expect(try await first.send(request).status == 200)
        clock.advance(by: 3600)
        #expect(try await send(server, settings) == 200)
        #expect(try await first.send(request).status == 200)
        #expect(server.forms("/token").count { $0.hasPrefix("grant_type=refresh_token") } == 1)
    }

    @Test("a resource that refuses every token does not renew the login for each request, and does not end it")
    func refusedResource() async throws {
        let server = SignInServer(), settings = settings(), transport = transport(server, settings)
        try await signIn(server, settings)
        let forbidden = TransportRequest(url: "https://api.example/forbidden")
        func renewals() -> Int { server.forms("/token").count { $0.hasPrefix("grant_type=refresh_token") } }
        for _ in 0..<6 { #expect(try await transport.send(forbidden).status == 401) }
        #expect(renewals() == 3)
        #expect(try await transport.send(request).status == 200)
        clock.advance(by: 60)
        #expect(try await transport.send(forbidden).status == 401)
        #expect(renewals() == 4)
        #expect(settings.loginState(environment: environment) != .ended)
    }

    @Test("the command that signs in again can be pasted into a shell, whatever the path of the description")
    func command() {
        func command(_ file: String, _ api: String? = nil) -> String {
            LoginPlace(file: file, api: api, tokenURL: "", client: nil, account: nil).command
        }
        #expect(command("tarn.yaml") == "tarn login" && command("tarn.yaml", "crm") == "tarn login crm")
        #expect(command("/etc/tarn/forge-2.yaml") == "tarn login --file /etc/tarn/forge-2.yaml")
        #expect(command("my apis/it's.yaml") == #"tarn login --file 'my apis/it'\''s.yaml'"#)
    }

    @Test("without a refresh token the login lasts until the API refuses it; the failure names `tarn login`")
    func accessTokenOnly() async throws {
        let server = SignInServer(hasRefreshTokens: false), settings = settings()
        try await signIn(server, settings)
        clock.advance(by: 1e7)
        #expect(try await send(server, settings) == 200)
        server.revoke()
        let refused = await failure { _ = try await send(server, settings) }
        #expect(refused.contains("the server has refused the login: sign in again with `tarn login`"), "\(refused)")
        #expect(settings.loginState(environment: environment) == .ended)
        try await signIn(server, settings)
        #expect(try await send(server, settings) == 200)
    }

    @Test("a refresh token that the server accepts no longer ends the login, and is in no message")
    func invalidGrant() async throws {
        let server = SignInServer(), settings = settings()
        try await signIn(server, settings)
        clock.advance(by: 3600)
        server.queue(
            .init(body: #"{"error":"invalid_grant","error_description":"refresh-1 is gone"}"#))
        let ended = await failure { _ = try await send(server, settings) }
        #expect(ended.contains("the login has ended: sign in again with `tarn login`"), "\(ended)")
        #expect(!ended.contains("refresh-1"), "\(ended)")
        #expect(settings.loginState(environment: environment) == .ended)
        // GitHub refuses with 200.
        server.queue(.init(status: 200, body: #"{"error":"bad_refresh_token","error_description":"refresh-1"}"#))
        let github = await failure { _ = try await send(server, settings) }
        #expect(github.contains("bad_refresh_token") && !github.contains("refresh-1"), "\(github)")
    }

    @Test("logins of APIs, accounts, clients and servers are apart, and nobody is signed in to another one")
    func places() async throws {
        let server = SignInServer(), settings = settings("a", account: "ada")
        try await signIn(server, settings)
        #expect(try await send(server, settings) == 200)
        let missing = await failure { _ = try await send(server, self.settings("b", account: "ada")) }
        #expect(missing.contains("nobody is signed in: sign in with `tarn login b`"), "\(missing)")
        func path(_ api: String?, _ url: String, _ client: SecretSource?, _ account: String?, _ file: String) throws
            -> String
        {
            try LoginPlace(file: file, api: api, tokenURL: url, client: client, account: account)
                .path(environment: environment)
        }
        let paths = try [
            path("a", "https://a.example/t", .environment("X"), nil, "/x/tarn.yaml"),
            path("b", "https://a.example/t", .environment("X"), nil, "/x/tarn.yaml"),
            path("a", "https://b.example/t", .environment("X"), nil, "/x/tarn.yaml"),
            path("a", "https://a.example/t", .value(Secret("X")), nil, "/x/tarn.yaml"),
            path("a", "https://a.example/t", .environment("X"), "ada", "/x/tarn.yaml"),
            path("a", "https://a.example/t", .environment("X"), nil, "/y/tarn.yaml"),
            path(nil, "https://a.example/t", .environment("X"), nil, "/x/tarn.yaml"),
            path("../../x", "https://a.example/t", .environment("X"), nil, "/x/tarn.yaml"),
        ]
        #expect(Set(paths).count == paths.count)
        #expect(paths.allSatisfy { $0.hasPrefix(folder.path + "/tarn/logins/") && !$0.contains("/../") })
        #expect(throws: SecretError.self) {
            try LoginPlace(file: "tarn.yaml", api: nil, tokenURL: "", client: nil, account: nil).path(environment: [:])
        }
    }

    @Test("a server that fails for a moment does not end the login, whatever its answer says")
    func passingRefusal() async throws {
        let server = SignInServer(), settings = settings()
        try await signIn(server, settings)
        clock.advance(by: 3600)
        server.queue(.error("invalid_grant", status: 503))
        let failed = await failure { _ = try await send(server, settings) }
        #expect(failed.contains("503") && !failed.contains("the login has ended"), "\(failed)")
        #expect(settings.loginState(environment: environment) != .ended)
        #expect(try await send(server, settings) == 200)
    }

    @Test("a renewed login that cannot be written is kept, and written before another renewal")
    func unsaved() async throws {
        // A file beside a name of this length has a name that is too long.
        let long = try folder.write(String(repeating: "x", count: 250), "refresh-0\n"), path = folder("token")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: long)
        let server = SignInServer(), transport = transport(server, settings(inFile: path))
        for _ in 0..<2 {
            let failed = await failure { _ = try await transport.send(request) }
            #expect(failed.contains("cannot write the new refresh token to \(path)"), "\(failed)")
        }
        try FileManager.default.removeItem(atPath: path)
        _ = try folder.write("token", "refresh-0\n")
        #expect(try await transport.send(request).status == 200)
        #expect(server.forms("/token").count == 1, "the replaced refresh token is not sent again")
        #expect(try String(contentsOfFile: path, encoding: .utf8).contains(#""refresh_token":"refresh-1""#))
    }

    @Test("what began with one login does not go on with another one; what begins later uses that")
    func anotherLogin() async throws {
        let server = SignInServer(), settings = settings(), transport = transport(server, settings)
        try await signIn(server, settings)
        let scope = try await transport.scope()
        #expect(try await transport.send(request).status == 200)
        try await signIn(server, settings)
        let failed = await failure { _ = try await transport.send(request) }
        #expect(failed.contains("somebody has signed in anew since this began"), "\(failed)")
        #expect(try await transport.scope() != scope)
        #expect(try await transport.send(request).status == 200)
        #expect(!server.forms("/token").contains { $0.hasPrefix("grant_type=refresh_token") })
    }

    @Test("the token of a former login, kept for other clients, is not sent for the stored data of the next one")
    func keptToken() async throws {
        let server = SignInServer(), settings = settings(), keeper = TokenKeeper()
        func client() -> AuthorizedTransport {
            AuthorizedTransport(
                server, .oauth2(settings), origins: ["https://api.example"], environment: environment,
                time: clock.source, keeper: keeper)
        }
        try await signIn(server, settings)
        #expect(try await client().send(request).status == 200)
        try await signIn(server, settings)
        let next = client()
        _ = try await next.scope()
        #expect(try await next.send(request).status == 200)
        #expect(server.requests.last { $0.url == request.url }?.headers["Authorization"] == "Bearer access-2")
        #expect(server.requests.count { $0.url == request.url } == 2, "the former token is not tried first")
    }

    @Test("stored data belongs to the login, also when it is renewed; that of another sign-in is another account's")
    func scope() async throws {
        let server = SignInServer(), settings = settings(), scheme = Authentication.oauth2(settings)
        func scope() throws -> Secret? { try scheme.scope(account: nil, environment: environment) }
        #expect(throws: SecretError.self) { try scope() }
        try await signIn(server, settings)
        let first = try scope()
        clock.advance(by: 3600)
        #expect(try await send(server, settings) == 200)
        #expect(server.forms("/token").count == 2)
        #expect(try scope() == first)
        try await signIn(server, settings)
        #expect(try scope() != first)
        let named = Authentication.oauth2(self.settings(account: "ada"))
        try await signIn(server, self.settings(account: "ada"))
        let ada = try named.scope(account: nil, environment: environment)
        try await signIn(server, self.settings(account: "ada"))
        #expect(try named.scope(account: nil, environment: environment) == ada)
    }

    @Test("a declared file with a refresh token from elsewhere is taken over, and one that is no login is refused")
    func declaredFile() async throws {
        let server = SignInServer(), path = try folder.write("token", "refresh-0\n")
        let settings = settings(inFile: path)
        #expect(settings.loginState(environment: environment) == .signedIn(since: nil, endsAt: nil))
        #expect(try await send(server, settings) == 200)
        #expect(server.forms("/token").last?.contains("refresh_token=refresh-0&") == true)
        #expect(try String(contentsOfFile: path, encoding: .utf8).contains(#""refresh_token":"refresh-1""#))
        for text in ["", "a\u{1}b", #"{"version":2,"id":"x","access_token":"a"}"#, #"{"version":1,"id":"x"}"#] {
            _ = try folder.write("token", text)
            #expect(settings.loginState(environment: environment) == .signedOut, "\(text)")
        }
    }

    @Test("signing out removes the tokens behind a symbolic link, and tells that unknown ones are not revoked")
    func signingOutOfLinks() async throws {
        let server = SignInServer(), path = folder("token"), file = try folder.write("real", "refresh-0\n")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: file)
        var settings = settings(inFile: path)
        guard case .forgotten = try await flow(server, settings).end() else {
            Issue.record("there is no revocation endpoint")
            return
        }
        #expect(!FileManager.default.fileExists(atPath: file))
        _ = try folder.write("real", #"{"version":2}"#)
        settings.signIn?.revokeURL = SignInServer.base + "/revoke"
        guard case .notRevoked(let error) = try await flow(server, settings).end() else {
            Issue.record("there is no token to revoke")
            return
        }
        #expect("\(error)".contains("has no login that this version knows"), "\(error)")
        #expect(!FileManager.default.fileExists(atPath: file) && server.requests.isEmpty)
    }

    @Test("signing out revokes the refresh token if the server can, and removes the file in any case")
    func signingOut() async throws {
        let server = SignInServer()
        var settings = settings()
        let path = try await signIn(server, settings)
        guard case .forgotten = try await flow(server, settings).end() else {
            Issue.record("there is no revocation endpoint")
            return
        }
        #expect(!FileManager.default.fileExists(atPath: path))
        settings.signIn?.revokeURL = SignInServer.base + "/revoke"
        try await signIn(server, settings)
        guard case .revoked = try await flow(server, settings).end() else {
            Issue.record("the server revokes")
            return
        }
        #expect(server.forms("/revoke") == ["token=refresh-2&token_type_hint=refresh_token&client_id=tarn"])
        try await signIn(server, settings)
        server.queue(.error("temporarily_unavailable", status: 503))
        guard case .notRevoked(let error) = try await flow(server, settings).end() else {
            Issue.record("the server does not revoke")
            return
        }
        #expect("\(error)".contains("503"), "\(error)")
        #expect(!FileManager.default.fileExists(atPath: path))
        guard case .wasSignedOut = try await flow(server, settings).end() else {
            Issue.record("nobody is signed in")
            return
        }
    }
}
