// Sign-ins in a browser: the request, its proof, and what else may come to the listener.

import Foundation
import Glibc
import TestSupport
import Testing

@testable import TarnHTTP

@Suite("Sign-ins in a browser", .timeLimit(.minutes(5)))
struct BrowserSignInTests {
    /// Plays the browser: gets the URL of the authorization endpoint, with its parameters by name.
    private typealias Visit = @Sendable (_ redirect: HTTPURL, _ fields: [String: String]) async -> Void

    private func settings(_ redirect: String = OAuth2.SignIn.defaultRedirectURL) -> OAuth2 {
        var settings = OAuth2(
            tokenURL: SignInServer.base + "/token", clientID: .value(Secret("tarn")), scopes: ["read", "list"])
        settings.signIn = OAuth2.SignIn(authorizeURL: SignInServer.base + "/authorize?tenant=a")
        settings.signIn?.redirectURL = redirect
        settings.signIn?.parameters = [.init("access_type", "offline")]
        settings.grant = .refreshToken(
            .login(
                LoginPlace(
                    file: "tarn.yaml", api: nil, tokenURL: settings.tokenURL, client: settings.clientID, account: nil)))
        return settings
    }

    /// Signs in with a visit, and returns the failure; empty without one.
    private func signIn(
        _ server: SignInServer, _ settings: OAuth2, limit: Duration = .seconds(60), _ visit: @escaping Visit
    ) async throws -> String {
        let folder = try TemporaryFolder()
        let flow = try #require(
            SignInFlow(settings, transport: server, environment: ["XDG_STATE_HOME": folder.path], limit: limit))
        do {
            _ = try await flow.begin(by: .browser) { prompt in
                let fields = Dictionary(QueryParameters.values(in: prompt.url).map { ($0.name, $0.value) }) { $1 }
                guard let redirect = try? HTTPURL(fields["redirect_uri"] ?? "") else { return }
                Task { await visit(redirect, fields) }
            }
        } catch { return "\(error)" }
        return ""
    }

    /// Sends bytes to the listener and returns its whole answer.
    @discardableResult
    private static func exchange(_ port: Int, _ text: String) async -> String {
        await Task.detached {
            let descriptor = connection(port)
            defer { close(descriptor) }
            let bytes = Array(text.utf8)
            _ = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            var answer: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = recv(descriptor, &buffer, buffer.count, 0)
                guard count > 0 else { return String(decoding: answer, as: UTF8.self) }
                answer += buffer[..<count]
            }
        }.value
    }

    private static func connection(_ port: Int) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(clamping: port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return descriptor
    }

    private static func get(_ redirect: HTTPURL, _ query: String) async -> String {
        await exchange(redirect.port, "GET \(redirect.path)?\(query) HTTP/1.1\r\nHost: localhost\r\n\r\n")
    }

    @Test("the request has a challenge whose verifier the token request proves, and the redirect of both is the same")
    func proof() async throws {
        let server = SignInServer(), seen = Seen<[String: String]>(), answers = Seen<String>()
        let failure = try await signIn(server, settings()) { redirect, fields in
            seen.set(fields)
            answers.set(await Self.get(redirect, "code=the%20code&state=\(fields["state"] ?? "")"))
        }
        #expect(failure.isEmpty, "\(failure)")
        let fields = try #require(seen.value)
        #expect(fields["tenant"] == "a" && fields["response_type"] == "code" && fields["client_id"] == "tarn")
        #expect(fields["scope"] == "read list" && fields["access_type"] == "offline")
        #expect(fields["code_challenge_method"] == "S256")
        let redirect = try #require(fields["redirect_uri"])
        #expect(redirect.wholeMatch(of: /http:\/\/127\.0\.0\.1:[0-9]+\/callback/) != nil, "\(redirect)")
        let form = Dictionary(
            QueryParameters.values(in: "?" + (server.forms("/token").first ?? "")).map { ($0.name, $0.value) }
        ) { $1 }
        #expect(form["grant_type"] == "authorization_code" && form["code"] == "the code")
        #expect(form["redirect_uri"] == redirect && form["client_id"] == "tarn" && form["scope"] == nil)
        let verifier = try #require(form["code_verifier"])
        #expect(verifier.utf8.count == 43 && fields["code_challenge"] == OAuth2.challenge(of: Secret(verifier)))
        try await eventually("the page") { answers.value != nil }
        let page = try #require(answers.value)
        #expect(page.hasPrefix("HTTP/1.1 200 OK\r\nContent-Type: text/plain"), "\(page)")
        #expect(!page.contains("the code") && !page.contains(fields["state"] ?? "?"), "\(page)")
    }

    @Test("the challenge is that of RFC 7636, appendix B")
    func challenge() {
        #expect(
            OAuth2.challenge(of: Secret("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"))
                == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    }

    @Test("requests with another state, path or method, without an end or too long do not end the sign-in")
    func foreignRequests() async throws {
        let server = SignInServer(), refused = Seen<[String]>()
        let failure = try await signIn(server, settings()) { redirect, fields in
            let state = fields["state"] ?? "", port = redirect.port
            // A browser connects in advance, and sends nothing.
            let silent = Self.connection(port)
            defer { close(silent) }
            refused.set([
                await Self.get(redirect, "code=evil&state=wrong"), await Self.get(redirect, "code=evil"),
                await Self.get(redirect, "error=access_denied&state=wrong"),
                await Self.get(redirect, "code=&state=\(state)"),
                await Self.exchange(port, "GET /favicon.ico?code=evil&state=\(state) HTTP/1.1\r\n\r\n"),
                await Self.exchange(port, "POST /callback?code=evil&state=\(state) HTTP/1.1\r\n\r\n"),
                await Self.exchange(port, "\r\n\r\n"), await Self.exchange(port, "GET  HTTP/1.1\r\n\r\n"),
                await Self.exchange(port, String(repeating: "x", count: 40_000)),
            ])
            _ = await Self.get(redirect, "code=good&state=\(state)")
        }
        #expect(failure.isEmpty, "\(failure)")
        #expect(server.forms("/token").map { $0.contains("code=good&") } == [true])
        let answers = try #require(refused.value)
        #expect(answers.dropLast().allSatisfy { $0.hasPrefix("HTTP/1.1 400 ") }, "\(answers)")
        #expect(!answers.contains { $0.contains("evil") }, "\(answers)")
    }

    @Test("a denial ends the sign-in, and so does the time limit; nothing is requested then")
    func refusals() async throws {
        let server = SignInServer()
        let denied = try await signIn(server, settings()) { redirect, fields in
            _ = await Self.get(redirect, "error=access_denied&state=\(fields["state"] ?? "")")
        }
        #expect(denied.contains("the sign-in was denied"), "\(denied)")
        let failed = try await signIn(server, settings()) { redirect, fields in
            _ = await Self.get(
                redirect, "error=server_error&error_description=no+luck&state=\(fields["state"] ?? "")")
        }
        #expect(failed.contains("has refused the sign-in: server_error: no luck"), "\(failed)")
        let late = try await signIn(server, settings(), limit: .milliseconds(300)) { _, _ in }
        #expect(late.contains("no browser has returned"), "\(late)")
        #expect(server.requests.isEmpty)
    }

    @Test("a declared redirect keeps its text and its port; a port in use is an error that names it")
    func declaredRedirect() async throws {
        let server = SignInServer(), taken = try ScriptedServer { _ in .init() }
        let port = try await signIn(server, settings("http://127.0.0.1:\(taken.port)/")) { _, _ in }
        #expect(port.contains("cannot listen on port \(taken.port) of 127.0.0.1: Address already in use"), "\(port)")
        let seen = Seen<String>()
        let failure = try await signIn(server, settings("http://localhost")) { redirect, fields in
            seen.set(fields["redirect_uri"] ?? "")
            _ = await Self.get(redirect, "code=good&state=\(fields["state"] ?? "")")
        }
        #expect(failure.isEmpty, "\(failure)")
        #expect(seen.value?.wholeMatch(of: /http:\/\/localhost:[0-9]+/) != nil, "\(seen.value ?? "")")
        for url in ["https://127.0.0.1/", "http://example.org/", "http://127.0.0.1/?a=b", "http://127.0.0.1:0/", "x"] {
            #expect(OAuth2.problem(ofRedirectURL: url) != nil, "\(url)")
        }
        for url in ["http://127.0.0.1", "http://localhost:8888/callback"] {
            #expect(OAuth2.problem(ofRedirectURL: url) == nil, "\(url)")
        }
    }

    @Test("an interrupted sign-in ends at once")
    func cancellation() async throws {
        let folder = try TemporaryFolder(), settings = settings(), begun = Seen<Bool>()
        let flow = try #require(
            SignInFlow(settings, transport: SignInServer(), environment: ["XDG_STATE_HOME": folder.path]))
        let task = Task { try await flow.begin(by: .browser) { _ in begun.set(true) } }
        try await eventually("the sign-in") { begun.value != nil }
        task.cancel()
        let result = await task.result
        guard case .failure(let error as TransportError) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(error.kind == .cancelled)
    }
}
