// Answers that cost more than they are worth: how much of them is read.

import Foundation
import TestSupport
import Testing

@testable import TarnHTTP

@Suite("Answers that hurt", .timeLimit(.minutes(5)))
struct HostileAnswerTests {
    /// 64 MiB of zeros, compressed twice with gzip.
    private static let bomb = Array(
        Data(
            base64Encoded:
                "H4sIAAAAAAACA+3coU5CYRjH4XM8x43pBhhMBM4lGClMMJAJmhkXYCRzNmayeBNmNzc3q807ABpdMDhnYh75zl187nnSm//5t7d730iCo2z7lqaHo3z4ffpsnCQAAAAAAAAAQOTK9SILMUBSVMvR+AYAAAAAAAAAiN201czrKGA/6QzNAQAAAAAAAADRu+v32vWHgK/5bW4OAAAAAAAAAIje+c9mULcA79XL2bU9AAAAAAAAACB6q0WWhhagqJajsTkAAAAAAAAAIHrTVjMPLUC5n3SG5gAAAAAAAACA6D32e0V4DND+rmaXV8cJAAAAAAAAAP/H6+nu4uP5cOR/ZQNkJH7+AAA="
        ) ?? Data())

    private func answer(_ status: String, _ fields: String, _ body: [UInt8]) -> [UInt8] {
        Array("HTTP/1.1 \(status)\r\n\(fields)Content-Length: \(body.count)\r\n\r\n".utf8) + body
    }

    private func request(_ server: RawServer) -> TransportRequest {
        var request = TransportRequest(url: server.base + "/")
        request.responseLimits = .records
        return request
    }

    @Test(
        "of a refusal 64 KiB are read, decoded, and the answer is the refusal",
        arguments: ["400 Bad Request", "503 Service Unavailable", "302 Found"])
    func refusal(_ status: String) async throws {
        let server = try RawServer([
            answer(status, "", Array(repeating: UInt8(ascii: "x"), count: 4 << 20)),
            answer(status, "Content-Encoding: gzip, gzip\r\n", Self.bomb),
            answer(status, "", Array("{}".utf8)),
        ])
        var options = CurlTransport.Options()
        // Less than the declared length: a refusal is not answered with another error.
        options.maximumBodySize = 1 << 20
        let transport = CurlTransport(options)
        for size in [64 << 10, 64 << 10, 2] {
            let response = try await transport.send(request(server))
            #expect(String(response.status) == status.prefix(3))
            #expect(response.body.count == size)
        }
    }

    @Test("a success that is too large stays an error, and so does its declared length")
    func success() async throws {
        let server = try RawServer([
            answer("200 OK", "Content-Encoding: gzip, gzip\r\n", Self.bomb),
            Array("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nx".utf8),
            answer("200 OK", "", Array(repeating: UInt8(ascii: "x"), count: (1 << 20) + 1)),
        ])
        var options = CurlTransport.Options()
        options.maximumBodySize = 1 << 20
        let transport = CurlTransport(options)
        for _ in 0..<3 {
            await #expect(throws: TransportError.self) { try await transport.send(request(server)) }
        }
        #expect(server.requests.count == 3)
    }

    @Test("without limits of the request a refusal is read as a whole, as a cache needs it")
    func whole() async throws {
        let server = try RawServer([answer("404 Not Found", "", Array(repeating: UInt8(ascii: "x"), count: 200_000))])
        #expect(try await CurlTransport().send(TransportRequest(url: server.base + "/")).body.count == 200_000)
    }

    @Test("more header fields than a thousand are an error")
    func fields() async throws {
        let fields = (0..<1001).map { "X-\($0): a\r\n" }.joined()
        let server = try RawServer("HTTP/1.1 200 OK\r\n\(fields)\r\n")
        let error = await #expect(throws: TransportError.self) {
            try await CurlTransport().send(TransportRequest(url: server.base + "/"))
        }
        #expect(error?.kind == .tooLarge)
    }

    @Test("bodies may have a 64th of the memory, between 8 and 256 MiB")
    func memory() {
        #expect(CurlTransport.Options.bodySize(forMemory: 1 << 30) == 16 << 20)
        #expect(CurlTransport.Options.bodySize(forMemory: 1) == 8 << 20)
        #expect(CurlTransport.Options.bodySize(forMemory: .max) == 256 << 20)
        #expect(
            CurlTransport.Options().maximumBodySize == CurlTransport.Options.bodySize(forMemory: MemoryLimit.ofProcess))
    }

    @Test("the memory is the smallest limit of a control group and those around it")
    func controlGroups() {
        func limit(_ files: [String: String]) -> Int? { MemoryLimit.controlGroup { files[$0] } }
        #expect(limit([:]) == nil)
        #expect(limit(["/sys/fs/cgroup/memory.max": "max\n"]) == nil)
        #expect(limit(["/sys/fs/cgroup/memory.max": "1048576\n"]) == 1 << 20)
        #expect(limit(["/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"]) == nil)
        #expect(
            limit([
                "/proc/self/cgroup": "1:name=systemd:/x\n0::/a/b\n", "/sys/fs/cgroup/a/memory.max": "4096\n",
                "/sys/fs/cgroup/a/b/memory.max": "max\n",
            ]) == 4096)
        #expect(limit(["/sys/fs/cgroup/memory.max": "99999999999999999999999999"]) == nil)
    }

    @Test("a Link field of nothing but openings is read in linear time")
    func links() {
        let count = 100_000, clock = ContinuousClock()
        // Repeated finds cannot take longer than the same bytes with a link in each place.
        let sound = clock.measure { _ = LinkHeader.parse(String(repeating: "<>,", count: count)) }
        let hostile = clock.measure { #expect(LinkHeader.parse(String(repeating: "<,", count: count)).isEmpty) }
        #expect(hostile < sound * 20 + .milliseconds(100))
        #expect(LinkHeader.parse(String(repeating: "<,", count: 3) + "</2>; rel=next").count == 1)
    }

    @Test("a server of tokens cannot answer with a document of any size")
    func tokens() throws {
        let filler = String(repeating: " ", count: 70 << 10)
        let response = TransportResponse(status: 200, body: Array("{\"access_token\":\"x\"\(filler)}".utf8))
        #expect(throws: OAuth2Refusal.self) { try OAuth2.token(from: response).get() }
        let deep = TransportResponse(status: 400, body: Array(repeating: UInt8(ascii: "["), count: 60 << 10))
        #expect(throws: OAuth2Refusal(reason: "returned 400")) { try OAuth2.token(from: deep).get() }
        let endless = TransportResponse(status: 200, body: Array(#"{"access_token":"x","expires_in":1e999}"#.utf8))
        #expect(try OAuth2.token(from: endless).get().lifetime == nil)
    }

    @Test("what a server has chosen is cut in messages")
    func excerpts() {
        let long = String(repeating: "x", count: 1 << 20), url = "http://h/?cursor=" + long
        let messages = [
            "\(PaginationError.repeated(url: url))", "\(PaginationError.stuck(value: long, url: url))",
            "\(PaginationError.malformed(link: url, reason: "x"))",
            "\(PaginationError.foreign(link: url, allowed: [url]))",
            "\(TransportError(.protocol, method: "GET", url: url, detail: long))",
        ]
        for message in messages { #expect(message.utf8.count < 3000) }
        #expect("a\u{301}".excerpt == "a\u{301}" && long.excerpt.unicodeScalars.count == 501)
    }
}
