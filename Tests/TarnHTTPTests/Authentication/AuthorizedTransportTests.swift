// Credentials on the wire, their renewal, and that they come back nowhere.

import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TarnHTTP

@Suite("Authorized transport", .timeLimit(.minutes(5)))
struct AuthorizedTransportTests {
    private static let secret = "s3cret/token+1"
    private static let source = SecretSource.value(Secret(secret))

    /// The request with credentials as the server receives it.
    private func head(_ authentication: Authentication, _ fields: [TransportHeaders.Field] = []) async throws -> String
    {
        let server = try RawServer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        let transport = AuthorizedTransport(CurlTransport(), authentication, origins: [server.base])
        _ = try await transport.send(
            TransportRequest(url: server.base + "/items?page=1", headers: TransportHeaders(fields)))
        return server.requests.first ?? ""
    }

    @Test("each kind of credentials arrives where it should")
    func kinds() async throws {
        #expect(try await head(.bearer(Self.source)).contains("\r\nAuthorization: Bearer s3cret/token+1\r\n"))
        let basic = try await head(.basic(user: .value(Secret("Aladdin")), password: .value(Secret("open sesame"))))
        #expect(basic.contains("\r\nAuthorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"))  // RFC 7617 §2
        #expect(
            try await head(.apiKey(Self.source, .header("X-Api-Key", prefix: "Token "))).contains(
                "\r\nX-Api-Key: Token s3cret/token+1\r\n"))
        #expect(
            try await head(.apiKey(Self.source, .query("api key"))).hasPrefix(
                "GET /items?page=1&api%20key=s3cret%2Ftoken%2B1 "))
        #expect(
            try await head(.apiKey(Self.source, .cookie("session")), [.init("Cookie", "a=b")]).contains(
                "\r\nCookie: a=b; session=s3cret/token+1\r\n"))
        let both = try await head(
            .apiKeys([.header("DD-API-KEY"): Self.source, .query("app"): .value(Secret("other"))]))
        #expect(both.hasPrefix("GET /items?page=1&app=other ") && both.contains("\r\nDD-API-KEY: s3cret/token+1\r\n"))
        #expect(try await !head(.none).contains("Authorization"))
        let signer = RequestSigner(name: "test") { request in
            var request = request
            request.headers["X-Signature"] = "\(request.method) \(URLReference(request.url).path)"
            return request
        }
        #expect(try await head(.signer(signer)).contains("\r\nX-Signature: GET /items\r\n"))
    }

    @Test("a signer that ends with the task of its request is no failure of the credentials")
    func cancelledSigner() async throws {
        let isCalled = Mutex(false)
        let signer = RequestSigner(name: "slow") { request in
            isCalled.withLock { $0 = true }
            try await Task.sleep(for: .seconds(3600))
            return request
        }
        let transport = AuthorizedTransport(ScriptedTransport([.status(200)]), .signer(signer), origins: ["http://h"])
        let task = Task { try await transport.send(TransportRequest(url: "http://h/")) }
        try await eventually("the signer") { isCalled.withLock(\.self) }
        task.cancel()
        await expectFailure(.cancelled) { try await task.value }
    }

    @Test("credentials go to their own server only")
    func otherOrigin() async throws {
        let inner = ScriptedTransport([.status(200)])
        let transport = AuthorizedTransport(inner, .bearer(Self.source), origins: ["https://api.example"])
        for url in [
            "http://api.example/", "https://api.example:444/", "https://api.example.evil/", "https://cdn.example/",
        ] {
            _ = try await transport.send(TransportRequest(url: url))
        }
        #expect(inner.requests.allSatisfy { $0.headers.fields.isEmpty })
        _ = try await transport.send(TransportRequest(url: "https://API.example:443/x"))
        #expect(inner.requests.last?.headers["Authorization"] == "Bearer s3cret/token+1")
    }

    @Test(
        "what comes back holds no secret: header fields, the URL that answered, refusals, errors",
        arguments: [
            Authentication.apiKey(source, .query("key")), .bearer(source), .apiKey(source, .header("X-Key")),
            .basic(user: .value(Secret("ada")), password: source),
        ])
    func scrubbed(_ authentication: Authentication) async throws {
        let forms = [Self.secret, "s3cret%2Ftoken%2B1", Data("ada:\(Self.secret)".utf8).base64EncodedString()]
        let echo = forms.joined(separator: " ")
        let inner = ScriptedTransport([
            .answer(
                TransportResponse(
                    status: 401,
                    headers: TransportHeaders([
                        .init("Link", "<http://h/items?key=s3cret%2Ftoken%2B1&page=2>; rel=\"next\""),
                        .init("X-Echo", echo),
                    ]), body: Array("{\"message\":\"bad: \(echo)\"}".utf8),
                    redirectedTo: "http://h/items?page=1&key=s3cret%2Ftoken%2B1"))
        ])
        let transport = AuthorizedTransport(inner, authentication, origins: ["http://h"])
        let response = try await transport.send(TransportRequest(url: "http://h/items?page=1"))
        var shown = "\(response) " + String(decoding: response.body, as: UTF8.self)
        if case .apiKey(_, .query) = authentication {
            #expect(response.headers["Link"] == "<http://h/items?page=2>; rel=\"next\"")
            #expect(response.redirectedTo == "http://h/items?page=1")
        }
        for kind in [TransportError.Kind.connect, .protocol] {
            let failing = AuthorizedTransport(
                FailingTransport(kind: kind, detail: echo), authentication, origins: ["http://h"])
            let error = await #expect(throws: TransportError.self) {
                try await failing.send(TransportRequest(url: "http://h/items?page=1"))
            }
            shown += "\(String(describing: error)) \(error?.url ?? "")"
        }
        // The other forms are secrets of other kinds of credentials.
        let own = if case .basic = authentication { forms } else { Array(forms.prefix(2)) }
        for form in own { #expect(!shown.contains(form), "\(shown)") }
    }

    @Test("a file whose secret has changed is read again after a 401, and the request is sent once more")
    func rotatedFile() async throws {
        let folder = try LocalServer.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/token"
        try Data("old-token".utf8).write(to: URL(fileURLWithPath: path))
        let inner = ScriptedTransport([.status(200), .status(401), .status(200), .status(401)])
        let transport = AuthorizedTransport(inner, .bearer(.file(path)), origins: ["http://h"])
        let request = TransportRequest(url: "http://h/")
        _ = try await transport.send(request)
        try Data("new-token".utf8).write(to: URL(fileURLWithPath: path))
        #expect(try await transport.send(request).status == 200)
        // The same secret would be refused again.
        #expect(try await transport.send(request).status == 401)
        #expect(
            inner.requests.map { $0.headers["Authorization"] ?? "" }
                == ["old-token", "old-token", "new-token", "new-token"].map { "Bearer \($0)" })
    }

    @Test("a secret that is read again after a 401 tells its scope, which may be that of another account")
    func scopeOfRotatedFile() async throws {
        let folder = try TemporaryFolder(), path = try folder.write("token", "old-token")
        let scopes = Mutex<[String?]>([])
        let inner = ScriptedTransport([.status(200), .status(401), .status(200)])
        let transport = AuthorizedTransport(
            inner, .bearer(.file(path)), origins: ["http://h"],
            onScope: { scope in scopes.withLock { $0.append(scope?.exposed) } })
        let request = TransportRequest(url: "http://h/")
        _ = try await transport.send(request)
        let first = try await transport.scope()?.exposed
        _ = try folder.write("token", "new-token")
        #expect(try await transport.send(request).status == 200)
        let second = try await transport.scope()?.exposed
        #expect(first != second && scopes.withLock(\.self) == [first, second])
    }

    @Test("a secret that is missing is an error of its own kind, before anything is sent")
    func missing() async throws {
        let inner = ScriptedTransport([.status(200)])
        let transport = AuthorizedTransport(
            inner, .bearer(.environment("NOT_SET")), origins: ["http://h"], environment: [:])
        let error = await expectFailure(.credentials) { try await transport.send(TransportRequest(url: "http://h/")) }
        #expect(error?.detail.contains("the environment variable NOT_SET") == true && inner.requests.isEmpty)
    }

    @Test("what is stored for one who asks is not for another: scopes differ, and follow the account, not the token")
    func scopes() async throws {
        func scope(_ authentication: Authentication) async throws -> String? {
            try await AuthorizedTransport(ScriptedTransport([.status(200)]), authentication, origins: []).scope()?
                .exposed
        }
        func oauth(_ client: String, _ secret: String, account: String? = nil) -> Authentication {
            .oauth2(
                OAuth2(
                    tokenURL: "https://a.example/token", clientID: .value(Secret(client)),
                    clientSecret: .value(Secret(secret)), account: account))
        }
        #expect(try await scope(.none) == nil)
        #expect(try await scope(.bearer(Self.source)) == Self.secret)
        #expect(try await scope(oauth("a", "s")) != scope(oauth("b", "s")))
        #expect(try await scope(oauth("a", "s")) != scope(oauth("a", "t")))
        #expect(try await scope(oauth("a", "s", account: "x")) == scope(oauth("a", "t", account: "x")))
        #expect(try await scope(oauth("a", "s", account: "x")) != scope(oauth("a", "s", account: "y")))
    }

    @Test("an account with a name keeps its scope with another secret, as does a program, or a file of refresh tokens")
    func accounts() async throws {
        func scope(_ authentication: Authentication, _ account: String? = nil) async throws -> String? {
            let scope = try await AuthorizedTransport(
                ScriptedTransport([.status(200)]), authentication, account: account, origins: []
            ).scope()
            // Without running a program, it is the same one.
            let known = try authentication.scope(account: account, environment: ProcessInfo.processInfo.environment)
            #expect(known == scope)
            return scope?.exposed
        }
        let other = Authentication.bearer(.value(Secret("other")))
        #expect(try await scope(.bearer(Self.source), "ada") == scope(other, "ada"))
        #expect(try await scope(other, "ada") != scope(other, "bob"))
        let program = Authentication.bearer(.command(["date", "+%N"]))
        #expect(try await scope(program) == scope(program))
        let folder = try LocalServer.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var scopes: Set<String?> = []
        for token in ["first", "second"] {
            try Data(token.utf8).write(to: URL(fileURLWithPath: folder + "/refresh"))
            var settings = OAuth2(tokenURL: "https://a.example/token", clientID: .value(Secret("tarn")))
            settings.grant = .refreshToken(.file(folder + "/refresh"))
            scopes.insert(try await scope(.oauth2(settings)))
        }
        #expect(scopes.count == 1)
    }

    @Test("a scope is known without a call of its program, and without the file of its refresh token")
    func scopeWithoutSecrets() throws {
        let folder = try LocalServer.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let program = Authentication.bearer(.command(["touch", folder + "/called"]))
        #expect(try program.scope(account: nil, environment: ProcessInfo.processInfo.environment) != nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        var settings = OAuth2(tokenURL: "https://a.example/token", clientID: .value(Secret("tarn")))
        settings.grant = .refreshToken(.file(folder + "/refresh"))
        let missing = try Authentication.oauth2(settings).scope(account: nil, environment: [:])
        try Data("token".utf8).write(to: URL(fileURLWithPath: folder + "/refresh"))
        let known = try Authentication.oauth2(settings).scope(account: nil, environment: [:])
        #expect(missing != nil && missing?.exposed == known?.exposed)
    }

    @Test("with a named account the scope is known without its secrets")
    func scopeOfAccount() async throws {
        let missing = try TemporaryFolder(), file = Authentication.bearer(.file(missing("token")))
        let named = try file.scope(account: "ann", environment: [:])
        #expect(try named != nil && named?.exposed != file.scope(account: "bob", environment: [:])?.exposed)
        #expect(throws: SecretError.self) { try file.scope(account: nil, environment: [:]) }
        let known = Authentication.bearer(.value(Secret("token")))
        let transport = AuthorizedTransport(
            ScriptedTransport([.status(200)]), known, account: "ann", origins: ["http://h"])
        #expect(try await transport.scope()?.exposed == named?.exposed)
    }
}

struct FailingTransport: Transport {
    var kind: TransportError.Kind
    var detail: String

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        throw TransportError(kind, method: request.method, url: request.url, detail: detail)
    }
}
