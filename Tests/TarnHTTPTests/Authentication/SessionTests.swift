// Sessions: logins over real connections, their tokens, and their end.

import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TarnHTTP

@Suite("Sessions", .timeLimit(.minutes(5)))
struct SessionTests {
    /// A server of one session at a time: a login ends the session before.
    final class SessionServer: Sendable {
        let server: ScriptedServer

        init(_ answer: @escaping @Sendable (Int) -> ScriptedServer.Answer) throws {
            let sessions = SharedCount()
            server = try ScriptedServer { request in
                if request.target.hasPrefix("/login") { return answer(sessions.increment()) }
                let isValid = request.field("X-Token") == "token-number-\(sessions.value)"
                return isValid ? .init(body: "[]") : .init(status: "401 Unauthorized", body: #"{"error":"expired"}"#)
            }
        }

        var logins: [ScriptedServer.Request] { server.requests.filter { $0.target.hasPrefix("/login") } }
    }

    final class SharedCount: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock(\.self) }
        func increment() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }

    static let body = SessionLogin.Body.json(
        .object(["user": .json(.string("ada")), "password": .secret(.value(Secret("pa\"ss word")))]))
    static let token = SessionLogin.Token(.body(path: "data.token"), place: .header("X-Token"))

    private func transport(
        _ server: ScriptedServer, _ login: SessionLogin, time: TimeSource = .system, keeper: TokenKeeper? = nil
    ) -> AuthorizedTransport {
        AuthorizedTransport(
            CurlTransport(), .session(login), origins: [server.base], base: server.base, time: time, keeper: keeper)
    }

    private func send(_ transport: AuthorizedTransport, _ server: ScriptedServer) async throws -> Int {
        try await transport.send(TransportRequest(url: server.base + "/items")).status
    }

    private func numbered() throws -> SessionServer {
        try SessionServer { .init(body: #"{"data":{"token":"token-number-\#($0)","expires":100}}"#) }
    }

    @Test("one login serves all concurrent requests, and after a 401 one more does")
    func singleLogin() async throws {
        let api = try numbered(), server = api.server
        let transport = transport(server, SessionLogin("/login", body: Self.body, tokens: [Self.token]))
        func all() async throws {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 { group.addTask { try await send(transport, server) } }
                for try await status in group { #expect(status == 200) }
            }
        }
        try await all()
        #expect(api.logins.count == 1)
        #expect(api.logins.first?.body == #"{"password":"pa\"ss word","user":"ada"}"#)
        #expect(api.logins.first?.field("Content-Type") == "application/json")
        // Another client ends the session.
        _ = try await CurlTransport().send(TransportRequest(method: "POST", url: server.base + "/login", body: []))
        try await all()
        #expect(api.logins.count == 3)
    }

    @Test("a session is renewed before its declared end: seconds, a date, or the lifetime of the description")
    func expiry() async throws {
        for (expires, lifetime) in [("data.expires", nil), (nil, Duration.seconds(100))] as [(String?, Duration?)] {
            let api = try numbered(), time = TestTime()
            let login = SessionLogin("/login", tokens: [Self.token], expires: expires, lifetime: lifetime)
            let transport = transport(api.server, login, time: time.source)
            _ = try await send(transport, api.server)
            time.pass(69)
            _ = try await send(transport, api.server)
            #expect(api.logins.count == 1)
            time.pass(2)
            _ = try await send(transport, api.server)
            #expect(api.logins.count == 2)
        }
        let login = SessionLogin("/login", tokens: [.init(.body(path: "token"))], expires: "expires_at")
        let asked = Date(timeIntervalSince1970: 1_700_000_000)
        let response = TransportResponse(
            status: 201, body: Array(#"{"token":"ghs_abc","expires_at":"2023-11-14T23:13:20Z"}"#.utf8))
        let session = try login.session(from: response, shown: response, at: .init(), asked: asked).get()
        #expect(session.endsAt == asked.addingTimeInterval(3600 - 30))
    }

    @Test("tokens come from header fields and cookies of a redirect, and go into several places at once")
    func places() async throws {
        let server = try ScriptedServer { request in
            guard request.target.hasPrefix("/login") else {
                let isValid = request.field("Cookie") == "SID=c00kie" && request.field("X-Csrf-Token") == "csrf-1"
                return .init(status: isValid ? "200 OK" : "401 Unauthorized", body: "[]")
            }
            return .init(
                status: "302 Found",
                fields: [
                    "Location: /home", "Set-Cookie: other=1; Path=/", "Set-Cookie: SID=c00kie; Path=/; HttpOnly",
                    "x-csrf-token: csrf-1",
                ])
        }
        let login = SessionLogin(
            "/login", body: .form(["user": .json(.string("a b")), "pass": .secret(.value(Secret("p&q")))]),
            tokens: [.init(.cookie("SID")), .init(.header("X-Csrf-Token"))])
        #expect(try await send(transport(server, login), server) == 200)
        #expect(server.requests.first?.body == "pass=p%26q&user=a%20b" && server.requests.count == 2)
    }

    @Test("the login has an authentication of its own, and the body may be the token itself")
    func ownAuthentication() async throws {
        let server = try ScriptedServer { request in
            if request.target == "/api/session" {
                let isValid = request.field("Authorization") == "Basic YWRhOnNlY3JldA=="
                return .init(status: isValid ? "201 Created" : "401 Unauthorized", body: "\"b00f7d\"")
            }
            let isValid = request.field("vmware-api-session-id") == "b00f7d" && request.field("Authorization") == nil
            return .init(status: isValid ? "200 OK" : "401 Unauthorized", body: "[]")
        }
        let login = SessionLogin(
            "/api/session",
            authentication: .basic(user: .value(Secret("ada")), password: .value(Secret("secret"))),
            tokens: [.init(.body(path: "$"), place: .header("vmware-api-session-id"))])
        #expect(try await send(transport(server, login), server) == 200)
        let keyed = SessionLogin(
            "/s", authentication: .apiKey(.value(Secret("key")), .query("k")),
            tokens: [.init(.body(path: "$"), place: .query("t"))])
        #expect(Authentication.session(keyed).secretParameters == ["k", "t"])
        // The secret of an OAuth 2.0 client is none that a login carries.
        let client = OAuth2(
            tokenURL: "https://a.example/t", clientID: .value(Secret("c")), clientSecret: .value(Secret("hidden")))
        let wrong = SessionLogin("/s", authentication: .oauth2(client), tokens: [.init(.body(path: "$"))])
        await expectFailure(.credentials) {
            try await transport(server, wrong).send(TransportRequest(url: server.base + "/items"))
        }
        #expect(server.requests.count == 2)
    }

    @Test("a refused login is a failure of the credentials, with the server's reason and without the password")
    func refusal() async throws {
        let answers: [(ScriptedServer.Answer, String)] = [
            (
                .init(status: "401 Unauthorized", body: #"{"message":"pa\"ss word is wrong"}"#),
                "returned 401: *** is wrong"
            ),
            (
                .init(
                    body: #"{"jsonrpc":"2.0","error":{"code":-32602,"data":"Login name or password is incorrect."}}"#),
                "returned no token at `data.token`: Login name or password is incorrect."
            ),
            (.init(body: #"{"data":{"token":"a\nb"}}"#), "characters that a header field cannot contain"),
            (
                .init(status: "302 Found", fields: ["Location: /login?failed"]),
                "returned no token at `data.token` (302)"
            ),
        ]
        for (answer, expected) in answers {
            let server = try ScriptedServer { _ in answer }
            let transport = transport(server, SessionLogin("/login", body: Self.body, tokens: [Self.token]))
            let error = await expectFailure(.credentials) {
                try await transport.send(TransportRequest(url: server.base + "/items"))
            }
            #expect(error?.detail.contains(expected) == true, "\(error?.detail ?? "")")
            #expect(error?.detail.contains("auth.session") == true && error?.detail.contains("ss word") == false)
            #expect(server.requests.count == 1)
        }
    }

    @Test("a refused login is not repeated with the same secrets for a while: servers lock accounts")
    func refusedLogins() async throws {
        let folder = try TemporaryFolder(), path = try folder.write("password", "wrong\n"), time = TestTime()
        let api = try SessionServer { _ in .init(status: "401 Unauthorized", body: #"{"message":"no"}"#) }
        let login = SessionLogin(
            "/login", body: .form(["password": .secret(.file(path))]), tokens: [Self.token])
        let keeper = TokenKeeper()
        let transports = (0..<2).map { _ in
            transport(api.server, login, time: time.source, keeper: keeper)
        }
        func fail() async {
            for transport in transports {
                let error = await expectFailure(.credentials) {
                    try await transport.send(TransportRequest(url: api.server.base + "/items"))
                }
                #expect(error?.detail.contains("returned 401: no") == true, "\(error?.detail ?? "")")
            }
        }
        await fail()
        #expect(api.logins.count == 1)
        time.pass(301)
        await fail()
        #expect(api.logins.count == 2)
        // The pause doubles.
        time.pass(301)
        await fail()
        #expect(api.logins.count == 2)
        _ = try folder.write("password", "another\n")
        await fail()
        #expect(api.logins.count == 3)
    }

    @Test("a server that refuses every session gets three logins a minute at most")
    func refusedSessions() async throws {
        let sessions = SharedCount(), time = TestTime()
        let server = try ScriptedServer { request in
            request.target.hasPrefix("/login")
                ? .init(body: #"{"data":{"token":"token-number-\#(sessions.increment())"}}"#)
                : .init(status: "401 Unauthorized")
        }
        let transport = transport(server, SessionLogin("/login", tokens: [Self.token]), time: time.source)
        for _ in 0..<6 { #expect(try await send(transport, server) == 401) }
        #expect(sessions.value == 4)
        time.pass(61)
        _ = try await send(transport, server)
        #expect(sessions.value == 5)
    }

    @Test("removed cookies, booleans, pages and long bodies are no tokens; texts and whole fields are")
    func answers() throws {
        func session(
            _ source: SessionLogin.TokenSource, _ body: String, _ fields: [TransportHeaders.Field] = [],
            expires: String? = nil
        ) throws -> SessionLogin.Session {
            let login = SessionLogin("/login", tokens: [.init(source)], expires: expires)
            let response = TransportResponse(status: 200, headers: TransportHeaders(fields), body: Array(body.utf8))
            return try login.session(
                from: response, shown: response, at: .init(), asked: Date(timeIntervalSince1970: 1_700_000_000)
            ).get()
        }
        #expect(throws: OAuth2Refusal.self) {
            try session(.cookie("S"), "", [.init("Set-Cookie", "S=deleted; Max-Age=0; Path=/")])
        }
        #expect(throws: OAuth2Refusal.self) { try session(.body(path: "token"), #"{"token":true}"#) }
        #expect(throws: OAuth2Refusal.self) { try session(.body(path: "$"), "<p>Log in, please</p>") }
        let large = #"{"token":""# + String(repeating: "a", count: 70_000) + #""}"#
        #expect(throws: OAuth2Refusal.self) { try session(.body(path: "token"), large) }
        #expect(try session(.body(path: "$"), "abc\n").tokens == [Secret("abc")])
        let field = try session(.header("Authorization"), "", [.init("Authorization", "Bearer abc")])
        #expect(field.tokens == [Secret("Bearer abc")])
        for (lifetime, rest) in [("0.001", 10.0), ("100", 70.0)] {
            let ends = try session(.body(path: "t"), #"{"t":"a","e":\#(lifetime)}"#, expires: "e").endsAt
            #expect(ends == Date(timeIntervalSince1970: 1_700_000_000 + rest))
        }
        for lifetime in ["-1", "0", "1e-300", "\"nan\"", "null", "{}"] {
            #expect(try session(.body(path: "t"), #"{"t":"a","e":\#(lifetime)}"#, expires: "e").endsAt == nil)
        }
        #expect(try session(.body(path: "t"), #"{"t":"a","e":1e300}"#, expires: "e").endsAt != nil)
    }

    @Test("a logout waits for the login in progress, and is not sent to another server without TLS")
    func logoutOfOpening() async throws {
        let sessions = OpenSessions(), inner = ScriptedTransport([.status(200), .status(200)])
        let opening = sessions.begin(inner), refused = sessions.begin(inner)
        refused.end(with: nil)
        let logout = Task { await sessions.logOut() }
        try await Task.sleep(for: .milliseconds(50))
        #expect(inner.requests.isEmpty)
        opening.end(with: TransportRequest(method: "DELETE", url: "https://api.example/s"))
        await logout.value
        #expect(inner.requests.map(\.method) == ["DELETE"])
        // A login without an end does not hold the process.
        _ = sessions.begin(inner)
        await sessions.logOut(within: .milliseconds(10))
        #expect(inner.requests.count == 1)
        let login = SessionLogin(
            "/login", tokens: [.init(.body(path: "t"))],
            logout: .request(method: "POST", url: "http://other.example/logout"))
        let response = TransportResponse(status: 200, body: Array(#"{"t":"a"}"#.utf8))
        let address = SessionLogin.Address(base: "https://api.example")
        #expect(try login.session(from: response, shown: response, at: address, asked: Date()).get().logout == nil)
    }

    @Test("a rule that demands other credentials logs in once, however many requests it applies to")
    func rule() async throws {
        let sessions = SharedCount(), refusals = SharedCount()
        let server = try ScriptedServer { request in
            if request.target.hasPrefix("/login") {
                return .init(body: #"{"data":{"token":"token-number-\#(sessions.increment())"}}"#)
            }
            if request.field("X-Token") == "token-number-\(max(2, sessions.value))" { return .init(body: "[]") }
            // The second refusal comes when the first request has logged in already.
            if refusals.increment() == 2 { usleep(300_000) }
            return .init(status: "419 Expired")
        }
        let authorized = transport(server, SessionLogin("/login", body: Self.body, tokens: [Self.token]))
        let transport = RetryingTransport(
            authorized, rules: [ResponseRule(statuses: [419...419], action: .refreshToken)],
            refresh: { (used: Int?) async throws(TransportError) in try await authorized.refresh(instead: used) })
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<2 {
                group.addTask { try await transport.send(TransportRequest(url: server.base + "/items")).status }
            }
            for try await status in group { #expect(status == 200) }
        }
        #expect(sessions.value == 2)
    }

    @Test("a logout ends the session that the login has named, with its token")
    func logout() async throws {
        let server = try ScriptedServer { request in
            request.method == "POST"
                ? .init(status: "201 Created", fields: ["X-Auth-Token: t0ken", "Location: /Sessions/7"])
                : .init(body: "[]")
        }
        let login = SessionLogin(
            "/Sessions", body: Self.body, tokens: [.init(.header("X-Auth-Token"))],
            logout: .location(method: "DELETE", header: "Location"))
        let transport = transport(server, login)
        #expect(try await send(transport, server) == 200)
        await SessionLogin.logOutAll()
        #expect(server.requests.last?.method == "DELETE" && server.requests.last?.target == "/Sessions/7")
        #expect(server.requests.last?.field("X-Auth-Token") == "t0ken")
        // The session of another server would get the token.
        let other = TransportResponse(
            status: 201,
            headers: TransportHeaders([.init("X-Auth-Token", "t"), .init("Location", "http://h.example/")]))
        let address = SessionLogin.Address(base: server.base)
        #expect(try login.session(from: other, shown: other, at: address, asked: Date()).get().logout == nil)
    }

    @Test("clients with one keeper share a session, unless their APIs differ")
    func keeping() async throws {
        let api = try numbered(), other = try numbered(), keeper = TokenKeeper()
        let login = SessionLogin("/login", body: Self.body, tokens: [Self.token])
        for _ in 0..<2 { #expect(try await send(transport(api.server, login, keeper: keeper), api.server) == 200) }
        #expect(api.logins.count == 1)
        #expect(try await send(transport(other.server, login, keeper: keeper), other.server) == 200)
        #expect(other.logins.count == 1)
    }

    @Test("the account of a session is the same with each token, and another one with another user")
    func account() async throws {
        func scope(_ user: String, _ account: String? = nil) async throws -> String? {
            let server = try numbered().server
            let body = SessionLogin.Body.json(
                .object(["user": .json(.string(user)), "p": .secret(.value(Secret("pass")))]))
            let transport = AuthorizedTransport(
                CurlTransport(), .session(SessionLogin("/login", body: body, tokens: [Self.token])), account: account,
                origins: [server.base], base: server.base)
            let before = try await transport.scope()?.exposed
            _ = try await send(transport, server)
            #expect(try await transport.scope()?.exposed == before)
            // The name of the account needs no login.
            return before
        }
        #expect(try await scope("ada") == scope("ada"))
        #expect(try await scope("ada") != scope("bob"))
        #expect(try await scope("ada", "x") == scope("bob", "x"))
    }

    @Test("a login is sent to the server of the API, or to another one over https only")
    func addresses() {
        #expect(SessionLogin.problem(ofURL: "/login", base: "http://nas.lan") == nil)
        #expect(SessionLogin.problem(ofURL: "http://nas.lan/other", base: "http://nas.lan/api") == nil)
        #expect(SessionLogin.problem(ofURL: "https://id.example/login", base: "http://nas.lan") == nil)
        #expect(
            SessionLogin.problem(ofURL: "http://id.example/login", base: "http://nas.lan")?.contains("https") == true)
        #expect(SessionLogin.problem(ofURL: "login", base: "http://nas.lan")?.contains("begins with /") == true)
        let moved = SessionLogin.Address(base: "https://a.example/v1", moved: "http://127.0.0.1:8/v1")
        #expect(moved.url("/login") == "http://127.0.0.1:8/v1/login")
    }
}
