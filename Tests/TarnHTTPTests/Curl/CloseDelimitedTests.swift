// Responses that only the end of their connection ends: with neither a length nor chunks, nothing else
// shows that one was cut off.

import Foundation
import TestSupport
import Testing

@testable import TarnHTTP

@Suite("Curl transport and bodies without a length", .timeLimit(.minutes(5)))
struct CloseDelimitedTests {
    private static let head = "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n"

    @Test("JSON without its end was cut off: the request is sent again, and fails with the reason")
    func json() async throws {
        let cut = Self.head + #"[{"id":1,"name":"]"},{"id":2"#, whole = Self.head + #"[{"id":1}]"# + "\n"
        let policy = RetryPolicy(attempts: 2, firstDelay: .milliseconds(20))
        let server = try RawServer(cut, whole, cut, cut)
        let transport = RetryingTransport(CurlTransport(), policy: policy)
        let request = TransportRequest(url: server.base + "/")
        #expect(try await transport.send(request).body == Array("[{\"id\":1}]\n".utf8))
        let error = await expectFailure(.cutShort) { try await transport.send(request) }
        #expect(
            error?.detail
                == "the response of 127.0.0.1:\(server.port) was cut short: it has no length, and its JSON has no end "
                + "(after 2 attempts)")
        #expect(error?.answer?.status == 200)
    }

    @Test(
        "what is no JSON, or is invalid, is left to its reader, and so is the body of a refusal",
        arguments: ["", "a,b\n1,", "[1]]", "[1}", "{}\n{}\n", "404 [", "true"])
    func others(_ body: String) async throws {
        let isRefusal = body.hasPrefix("404 ")
        let head = isRefusal ? "HTTP/1.0 404 Not Found\r\n\r\n" : "HTTP/1.0 200 OK\r\n\r\n"
        let text = isRefusal ? String(body.dropFirst(4)) : body
        let server = try RawServer(head + text)
        let response = try await CurlTransport().send(TransportRequest(url: server.base + "/"))
        #expect(response.body == Array(text.utf8) && response.status == (isRefusal ? 404 : 200))
    }

    @Test(
        "the end of a JSON text is behind its object or array, whatever its strings have",
        arguments: [
            ("[]", .reached), (" {\"a\":[1,{}]}\n", .reached), ("[\"]\\\"]\"]", .reached), ("[", .missing),
            ("{\"a\":\"}\"", .missing), ("[\"\\\\\"", .missing), ("[\"]", .missing), ("", .unknown),
            ("1", .unknown), ("[1] [2]", .unknown), ("{}{", .unknown), ("\u{FEFF}{\"a\":1}\n", .reached),
            ("\u{FEFF}[1", .missing),
        ] as [(String, JSONEnd)])
    func ends(_ text: String, _ end: JSONEnd) { #expect(JSONEnd.of(Array(text.utf8)) == end) }

    @Test(
        "without the end of TLS, JSON that has its own end is complete, and so is a write that is answered with nothing",
        arguments: [
            ("[]", true, nil), ("[", true, "was"), ("[", false, "was"), ("a,b", true, "may be"),
            ("a,b", false, "may be"), ("", true, "may be"), ("", false, nil),
        ] as [(String, Bool, String?)])
    func withoutEndOfTLS(_ text: String, _ isRead: Bool, _ problem: String?) {
        let found = CurlTransfer.problem(ofEnd: Array(text.utf8), isRead: isRead, false)
        #expect(problem.map { found?.hasPrefix($0 + " cut short: it has no length, and ") == true } ?? (found == nil))
        #expect(text == "[" || CurlTransfer.problem(ofEnd: Array(text.utf8), isRead: isRead, true) == nil)
    }

    @Test(
        "RFC 9112 §9.8: over TLS, a body without a length is complete only if the server has ended TLS; JSON shows its end",
        .enabled(if: FileManager.default.isExecutableFile(atPath: TLSServer.openssl), "needs the openssl command"))
    func tls() async throws {
        let authority = try TestAuthority()
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n", text = String(repeating: "x", count: 200_000)
        let server = try TLSServer(authority, response: Array((head + text).utf8))
        let whole = try TunnelServer(), cutting = try TunnelServer(cuttingBehind: 100_000)
        defer {
            whole.close()
            cutting.close()
        }
        let request = TransportRequest(url: "https://localhost:\(server.port)/response")
        var options = CurlTransport.Options()
        (options.certificateAuthorities, options.proxy) = (authority.certificate, whole.base)
        #expect(try await CurlTransport(options).send(request).body.count == text.count)
        options.proxy = cutting.base
        let error = await expectFailure(.cutShort) { try await CurlTransport(options).send(request) }
        #expect(
            error?.detail
                == "the response of localhost:\(server.port) may be cut short: it has no length, and the server "
                + "has closed the connection without ending TLS")
    }
}
