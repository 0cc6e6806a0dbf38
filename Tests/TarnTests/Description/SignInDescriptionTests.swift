// The keys of a sign-in under `auth.oauth2`: what they make, and what is wrong together.

import Tarn
import TarnDescription
import Testing

@Suite("Description: sign-ins")
struct SignInDescriptionTests {
    private func settings(_ oauth2: String, _ rest: String = "", file: String = "forge.yaml") throws -> OAuth2 {
        let keys = "token_url: 'https://a.example/t', client_id: tarn"
        let text = thingDescription("auth: { oauth2: { \(keys)\(oauth2) }\(rest) }", "", "int?")
        let authentication = try Description.parse(text, file: file).api.authentication
        return try #require(authentication.signIn)
    }

    @Test("a sign-in needs neither a secret nor a refresh token, and its login belongs to the description")
    func device() throws {
        let settings = try settings(", device_url: 'https://a.example/d', scopes: [read]")
        #expect(settings.signIn == OAuth2.SignIn(deviceURL: "https://a.example/d"))
        #expect(settings.signIn?.ways == [.device])
        #expect(
            settings.loginPlace
                == LoginPlace(
                    file: "forge.yaml", api: nil, tokenURL: "https://a.example/t", client: .value(Secret("tarn")),
                    account: nil))
        #expect(settings.loginPlace?.command == "tarn login --file forge.yaml")
    }

    @Test("all keys of a sign-in are read; an empty password is sent only where `client_auth: basic` is written")
    func keys() throws {
        let settings = try settings(
            ", authorize_url: 'https://a.example/a?x=1', device_url: 'https://a.example/d', "
                + "revoke_url: 'https://a.example/r', redirect_url: 'http://localhost:8888/callback', "
                + "login_params: { access_type: offline }, client_auth: basic, refresh_token: { file: login }",
            ", account: ada", file: "/etc/tarn/forge.yaml")
        var expected = OAuth2.SignIn(deviceURL: "https://a.example/d", authorizeURL: "https://a.example/a?x=1")
        expected.revokeURL = "https://a.example/r"
        expected.redirectURL = "http://localhost:8888/callback"
        expected.parameters = [.init("access_type", "offline")]
        expected.sendsEmptySecret = true
        #expect(settings.signIn == expected && settings.signIn?.ways == [.device, .browser])
        #expect(settings.loginPlace?.path == "/etc/tarn/login" && settings.loginPlace?.account == "ada")
        let secret = try self.settings(
            ", device_url: 'https://a.example/d', client_secret: { env: S }, client_auth: basic")
        #expect(secret.signIn?.sendsEmptySecret == false)
    }

    @Test("of several APIs, each has a login of its own")
    func severalAPIs() throws {
        let auth =
            "auth: { oauth2: { token_url: 'https://a.example/t', device_url: 'https://a.example/d', client_id: x } }"
        let description = try Description.parse(
            """
            apis:
              forge: { base: 'https://f.example', \(auth) }
              people: { base: 'https://p.example', \(auth) }
            entities:
              Item: { key: id, attributes: { id: int } }
            endpoints:
              items: { path: /items, entity: Item }
            """, file: "tarn.yaml")
        let places = description.apis.compactMap { $0.api.authentication.signIn?.loginPlace }
        #expect(places.map(\.command) == ["tarn login forge", "tarn login people"])
    }

    @Test(
        "combinations without a meaning are errors that name the way out",
        arguments: [
            (
                "refresh_token: { env: R }, device_url: 'https://a.example/d'",
                "refresh_token: a login is kept in a file"
            ),
            ("client_secret: { env: S }, revoke_url: 'https://a.example/r'", "revoke_url: belongs to a sign-in"),
            ("client_secret: { env: S }, login_params: { a: b }", "login_params: belongs to a sign-in"),
            (
                "device_url: 'https://a.example/d', redirect_url: 'http://127.0.0.1/'",
                "redirect_url: a device has no redirect"
            ),
            (
                "authorize_url: 'https://a.example/a', redirect_url: 'https://a.example/'",
                "redirect_url: the browser returns to this machine"
            ),
            ("authorize_url: 'http://a.example/a'", "authorize_url: tokens are only requested over https"),
            ("device_url: 'https://a.example/d', login_params: { state: x }", "login_params.state: tarn sets this"),
            ("device_url: 'https://a.example/d', login_params: { scope: x }", "login_params.scope: write the scopes"),
            ("authorization_url: 'https://a.example/a'", "authorization_url: "),
            (
                "assertion: { key: { env: K } }, device_url: 'https://a.example/d'",
                "assertion: replaces device_url"
            ),
        ])
    func problems(keys: String, expected: String) {
        let text = thingDescription(
            "auth: { oauth2: { token_url: 'https://a.example/t', client_id: tarn, \(keys) } }", "", "int?")
        do throws(DescriptionError) {
            _ = try Description.parse(text, file: "forge.yaml")
            Issue.record("\(keys) is accepted")
        } catch {
            #expect(
                error.problems.contains { $0.description.contains("api.auth.oauth2.\(expected)") },
                "\(error.problems.map(\.description))")
        }
    }
}
