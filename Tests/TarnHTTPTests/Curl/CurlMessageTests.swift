// Bodies that are sent, answers without one, heads beyond measure, proxies and addresses.

import Foundation
import Glibc
import TestSupport
import Testing

@testable import TarnHTTP

@Suite("Curl transport and messages", .timeLimit(.minutes(5)))
struct CurlMessageTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n[]"

    @Test(
        "a body is sent as it is, with its length and its own type or none",
        arguments: ["POST", "PUT", "PATCH", "DELETE", "QUERY"])
    func upload(method: String) async throws {
        let server = try RawServer(Self.ok, Self.ok)
        let body = Array("{\"a\":\"ü\u{0}\"}".utf8), transport = CurlTransport()
        _ = try await transport.send(
            TransportRequest(
                method: method, url: server.base + "/x",
                headers: TransportHeaders([.init("Content-Type", "application/json")]), body: body))
        _ = try await transport.send(TransportRequest(method: method, url: server.base + "/x", body: body))
        let first = try #require(server.requests.first), second = try #require(server.requests.last)
        #expect(first.hasPrefix("\(method) /x HTTP/1.1\r\n") && first.hasSuffix("\r\n\r\n{\"a\":\"ü\u{0}\"}"))
        #expect(
            first.contains("\r\nContent-Length: \(body.count)\r\n")
                && first.contains("\r\nContent-Type: application/json\r\n"))
        #expect(!second.contains("Content-Type") && second.contains("\r\nContent-Length: \(body.count)\r\n"))
    }

    @Test("a POST without a body says so, a GET says nothing of one")
    func noBody() async throws {
        let server = try RawServer(Self.ok, Self.ok)
        let transport = CurlTransport()
        _ = try await transport.send(TransportRequest(method: "POST", url: server.base + "/x"))
        _ = try await transport.send(TransportRequest(url: server.base + "/x"))
        #expect(server.requests[0].contains("\r\nContent-Length: 0\r\n"))
        #expect(!server.requests[1].contains("Content-Length"))
    }

    @Test("a large body waits for 100 Continue, and goes without it where the server says nothing")
    func expectContinue() async throws {
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: 3 << 20)
        let polite = try LocalServer([CurlTransportTests.page])
        let response = try await CurlTransport().send(
            TransportRequest(method: "POST", url: polite.base + "/issues?page=1", body: body))
        #expect(response.status == 404)
        let silent = try RawServer(Self.ok)
        #expect(
            try await CurlTransport().send(TransportRequest(method: "POST", url: silent.base + "/", body: body)).status
                == 200)
        #expect(silent.requests.first?.contains("Expect: 100-continue") == true)
        #expect(silent.requests.first?.utf8.count ?? 0 > body.count)
    }

    @Test(
        "after a redirect that makes a GET of it, a POST has neither its body nor what describes it; 307 and 308 send it again"
    )
    func redirectedBodies() async throws {
        for status in [303, 307, 308] {
            let server = try RawServer("HTTP/1.1 \(status) Moved\r\nLocation: /y\r\nContent-Length: 0\r\n\r\n", Self.ok)
            let request = TransportRequest(
                method: "POST", url: server.base + "/x",
                headers: TransportHeaders([.init("Content-Type", "text/plain"), .init("X-A", "b")]),
                body: Array("hello".utf8))
            _ = try await CurlTransport().send(request)
            let second = try #require(server.requests.last)
            if status < 307 {
                #expect(
                    second.hasPrefix("GET /y ") && !second.contains("Content-") && !second.contains("hello"),
                    "\(second)")
            } else {
                #expect(second.hasPrefix("POST /y ") && second.hasSuffix("\r\n\r\nhello"), "\(second)")
            }
            #expect(second.contains("\r\nX-A: b\r\n"))
        }
    }

    @Test("a body is sent to no other server, whatever the redirect says")
    func bodyStaysHome() async throws {
        let other = try RawServer(Self.ok)
        let server = try RawServer("HTTP/1.1 307 Moved\r\nLocation: \(other.base)/y\r\nContent-Length: 0\r\n\r\n")
        let error = await expectFailure(.protocol) {
            try await CurlTransport().send(
                TransportRequest(method: "POST", url: server.base + "/x", body: Array("client_secret=1".utf8)))
        }
        #expect(error?.detail.contains("not sent to another server") == true && other.requests.isEmpty)
    }

    @Test(
        "an answer that has no body is whole without one, whatever its fields say",
        arguments: [
            "204 No Content\r\nContent-Length: 5", "204 No Content",
            "304 Not Modified\r\nContent-Length: 500\r\nETag: \"a\"", "205 Reset Content\r\nContent-Length: 0",
        ])
    func withoutBody(head: String) async throws {
        let server = try RawServer("HTTP/1.1 \(head)\r\n\r\n")
        let response = try await CurlTransport().send(TransportRequest(url: server.base + "/"))
        #expect(response.body.isEmpty && response.status == HTTPSyntax.decimal(String(head.prefix(3))))
    }

    @Test("interim responses, several and slow ones, are passed over")
    func interim() async throws {
        let answer =
            "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n\0HTTP/1.1 102 Processing\r\n\r\n\0" + Self.ok
        let server = try RawServer([Array(answer.utf8)], pause: 0.05)
        let response = try await CurlTransport().send(TransportRequest(url: server.base + "/"))
        #expect(response.status == 200 && response.headers["Link"] == nil && response.body == Array("[]".utf8))
    }

    @Test("heads have a limit: one huge field, many of them, and interim heads without end")
    func hugeHeads() async throws {
        let huge = "X-Huge: " + String(repeating: "a", count: 90_000) + "\r\n"
        let many = (0..<20_000).map { "X-\($0): aaaaaaaaaaaaaaaa\r\n" }.joined()
        let interim = String(
            repeating: "HTTP/1.1 103 Early Hints\r\nX-A: \(String(repeating: "b", count: 5000))\r\n\r\n", count: 80)
        for head in [
            "HTTP/1.1 200 OK\r\n\(huge)\(huge)\(huge)", "HTTP/1.1 200 OK\r\n\(many)", interim + "HTTP/1.1 200 OK\r\n",
        ] {
            let server = try RawServer(head + "Content-Length: 2\r\n\r\n[]")
            let error = await expectFailure(.tooLarge) {
                try await CurlTransport().send(TransportRequest(url: server.base + "/"))
            }
            #expect(error?.detail.contains("262144 bytes") == true)
        }
        let longest = try RawServer(
            "HTTP/1.1 200 OK\r\nX-Huge: \(String(repeating: "a", count: 400_000))\r\nContent-Length: 2\r\n\r\n[]")
        let error = await expectFailure(.tooLarge) {
            try await CurlTransport().send(TransportRequest(url: longest.base + "/"))
        }
        #expect(error?.detail.contains("a header field from 127.0.0.1:\(longest.port) is longer than 100 KB") == true)
        let fine = try RawServer("HTTP/1.1 200 OK\r\n\(huge)Content-Length: 2\r\n\r\n[]")
        #expect(
            try await CurlTransport().send(TransportRequest(url: fine.base + "/")).headers["X-Huge"]?.utf8.count
                == 90_000)
    }

    @Test(
        "a length that is not the body's is never success: too short, too long for the connection, two of them, none and a reset"
    )
    func lengths() async throws {
        for head in [
            "Content-Length: 10\r\n\r\n[]", "Content-Length: 10\r\nContent-Length: 2\r\n\r\n[]",
            "Transfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n", "Transfer-Encoding: chunked\r\n\r\nzz\r\n[]",
        ] {
            let server = try RawServer("HTTP/1.1 200 OK\r\n\(head)")
            let error = await #expect(throws: TransportError.self) {
                try await CurlTransport().send(TransportRequest(url: server.base + "/"))
            }
            #expect(error?.kind == .cutShort || error?.kind == .protocol, "\(head): \(String(describing: error))")
        }
    }

    @Test("RFC 9112 §6.3: a length beside chunks is removed, whatever it says")
    func lengthBesideChunks() async throws {
        let chunks = "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\na\r\n0123456789\r\n0\r\n\r\n"
        let server = try RawServer("HTTP/1.1 200 OK\r\n" + chunks)
        let response = try await CurlTransport().send(TransportRequest(url: server.base + "/"))
        #expect(response.body == Array("0123456789".utf8) && response.headers["Content-Length"] == nil)
    }

    // MARK: Proxies

    @Test("a proxy is asked for what is behind it; none, where none is wanted")
    func proxy() async throws {
        let proxy = try LocalServer([CurlTransportTests.page])
        var options = CurlTransport.Options()
        options.proxy = proxy.base
        let response = try await CurlTransport(options).send(
            TransportRequest(url: "http://forge.invalid/issues?page=1"))
        #expect(response.status == 200 && proxy.requests.count == 1)
        options.proxy = ""
        await expectFailure(.resolve) {
            try await CurlTransport(options).send(TransportRequest(url: "http://forge.invalid/issues?page=1"))
        }
    }

    @Test("a proxy that is not there, has no address, or leads nowhere is an error that says so")
    func brokenProxy() async throws {
        var options = CurlTransport.Options()
        let port = DeadPort().port
        options.proxy = "http://127.0.0.1:\(port)"
        let dead = await expectFailure(.connect) {
            try await CurlTransport(options).send(TransportRequest(url: "http://forge.invalid/"))
        }
        #expect(
            dead?.detail.contains("could not connect to the proxy 127.0.0.1") == true, "\(String(describing: dead))")
        options.proxy = "http://proxy.invalid:3128"
        await expectFailure(.resolve) {
            try await CurlTransport(options).send(TransportRequest(url: "http://forge.invalid/"))
        }
        let refusing = try RawServer("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        options.proxy = refusing.base
        let error = await #expect(throws: TransportError.self) {
            try await CurlTransport(options).send(TransportRequest(url: "https://forge.invalid/"))
        }
        #expect(
            error?.kind == .connect && error?.detail.contains("it returned 403") == true, "\(String(describing: error))"
        )
        #expect(refusing.requests.first?.hasPrefix("CONNECT forge.invalid:443 ") == true)
        let demanding = try RawServer("HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n")
        options.proxy = demanding.base
        let demand = await expectFailure(.connect) {
            try await CurlTransport(options).send(TransportRequest(url: "https://forge.invalid/"))
        }
        #expect(
            demand?.detail
                == "the proxy refuses a connection to forge.invalid:443: it demands a user and a password (407): write "
                + "SCHEME://USER:PASSWORD@HOST:PORT in `https_proxy`, and remove `proxy` under `transport`")
    }

    @Test("a proxy that is silent, or closes the connection, is named in the place of the server, and is retried")
    func silentProxy() async throws {
        let silent = try HoldingServer(), closing = try RawServer(closing: 2, behind: 1 << 14)
        func detail(_ proxy: String) async -> String? {
            var options = CurlTransport.Options()
            (options.proxy, options.connectTimeout) = (proxy, .seconds(1))
            let policy = RetryPolicy(attempts: 2, firstDelay: .milliseconds(20))
            let transport = RetryingTransport(CurlTransport(options), policy: policy)
            return await expectFailure(.connect) {
                try await transport.send(
                    TransportRequest(method: "POST", url: "https://forge.invalid/", body: [1]))
            }?.detail
        }
        #expect(
            await detail(silent.base)
                == "the proxy of `proxy` under `transport` has not connected to forge.invalid:443 "
                + "within 1.0 seconds (`connect_timeout` under `transport`) (after 2 attempts)")
        #expect(
            await detail(closing.base)
                == "the proxy has closed the connection for forge.invalid:443 (after 2 attempts)")
    }

    @Test(
        "a proxy URL that cannot be used is refused without its password, and nothing is sent around the proxy",
        arguments: [
            "foo://u:s3c.t9x@127.0.0.1:9", "http://u:s3c#t9x@127.0.0.1:9", "http://u:s3c/t9x@127.0.0.1:9",
            "http://u:s3c?t9x@127.0.0.1:9", "http://u:s3c t9x@127.0.0.1:9", "http://u:s3c@t9x@127.0.0.1:9",
            "http://u:s3c.t9x@127.0.0.1:99999", "http://u:s3c.t9x@[::1", "http://u:s3c.t9x@",
            "http://u:s3c%00t9x@127.0.0.1:9", "http://s3c%1ft9x@127.0.0.1:9", "u:s3c%09t9x@127.0.0.1:9",
        ])
    func unusableProxy(_ url: String) async throws {
        let server = try LocalServer([CurlTransportTests.page])
        var options = CurlTransport.Options()
        options.proxy = url
        let error = await expectFailure(.connect) {
            try await CurlTransport(options).send(TransportRequest(url: server.base + "/issues?page=1"))
        }
        let detail = error?.detail ?? ""
        #expect(detail.hasPrefix("the proxy URL in `proxy` under `transport` cannot be used: "), "\(detail)")
        #expect(!detail.contains("s3c") && !detail.contains("t9x"), "\(detail)")
        #expect(server.requests.isEmpty)
    }

    @Test("a proxy is found by libcurl's rules and named by its variable, and texts are shown without its password")
    func proxySetting() {
        func name(_ scheme: String, _ variables: [String: String], option: String? = nil) -> String? {
            ProxySetting(forScheme: scheme, option: option, environment: { variables[$0] })?.name
        }
        #expect(name("http", ["HTTP_PROXY": "a"]) == nil)
        #expect(name("http", ["http_proxy": "a", "all_proxy": "b"]) == "`http_proxy`")
        #expect(name("http", ["http_proxy": "", "ALL_PROXY": "b"]) == "`ALL_PROXY`")
        #expect(name("https", ["http_proxy": "a", "HTTPS_PROXY": "b", "all_proxy": "c"]) == "`HTTPS_PROXY`")
        #expect(name("http", ["http_proxy": "a"], option: "") == nil)
        let setting = ProxySetting(forScheme: "http", option: "http://u:s3cr3t%40@h:1", environment: { _ in nil })
        #expect(setting?.isUsable == true)
        #expect(setting?.demand == "it refuses the user or the password in `proxy` under `transport` (407)")
        #expect(setting?.redacting("in 'http://u:s3cr") == "in ***")
        #expect(setting?.redacting("user u:s3cr3t%40 failed") == "user *** failed")
        #expect(setting?.redacting("Could not resolve proxy: h") == "Could not resolve proxy: h")
    }

    // MARK: IPv6

    private static let hasIPv6: Bool = {
        let descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_addr = in6addr_loopback
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size)) == 0
            }
        }
    }()

    @Test(
        "an address of IPv6 is connected to, and named in errors with its brackets",
        .enabled(if: hasIPv6, "this machine has no IPv6"))
    func addressesOfIPv6() async throws {
        let server = try RawServer([Array(Self.ok.utf8)], onIPv6: true)
        #expect(try await CurlTransport().send(TransportRequest(url: "http://[::1]:\(server.port)/")).status == 200)
        #expect(server.requests.first?.contains("\r\nHost: [::1]:\(server.port)\r\n") == true)
        let error = await expectFailure(.connect) {
            try await CurlTransport().send(TransportRequest(url: "http://[::1]:\(DeadPort().port)/"))
        }
        #expect(error?.detail.contains("[::1]:") == true)
    }
}

extension RawServer {
    /// A server on ::1.
    convenience init(_ answers: [[UInt8]], onIPv6: Bool) throws {
        precondition(onIPv6)
        let descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_addr = in6addr_loopback
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) == 0 && listen(descriptor, 16) == 0
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        guard isBound else { throw LocalServer.Failure(description: "no socket") }
        self.init(descriptor, port: Int(UInt16(bigEndian: address.sin6_port)), answers, pause: 0)
    }
}
