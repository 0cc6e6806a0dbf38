// `tarn proxy` over time: its limits, clients that misbehave or leave, and its end.

import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite("Command line: the proxy's connections", .timeLimit(.minutes(5)))
struct ProxyLifeTests {
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    private static let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    /// Answers at once.
    private func server() throws -> ConnectionServer {
        try ConnectionServer { _, connection in try connection.send(Self.answer) }
    }

    /// An upstream that responds on request of the test.
    private final class SlowServer: Sendable {
        let server: ConnectionServer
        private let seen: Counter
        private let leave = DispatchSemaphore(value: 0)

        private final class Counter: Sendable {
            let value = Mutex(0)
        }

        init(_ answer: [UInt8] = Array(ProxyLifeTests.answer.utf8)) throws {
            let seen = Counter(), leave = leave
            self.seen = seen
            server = try ConnectionServer { _, connection in
                seen.value.withLock { $0 += 1 }
                leave.wait()
                try connection.send(answer)
            }
        }

        /// Requests that have come.
        var requests: Int { seen.value.withLock { $0 } }

        func goOn() { leave.signal() }
    }

    // MARK: Limits

    @Test("--maximum-connections: one more is closed, and taken again when another one has gone")
    func connectionLimit() async throws {
        let server = try server(), proxy = try await RunningProxy(server.base, "--maximum-connections", "2")
        @Sendable func served() throws -> RawConnection {
            let connection = try proxy.connection()
            try connection.send(Self.request)
            _ = try connection.message()
            return connection
        }
        let first = try await onThread { try served() }
        var second: RawConnection? = try await onThread { try served() }
        #expect(second != nil)
        #expect(try await onThread { try proxy.connection().isClosed })
        second = nil
        try await eventually { (try? served()) != nil }
        #expect(
            try await onThread {
                try first.send(Self.request)
                return try first.message().text == "ok"
            })
        #expect(await proxy.end().status == 0)
    }

    @Test(
        "--idle-timeout closes a connection on which nothing moves, also within a request, and not one whose answer is awaited"
    )
    func idleTimeout() async throws {
        let slow = try SlowServer(), proxy = try await RunningProxy(slow.server.base, "--idle-timeout", "1")
        let awaiting = try await onThread {
            let connection = try proxy.connection()
            try connection.send(Self.request)
            return connection
        }
        #expect(
            try await onThread {
                let silent = try proxy.connection(), half = try proxy.connection(), begun = try proxy.connection()
                try half.send("GET / HTTP/1.1\r\nHost")
                try begun.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab")
                return try silent.isClosed && half.isClosed && begun.isClosed
            })
        // Two of them one after the other: longer than the timeout.
        #expect(try await onThread { try proxy.connection().isClosed })
        slow.goOn()
        #expect(try await onThread { try awaiting.message().text == "ok" })
        #expect(try await onThread { try awaiting.isClosed })
        #expect(await proxy.end().status == 0)
    }

    @Test("a client that reads slowly is not idle")
    func slowReader() async throws {
        let body = String(repeating: "0123456789", count: 1_500_000)
        let server = try ConnectionServer { _, connection in
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        }
        let proxy = try await RunningProxy(server.base, "--idle-timeout", "1")
        let size = try await onThread {
            let connection = try proxy.connection()
            try connection.send(Self.request)
            let head = try connection.message(hasBody: false)
            var size = 0
            while size < body.utf8.count {
                size += try connection.bytes(min(150_000, body.utf8.count - size)).count
                usleep(40_000)
            }
            return head.start == "HTTP/1.1 200 OK" ? size : 0
        }
        #expect(size == body.utf8.count)
        #expect(await proxy.end().status == 0)
    }

    // MARK: Clients

    @Test("requests that are sent ahead are answered in their order, also if the first one takes longest")
    func pipelined() async throws {
        let server = try ConnectionServer { request, connection in
            let name = request.start.split(separator: " ").dropFirst().first ?? ""
            if name == "/1" { usleep(300_000) }
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(name.utf8.count)\r\n\r\n\(name)")
        }
        let proxy = try await RunningProxy(server.base)
        let texts = try await onThread {
            let connection = try proxy.connection()
            try connection.send(
                (1...20).map { "POST /\($0) HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc" }.joined())
            return try (1...20).map { _ in try connection.message().text }
        }
        #expect(texts == (1...20).map { "/\($0)" })
        #expect(await proxy.end().status == 0)
    }

    @Test("responses to requests that are sent ahead wait until the client reads, not in memory")
    func unreadResponses() async throws {
        let body = String(repeating: "0123456789", count: 100_000)
        let server = try ConnectionServer { _, connection in
            try connection.send(
                "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        }
        let proxy = try await RunningProxy(server.base)
        let (before, after, sizes) = try await onThread {
            let connection = try proxy.connection()
            try connection.send(Self.request)
            _ = try connection.message()
            let before = try proxy.process.residentBytes
            try connection.send(String(repeating: Self.request, count: 500))
            sleep(2)
            let after = try proxy.process.residentBytes
            return (before, after, try (0..<500).map { _ in try connection.message().body.count })
        }
        // All of them would be 500 MB.
        #expect(after < before + 50_000_000)
        #expect(sizes.allSatisfy { $0 == body.utf8.count })
        #expect(await proxy.end().status == 0)
    }

    @Test("RFC 9110 §7.8: a request for another protocol is answered, and is the last one of its connection")
    func upgrade() async throws {
        let server = try server(), proxy = try await RunningProxy(server.base)
        let (answer, isClosed) = try await onThread {
            let connection = try proxy.connection()
            // As `curl --http2` sends it.
            try connection.send(
                "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n"
            )
            return (try connection.message(), try connection.isClosed)
        }
        #expect(answer.text == "ok" && answer.values("connection") == ["close"] && isClosed)
        #expect(await proxy.end().status == 0)
    }

    @Test("stored and refused answers to thousands of requests that are sent ahead come in their order")
    func pipelinedHits() async throws {
        let server = try ConnectionServer { request, connection in
            let isSlow = request.start.hasPrefix("POST")
            if isSlow { usleep(300_000) }
            let field = isSlow ? "" : "Cache-Control: max-age=600\r\n"
            try connection.send("HTTP/1.1 200 OK\r\n\(field)Content-Length: 2\r\n\r\nok")
        }
        let proxy = try await RunningProxy(server.base)
        // Those that follow a slow one wait together. A request without a Host is refused.
        let texts = (0..<9000).map { number in
            switch number {
            case 3000, 6000: "POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n."
            case _ where number % 7 == 3: "GET / HTTP/1.1\r\nX: y\r\n\r\n"
            default: Self.request
            }
        }
        let answers = try await onThread {
            let first = try proxy.connection()
            try first.send(Self.request)
            #expect(try first.message().text == "ok")
            let connection = try proxy.connection()
            Thread.detachNewThread { do { try connection.send(texts.joined()) } catch {} }
            return try texts.map { _ in
                let answer = try connection.message()
                let isHit = answer.values("cache-status").first?.hasPrefix("tarn; hit") == true
                return (isHit ? "hit " : "") + answer.start.split(separator: " ")[1]
            }
        }
        let expected = texts.map { $0.hasPrefix("POST") ? "200" : $0.contains("Host") ? "hit 200" : "400" }
        let wrong = answers.indices.first { answers[$0] != expected[$0] }
        #expect(wrong == nil, "\(answers[wrong ?? 0]) for request \(wrong ?? 0)")
        #expect(await proxy.end().status == 0)
    }

    @Test("what comes after the last request of a connection is not looked at")
    func afterTheLast() async throws {
        let seen = Mutex(0)
        let server = try ConnectionServer { _, connection in
            seen.withLock { $0 += 1 }
            try connection.send(Self.answer)
        }
        let proxy = try await RunningProxy(server.base)
        let closed = try await onThread {
            let connection = try proxy.connection()
            try connection.send(
                "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nDELETE / HTTP/1.1\r\nHost: a\r\n\r\n")
            return (try connection.message(), try connection.isClosed)
        }
        #expect(closed.0.text == "ok" && closed.1)
        #expect(await proxy.end().status == 0)
        #expect(seen.withLock { $0 } == 1)
    }

    @Test("requests whose clients have gone do not hold up others")
    func abandoned() async throws {
        let leave = DispatchSemaphore(value: 0), seen = Mutex(0), clients = 150
        let server = try ConnectionServer { request, connection in
            if !request.start.hasPrefix("GET /other ") {
                seen.withLock { $0 += 1 }
                leave.wait()
            }
            try connection.send(Self.answer)
        }
        let proxy = try await RunningProxy(server.base)
        let start = ContinuousClock.now
        let text = try await onThread {
            for number in 0..<clients {
                let connection = try proxy.connection()
                try connection.send("GET /\(number) HTTP/1.1\r\nHost: a\r\n\r\n")
                // Some are gone before the proxy has sent their requests, some afterwards.
                if number % 2 == 0 { for _ in 0..<100 where seen.withLock({ $0 }) <= number / 2 { usleep(1000) } }
                connection.resetAtEnd()
            }
            let connection = try proxy.connection()
            try connection.send("GET /other HTTP/1.1\r\nHost: a\r\n\r\n")
            return try connection.message().text
        }
        // More than the proxy sends at a time.
        #expect(text == "ok" && ContinuousClock.now - start < .seconds(30))
        for _ in 0..<clients { leave.signal() }
        #expect(await proxy.end().status == 0)
    }

    @Test(
        "what is no HTTP, or a method that the parser does not know, gets 400 and the end, after the answers that are on their way",
        arguments: [
            "nonsense\r\n\r\n", "BREW / HTTP/1.1\r\nHost: a\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        ])
    func garbage(_ text: String) async throws {
        let body = String(repeating: "0123456789", count: 1_500_000)
        let server = try ConnectionServer { _, connection in
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        }
        let proxy = try await RunningProxy(server.base)
        let answers = try await onThread {
            let connection = try proxy.connection()
            try connection.send(Self.request + text)
            return (try connection.message(), try connection.message(), try connection.isClosed)
        }
        #expect(answers.0.body.count == body.utf8.count && answers.1.start == "HTTP/1.1 400 Bad Request" && answers.2)
        let begun = try await onThread {
            let connection = try proxy.connection()
            try connection.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n")
            return try connection.message().start
        }
        #expect(begun == "HTTP/1.1 400 Bad Request")
        // The request that had begun is not waited for.
        let start = ContinuousClock.now
        #expect(await proxy.end().status == 0)
        #expect(ContinuousClock.now - start < .seconds(9))
    }

    @Test(
        "a client that goes away within its request, or before its answer, disturbs nobody, and the end does not wait for it"
    )
    func clientGoesAway() async throws {
        let slow = try SlowServer(
            [UInt8](
                ("HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n" + String(repeating: "x", count: 5_000_000)).utf8))
        let proxy = try await RunningProxy(slow.server.base)
        try await onThread {
            for isReset in [true, false] {
                let connection = try proxy.connection()
                // After the 100 response, the proxy has the request's head.
                try connection.send(
                    "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\nhalf")
                _ = try connection.line()
                if isReset { connection.resetAtEnd() }
            }
            let connection = try proxy.connection()
            try connection.send(Self.request)
            for _ in 0..<6000 where slow.requests == 0 { usleep(10_000) }
            connection.resetAtEnd()
        }
        #expect(slow.requests == 1)
        slow.goOn()
        slow.goOn()
        let size = try await onThread {
            let connection = try proxy.connection()
            try connection.send("GET /other HTTP/1.1\r\nHost: a\r\n\r\n")
            return try connection.message().body.count
        }
        #expect(size == 5_000_000)
        let start = ContinuousClock.now
        #expect(await proxy.end().status == 0)
        #expect(ContinuousClock.now - start < .seconds(9))
    }

    @Test("without a free file descriptor the proxy waits without work, and goes on when there is one")
    func descriptors() async throws {
        let server = try ConnectionServer { _, connection in
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        let folder = try TemporaryFolder()
        let process = try TarnProcess(
            [
                "-c", "ulimit -n 64; exec \"$0\" proxy --upstream \"$1\" --listen 127.0.0.1:0 --store \"$2\"",
                TarnProcess.executable, server.base, folder.path + "/cache.tarn",
            ], program: "/bin/sh")
        try await eventually { process.output.contains("\n") }
        let port = try #require(Int(process.output.trimmingCharacters(in: .newlines).split(separator: ":").last ?? ""))
        /// The processor time so far, in hundredths of a second.
        func used() throws -> Int {
            let text = try String(contentsOfFile: "/proc/\(process.processID)/stat", encoding: .utf8)
            let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
            return try #require(fields.count > 12 ? fields[11...12].compactMap { Int($0) }.reduce(0, +) : nil)
        }
        var clients = try await onThread { try (0..<100).map { _ in try RawConnection(port: port) } }
        try await Task.sleep(for: .milliseconds(500))
        let before = try used()
        try await Task.sleep(for: .seconds(1))
        #expect(try used() - before < 30)
        clients = []
        // Until the proxy has seen their ends, it has no descriptor for a connection to the upstream.
        var answer = ""
        for _ in 0..<200 where answer != "ok" {
            try await Task.sleep(for: .milliseconds(50))
            answer = try await onThread {
                let connection = try RawConnection(port: port)
                try connection.send(Self.request)
                return try connection.message().text
            }
        }
        #expect(answer == "ok" && clients.isEmpty)
        process.send(SIGTERM)
        #expect(await process.end().status == 0)
    }

    // MARK: The end

    @Test("SIGTERM: a request under way is answered, nobody else is taken, then the process ends with 0")
    func endWithRequest() async throws {
        let slow = try SlowServer(), proxy = try await RunningProxy(slow.server.base)
        let connection = try proxy.connection(), idle = try proxy.connection()
        try connection.send(Self.request)
        try await eventually { slow.requests == 1 }
        proxy.process.send(SIGTERM)
        // Its port is closed when it has understood.
        try await eventually { (try? proxy.connection()) == nil }
        slow.goOn()
        let answer = try await onThread { (try connection.message(), try connection.isClosed, try idle.isClosed) }
        #expect(answer.0.text == "ok" && answer.0.values("connection") == ["close"] && answer.1 && answer.2)
        #expect(await proxy.process.end().status == 0)
    }

    @Test("SIGTERM: a revalidation in the background is not waited for longer than a response")
    func silentRevalidation() async throws {
        let count = Mutex(0)
        let server = try ConnectionServer { _, connection in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number > 1 { sleep(25) }
            try connection.send(
                "HTTP/1.1 200 OK\r\nCache-Control: max-age=0, stale-while-revalidate=600\r\nContent-Length: 2\r\n\r\nok"
            )
        }
        let proxy = try await RunningProxy(server.base)
        try await onThread {
            let connection = try proxy.connection()
            for _ in 0..<2 {
                try connection.send(Self.request)
                #expect(try connection.message().text == "ok")
            }
            for _ in 0..<6000 where count.withLock({ $0 }) < 2 { usleep(1000) }
        }
        let start = ContinuousClock.now
        #expect(await proxy.end().status == 0)
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    @Test("SIGTERM: an answer that is being written is written to its end, however slowly it is read")
    func endWhileWriting() async throws {
        let body = String(repeating: "0123456789", count: 1_500_000)
        let server = try ConnectionServer { _, connection in
            try connection.send("HTTP/1.1 200 OK\r\nX-First: 1\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        }
        let proxy = try await RunningProxy(server.base), connection = try proxy.connection()
        try connection.send(Self.request)
        // The response has begun, and is larger than the socket buffers.
        #expect(try await onThread { try connection.line() } == "HTTP/1.1 200 OK")
        proxy.process.send(SIGTERM)
        try await eventually { (try? proxy.connection()) == nil }
        try await Task.sleep(for: .milliseconds(500))
        // The rest of the head, as a message whose first line was read.
        #expect(try await onThread { try connection.message().body.count } == body.utf8.count)
        #expect(await proxy.process.end().status == 0)
    }

    @Test("SIGTERM: a request that has begun may be sent to its end, and is answered")
    func endWhileReading() async throws {
        let server = try server(), proxy = try await RunningProxy(server.base), connection = try proxy.connection()
        try connection.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\nab")
        let interim = try await onThread { try connection.message(hasBody: false).start }
        #expect(interim == "HTTP/1.1 100 Continue")
        proxy.process.send(SIGTERM)
        try await eventually { (try? proxy.connection()) == nil }
        try await Task.sleep(for: .milliseconds(300))
        try connection.send("cd")
        #expect(try await onThread { try connection.message().text } == "ok")
        #expect(await proxy.process.end().status == 0)
    }

    @Test(
        "an upstream that never answers does not hold up the end for more than ten seconds, and a second signal ends it at once"
    )
    func hurriedEnd() async throws {
        let slow = try SlowServer(), proxy = try await RunningProxy(slow.server.base),
            connection = try proxy.connection()
        try connection.send(Self.request)
        try await eventually { slow.requests == 1 }
        proxy.process.send(SIGTERM)
        try await eventually { (try? proxy.connection()) == nil }
        // Before, it would count as the first one.
        try await Task.sleep(for: .seconds(1))
        proxy.process.send(SIGTERM)
        #expect(await proxy.process.end().status == 143)
        slow.goOn()
    }

    @Test("signals that come together are one: a request under way is answered")
    func endBySeveralSignals() async throws {
        let slow = try SlowServer(), proxy = try await RunningProxy(slow.server.base),
            connection = try proxy.connection()
        try connection.send(Self.request)
        try await eventually { slow.requests == 1 }
        // As timeout(1), or a terminal that is closed.
        for signal in [SIGTERM, SIGHUP, SIGTERM] { proxy.process.send(signal) }
        try await eventually { (try? proxy.connection()) == nil }
        slow.goOn()
        #expect(try await onThread { try connection.message().text } == "ok")
        #expect(await proxy.process.end().status == 0)
    }
}
