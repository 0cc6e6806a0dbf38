// The libcurl transport against servers that fail, stall, drip, cut and lie. No partial answer is
// ever a success.

import Foundation
import Glibc
import TestSupport
import Testing

@testable import TarnHTTP

@Suite("Curl transport and faults", .timeLimit(.minutes(5)))
struct CurlFaultTests {
    static let page =
        "GET /page\nHTTP/1.1 200 OK\nContent-Type: application/json\n\n[" + String(repeating: " ", count: 9_998) + "]"

    private func options(_ change: (inout CurlTransport.Options) -> Void) -> CurlTransport.Options {
        var options = CurlTransport.Options()
        change(&options)
        return options
    }

    @Test("a server that is not there is an error with host, port and reason, and counts as unreachable")
    func refused() async throws {
        let dead = DeadPort()
        let error = await expectFailure(.connect) {
            try await CurlTransport().send(TransportRequest(url: "http://127.0.0.1:\(dead.port)/x?token=t"))
        }
        #expect(
            error?.description
                == "GET http://127.0.0.1:\(dead.port)/x?token=***: could not connect to 127.0.0.1:\(dead.port): Connection refused"
        )
        #expect(error?.isUnreachable == true)
    }

    @Test("a process without a free descriptor is told so, and its next request does not wait for a minute")
    func noDescriptor() async throws {
        let server = try LocalServer([Self.page]), dead = DeadPort()
        await #expect(processExitsWith: .success) { [base = server.base as String, port = dead.port as Int] in
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            let used = CurlTransport(), new = CurlTransport()
            let first = try await used.send(TransportRequest(url: base + "/page"))
            #expect(first.status == 200)
            // The lowest free number.
            let free = open("/dev/null", O_RDONLY)
            close(free)
            var limit = rlimit()
            #expect(getrlimit(resource, &limit) == 0)
            let before = limit.rlim_cur
            limit.rlim_cur = rlim_t(free)
            #expect(setrlimit(resource, &limit) == 0)
            let refused = [
                // libcurl gets no descriptors of its own; then none for a connection.
                await expectFailure(.resources) { try await new.send(TransportRequest(url: base + "/page")) },
                await expectFailure(.resources) {
                    try await used.send(TransportRequest(url: "http://127.0.0.1:\(port)/"))
                },
            ]
            limit.rlim_cur = before
            #expect(setrlimit(resource, &limit) == 0)
            #expect(refused.allSatisfy { $0?.detail.contains("ulimit -n") == true && $0?.isUnreachable == false })
            let start = ContinuousClock.now
            for _ in 0..<2 { #expect(try await new.send(TransportRequest(url: base + "/page")).status == 200) }
            #expect(ContinuousClock.now - start < .seconds(30))
        }
    }

    @Test("a host without an address is an error that names it, and counts as unreachable")
    func unresolved() async throws {
        // A label of more than 63 bytes is refused by the resolver itself: no query leaves the
        // machine.
        let host = String(repeating: "a", count: 70) + ".invalid"
        let error = await expectFailure(.resolve) {
            try await CurlTransport().send(TransportRequest(url: "http://\(host)/"))
        }
        #expect(error?.detail == "could not resolve the host \(host)")
        #expect(error?.isUnreachable == true)
    }

    @Test("a page cut in the middle is an error, never a short success", arguments: [0, 1, 5_000, 9_999])
    func cut(_ bytes: Int) async throws {
        let server = try LocalServer([Self.page], "--fault", "page:cut:\(bytes)")
        let error = await expectFailure(.cutShort) {
            try await CurlTransport().send(TransportRequest(url: server.base + "/page"))
        }
        #expect(error?.detail.contains("127.0.0.1:\(server.port) was cut short") ?? false)
        #expect(error?.isUnreachable == false)
    }

    @Test(
        "chunks that break off or are malformed are an error",
        arguments: [
            "5|[1,2]|", "5|[1,", "5|[1,2]|0|", "zz|[1,2]|0||", "5|[1,2]3|0||",
        ])
    func brokenChunks(_ body: String) async throws {
        let lines = body.replacingOccurrences(of: "|", with: "\r\n")
        let server = try RawServer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + lines)
        await expectFailure(.cutShort) { try await CurlTransport().send(TransportRequest(url: server.base + "/")) }
    }

    @Test("a connection that is closed or reset before the answer is an error", arguments: ["close", "reset"])
    func endedBeforeHead(_ fault: String) async throws {
        let server = try LocalServer([Self.page], "--fault", "page:\(fault):times=1")
        let transport = CurlTransport()
        await expectFailure(.cutShort) { try await transport.send(TransportRequest(url: server.base + "/page")) }
        #expect(server.requests.count == 1)
        #expect(try await transport.send(TransportRequest(url: server.base + "/page")).status == 200)
    }

    @Test(
        "RFC 9110 §9.2.2: a request whose response is lost is sent again only if its method is idempotent",
        arguments: [
            ("POST", false), ("PATCH", false), ("MERGE", false), ("PUT", true), ("DELETE", true), ("GET", true),
            ("QUERY", true),
        ], [true, false])
    func sentOnce(_ method: (name: String, isRepeated: Bool), hasKey: Bool) async throws {
        let ok = "HTTP/1.1 200 OK\n\nok"
        let server = try LocalServer(
            ["GET /first\n" + ok, "\(method.name) /page\n" + ok], "--fault", "page:close:times=1")
        let transport = CurlTransport()
        // libcurl sends a request again if the connection was used before.
        _ = try await transport.send(TransportRequest(url: server.base + "/first"))
        var request = TransportRequest(
            method: method.name, url: server.base + "/page", body: method.name == "GET" ? nil : [1])
        if hasKey { request.headers["Idempotency-Key"] = "7" }
        if method.isRepeated {
            #expect(try await transport.send(request).status == 200)
        } else {
            let error = await expectFailure(.cutShort) { try await transport.send(request) }
            #expect(error?.detail == "127.0.0.1:\(server.port) closed the connection without a response")
            // On a connection of its own, the request has arrived.
            #expect(error?.isUnanswered == hasKey)
        }
        #expect(server.requests.count == (method.isRepeated ? 3 : 2))
        #expect(try await transport.send(TransportRequest(url: server.base + "/first")).status == 200)
    }

    @Test("a POST that only reads keeps the connections of others, and may be sent again")
    func readingPOST() async throws {
        let ok = "HTTP/1.1 200 OK\n\nok"
        let server = try LocalServer(["GET /first\n" + ok, "POST /page\n" + ok], "--fault", "page:close:times=1")
        let transport = CurlTransport()
        _ = try await transport.send(TransportRequest(url: server.base + "/first"))
        var request = TransportRequest(method: "POST", url: server.base + "/page", body: [1])
        request.isRead = true
        #expect(try await transport.send(request).status == 200)
        #expect(server.requests.count == 3)
    }

    @Test("a POST that must not be sent twice leaves no connection behind; one with an idempotency key does")
    func closedConnection() async throws {
        let ok = "HTTP/1.1 200 OK\n\nok"
        let server = try LocalServer(["GET /first\n" + ok, "POST /page\n" + ok]), transport = CurlTransport()
        var request = TransportRequest(method: "POST", url: server.base + "/page", body: [1])
        _ = try await transport.send(request)
        _ = try await transport.send(TransportRequest(url: server.base + "/first"))
        request.headers["Idempotency-Key"] = "7"
        _ = try await transport.send(request)
        #expect(server.requests.compactMap { $0.split(separator: "=").last } == ["1", "2", "2"])
    }

    @Test("a head that breaks off is an error")
    func brokenHead() async throws {
        let server = try RawServer("HTTP/1.1 200 OK\r\nContent-Le")
        await expectFailure(.cutShort) { try await CurlTransport().send(TransportRequest(url: server.base + "/")) }
    }

    @Test(
        "a Content-Length that is no number, or several, is an error that names it, and nothing of the body is used",
        arguments: [
            "3, 5", "5, 3", "0x5", "1e1", "5x", "5.0", "5;", "+5", "-5", "5\t6", "5,", ",5", "",
            "2\r\nContent-Length: 3",
        ])
    func malformedLength(_ length: String) async throws {
        let server = try RawServer("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n[    ]")
        let error = await expectFailure(.protocol) {
            try await CurlTransport().send(TransportRequest(url: server.base + "/"))
        }
        // libcurl refuses those itself that begin with no number.
        let reasons = ["malformed Content-Length: ", "Invalid Content-Length: "]
        #expect(reasons.contains { error?.detail.contains($0) == true }, "\(String(describing: error))")
    }

    @Test(
        "a Content-Length that repeats one number is that number",
        arguments: ["2, 2", "2\r\nContent-Length: 2", "2 ,2"])
    func repeatedLength(_ length: String) async throws {
        let server = try RawServer("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n[]")
        #expect(try await CurlTransport().send(TransportRequest(url: server.base + "/")).body.count == 2)
    }

    @Test("what is not HTTP is an error", arguments: ["SSH-2.0-OpenSSH_9.2", "{\"id\":1}"])
    func notHTTP(_ answer: String) async throws {
        let server = try RawServer(answer + "\r\n")
        await expectFailure(.protocol) { try await CurlTransport().send(TransportRequest(url: server.base + "/")) }
    }

    @Test("a body that is not in the announced coding is an error")
    func brokenCoding() async throws {
        let server = try RawServer("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 7\r\n\r\n[1,2,3]")
        await expectFailure(.protocol) { try await CurlTransport().send(TransportRequest(url: server.base + "/")) }
    }

    @Test("HTML instead of JSON is a response that says so")
    func html() async throws {
        let server = try LocalServer([Self.page], "--fault", "page:html")
        let response = try await CurlTransport().send(TransportRequest(url: server.base + "/page"))
        #expect(response.status == 200)
        #expect(response.headers["Content-Type"] == "text/html; charset=utf-8")
        #expect(String(decoding: response.body, as: UTF8.self).hasPrefix("<!DOCTYPE html>"))
    }

    @Test("a fault that is over is forgotten: from the n-th request, for k requests")
    func faultsPass() async throws {
        let server = try LocalServer([Self.page], "--fault", "page:status:503:from=2:times=2")
        let transport = CurlTransport()
        var statuses: [Int] = []
        for _ in 1...5 {
            statuses.append(try await transport.send(TransportRequest(url: server.base + "/page")).status)
        }
        #expect(statuses == [200, 503, 503, 200, 200])
    }

    @Test("a server that stalls is given up after the idle time")
    func stallAndIdleTimeout() async throws {
        let server = try LocalServer([Self.page], "--fault", "page:stall:600")
        let transport = CurlTransport(options { $0.idleTimeout = .seconds(1) })
        let error = await expectFailure(.timeout) {
            try await transport.send(TransportRequest(url: server.base + "/page"))
        }
        #expect(
            error?.detail == "127.0.0.1:\(server.port) sent nothing for 1.0 seconds (`idle_timeout` under `transport`)")
    }

    @Test("a body that the server reads slowly is no idle time: the system holds little of it")
    func slowUpload() async throws {
        // Without a limit, the system takes all of it at once, and sends it for some ten seconds.
        let server = try RawServer(reading: 64 << 10, each: 0.2, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]")
        let transport = CurlTransport(options { $0.idleTimeout = .seconds(1) })
        var request = TransportRequest(url: server.base + "/")
        (request.method, request.body) = ("PUT", [UInt8](repeating: 0x20, count: 3 << 20))
        #expect(try await transport.send(request).status == 200)
    }

    @Test("header fields and interim responses are signs of life, but not without end")
    func slowHead() async throws {
        let early = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
        let pieces = Array(repeating: early, count: 5) + ["HTTP/1.1 200 OK\r\n"] + (0..<5).map { "X-\($0): a\r\n" }
        let answer = (pieces + ["Content-Length: 2\r\n\r\n[]"]).joined(separator: "\0")
        let slow = try RawServer([Array(answer.utf8)], pause: 0.5)
        let transport = CurlTransport(options { $0.idleTimeout = .seconds(3) })
        let response = try await transport.send(TransportRequest(url: slow.base + "/"))
        #expect(response.status == 200 && response.headers["X-4"] == "a")
        let endless = try RawServer([Array(String(repeating: early, count: 10_000).utf8)])
        await expectFailure(.tooLarge) { try await transport.send(TransportRequest(url: endless.base + "/")) }
    }

    @Test("a server that drips is given up after the total time, since it is never idle")
    func dripAndTotalTimeout() async throws {
        let server = try LocalServer([Self.page], "--fault", "page:drip:100")
        let transport = CurlTransport(options { $0.totalTimeout = .milliseconds(1500) })
        let error = await expectFailure(.timeout) {
            try await transport.send(TransportRequest(url: server.base + "/page"))
        }
        #expect(
            error?.detail
                == "no complete response from 127.0.0.1:\(server.port) within 1.5 seconds (`total_timeout` under `transport`)"
        )
    }

    @Test("a stall shorter than the limits is only slow, and so is a drip")
    func slow() async throws {
        let server = try LocalServer(
            [Self.page], "--fault", "page:stall:0.2:times=1", "--fault", "page:drip:50000:times=2")
        let transport = CurlTransport()
        for _ in 1...2 {
            #expect(try await transport.send(TransportRequest(url: server.base + "/page")).body.count == 10_000)
        }
    }

    @Test("waiting for a free place does not count as time of the transfer")
    func waitingIsNotTimedOut() async throws {
        let server = try LocalServer([Self.page], "--fault", ":stall:1")
        let transport = CurlTransport(
            options {
                $0.concurrencyPerHost = 1
                $0.totalTimeout = .seconds(5)
            })
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 1...6 {
                group.addTask { try await transport.send(TransportRequest(url: server.base + "/page")).status }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == [200, 200, 200, 200, 200, 200])
    }

    @Test("a body beyond the limit is an error, whether its length is declared or not")
    func bodyLimit() async throws {
        let server = try LocalServer([
            Self.page,
            "GET /chunked\nHTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n8\r\n[1,2,3,4\r\n8\r\n,5,6,7,8\r\n1\r\n]\r\n0\r\n\r\n",
        ])
        for (path, size) in [("/page", 10_000), ("/chunked", 17)] {
            let request = TransportRequest(url: server.base + path)
            #expect(try await CurlTransport(options { $0.maximumBodySize = size }).send(request).body.count == size)
            let error = await expectFailure(.tooLarge) {
                try await CurlTransport(options { $0.maximumBodySize = size - 1 }).send(request)
            }
            #expect(
                error?.detail
                    == "the body is larger than the limit of \(size - 1) bytes (`largest_body` under `transport`)")
            // The limit of the request itself, such as that of an answer with a token.
            var limited = request
            limited.responseLimits = .init(body: size - 1, refusal: size)
            let own = await expectFailure(.tooLarge) { try await CurlTransport().send(limited) }
            #expect(own?.detail == "the body is larger than the limit of \(size - 1) bytes")
        }
    }

    @Test("a small body that decodes to a large one meets the limit too")
    func decompressionBomb() async throws {
        // gzip of 5000 spaces
        let body: [UInt8] = [
            31, 139, 8, 0, 0, 0, 0, 0, 2, 255, 237, 193, 49, 1, 0, 0, 0, 194, 160, 42, 235, 159, 210, 20, 126, 64, 1, 0,
            0, 0, 0, 111, 3, 96, 44, 11, 135, 136, 19, 0, 0,
        ]
        let server = try RawServer([
            Array("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
        ])
        await expectFailure(.tooLarge) {
            try await CurlTransport(options { $0.maximumBodySize = 1000 }).send(
                TransportRequest(url: server.base + "/"))
        }
    }

    @Test("no TLS where TLS was asked for is an error of its own kind")
    func noTLS() async throws {
        let server = try LocalServer([Self.page])
        let error = await expectFailure(.tls) {
            try await CurlTransport().send(TransportRequest(url: "https://127.0.0.1:\(server.port)/page"))
        }
        #expect(error?.detail.hasPrefix("no secure connection to 127.0.0.1:\(server.port): ") ?? false)
        #expect(error?.isUnreachable == false)
    }

    @Test("every error text is one line", arguments: ["close", "reset", "cut:10"])
    func oneLine(_ fault: String) async throws {
        let server = try LocalServer([Self.page], "--fault", "page:\(fault)")
        let error = await expectFailure(.cutShort) {
            try await CurlTransport().send(TransportRequest(url: server.base + "/page"))
        }
        #expect(error?.description.contains(where: \.isNewline) == false)
    }
}

@Suite("Curl transport and cancellation", .timeLimit(.minutes(5)))
struct CurlCancellationTests {
    /// On a machine with much to do, a test may not get its turn for longer than the usual limits.
    private static var patient: CurlTransport.Options {
        var options = CurlTransport.Options()
        options.idleTimeout = .seconds(900)
        options.totalTimeout = .seconds(900)
        return options
    }

    /// Waits until the server has seen this number of requests.
    private func seen(_ count: Int, by server: LocalServer) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while server.requests.count < count, .now < end { try await Task.sleep(for: .milliseconds(5)) }
        try #require(server.requests.count >= count)
    }

    @Test("cancelling the task ends a stalled transfer at once, and the transport goes on")
    func duringStall() async throws {
        let server = try LocalServer([CurlFaultTests.page], "--fault", "page:stall:600:times=1")
        let transport = CurlTransport(Self.patient)
        let task = Task { try await transport.send(TransportRequest(url: server.base + "/page")) }
        try await seen(1, by: server)
        let start = ContinuousClock.now
        task.cancel()
        await expectFailure(.cancelled) { try await task.value }
        #expect(ContinuousClock.now - start < .seconds(120))
        #expect(try await transport.send(TransportRequest(url: server.base + "/page")).status == 200)
    }

    @Test("a task that is cancelled already sends nothing")
    func beforeStart() async throws {
        let server = try LocalServer([CurlFaultTests.page])
        let transport = CurlTransport()
        let task = Task { () throws -> TransportResponse in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await transport.send(TransportRequest(url: server.base + "/page"))
        }
        await expectFailure(.cancelled) { try await task.value }
        #expect(server.requests.isEmpty)
    }

    @Test("a request that waits for a free place can be cancelled, and the others are answered")
    func whileWaiting() async throws {
        let server = try LocalServer(
            [CurlFaultTests.page, "GET /first\nHTTP/1.1 200 OK\n\n1", "GET /last\nHTTP/1.1 200 OK\n\n3"], "--fault",
            "first:stall:600")
        var options = Self.patient
        options.concurrencyPerHost = 1
        let transport = CurlTransport(options)
        let first = Task { try await transport.send(TransportRequest(url: server.base + "/first")) }
        try await seen(1, by: server)
        let waiting = Task { try await transport.send(TransportRequest(url: server.base + "/page")) }
        let last = Task { try await transport.send(TransportRequest(url: server.base + "/last")) }
        waiting.cancel()
        await expectFailure(.cancelled) { try await waiting.value }
        first.cancel()
        await expectFailure(.cancelled) { try await first.value }
        #expect(try await last.value.body == [UInt8(ascii: "3")])
        #expect(!server.requests.contains { $0.contains("/page") })
    }

    @Test("many transfers cancelled at random moments all end, answered or cancelled")
    func atRandomMoments() async throws {
        let server = try LocalServer([CurlFaultTests.page], "--latency", "2")
        let transport = CurlTransport()
        let seed = UInt64.random(in: 1...UInt64.max)
        let answered = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let task = Task { try await transport.send(TransportRequest(url: server.base + "/page")) }
                    let delay = (seed &* (2 * UInt64(number) + 1)) >> 40 % 30
                    if number % 2 == 0 {
                        try? await Task.sleep(for: .milliseconds(Int(delay)))
                        task.cancel()
                    }
                    do {
                        let response = try await task.value
                        #expect(response.body.count == 10_000, "seed \(seed)")
                        return true
                    } catch {
                        #expect((error as? TransportError)?.kind == .cancelled, "seed \(seed): \(error)")
                        #expect(number % 2 == 0, "seed \(seed)")
                        return false
                    }
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(answered >= 50)
    }
}
