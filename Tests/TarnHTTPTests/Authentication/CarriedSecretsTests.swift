// Secrets that a request carries without the help of the authentication.

import Foundation
import TestSupport
import Testing

@testable import TarnHTTP

@Suite("Secrets that a request carries itself", .timeLimit(.minutes(2)))
struct CarriedSecretsTests {
    private static let secret = "s3cret-0123456789"

    /// A request, and its answer over a transport without an authentication of its own.
    private func answer(
        _ request: TransportRequest, _ outcome: ScriptedTransport.Outcome, _ authentication: Authentication = .none,
        origin: String = "http://h"
    ) async throws -> TransportResponse {
        try await AuthorizedTransport(ScriptedTransport([outcome]), authentication, origins: [origin]).send(request)
    }

    @Test(
        "a refusal that repeats a credential of a header field or of the URL has none of it, at any server",
        arguments: [
            ("Authorization", "Bearer \(secret)"), ("Authorization", "Token token=\"\(secret)\", realm=x"),
            ("X-Api-Key", secret), ("Cookie", "a=b; session=\(secret)"), ("X-Session-Token", "\(secret)"),
        ], ["http://h", "http://other"])
    func refusals(field: (String, String), origin: String) async throws {
        let headers = TransportHeaders([.init(field.0, field.1), .init("Accept-Language", "klingonisch")])
        let request = TransportRequest(url: "http://h/items?api_key=k-0123456789", headers: headers)
        let body = #"{"message":"no \#(Self.secret), k-0123456789 in klingonisch"}"#
        let response = try await answer(request, .status(403, [:], body), origin: origin)
        #expect(String(decoding: response.body, as: UTF8.self) == #"{"message":"no ***, *** in klingonisch"}"#)
    }

    @Test("an error has neither the password of the Basic scheme nor a signature that a program has computed")
    func errors() async throws {
        let pair = Data("ada:\(Self.secret)".utf8).base64EncodedString()
        let signer = RequestSigner(name: "test") { request in
            var request = request
            request.headers["Authorization"] = "AWS4-HMAC-SHA256 Credential=ada/eu, Signature=0a1b2c3d4e5f"
            request.url += "?X-Amz-Signature=f5e4d3c2b1a0"
            return request
        }
        let cases: [(Authentication, TransportHeaders, String, String)] = [
            (.none, TransportHeaders([.init("Authorization", "Basic \(pair)")]), "\(pair) \(Self.secret)", "*** ***"),
            (.signer(signer), TransportHeaders(), "0a1b2c3d4e5f f5e4d3c2b1a0 SHA256", "*** *** SHA256"),
        ]
        for (authentication, headers, detail, shown) in cases {
            let transport = AuthorizedTransport(
                FailingTransport(kind: .protocol, detail: detail), authentication, origins: ["http://h"])
            let request = TransportRequest(url: "http://h/items", headers: headers)
            let error = await expectFailure(.protocol) { try await transport.send(request) }
            #expect(error?.detail == shown && error?.url == "http://h/items")
        }
    }

    @Test("records and header fields of a success stay as they are, and what is told about them does not repeat it")
    func successes() async throws {
        let headers = TransportHeaders([.init("X-Tenant-Key", "acme-corp")])
        let request = TransportRequest(url: "http://h/items?key=acme-corp", headers: headers)
        for body in [#"[{"id":1,"tenant":"acme-corp"}]"#, "acme-corp,1\n"] {
            let fields = ["Link": "</items?key=acme-corp&page=2>; rel=next"]
            let response = try await answer(request, .status(200, fields, body))
            #expect(String(decoding: response.body, as: UTF8.self) == body)
            #expect(response.headers["Link"] == fields["Link"])
            #expect(response.secrets?.conceal("found acme-corp") == "found ***")
            #expect(!String(decoding: response.shownBody, as: UTF8.self).contains("acme-corp"))
        }
    }

    @Test("records that are no JSON lose the secret of the authentication, and nothing that the request carries itself")
    func otherFormats() async throws {
        let request = TransportRequest(
            url: "http://h/items", headers: TransportHeaders([.init("X-Tenant-Key", "acme-corp")]))
        let response = try await answer(
            request, .status(200, [:], "acme-corp,\(Self.secret)\n"), .bearer(.value(Secret(Self.secret))))
        #expect(String(decoding: response.body, as: UTF8.self) == "acme-corp,***\n")
        #expect(String(decoding: response.shownBody, as: UTF8.self) == "***,***\n")
    }

    @Test("short values and numbers are ordinary ones")
    func ordinary() async throws {
        let headers = TransportHeaders([.init("X-Api-Key", "12345678901"), .init("Cookie", "lang=en; theme=dark")])
        let body = "12345678901 lang=en dark"
        let response = try await answer(
            TransportRequest(url: "http://h/?key=name", headers: headers), .status(400, [:], body))
        #expect(String(decoding: response.body, as: UTF8.self) == body)
    }

    @Test("JSON behind a byte order mark is JSON: a record that repeats a secret keeps it")
    func mark() async throws {
        let body = "\u{FEFF}[{\"id\":1,\"token\":\"\(Self.secret)\"}]"
        let response = try await answer(
            TransportRequest(url: "http://h/"), .status(200, [:], body), .bearer(.value(Secret(Self.secret))))
        #expect(String(decoding: response.body, as: UTF8.self) == body && response.secrets != nil)
    }

    @Test("a refusal of the token endpoint that is cut within a secret has no part of it")
    func cutRefusal() async throws {
        let text = String(repeating: "x", count: 190) + " " + Self.secret
        let inner = ScriptedTransport([
            .status(400, [:], #"{"error":"invalid_client","error_description":"\#(text)"}"#)
        ])
        let settings = OAuth2(
            tokenURL: "https://auth.example/token", clientID: .value(Secret("me")),
            clientSecret: .value(Secret(Self.secret)))
        let transport = AuthorizedTransport(inner, .oauth2(settings), origins: ["http://h"])
        let error = await expectFailure(.credentials) { try await transport.send(TransportRequest(url: "http://h/")) }
        #expect(error?.detail.contains("s3cret") == false && error?.detail.contains("xx ***") == true)
    }

    @Test("a recording has the secrets neither of the request's fields nor of credentials that are renewed meanwhile")
    func recordings() async throws {
        let folder = try LocalServer.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/token"
        try Data("old-token-1".utf8).write(to: URL(fileURLWithPath: path))
        let body = #"[{"id":1,"a":"old-token-1","b":"\#(Self.secret)"}]"#
        let authorized = AuthorizedTransport(
            ScriptedTransport([.status(200, ["X-Echo": Self.secret], body)]), .bearer(.file(path)),
            origins: ["http://h"])
        let recorder = try RecordingTransport(
            authorized, directory: folder + "/r", secrets: [], hiding: []
        ) { _ in
            // Another request is refused while this one is recorded.
            try? Data("new-token-2".utf8).write(to: URL(fileURLWithPath: path))
            _ = try? await authorized.refresh()
        }
        let request = TransportRequest(
            url: "http://h/x", headers: TransportHeaders([.init("X-Api-Key", Self.secret)]))
        #expect(try await String(decoding: recorder.send(request).body, as: UTF8.self) == body)
        let replayed = try await FixtureTransport(directory: folder + "/r").send(request)
        #expect(String(decoding: replayed.body, as: UTF8.self) == #"[{"id":1,"a":"***","b":"***"}]"#)
        #expect(replayed.headers["X-Echo"] == "***")
    }

    @Test("a recording has no secret that only a header field repeats")
    func recordedField() async throws {
        let folder = try LocalServer.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let authorized = AuthorizedTransport(
            ScriptedTransport([.status(200, ["X-Echo": Self.secret], "[]")]), .none, origins: ["http://h"])
        let recorder = try RecordingTransport(authorized, directory: folder + "/r")
        let request = TransportRequest(
            url: "http://h/x", headers: TransportHeaders([.init("X-Api-Key", Self.secret)]))
        #expect(try await recorder.send(request).headers["X-Echo"] == Self.secret)
        #expect(try await FixtureTransport(directory: folder + "/r").send(request).headers["X-Echo"] == "***")
    }

    @Test("a dump of a transport shows neither the environment nor a secret")
    func dumps() async throws {
        let folder = try LocalServer.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let authorized = AuthorizedTransport(
            EchoTransport(), .bearer(.environment("T")), origins: ["http://h"],
            environment: ["T": "token-in-environment", "OTHER": Self.secret])
        let recorder = try RecordingTransport(authorized, directory: folder, secrets: [Secret(Self.secret)])
        let response = try await recorder.send(TransportRequest(url: "http://h/"))
        var shown = "\(response) \(recorder)"
        dump(recorder, to: &shown)
        dump(response, to: &shown)
        #expect(String(decoding: response.body, as: UTF8.self) == "no Bearer ***")
        #expect(!shown.contains(Self.secret) && !shown.contains("token-in-environment"), "\(shown)")
    }
}

/// Repeats the credentials of requests.
private struct EchoTransport: Transport {
    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        TransportResponse(status: 403, body: Array("no \(request.headers["Authorization"] ?? "")".utf8))
    }
}
