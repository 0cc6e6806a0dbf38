// Connections that the network loses without a word, as behind a laptop that has slept: nothing
// comes over them, and nothing closes them.

import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TarnHTTP

@Suite("Curl transport and lost connections", .timeLimit(.minutes(5)))
struct LostConnectionTests {
    @Test(
        "a lost connection over HTTP/2 ends with the request that times out on it, or that is cancelled",
        .enabled(
            if: NginxServer.isThere && FileManager.default.isExecutableFile(atPath: TLSServer.openssl),
            "needs nginx and openssl"))
    func http2() async throws {
        let server = try NginxServer(), tunnels = try TunnelServer()
        defer { tunnels.close() }
        var options = server.options
        (options.proxy, options.idleTimeout) = (tunnels.base, .seconds(2))
        let transport = CurlTransport(options)
        let request = TransportRequest(url: "https://localhost:\(server.tlsPort)/page.json")
        #expect(try await transport.send(request).status == 200)
        tunnels.loseTunnels()
        await expectFailure(.timeout) { try await transport.send(request) }
        // libcurl would send every further request over the lost connection.
        for _ in 1...2 { #expect(try await transport.send(request).status == 200) }
        #expect(tunnels.requests.count == 2)

        let pieces = tunnels.lostPieces
        tunnels.loseTunnels()
        let task = Task { try await transport.send(request) }
        try await eventually("the request is sent") { tunnels.lostPieces > pieces }
        task.cancel()
        // On a busy machine, the idle time may be over first.
        await #expect(throws: TransportError.self) { try await task.value }
        #expect(try await transport.send(request).status == 200)
        #expect(tunnels.requests.count == 3)
        let log = try await server.log(lines: 4)
        #expect(log.count == 4 && log.allSatisfy { $0.contains(" HTTP/2.0 200 ") }, "\(log)")
    }

    @Test("a request whose attempt had no response is sent again on a new connection, not on an unused one")
    func retry() async throws {
        let ok = "HTTP/1.1 200 OK\n\nok"
        let server = try LocalServer(
            ["GET /first\n" + ok, "GET /page\n" + ok], "--fault", "first:stall:1", "--fault", "page:stall:600:times=1")
        var options = CurlTransport.Options()
        options.idleTimeout = .seconds(5)
        let transport = CurlTransport(options)
        // Two at once: two connections.
        let first = TransportRequest(url: server.base + "/first")
        async let one = transport.send(first), other = transport.send(first)
        #expect(try await [one, other].map(\.status) == [200, 200])
        let retrying = RetryingTransport(transport, policy: RetryPolicy(firstDelay: .milliseconds(20)))
        #expect(try await retrying.send(TransportRequest(url: server.base + "/page")).status == 200)
        let connections = server.requests.compactMap { $0.split(separator: "=").last.map(String.init) }
        #expect(Set(connections.dropLast()) == ["1", "2"] && connections.last == "3", "\(connections)")
    }

    @Test("a failure over a new connection says nothing about the unused ones")
    func newConnection() async throws {
        let server = try LocalServer(["GET /page\nHTTP/1.1 200 OK\n\nok"], "--fault", "page:stall:600")
        var options = CurlTransport.Options()
        options.idleTimeout = .seconds(1)
        let transport = CurlTransport(options)
        let error = await expectFailure(.timeout) {
            try await transport.send(TransportRequest(url: server.base + "/page"))
        }
        #expect(error?.isOfUsedConnection == false)
    }

    @Test("after an attempt without a response over a reused connection, no further one uses such a connection")
    func further() async throws {
        let inner = LosingTransport()
        let transport = RetryingTransport(inner, policy: RetryPolicy(attempts: 4, firstDelay: .milliseconds(1)))
        await expectFailure(.timeout) { try await transport.send(TransportRequest(url: "http://h/")) }
        #expect(inner.needs == [false, true, true, true])
    }
}

/// Loses the first attempt over a reused connection, and the others over new ones.
private final class LosingTransport: Transport {
    private let attempts = Mutex<[Bool]>([])
    /// Whether each attempt needed a new connection.
    var needs: [Bool] { attempts.withLock { $0 } }

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        let number = attempts.withLock { attempts in
            attempts.append(request.needsNewConnection)
            return attempts.count
        }
        var error = TransportError(.timeout, method: request.method, url: request.url, detail: "lost")
        error.isOfUsedConnection = number == 1
        throw error
    }
}
