// Errors in the settings of logins, signed tokens and waits.

import Tarn
import TarnDescription
import Testing

@Suite("Description: problems of logins and waits")
struct AuthenticationProblemTests {
    private static let session = "session: { login: /login, token: t, "
    private static let client = "oauth2: { token_url: 'https://a.example/t', "

    @Test(
        "settings that exclude or need one another are errors with their place",
        arguments: [
            (
                "\(client)client_id: a, client_secret: { env: A }, client_key: { key: { env: B } } }",
                "client_key: replaces"
            ),
            (
                "\(client)client_id: a, refresh_token: { env: A }, assertion: { key: { env: B } } }",
                "assertion: replaces"
            ),
            (
                "\(client)client_key: { key: { env: A } }, assertion: { key: { env: B } } }",
                "client_key: needs a client_id"
            ),
            ("jwt: { key: { env: A }, algorithm: HS256, passphrase: { env: B } }", "passphrase: a shared key has no"),
            ("jwt: { key: { env: A }, key_form: hex }", "key_form: only a shared key has a form"),
            ("jwt: { key: { env: A }, lifetime: 59 }", "lifetime: a token needs 60 seconds"),
            ("\(session)json: { a: 1 }, form: { b: 2 } }", "form: a request has one body"),
            ("\(session)method: GET, form: { b: 2 } }", "method: a GET has no body"),
            ("\(session)logout: { method: DELETE } }", "logout: write path: PATH, or header: FIELD"),
            ("\(session)logout: { path: /out, header: Location } }", "logout: write path: PATH, or header: FIELD"),
        ])
    func settings(auth: String, message: String) {
        #expect { try Description.parse(itemsYAML(api: "  auth: { \(auth) }"), file: "tarn.yaml") } throws: {
            "\($0)".contains(message)
        }
    }

    @Test("the keys of wait reach the endpoint")
    func waits() throws {
        func wait(_ text: String) throws -> String {
            "\(try #require(try Description.parse(itemsYAML("wait: \(text)"), file: "tarn.yaml").endpoints.first).wait)"
        }
        let waits = try [
            "never", "{ at_most: 1h }", "{ every: 10s }", "{ url: links.status }", "{ state: job.state }",
            "{ state: job.state, while: [built] }",
        ].map(wait)
        #expect(Set(waits).count == waits.count)
    }
}
