// Tokens that the client signs, against the vectors of the RFCs, and what servers make of them.

import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TarnHTTP

@Suite("Signed tokens", .timeLimit(.minutes(5)))
struct JSONWebTokenTests {
    /// The key of RFC 7515 §A.2.1 in PEM.
    static let rsaKey = """
        -----BEGIN PRIVATE KEY-----
        MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCh+BYK4uPJtGXO
        jS1lYmM2K5J9vinh8CR3/BYlzJChNuOL2TSXxbbqY913EeZ8dCn5VrD7io8ImtxL
        aYk8wTM/U+3QGbh3hCUv7JFP5IV3aVlL6kKA0ywPVb9ilE8TA5a8bpvfbr3SvaNn
        juygxmj3AbONv/s4yDQs4v5tJ/reSlpIdJed1LnPmt7Ex1sFhSwsD174pcF1A5L5
        ROjtZMEQxrZHYJqkeDrrnGya11UxMFBji4NmXG9veoKjlnAqH2QbgtPr8jkiGUkf
        toaHLFcW9Qr4NY2ai50Xw0Byj3+H2JoY2PyrZ62EWQwuz3WTOTY8BwNNb2BvniHg
        VFbK5emhAgMBAAECggEAEq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyW
        PEAeP88vLNO97IjlA7/GQ5sLKMgvfTeXZx9SE+7YwVol2NXOoAJe46sui395IW/G
        O+pWJ1O0BkTGoVEn2bKVRUCgu+GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3Mkqzj
        kn439X0M/V51gfpRLI9JYanrC4D4qAdGcopV/0ZHHzQlBjudU2QvXt4ehNYTCBr6
        XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl/x/jTj3ccPDVZFD9pIuhLhBOneufuBiB
        4cS98l2SR/RQyGWSeWjnczT0QU91p1DhOVRuOopznQKBgQDgHMQQ60imZV1URk0K
        pLttoLhyt3SmqdEf/kgHePDdtzEafpAu+cS191R2JiuoF2yzWXnwFDcqGigp5BNr
        0AHQfD8/Lk8l1Mk09jxxCfui5nYooNyac8YFjm3vItzVCVDnEd3BbVWG8qf6deqE
        lMGAg+C2V0L4oNXnP7LZcPAZRwKBgQC5A8R+CZW2MvRTLLHzwZkUXV866cff7tx6
        kqa0finGG0KgeqlaZPxgCZnFp7AeAcCMtiynVlJ7vMVgePsLq6XtON4tB5kP9jAP
        rq3rbAOal78eUH5OcED6eNuCV8ixEu1eWcPNCS/l1OW1EnXUEoEHKl54Xrrz2uNw
        kgMTP1FZ1wKBgAcCn1dwJKufzBWQxWQp1vsM5fggqPN1qGb5y0MAk3g7/Ls5bkUp
        5u9SN0Ai3Ya6hNnvWJMb7sXQX6U/zyO2M/hTip7tUeh7CXgwo59dkpN75gJLVds2
        9+DAncu3KXU4f2Fa+7bLNrur53k8KwPOq2bbuTG69QtV7Jr5MR0AHWKNAoGBAIf/
        evpitUf+4JYbLpvNXWcY052Mpz22aR84mY3nh3F2LF2mjMJDpTg7FmuyPcVw6EcG
        yoAe9fa65iNqCq+jdw6PVNGo2hxfjSiZ8IIzHdsPXI89//pMjZcQK9r+CCoRjaZj
        OYiIDktVWZzmevJuv6WywUqd57LE3Zar3dLSIkx1AoGAIYd7DHOhrWvxkwPQsRM2
        tOgrjbcrfvtQJipd+DlcxyVuuM9sQLdgjVk2oy26F0EmpScGLq2MowX7fhd/QJQ3
        ydy5cY7YIBi87w93IKLEdfnbJtoOPLUW0ITrJReOgo1cq9SbsxYawBgfp/gh6A56
        03k2+ZQwVK0JKSHuLFkuQ3U=
        -----END PRIVATE KEY-----
        """
    /// The key of RFC 8037 §A.1 in PEM.
    static let edwardsKey = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
        -----END PRIVATE KEY-----
        """
    static let curveKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg/KZReoxE048oE5M6
        r/KgqIq9I5n54n0tWjkr4f2PrcGhRANCAATxMvwQy9Yas1H7Nhm20jzSw3SLPfRJ
        O9SRKdcS/msOJp4AiQ43abLT8IY3i2bH/SmGWVRr426+jmJwWVN5TQ/c
        -----END PRIVATE KEY-----
        """

    private func token(
        _ algorithm: JSONWebToken.Algorithm, _ key: String = rsaKey, _ form: JSONWebToken.KeyForm = .text,
        header: [String: SecretValue] = [:], claims: [String: SecretValue] = [:]
    ) -> JSONWebToken {
        JSONWebToken(algorithm, key: .value(Secret(key)), keyForm: form, header: header, claims: claims)
    }

    private func part(_ token: Secret, _ index: Int) throws -> JSONBody {
        let parts = token.exposed.split(separator: ".")
        try #require(parts.count == 3)
        let bytes = try #require(JSONWebToken.KeyForm.base64.bytes(of: String(parts[index])))
        return try #require(JSONBody(parsing: bytes[...]))
    }

    @Test("signatures are those of RFC 7515 §A.1 and §A.2, and of RFC 8037 §A.4")
    func vectors() throws {
        let claims =
            "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
        func signature(_ token: JSONWebToken, _ key: String, _ text: String) throws -> String {
            JSONWebToken.base64URL(try token.sign(Array(text.utf8), key, nil))
        }
        let shared = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"
        #expect(
            try signature(token(.hs256, shared, .base64), shared, "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9." + claims)
                == "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        #expect(
            try signature(token(.rs256), Self.rsaKey, "eyJhbGciOiJSUzI1NiJ9." + claims)
                == "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJ"
                + "dbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN93"
                + "83LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWk"
                + "WywlVmtVrBp0igcN_IoypGlUPQGe77Rw")
        #expect(
            try signature(token(.edDSA), Self.edwardsKey, "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc")
                == "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg")
        // RFC 7518 §3.4: two numbers of 32 bytes, not DER.
        #expect(try token(.es256).sign(Array("abc".utf8), Self.curveKey, nil).count == 64)
    }

    @Test("a token has the algorithm, the key's name, the claims and a lifetime with room for another clock")
    func content() throws {
        let settings = token(
            .es256, Self.curveKey, header: ["kid": .json(.string("K1"))],
            claims: ["iss": .secret(.value(Secret("team"))), "aud": .json(.string("appstoreconnect-v1"))])
        let now = Date(timeIntervalSince1970: 1_700_000_000.5)
        let signed = try settings.signed([Secret(Self.curveKey), Secret("team")], now: now)
        #expect(try part(signed.token, 0).text == #"{"kid":"K1","typ":"JWT","alg":"ES256"}"#)
        #expect(
            try part(signed.token, 1).text
                == #"{"aud":"appstoreconnect-v1","iss":"team","iat":1699999970,"exp":1700000270}"#)
        #expect(signed.endsAt == Date(timeIntervalSince1970: 1_700_000_270))
    }

    @Test(
        "a key that does not fit is a failure that names its place and never shows it",
        arguments: [
            (JSONWebToken.Algorithm.es256, "no key", JSONWebToken.KeyForm.text, "no private key in PEM"),
            (.es256, rsaKey, .text, "a key of another kind than ES256 needs"),
            (.rs256, curveKey, .text, "a key of another kind than RS256 needs"),
            (.es384, curveKey, .text, "a key of another kind than ES384 needs"),
            (.hs256, "abc", .hex, "not hex, its key_form"), (.hs256, "+1", .hex, "not hex"),
            (.hs256, "a!", .base64, "not base64"), (.hs256, "==", .base64, "not base64"),
        ])
    func badKey(algorithm: JSONWebToken.Algorithm, key: String, form: JSONWebToken.KeyForm, expected: String) {
        let error = #expect(throws: SecretError.self) {
            try token(algorithm, key, form).signed([Secret(key)], now: Date())
        }
        #expect(error?.description.contains(expected) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("PRIVATE KEY-----\n") == false)
    }

    /// The key of RFC 8037 §A.1, encrypted with `open-sesame`.
    private static let encryptedKey = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAh88wtWaucSqQICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEP+AiYSLc/QL2x09Sl+HZowEQFWS
        l/kZ3UBP9W7mMTKKpeKXGWbcA9nM3p/rwp2gLi+SYgbMgsSJ9HxC8Hk+Legk8+Cp
        dJvxvi4a0X2qjEan5RA=
        -----END ENCRYPTED PRIVATE KEY-----
        """

    @Test("an encrypted key is opened by its passphrase, which is no claim")
    func passphrase() throws {
        let settings = JSONWebToken(
            .edDSA, key: .value(Secret(Self.encryptedKey)), passphrase: .value(Secret("open-sesame")),
            claims: ["iss": .secret(.value(Secret("team")))])
        let secrets = [Self.encryptedKey, "open-sesame", "team"].map { Secret($0) }
        let now = Date(timeIntervalSince1970: 1_700_000_000), opened = try settings.signed(secrets, now: now).token
        #expect(try part(opened, 1)[["iss"]] == .string("team"))
        let plain = token(.edDSA, Self.edwardsKey, claims: ["iss": .json(.string("team"))])
        #expect(try plain.signed([Secret(Self.edwardsKey)], now: now).token == opened)
        let error = #expect(throws: SecretError.self) {
            try settings.signed([secrets[0], Secret("wrong"), secrets[2]], now: now)
        }
        #expect(error?.description.contains("that this passphrase opens") == true)
    }

    @Test("signatures with PSS have a salt; those with PKCS #1 are always the same")
    func salts() throws {
        func signature(_ algorithm: JSONWebToken.Algorithm) throws -> [UInt8] {
            try token(algorithm).sign(Array("abc".utf8), Self.rsaKey, nil)
        }
        #expect(try signature(.ps256) != signature(.ps256))
        #expect(try signature(.rs256) == signature(.rs256))
    }

    @Test("a token is replaced before its end, and after a 401")
    func renewal() async throws {
        let time = TestTime()
        let inner = ScriptedTransport([.status(200), .status(200), .status(200), .status(401), .status(200)])
        let transport = AuthorizedTransport(
            inner, .jwt(token(.hs256, "key")), origins: ["https://api.example"], time: time.source)
        func send() async throws -> Int {
            try await transport.send(TransportRequest(url: "https://api.example/a")).status
        }
        // Valid for 270 seconds by this clock.
        for pause in [0.0, 239, 2] {
            time.pass(pause)
            #expect(try await send() == 200)
        }
        time.pass(10)
        #expect(try await send() == 200)
        let tokens = inner.requests.map { $0.headers["Authorization"] }
        try #require(tokens.count == 5)
        #expect(tokens[0] == tokens[1] && tokens[2] == tokens[3])
        #expect(tokens[1] != tokens[2] && tokens[3] != tokens[4])
    }

    @Test("a key in PEM is read from a file with its lines; other secrets are one line")
    func keyFile() async throws {
        let folder = try TemporaryFolder(), path = try folder.write("key.pem", Self.rsaKey + "\n")
        let inner = ScriptedTransport([.status(200), .status(401), .status(200)])
        let settings = JSONWebToken(
            .rs256, key: .file(path), claims: ["iss": .json(.string("app"))],
            place: .header("Authorization", prefix: "Ghost "))
        let transport = AuthorizedTransport(inner, .jwt(settings), origins: ["https://api.example"])
        #expect(try await transport.send(TransportRequest(url: "https://api.example/a")).status == 200)
        let field = try #require(inner.requests.first?.headers["Authorization"])
        #expect(field.hasPrefix("Ghost ey") && field.split(separator: ".").count == 3)
        let bearer = AuthorizedTransport(inner, .bearer(.file(path)), origins: ["https://api.example"])
        await expectFailure(.credentials) { try await bearer.send(TransportRequest(url: "https://api.example/a")) }
    }

    @Test("the account of a token stays if its key is replaced, and differs by its claims")
    func account() {
        func scope(_ key: String, _ issuer: String) -> String? {
            Authentication.jwt(token(.rs256, key, claims: ["iss": .json(.string(issuer))]))
                .scope(of: [Secret(key)], account: nil)?.exposed
        }
        #expect(scope("one", "ada") == scope("two", "ada"))
        #expect(scope("one", "ada") != scope("one", "bob"))
        // Claims that name nobody: only the key distinguishes accounts, or its name.
        func anonymous(_ key: String, _ name: String? = nil) -> String? {
            let header = name.map { ["kid": SecretValue.json(.string($0))] } ?? [:]
            return Authentication.jwt(token(.hs256, key, header: header, claims: ["aud": .json(.string("/admin/"))]))
                .scope(of: [Secret(key)], account: nil)?.exposed
        }
        #expect(anonymous("one") != anonymous("two"))
        #expect(anonymous("one", "a") == anonymous("two", "a") && anonymous("one", "a") != anonymous("one", "b"))
        // A program stands for what it prints.
        let printed = Authentication.jwt(
            JSONWebToken(.hs256, key: .command(["key"]), claims: ["iss": .secret(.command(["name"]))]))
        #expect(
            printed.scope(of: [Secret("a"), Secret("b")], account: nil)
                == printed.scope(of: [Secret(""), Secret("")], account: nil))
    }

    // MARK: OAuth 2.0

    /// Answers token requests, and keeps their forms.
    private func forms(_ settings: OAuth2) async throws -> [String: String] {
        let inner = ScriptedTransport([
            .status(200, [:], #"{"access_token":"a","token_type":"BearerToken","expires_in":"3599"}"#), .status(200),
        ])
        let transport = AuthorizedTransport(inner, .oauth2(settings), origins: ["https://api.example"])
        #expect(try await transport.send(TransportRequest(url: "https://api.example/a")).status == 200)
        #expect(inner.requests.last?.headers["Authorization"] == "Bearer a")
        #expect(inner.requests.first?.headers["Authorization"] == nil)
        let form = String(decoding: try #require(inner.requests.first?.body), as: UTF8.self)
        return Dictionary(QueryParameters.values(in: "https://h/?" + form).map { ($0.name, $0.value) }) { $1 }
    }

    @Test("the file of a service account is an assertion with its name, its key's name and the scopes (RFC 7523 §2.1)")
    func serviceAccount() async throws {
        let file = JSONBody.object([
            .init("type", .string("service_account")), .init("private_key_id", .string("k1")),
            .init("private_key", .string(Self.rsaKey + "\n")), .init("client_email", .string("tarn@p.example")),
        ])
        var settings = OAuth2(tokenURL: "https://auth.example/token", clientID: nil, scopes: ["a", "b"])
        settings.grant = .assertion(JSONWebToken(.rs256, key: .value(Secret(file.text))))
        let form = try await forms(settings)
        #expect(form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer" && form["scope"] == "a b")
        #expect(form["client_id"] == nil)
        let assertion = Secret(try #require(form["assertion"]))
        #expect(try part(assertion, 0)[["kid"]] == .string("k1"))
        let claims = try part(assertion, 1)
        #expect(claims[["iss"]] == .string("tarn@p.example") && claims[["scope"]] == .string("a b"))
        #expect(claims[["aud"]] == .string("https://auth.example/token") && claims[["jti"]] != nil)
        // Another key of the same account.
        let other = file.text.replacing("k1", with: "k2")
        func scope(_ key: String) -> String? {
            Authentication.oauth2(settings).scope(of: [Secret(key)], account: nil)?.exposed
        }
        #expect(scope(file.text) == scope(other))
    }

    @Test("a client authenticates with its key (RFC 7523 §2.2)")
    func clientKey() async throws {
        var settings = OAuth2(tokenURL: "https://auth.example/token", clientID: .value(Secret("app")))
        settings.clientKey = JSONWebToken(
            .es256, key: .value(Secret(Self.curveKey)), header: ["kid": .json(.string("K"))])
        let form = try await forms(settings)
        #expect(form["grant_type"] == "client_credentials" && form["client_id"] == "app")
        #expect(form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
        let claims = try part(Secret(try #require(form["client_assertion"])), 1)
        #expect(claims[["iss"]] == .string("app") && claims[["sub"]] == .string("app"))
    }

    @Test("an assertion and the client's authentication have a key and claims each")
    func twoTokens() async throws {
        var settings = OAuth2(tokenURL: "https://auth.example/token", clientID: .value(Secret("app")))
        settings.grant = .assertion(
            JSONWebToken(
                .rs256, key: .value(Secret(Self.rsaKey)),
                claims: ["sub": .secret(.value(Secret("ada"))), "aud": .json(.string("https://aud.example"))]))
        settings.clientKey = JSONWebToken(.es256, key: .value(Secret(Self.curveKey)))
        let form = try await forms(settings)
        let assertion = Secret(try #require(form["assertion"])), client = Secret(try #require(form["client_assertion"]))
        #expect(try part(assertion, 0)[["alg"]] == .string("RS256"))
        #expect(try part(client, 0)[["alg"]] == .string("ES256"))
        let claims = try part(assertion, 1)
        #expect(claims[["iss"]] == .string("app") && claims[["sub"]] == .string("ada"))
        // Declared claims take precedence.
        #expect(claims[["aud"]] == .string("https://aud.example"))
        #expect(try part(client, 1)[["aud"]] == .string("https://auth.example/token"))
    }

    /// A token endpoint that repeats what it was sent.
    private struct Echo: Transport {
        func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
            let form = String(decoding: request.body ?? [], as: UTF8.self)
            let sent = QueryParameters.values(in: "https://h/?" + form).first { $0.name == "assertion" }?.value ?? ""
            let body = JSONBody.object([
                .init("error", .string("invalid_grant")), .init("error_description", .string("got \(sent).")),
            ])
            return TransportResponse(status: 400, body: Array(body.text.utf8))
        }
    }

    @Test("neither a refused assertion nor a secret of its claims is shown, also without a client id")
    func hiddenAssertion() async throws {
        var settings = OAuth2(tokenURL: "https://auth.example/token", clientID: nil)
        settings.grant = .assertion(
            JSONWebToken(
                .rs256, key: .value(Secret(Self.rsaKey)), claims: ["iss": .secret(.value(Secret("hidden-issuer")))]))
        let refused = AuthorizedTransport(Echo(), .oauth2(settings), origins: ["https://api.example"])
        let error = await expectFailure(.credentials) {
            try await refused.send(TransportRequest(url: "https://api.example/a"))
        }
        #expect(error?.detail.contains("got ***.") == true, "\(error?.detail ?? "")")
        let inner = ScriptedTransport([
            .status(200, [:], #"{"access_token":"a"}"#), .status(403, [:], "hidden-issuer?"),
        ])
        let transport = AuthorizedTransport(inner, .oauth2(settings), origins: ["https://api.example"])
        let body = try await transport.send(TransportRequest(url: "https://api.example/a")).body
        #expect(String(decoding: body, as: UTF8.self) == "***?")
    }

    @Test("a session is logged in to with a signed token, as an installation of a GitHub App is")
    func installation() async throws {
        let server = try ScriptedServer { request in
            if request.method == "POST" {
                let isSigned = request.field("Authorization")?.hasPrefix("Bearer ey") == true
                return .init(
                    status: isSigned ? "201 Created" : "401 Unauthorized",
                    body: #"{"token":"ghs_1","expires_at":"2099-01-01T00:00:00Z"}"#)
            }
            return .init(
                status: request.field("Authorization") == "Bearer ghs_1" ? "200 OK" : "401 Unauthorized", body: "[]")
        }
        let login = SessionLogin(
            "/app/installations/1/access_tokens",
            authentication: .jwt(token(.rs256, claims: ["iss": .json(.string("Iv1"))])),
            tokens: [.init(.body(path: "token"))], expires: "expires_at")
        let transport = AuthorizedTransport(
            CurlTransport(), .session(login), origins: [server.base], base: server.base)
        for _ in 0..<2 {
            #expect(try await transport.send(TransportRequest(url: server.base + "/issues")).status == 200)
        }
        #expect(server.requests.count == 3)
    }
}
