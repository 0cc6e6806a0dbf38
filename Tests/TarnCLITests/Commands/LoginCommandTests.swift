// `tarn login` and `tarn logout`: both ways to sign in, and what the other commands do with a login.

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Command line: login", .timeLimit(.minutes(5)))
struct LoginCommandTests {
    private let folder: TemporaryFolder
    private let service: SignInService
    private var environment: [String: String] { ["XDG_STATE_HOME": folder("state"), "DISPLAY": ""] }

    init() throws {
        folder = try TemporaryFolder()
        service = try SignInService()
    }

    private func description(_ more: String = "") throws -> String {
        try folder.write(
            "tarn.yaml",
            """
            api: { base: '\(service.base)', auth: \(service.auth(more)) }
            entities:
              Item: { key: id, attributes: { id: int, name: string } }
            endpoints:
              items: { path: /items, entity: Item, paginate: single_page }
            """)
    }

    private func run(_ arguments: String..., file: String) async throws -> TarnProcess.Result {
        try await tarn(arguments + ["--file", file], environment: environment)
    }

    /// The files of logins.
    private func logins() throws -> [String] {
        let root = folder("state/tarn/logins")
        return try FileManager.default.contentsOfDirectory(atPath: root).map { "\(root)/\($0)/login.json" }
    }

    /// Fails if a secret of the service is in an output.
    private func expectNoSecret(_ result: TarnProcess.Result, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(!(result.output + result.error).contains("hush"), sourceLocation: sourceLocation)
    }

    @Test("before a login, a sync exits with 4 and names it; after it, syncs need nobody, and a logout ends it")
    func device() async throws {
        let file = try description(", revoke_url: '\(service.base)/revoke'")
        let before = try await run("sync", file: file)
        #expect(before.status == 4, "\(before.error)")
        #expect(
            before.error.contains("nobody is signed in: sign in with `tarn login --file \(file)`"), "\(before.error)")

        service.change { $0.errors = ["authorization_pending"] }
        let login = try await run("login", "--device", file: file)
        expectSuccess(login)
        #expect(
            login.error.contains("open https://auth.example/enter in any browser, and enter the code ABCD-EFGH"),
            "\(login.error)")
        #expect(
            login.output.hasPrefix("signed in to 127.0.0.1; the login is kept in \(folder.path)/state/tarn/logins/"))
        expectNoSecret(login)
        let path = try #require(try logins().first)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(try String(contentsOfFile: path, encoding: .utf8).contains("refresh-hush-1"))

        let sync = try await run("sync", file: file)
        expectSuccess(sync)
        expectNoSecret(sync)
        #expect(service.forms("refresh_token").isEmpty, "the access token of the login is used")
        let logout = try await run("logout", file: file)
        expectSuccess(logout)
        #expect(logout.output == "signed out of 127.0.0.1: the server has revoked the login\n")
        #expect(service.forms("revoke").first?["token"] == "refresh-hush-1")
        #expect(try await run("sync", file: file).status == 4)
        #expect(try await run("logout", file: file).output == "nobody is signed in to 127.0.0.1\n")
    }

    @Test("a browser signs in by its return to 127.0.0.1; a request with another state does not count")
    func browser() async throws {
        let file = try description()
        let process = try TarnProcess(["login", "--browser", "--no-open", "--file", file], environment: environment)
        func url() -> String? {
            process.error.split(separator: "\n").first { $0.hasPrefix(service.base + "/authorize?") }.map(String.init)
        }
        try await eventually("the URL") { url() != nil || process.hasEnded }
        let address = try #require(url(), "\(process.error)")
        let fields = try #require(URLComponents(string: address)?.queryItems)
        func field(_ name: String) throws -> String { try #require(fields.first { $0.name == name }?.value) }
        let redirectURL = try field("redirect_uri"), state = try field("state")
        let redirect = try #require(URLComponents(string: redirectURL)), port = try #require(redirect.port)
        #expect(try field("code_challenge_method") == "S256")
        #expect(try field("scope") == "read")
        func visit(_ query: String) async throws -> RawConnection.Message {
            try await onThread {
                let connection = try RawConnection(port: port)
                try connection.send("GET \(redirect.path)?\(query) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                return try connection.message()
            }
        }
        let wrong = try await visit("code=evil&state=wrong")
        #expect(wrong.start.contains(" 400 ") && !process.hasEnded)
        let right = try await visit("code=hush-code&state=\(state)")
        #expect(right.start.contains(" 200 ") && !right.text.contains("hush"))
        let login = await process.end()
        expectSuccess(login)
        expectNoSecret(login)
        let form = try #require(service.forms("authorization_code").first)
        #expect(form["code"] == "hush-code" && form["redirect_uri"] == redirectURL)
        #expect(form["code_verifier"]?.utf8.count == 43)
        expectSuccess(try await run("sync", file: file))
        let logout = try await run("logout", file: file)
        #expect(logout.status == 0 && logout.output.contains("without revoke_url, the server may still accept"))
    }

    @Test("a denial and an expired code exit with 4, and an earlier login stays")
    func refusals() async throws {
        let file = try description()
        for (code, text) in [("access_denied", "the sign-in was denied"), ("expired_token", "the code has expired")] {
            service.change { $0.errors = [code] }
            let result = try await run("login", "--device", file: file)
            #expect(result.status == 4 && result.error.contains(text), "\(result.error)")
            expectNoSecret(result)
        }
        expectSuccess(try await run("login", "--device", file: file))
        service.change { $0.errors = ["access_denied"] }
        #expect(try await run("login", "--device", file: file).status == 4)
        expectSuccess(try await run("sync", file: file))
    }

    @Test("`slow_down` makes requests rarer")
    func slowDown() async throws {
        let file = try description()
        service.change { $0.errors = ["slow_down"] }
        let begin = ContinuousClock.now
        expectSuccess(try await run("login", "--device", file: file))
        #expect(ContinuousClock.now - begin >= .seconds(7), "one second, and six")
    }

    @Test("an expired token is renewed, and its replacement is kept; a login that the server refuses has ended")
    func renewal() async throws {
        let file = try description()
        // Two seconds: a token is used for half of its lifetime at least.
        service.change { $0.expiresIn = 2 }
        expectSuccess(try await run("login", "--device", file: file))
        try await Task.sleep(for: .milliseconds(1500))
        service.change { $0.expiresIn = 3600 }
        expectSuccess(try await run("sync", file: file))
        #expect(service.forms("refresh_token").map { $0["refresh_token"] } == ["refresh-hush-1"])
        let path = try #require(try logins().first)
        #expect(try String(contentsOfFile: path, encoding: .utf8).contains("refresh-hush-2"))
        service.change { $0.isRevoked = true }
        let ended = try await run("sync", file: file)
        #expect(ended.status == 4, "\(ended.error)")
        #expect((ended.error + ended.output).contains("the login has ended: sign in again with `tarn login"))
        expectNoSecret(ended)
        let doctor = try await run("doctor", "--offline", file: file)
        #expect(doctor.status == 4 && doctor.output.contains("fail  credentials  the login has ended"))
        expectSuccess(try await run("login", "--device", file: file))
        expectSuccess(try await run("sync", file: file))
    }

    @Test("status, check and doctor tell whether somebody is signed in, without secrets")
    func reports() async throws {
        let file = try description()
        let none = try await run("doctor", "--offline", file: file)
        #expect(none.status == 4 && none.output.contains("fail  credentials  nobody is signed in"), "\(none.output)")
        #expect(none.output.contains("→ run `tarn login --file \(file)`"), "\(none.output)")
        let check = try await run("check", file: file)
        #expect(check.status == 0 && check.output.contains("note: api.auth: nobody is signed in"), "\(check.output)")

        expectSuccess(try await run("login", "--device", file: file))
        expectSuccess(try await run("sync", file: file))
        let status = try await run("status", file: file)
        #expect(status.status == 0 && status.lines.contains { $0.hasPrefix("signed in since 20") }, "\(status.output)")
        let object = try json(try await run("status", "--json", file: file).output)
        #expect((object["logins"] as? [[String: Any]])?.map { $0["state"] as? String } == ["signed_in"])
        let doctor = try await run("doctor", "--offline", file: file)
        #expect(doctor.status == 0 && doctor.output.contains("ok    credentials  signed in since 20"))
        for result in [none, check, status, doctor] { expectNoSecret(result) }
        expectSuccess(try await run("logout", file: file))
        let after = try await run("status", file: file)
        #expect(after.output.contains("nobody is signed in: sign in with `tarn login"), "\(after.output)")
    }

    @Test("two APIs of one file have two logins: one must be named, and each is used for its own")
    func severalAPIs() async throws {
        let other = try SignInService()
        let file = try folder.write(
            "tarn.yaml",
            """
            apis:
              forge: { base: '\(service.base)', auth: \(service.auth()) }
              people: { base: '\(other.base)', auth: \(other.auth()) }
              open: { base: 'https://open.test.example' }
            entities:
              Item: { key: id, attributes: { id: int, name: string } }
              Person: { api: people, key: id, attributes: { id: int, name: string } }
            endpoints:
              items: { path: /items, entity: Item, paginate: single_page }
              people: { api: people, path: /people, entity: Person, paginate: single_page }
            """)
        let none = try await run("login", "--device", file: file)
        #expect(none.status == 2 && none.error.contains("several APIs have a sign-in: name one of forge, people"))
        let unknown = try await run("login", "forgf", file: file)
        #expect(unknown.status == 2 && unknown.error.contains("forge"), "\(unknown.error)")
        let open = try await run("login", "open", file: file)
        #expect(open.status == 2 && open.error.contains("open has no sign-in"), "\(open.error)")

        expectSuccess(try await run("login", "forge", "--device", file: file))
        let lacking = try await run("sync", "people", file: file)
        #expect(
            lacking.status == 4 && lacking.error.contains("sign in with `tarn login people --file \(file)`"),
            "\(lacking.error)")
        expectSuccess(try await run("login", "people", "--device", file: file))
        #expect(try logins().count == 2)
        expectSuccess(try await run("sync", file: file))
        for service in [service, other] {
            #expect(
                service.requests.filter { $0.method == "GET" }.map { $0.field("Authorization") } == [
                    "Bearer access-hush-1"
                ])
        }
    }

    @Test("a declared file in the working directory keeps the login")
    func workingDirectory() async throws {
        _ = try description(", refresh_token: { file: login.json }")
        let login = try await shell("cd '\(folder.path)' && \"$TARN\" login --device && \"$TARN\" sync --quiet")
        expectSuccess(login)
        #expect(login.output.contains("the login is kept in login.json"), "\(login.output)")
        #expect(try String(contentsOfFile: folder("login.json"), encoding: .utf8).contains("refresh-hush-1"))
    }

    @Test("an interrupt ends a login as in other commands, and nothing is kept")
    func interrupt() async throws {
        let file = try description()
        service.change { $0.interval = 60 }
        let process = try TarnProcess(["login", "--device", "--file", file], environment: environment)
        try await eventually("the code") { process.error.contains("waiting until") || process.hasEnded }
        process.send(SIGINT)
        let result = await process.end()
        #expect(result.status == 130 && !result.error.contains("cancelled"), "\(result.error)")
        #expect(!FileManager.default.fileExists(atPath: folder("state/tarn")))
    }

    @Test("an option without its URL is a usage error, and so is a description without a sign-in")
    func usage() async throws {
        let plain = try folder.write("plain.yaml", itemsYAML())
        let none = try await run("login", file: plain)
        #expect(none.status == 2 && none.error.contains("the API has no sign-in: write oauth2"), "\(none.error)")
        let auth =
            "  auth: { oauth2: { token_url: 'https://a.example/t', device_url: 'https://a.example/d', client_id: x } }"
        let device = try folder.write("device.yaml", itemsYAML(api: auth))
        let browser = try await run("login", "--browser", file: device)
        #expect(browser.status == 2 && browser.error.contains("--browser needs authorize_url"), "\(browser.error)")
        let both = try await run("login", "--browser", "--device", file: device)
        #expect(both.status == 2 && both.error.contains("exclude each other"), "\(both.error)")
    }
}
