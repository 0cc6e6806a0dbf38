// `tarn proxy` with more clients than its upstream, or its process, can serve at once.

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Command line: the proxy under load", .timeLimit(.minutes(5)))
struct ProxyOverloadTests {
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    /// Connects clients, each of which sends a request of its own.
    private static func clients(_ count: Int, _ port: Int) throws -> [RawConnection] {
        try (0..<count).map { number in
            let client = try RawConnection(port: port)
            try client.send("GET /\(number) HTTP/1.1\r\nHost: a\r\n\r\n")
            return client
        }
    }

    @Test("--upstream-timeout includes the wait behind other requests to an upstream that does not answer")
    func waitForUpstream() async throws {
        let leave = DispatchSemaphore(value: 0), count = 200
        let server = try ConnectionServer { _, connection in
            leave.wait()
            try connection.send(Self.answer)
        }
        let proxy = try await RunningProxy(server.base, "--upstream-timeout", "3"), port = try proxy.port
        let start = ContinuousClock.now
        let starts = try await onThread { try Self.clients(count, port).map { try $0.message().start } }
        #expect(starts == Array(repeating: "HTTP/1.1 504 Gateway Timeout", count: count))
        // The proxy sends 64 requests at a time: one after the other, they would take 12 seconds.
        #expect(ContinuousClock.now - start < .seconds(9))
        for _ in 0..<count { leave.signal() }
        #expect(await proxy.end().status == 0)
    }

    /// A proxy whose process may open a limited number of files.
    private func proxy(_ limit: String, _ upstream: String, _ folder: TemporaryFolder) async throws -> TarnProcess {
        let command = "ulimit \(limit); exec \"$0\" proxy --maximum-connections 200 --listen 127.0.0.1:0"
        let process = try TarnProcess(
            [
                "-c", command + " --upstream \"$1\" --store \"$2\"", TarnProcess.executable, upstream,
                folder.path + "/cache.tarn",
            ], program: "/bin/sh")
        try await eventually { process.output.contains("\n") }
        return process
    }

    @Test("the soft limit of open files is raised to what the connections need; a hard one that is too low is reported")
    func limitOfFiles() async throws {
        let server = try ConnectionServer { _, connection in
            usleep(200_000)
            try connection.send(Self.answer)
        }
        let folder = try TemporaryFolder(), raised = try await proxy("-S -n 64", server.base, folder)
        let port = try #require(Int(raised.output.trimmingCharacters(in: .newlines).split(separator: ":").last ?? ""))
        // Each client needs a connection to the upstream as well.
        let starts = try await onThread { try Self.clients(100, port).map { try $0.message().start } }
        #expect(starts == Array(repeating: "HTTP/1.1 200 OK", count: 100))
        #expect(raised.error.isEmpty)
        raised.send(SIGTERM)
        #expect(await raised.end().status == 0)
        let low = try await proxy("-n 64", server.base, folder)
        try await eventually("the report") {
            low.error.contains("200 connections need 600 open files, and the process may have 64")
        }
        low.send(SIGTERM)
        #expect(await low.end().status == 0)
    }
}
