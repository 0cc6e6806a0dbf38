// OAuth 2 tokens: requests, their number, and refusals.

import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TarnHTTP

@Suite("OAuth 2", .timeLimit(.minutes(5)))
struct OAuth2Tests {
    /// A server of tokens and an API in one: hands out numbered tokens, and accepts the newest one
    /// only.
    final class TokenServer: Transport {
        private let state = Mutex<(tokens: Int, requests: [TransportRequest], revoked: Bool)>((0, [], false))
        let lifetime: Int?
        let rotates: Bool

        init(lifetime: Int? = 3600, rotates: Bool = false) {
            self.lifetime = lifetime
            self.rotates = rotates
        }

        var tokenRequests: [TransportRequest] { state.withLock { $0.requests } }
        func revoke() { state.withLock { $0.revoked = true } }

        func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
            // Long enough for others to come and wait; of the API, some come back when the new
            // token is there already.
            try? await Task.sleep(for: .milliseconds(request.url.hasSuffix("/token") ? 5 : Int.random(in: 1...40)))
            return state.withLock { state in
                guard request.url.hasSuffix("/token") else {
                    let isValid = request.headers["Authorization"] == "Bearer token-\(state.tokens)" && !state.revoked
                    return TransportResponse(status: isValid ? 200 : 401)
                }
                state.requests.append(request)
                state.tokens += 1
                state.revoked = false
                var json = "{\"access_token\":\"token-\(state.tokens)\",\"token_type\":\"bearer\""
                if let lifetime { json += ",\"expires_in\":\(lifetime)" }
                if rotates { json += ",\"refresh_token\":\"refresh-\(state.tokens)\"" }
                return TransportResponse(status: 200, body: Array((json + "}").utf8))
            }
        }
    }

    static let client = OAuth2(
        tokenURL: "https://auth.example/token", clientID: .value(Secret("tarn")),
        clientSecret: .value(Secret("cl:i/ent")),
        scopes: ["read", "list"], parameters: [.init("audience", "a b")])
    let request = TransportRequest(url: "https://api.example/items")

    private func transport(_ server: TokenServer, _ settings: OAuth2 = client, time: TimeSource = .system)
        -> AuthorizedTransport
    {
        AuthorizedTransport(server, .oauth2(settings), origins: ["https://api.example"], time: time)
    }

    func form(_ request: TransportRequest) -> String { String(decoding: request.body ?? [], as: UTF8.self) }

    @Test("client credentials: the form and the proof of the client are as RFC 6749 has them")
    func clientCredentials() async throws {
        let server = TokenServer()
        #expect(try await transport(server).send(request).status == 200)
        let asked = try #require(server.tokenRequests.first)
        #expect(asked.method == "POST" && asked.headers["Content-Type"] == "application/x-www-form-urlencoded")
        #expect(form(asked) == "grant_type=client_credentials&scope=read%20list&audience=a%20b")
        #expect(asked.headers["Authorization"] == "Basic " + Data("tarn:cl%3Ai%2Fent".utf8).base64EncodedString())

        var settings = Self.client
        settings.clientAuthentication = .body
        let other = TokenServer()
        _ = try await transport(other, settings).send(request)
        #expect(other.tokenRequests.first?.headers["Authorization"] == nil)
        #expect(other.tokenRequests.first.map(form)?.hasSuffix("&client_id=tarn&client_secret=cl%3Ai%2Fent") == true)
    }

    @Test("many requests that need a token wait for one: it is asked for once")
    func singleFlight() async throws {
        let server = TokenServer(), transport = transport(server)
        func all() async throws {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<50 { group.addTask { try await transport.send(request).status } }
                for try await status in group { #expect(status == 200) }
            }
        }
        try await all()
        #expect(server.tokenRequests.count == 1)
        // All of them get the 401, and one requests a token.
        server.revoke()
        try await all()
        #expect(server.tokenRequests.count == 2)
    }

    @Test("whoever gives up waiting does not take the token from the others")
    func cancelledWaiter() async throws {
        let server = TokenServer(), transport = transport(server)
        let first = Task { try await transport.send(request).status }
        let second = Task { try await transport.send(request).status }
        first.cancel()
        #expect(try await second.value == 200)
        _ = await first.result
        #expect(server.tokenRequests.count == 1)
    }

    @Test("a token is renewed before it ends, not after, and one without an end is kept")
    func expiry() async throws {
        let time = TestTime(), server = TokenServer(lifetime: 100), transport = transport(server, time: time.source)
        _ = try await transport.send(request)
        time.pass(69)
        _ = try await transport.send(request)
        #expect(server.tokenRequests.count == 1)
        time.pass(2)
        _ = try await transport.send(request)
        #expect(server.tokenRequests.count == 2)
        let endless = TokenServer(lifetime: nil), kept = self.transport(endless, time: time.source)
        _ = try await kept.send(request)
        time.pass(1e8)
        _ = try await kept.send(request)
        #expect(endless.tokenRequests.count == 1)
    }

    @Test("a refresh token that the server replaces is used next, and written to the file that it came from")
    func rotation() async throws {
        let folder = try LocalServer.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/refresh"
        try Data("refresh-0\n".utf8).write(to: URL(fileURLWithPath: path))
        var settings = Self.client
        (settings.grant, settings.scopes, settings.parameters) = (.refreshToken(.file(path)), [], [])
        let server = TokenServer(rotates: true), transport = transport(server, settings)
        _ = try await transport.send(request)
        server.revoke()
        #expect(try await transport.send(request).status == 200)
        #expect(
            server.tokenRequests.map(form)
                == ["refresh-0", "refresh-1"].map { "grant_type=refresh_token&refresh_token=\($0)" })
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "refresh-2\n")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test("an empty refresh token in a response is none: the one in the file stays")
    func emptyRefreshToken() async throws {
        let folder = try LocalServer.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/refresh"
        try Data("refresh-0\n".utf8).write(to: URL(fileURLWithPath: path))
        var settings = Self.client
        settings.grant = .refreshToken(.file(path))
        let inner = ScriptedTransport([.status(200, [:], #"{"access_token":"a","refresh_token":""}"#), .status(200)])
        let transport = AuthorizedTransport(inner, .oauth2(settings), origins: ["https://api.example"])
        #expect(try await transport.send(request).status == 200)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "refresh-0\n")
    }

    @Test("a refresh token of several lines does not replace the one in the file, from which it could not be read")
    func refreshTokenOfLines() async throws {
        let folder = try TemporaryFolder(), path = try folder.write("refresh", "refresh-0\n")
        var settings = Self.client
        settings.grant = .refreshToken(.file(path))
        let inner = ScriptedTransport([.status(200, [:], #"{"access_token":"a","refresh_token":"b\nc"}"#)])
        let transport = AuthorizedTransport(inner, .oauth2(settings), origins: ["https://api.example"])
        let error = await expectFailure(.credentials) { try await transport.send(request) }
        #expect(error?.detail.contains("returned a refresh token with control characters") == true)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "refresh-0\n")
    }

    @Test(
        "a new refresh token goes into a file of its own, never into one that waits under a name that could be guessed")
    func rotationIsExclusive() async throws {
        let folder = try LocalServer.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/refresh", trap = folder + "/trap"
        try Data("refresh-0\n".utf8).write(to: URL(fileURLWithPath: path))
        try Data().write(to: URL(fileURLWithPath: trap))
        // A file written here could be read through the link, or by its owner.
        try FileManager.default.createSymbolicLink(atPath: path + ".new", withDestinationPath: trap)
        var settings = Self.client
        (settings.grant, settings.scopes, settings.parameters) = (.refreshToken(.file(path)), [], [])
        _ = try await transport(TokenServer(rotates: true), settings).send(request)
        #expect(try Data(contentsOf: URL(fileURLWithPath: trap)).isEmpty)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "refresh-1\n")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path + ".new") == trap)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["refresh", "refresh.new", "trap"])
    }

    @Test("a file with a secret is its owner's alone from the beginning, whatever the process allows others")
    func privateFile() throws {
        let folder = try LocalServer.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/secret"
        try Data("old".utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        #expect(PrivateFile.replace(path, with: Array("new".utf8)) == 0)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        #expect(PrivateFile.replace(folder + "/none/secret", with: []) == ENOENT)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["secret"])
    }

    @Test("of a file behind a link the link stays, and a group that could read it still can")
    func linkedFile() throws {
        let folder = try LocalServer.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/secret", link = folder + "/link"
        try Data("old".utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "secret")
        #expect(PrivateFile.replace(link, with: Array("new".utf8)) == 0)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "secret")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "new")
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o640)
    }

    @Test("a file in a folder whose path is not UTF-8 is replaced in its place")
    func oddFolder() throws {
        let folder = try LocalServer.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let odd = (folder + "/caf").utf8.map(CChar.init(bitPattern:)) + [CChar(bitPattern: 0xE9), 0]
        try #require(mkdir(odd, 0o700) == 0 && symlink(odd, folder + "/link") == 0)
        let path = folder + "/link/secret"
        try Data("old".utf8).write(to: URL(fileURLWithPath: path))
        #expect(PrivateFile.replace(path, with: Array("new".utf8)) == 0)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "new")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/link") == ["secret"])
    }

    @Test("the file of another user stays readable to that user when root replaces it", .enabled(if: geteuid() == 0))
    func othersFile() throws {
        let folder = try LocalServer.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/secret"
        try Data("old".utf8).write(to: URL(fileURLWithPath: path))
        try #require(chown(path, 65534, 65533) == 0)
        for (mode, kept) in [(0o600, 0o600), (0o644, 0o600), (0o640, 0o640)] as [(mode_t, mode_t)] {
            try #require(chmod(path, mode) == 0)
            #expect(PrivateFile.replace(path, with: Array("new".utf8)) == 0)
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_uid == 65534 && status.st_mode & 0o777 == kept, "\(status)")
        }
    }

    @Test(
        "a refusal is an error of its own kind that says why, without the secrets that the server repeats",
        arguments: [
            (
                400, #"{"error":"invalid_client","error_description":"no client with cl:i/ent"}"#,
                "returned 400: invalid_client: no client with ***"
            ),
            (501, "down", "returned 501"), (200, "{}", "returned no access_token"),
            (200, #"{"access_token":"a b"}"#, "a header field cannot contain"),
            (200, #"{"access_token":"x","token_type":"mac"}"#, "a type other than Bearer"),
            (200, "<html>", "returned no access_token"),
        ])
    func refusals(status: Int, body: String, says: String) async throws {
        let inner = ScriptedTransport([.status(status, [:], body)])
        let transport = AuthorizedTransport(inner, .oauth2(Self.client), origins: ["https://api.example"])
        let error = await expectFailure(.credentials) { try await transport.send(request) }
        #expect(
            error?.detail.contains(says) == true && error?.detail.contains("cl:i/ent") == false,
            "\(error?.detail ?? "")")
        #expect(inner.requests.count == 1)
    }

    @Test(
        "a server of tokens that cannot answer now does not refuse the credentials",
        arguments: [
            (503, TransportError.Kind.protocol), (500, .protocol), (408, .protocol), (429, .rateLimit),
        ])
    func passingRefusals(status: Int, kind: TransportError.Kind) async throws {
        let inner = ScriptedTransport([.status(status, [:], "cl:i/ent")])
        let transport = AuthorizedTransport(inner, .oauth2(Self.client), origins: ["https://api.example"])
        let error = await expectFailure(kind) { try await transport.send(request) }
        #expect(error?.detail.contains("returned \(status)") == true)
    }

    /// A server of tokens that accepts each refresh token once, and an API that accepts everyone.
    private final class RotatingServer: Transport {
        private let state: Mutex<(current: Int, refusals: Int)>
        /// Called before a refusal, with the refresh token that is valid.
        private let onRefusal: @Sendable (String) -> Void

        init(current: Int = 0, onRefusal: @escaping @Sendable (String) -> Void = { _ in }) {
            state = Mutex((current, 0))
            self.onRefusal = onRefusal
        }

        var refusals: Int { state.withLock { $0.refusals } }
        func signIn(at number: Int) { state.withLock { $0.current = number } }

        func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
            guard request.url.hasSuffix("/token") else { return TransportResponse(status: 200) }
            try? await Task.sleep(for: .milliseconds(20))
            let form = String(decoding: request.body ?? [], as: UTF8.self)
            let (isValid, current) = state.withLock { state in
                let isValid = form.hasSuffix("refresh_token=refresh-\(state.current)")
                if isValid { state.current += 1 } else { state.refusals += 1 }
                return (isValid, state.current)
            }
            guard isValid else {
                onRefusal("refresh-\(current)\n")
                return TransportResponse(status: 400, body: Array("{\"error\":\"invalid_grant\"}".utf8))
            }
            let json = "{\"access_token\":\"t\(current)\",\"refresh_token\":\"refresh-\(current)\"}"
            return TransportResponse(status: 200, body: Array(json.utf8))
        }
    }

    private func sendAtOnce(through transports: [AuthorizedTransport]) async throws {
        let request = request
        try await withThrowingTaskGroup(of: Int.self) { group in
            for transport in transports { group.addTask { try await transport.send(request).status } }
            for try await status in group { #expect(status == 200) }
        }
    }

    @Test("those that share the file of a refresh token take turns: each uses the one of the last")
    func sharedFile() async throws {
        let folder = try LocalServer.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/refresh"
        try Data("refresh-0\n".utf8).write(to: URL(fileURLWithPath: path))
        var settings = Self.client
        (settings.grant, settings.scopes, settings.parameters) = (.refreshToken(.file(path)), [], [])
        let server = RotatingServer(), authentication = Authentication.oauth2(settings)
        let transports = (0..<6).map { _ in
            AuthorizedTransport(server, authentication, origins: ["https://api.example"])
        }
        try await sendAtOnce(through: transports)
        // Each has a token by now, and knows an old refresh token.
        for transport in transports { #expect(try await transport.refresh()) }
        #expect(server.refusals == 0)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "refresh-12\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["refresh"])
    }

    /// A client with the declared refresh token `refresh-0`. The process shares what replaces it.
    private static func declaredToken(at url: String) -> OAuth2 {
        var settings = client
        settings.tokenURL = url
        (settings.grant, settings.scopes, settings.parameters) = (.refreshToken(.value(Secret("refresh-0"))), [], [])
        return settings
    }

    @Test("the clients of a process that declare the same refresh token share the one that the server has replaced")
    func sharedInProcess() async throws {
        let settings = Self.declaredToken(at: "https://shared.example/token")
        let server = RotatingServer(), authentication = Authentication.oauth2(settings)
        let transports = (0..<4).map { _ in
            AuthorizedTransport(server, authentication, origins: ["https://api.example"])
        }
        try await sendAtOnce(through: transports)
        for transport in transports { #expect(try await transport.refresh()) }
        #expect(server.refusals == 0)
        // One that comes back while others wait has its turn behind them.
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for transport in transports {
                group.addTask {
                    for _ in 0..<3 where try await !transport.refresh() { return false }
                    return true
                }
            }
            for try await isRenewed in group { #expect(isRenewed) }
        }
        #expect(server.refusals == 0)
    }

    @Test("a refused refresh token that is in no file may have been used by another process: the error names a file")
    func usedElsewhere() async throws {
        let settings = Self.declaredToken(at: "https://elsewhere.example/token")
        let server = RotatingServer(current: 9)
        let transport = AuthorizedTransport(server, .oauth2(settings), origins: ["https://api.example"])
        let error = await expectFailure(.credentials) { try await transport.send(request) }
        #expect(error?.detail.contains("refresh_token: { file: … }") == true, "\(error?.detail ?? "")")
        #expect(server.refusals == 1)
    }

    @Test("a server that no longer knows the refresh token in place of the declared one gets the declared one, once")
    func forgottenByServer() async throws {
        let settings = Self.declaredToken(at: "https://forgetful.example/token")
        let authentication = Authentication.oauth2(settings)
        func send(to server: RotatingServer) async throws -> Int {
            try await AuthorizedTransport(server, authentication, origins: ["https://api.example"]).send(request).status
        }
        #expect(try await send(to: RotatingServer()) == 200)
        // The state from before, as from a backup.
        let server = RotatingServer()
        for _ in 0..<2 { #expect(try await send(to: server) == 200) }
        #expect(server.refusals == 1)
        // Of several at once, one sends the declared one, and the others what has replaced it. No
        // token that was refused comes again.
        for _ in 0..<8 { #expect(try await send(to: server) == 200) }
        let again = RotatingServer()
        try await sendAtOnce(
            through: (0..<4).map { _ in
                AuthorizedTransport(again, authentication, origins: ["https://api.example"])
            })
        #expect(again.refusals >= 1 && again.refusals <= 4)
    }

    @Test("a refresh token that a program prints is read again after a refusal, also by a client that has had another")
    func printedAnew() async throws {
        let folder = try LocalServer.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/refresh"
        try Data("refresh-0\n".utf8).write(to: URL(fileURLWithPath: path))
        var settings = Self.declaredToken(at: "https://printed.example/token")
        settings.grant = .refreshToken(.command(["cat", path]))
        let server = RotatingServer { valid in try? Data(valid.utf8).write(to: URL(fileURLWithPath: path)) }
        let transport = AuthorizedTransport(server, .oauth2(settings), origins: ["https://api.example"])
        #expect(try await transport.send(request).status == 200)
        // Somebody has signed in again.
        server.signIn(at: 7)
        #expect(try await transport.refresh())
        #expect(server.refusals == 1)
    }

    @Test("a refresh token that another program has replaced meanwhile is read again after the refusal, once")
    func replacedMeanwhile() async throws {
        let folder = try LocalServer.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/refresh"
        try Data("refresh-0\n".utf8).write(to: URL(fileURLWithPath: path))
        var settings = Self.client
        (settings.grant, settings.scopes, settings.parameters) = (.refreshToken(.file(path)), [], [])
        let server = RotatingServer(current: 3) { valid in
            try? Data(valid.utf8).write(to: URL(fileURLWithPath: path))
        }
        let transport = AuthorizedTransport(server, .oauth2(settings), origins: ["https://api.example"])
        #expect(try await transport.send(request).status == 200)
        #expect(server.refusals == 1)
        // The same token again would be refused again.
        let refusing = RotatingServer(current: 9)
        let refused = AuthorizedTransport(refusing, .oauth2(settings), origins: ["https://api.example"])
        await expectFailure(.credentials) { try await refused.send(request) }
        #expect(refusing.refusals == 1)
    }

    @Test("a server of tokens that cannot be reached is unreachable, and the next request asks again")
    func unreachable() async throws {
        let inner = ScriptedTransport([.failure(.connect), .status(200, [:], #"{"access_token":"t"}"#), .status(200)])
        let transport = AuthorizedTransport(inner, .oauth2(Self.client), origins: ["https://api.example"])
        let error = await expectFailure(.connect) { try await transport.send(request) }
        #expect(error?.isUnreachable == true)
        #expect(try await transport.send(request).status == 200)
    }

    @Test("tokens are asked for over https, or on this machine")
    func tokenURLs() async throws {
        for url in [
            "https://auth.example/token", "http://127.0.0.1:8080/token", "http://localhost/token",
            "http://[::1]:1/token",
        ] {
            #expect(OAuth2.problem(ofTokenURL: url) == nil)
        }
        for url in ["http://auth.example/token", "ftp://auth.example", "token", "https://a:b@auth.example/"] {
            #expect(OAuth2.problem(ofTokenURL: url) != nil)
        }
    }

    @Test("a token endpoint that does not answer is asked as often as its own policy says, not once for each attempt")
    func ownRetries() async throws {
        let tokens = ScriptedTransport([.failure(.timeout)]), api = ScriptedTransport([.status(200)])
        let policy = RetryPolicy(attempts: 3, firstDelay: .milliseconds(1), methods: ["POST"])
        let authorized = AuthorizedTransport(
            api, .oauth2(Self.client), origins: ["https://api.example"],
            tokens: RetryingTransport(tokens, policy: policy))
        let transport = RetryingTransport(authorized, policy: RetryPolicy(firstDelay: .milliseconds(1)))
        let error = await #expect(throws: TransportError.self) { try await transport.send(request) }
        #expect(error?.kind == .timeout)
        #expect(tokens.requests.count == 3 && api.requests.isEmpty)
    }

    @Test("over real sockets: a token is fetched from one server and used at another")
    func realSockets() async throws {
        let auth = try RawServer(
            "HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n{\"access_token\":\"abc\",\"expires_in\":\"60\"}")
        let api = try RawServer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]")
        var settings = Self.client
        settings.tokenURL = auth.base + "/token"
        let transport = AuthorizedTransport(CurlTransport(), .oauth2(settings), origins: [api.base])
        #expect(try await transport.send(TransportRequest(url: api.base + "/items")).status == 200)
        #expect(auth.requests.first?.hasPrefix("POST /token ") == true)
        #expect(api.requests.first?.contains("\r\nAuthorization: Bearer abc\r\n") == true)
    }
}
