// Sessions that are refused, renewed, shared and ended.

import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TarnHTTP

@Suite("Failures and ends of sessions", .timeLimit(.minutes(5)))
struct SessionFailureTests {
    private static let base = "https://api.test.example"
    private static let password = SessionLogin.Body.form(["password": .secret(.value(Secret("pass-word")))])
    private static let login = SessionLogin(
        "/login", body: password, tokens: [.init(.body(path: "token"), place: .header("X-Token"))],
        logout: .request(method: "DELETE", url: "/session"))

    private func transport(
        _ inner: any Transport, _ login: SessionLogin = login, time: TimeSource = .system, keeper: TokenKeeper? = nil,
        sessions: OpenSessions = OpenSessions()
    ) -> AuthorizedTransport {
        AuthorizedTransport(
            inner, .session(login), origins: [Self.base], base: Self.base, time: time, keeper: keeper,
            sessions: sessions)
    }

    private func send(_ transport: AuthorizedTransport) async throws -> TransportResponse {
        try await transport.send(TransportRequest(url: Self.base + "/items"))
    }

    /// A server with one session at a time. Its tokens are the numbers of logins.
    private final class Sessions: Transport {
        private let state = Mutex<(last: Int, valid: Int, logouts: [String])>((0, 0, []))

        var logins: Int { state.withLock { $0.last } }
        var logouts: [String] { state.withLock { $0.logouts } }
        /// Ends the session.
        func end() { state.withLock { $0.valid = 0 } }

        func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
            let token = request.headers["X-Token"] ?? "none"
            return state.withLock { state in
                if request.url.hasSuffix("/login") {
                    state.last += 1
                    state.valid = state.last
                    return TransportResponse(status: 200, body: Array(#"{"token":"\#(state.last)"}"#.utf8))
                }
                if request.method == "DELETE" { state.logouts.append(token) }
                return TransportResponse(status: token == "\(state.valid)" ? 200 : 401)
            }
        }
    }

    @Test("a login without TLS at another server is not sent")
    func foreignLogin() async {
        let inner = ScriptedTransport([.status(200, [:], #"{"token":"a"}"#)])
        var login = Self.login
        login.url = "http://other.example/login"
        let error = await expectFailure(.credentials) { try await send(transport(inner, login)) }
        #expect(error?.detail.contains("https only") == true && inner.requests.isEmpty)
    }

    @Test(
        "a login that fails for a moment refuses no password: the next request logs in",
        arguments: [(503, [:], TransportError.Kind.protocol), (429, ["Retry-After": "1"], .rateLimit)])
    func momentaryFailure(status: Int, fields: [String: String], kind: TransportError.Kind) async throws {
        let inner = ScriptedTransport([.status(status, fields), .status(200, [:], #"{"token":"a"}"#), .status(200)])
        let sessions = OpenSessions(), transport = transport(inner, sessions: sessions)
        await expectFailure(kind) { try await send(transport) }
        // No logout waits for a login that has failed.
        #expect(sessions.isEmpty)
        #expect(try await send(transport).status == 200)
        #expect(inner.requests.count == 3 && !sessions.isEmpty)
    }

    @Test("a login that succeeds ends the row of refusals: the pause after the next one is the first again")
    func refusalsInARow() async throws {
        let time = TestTime(), good = ScriptedTransport.Outcome.status(200, [:], #"{"token":"a"}"#)
        let inner = ScriptedTransport([
            .status(401), good, .status(200), .status(401), .status(401), good, .status(200),
        ])
        let transport = transport(inner, time: time.source)
        await expectFailure(.credentials) { try await send(transport) }
        time.pass(301)
        #expect(try await send(transport).status == 200)
        await expectFailure(.credentials) { try await send(transport) }
        time.pass(301)
        #expect(try await send(transport).status == 200)
        // A clock that is set back does not extend the pause.
        let error = TransportError(.credentials, method: "POST", url: Self.base, detail: "no")
        let refusal = RefusedLogin([Secret("a")], error, after: nil, at: time.now)
        #expect(refusal.error(repeating: [Secret("a")], at: time.now.addingTimeInterval(-301)) == nil)
        #expect(refusal.error(repeating: [Secret("a")], at: time.now.addingTimeInterval(-1)) != nil)
    }

    @Test("of all sessions of clients with one keeper, only the last one is logged out of")
    func logouts() async throws {
        let server = Sessions(), sessions = OpenSessions(), keeper = TokenKeeper()
        let first = transport(server, keeper: keeper, sessions: sessions)
        #expect(try await send(first).status == 200)
        let second = transport(server, keeper: keeper, sessions: sessions)
        #expect(try await send(second).status == 200 && server.logins == 1)
        // The second client renews the session that it has from the keeper.
        server.end()
        #expect(try await send(second).status == 200 && server.logins == 2)
        // The first one takes the new session, and renews that.
        #expect(try await send(first).status == 200 && server.logins == 2)
        server.end()
        #expect(try await send(first).status == 200 && server.logins == 3)
        await sessions.logOut()
        #expect(server.logouts == ["3"])
    }

    @Test("no refusal of a login, and no error of the API, repeats a secret of the session")
    func secrets() async {
        var login = Self.login
        login.headers = [.init("X-Api-Key", "k3y-of-the-login")]
        let echo = transport(
            ScriptedTransport([.status(403, [:], #"{"message":"k3y-of-the-login is not known"}"#)]), login)
        let refused = await expectFailure(.credentials) { try await send(echo) }
        #expect(refused?.detail.contains("*** is not known") == true, "\(refused?.detail ?? "")")
        // A success states the reason, too.
        let success = transport(ScriptedTransport([.status(200, [:], #"{"message":"pass-word is old"}"#)]))
        let stated = await expectFailure(.credentials) { try await send(success) }
        #expect(stated?.detail.contains("*** is old") == true, "\(stated?.detail ?? "")")
        // The token of a whole field is shown without its scheme.
        login = SessionLogin("/login", tokens: [.init(.header("Authorization"))])
        let whole = transport(
            ScriptedTransport([
                .status(200, ["Authorization": "Bearer t0ken-of-ada"]), .status(403, [:], "t0ken-of-ada may not"),
            ]), login)
        let body = try? await send(whole).body
        #expect(body.map { String(decoding: $0, as: UTF8.self) } == "*** may not")
    }

    /// A transport that follows redirects by its own rules.
    private struct Redirected: Transport {
        func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
            TransportResponse(
                status: 200, body: Array(#"{"token":"a"}"#.utf8), redirectedTo: "https://other.example/login")
        }
    }

    @Test("the answer of another server to a login is no session")
    func redirectedLogin() async {
        let error = await expectFailure(.protocol) { try await send(transport(Redirected())) }
        #expect(error?.detail.contains("auth.session.login") == true, "\(error?.detail ?? "")")
    }

    @Test("the account of a session has the fields and the authentication of its login, and runs no command")
    func accounts() async throws {
        func scope(_ login: SessionLogin) async throws -> String? {
            try await transport(ScriptedTransport([.status(500)]), login).scope()?.exposed
        }
        func login(_ user: String, _ field: String) -> SessionLogin {
            SessionLogin(
                "/login", headers: [.init("X-Tenant", field)],
                body: .form(["password": .secret(.command(["/no/such/program"]))]),
                authentication: .basic(user: .value(Secret(user)), password: .value(Secret("p"))),
                tokens: [.init(.body(path: "token"))])
        }
        #expect(try await scope(login("ada", "a")) == scope(login("ada", "a")))
        #expect(try await scope(login("ada", "a")) != scope(login("bob", "a")))
        #expect(try await scope(login("ada", "a")) != scope(login("ada", "b")))
    }

    @Test("a login and a logout have a length and the declared fields, and their redirects are not followed")
    func messages() throws {
        var login = SessionLogin(
            "/login", headers: [.init("X-Tenant", "a")], tokens: [.init(.body(path: "t"))],
            logout: .request(method: "POST", url: "/logout"))
        let address = SessionLogin.Address(base: Self.base), request = login.request([], at: address)
        #expect(request.body == [] && request.headers["X-Tenant"] == "a" && request.returnsRedirects)
        #expect(request.responseLimits == OAuth2.responseLimits)
        let response = TransportResponse(status: 200, body: Array(#"{"t":"a"}"#.utf8))
        let end = try login.session(from: response, shown: response, at: address, asked: Date()).get().logout
        #expect(end?.body == [] && end?.returnsRedirects == true && end?.url == Self.base + "/logout")
        login.method = "GET"
        #expect(login.request([], at: address).body == nil)
    }

    @Test("the last cookie of a name counts, and a token that is sent as a cookie has no separators")
    func cookies() throws {
        func tokens(_ token: SessionLogin.Token, _ fields: [TransportHeaders.Field], _ body: String) throws -> [Secret]
        {
            let response = TransportResponse(
                status: 200, headers: TransportHeaders(fields), body: Array(body.utf8))
            let login = SessionLogin("/login", tokens: [token])
            return try login.session(from: response, shown: response, at: .init(), asked: Date()).get().tokens
        }
        let fields = [TransportHeaders.Field("Set-Cookie", "S=old"), .init("Set-Cookie", "S=new; Path=/")]
        #expect(try tokens(.init(.cookie("S")), fields, "") == [Secret("new")])
        let token = SessionLogin.Token(.body(path: "t"), place: .cookie("S"))
        #expect(try tokens(token, [], #"{"t":"a=b"}"#) == [Secret("a=b")])
        for text in ["a;b", "a,b"] {
            #expect(throws: OAuth2Refusal.self) { try tokens(token, [], #"{"t":"\#(text)"}"#) }
        }
    }
}
