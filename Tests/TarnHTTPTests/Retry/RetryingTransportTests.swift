// Requests that are sent again: over real sockets with the real clock where that is quick, else
// with one that the test sets.

import Foundation
import TestSupport
import Testing

@testable import TarnHTTP

@Suite("Retrying transport", .timeLimit(.minutes(5)))
struct RetryingTransportTests {
    private static let quick = RetryPolicy(firstDelay: .milliseconds(20))
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n[]"

    @Test(
        "a moment's trouble passes unnoticed: the request is sent again",
        arguments: [
            "page=1:status:503:times=2", "page=1:status:429:times=3", "page=1:close:times=1", "page=1:reset:times=2",
            "page=1:cut:3:times=3",
        ])
    func recovers(fault: String) async throws {
        let server = try LocalServer([CurlTransportTests.page], "--fault", fault)
        let transport = RetryingTransport(CurlTransport(), policy: Self.quick)
        let response = try await transport.send(TransportRequest(url: server.base + "/issues?page=1"))
        #expect(response.status == 200 && response.body == Array(#"[{"id":1}]"#.utf8))
        let faults = try #require(fault.split(separator: "=").last.flatMap { Int($0) })
        #expect(server.requests.count == faults + 1)
    }

    @Test("the last answer comes back when the tries are used up, and the last failure says how many there were")
    func givesUp() async throws {
        let server = try LocalServer([CurlTransportTests.page], "--fault", "page=1:status:500")
        let transport = RetryingTransport(CurlTransport(), policy: Self.quick)
        #expect(try await transport.send(TransportRequest(url: server.base + "/issues?page=1")).status == 500)
        #expect(server.requests.count == 4)

        let dead = DeadPort()
        let error = await expectFailure(.connect) {
            try await transport.send(TransportRequest(url: "http://127.0.0.1:\(dead.port)/"))
        }
        #expect(error?.detail.hasSuffix("(after 4 attempts)") == true)
    }

    @Test("a POST is sent once, unless the user says that it may be repeated")
    func methods() async throws {
        let server = try LocalServer([CurlTransportTests.page], "--fault", ":status:503")
        let request = TransportRequest(method: "POST", url: server.base + "/issues", body: Array("{}".utf8))
        _ = try await RetryingTransport(CurlTransport(), policy: Self.quick).send(request)
        #expect(server.requests.count == 1)
        var policy = Self.quick
        policy.methods = ["POST"]
        _ = try await RetryingTransport(CurlTransport(), policy: policy).send(request)
        #expect(server.requests.count == 5)
    }

    @Test("Retry-After is obeyed, in seconds and as a date, one that has passed too")
    func retryAfter() async throws {
        let date = HTTPDate.text(Date().addingTimeInterval(2.1))
        let server = try RawServer(
            "HTTP/1.1 429 Slow down\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 503 Later\r\nRetry-After: \(date)\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 503 Later\r\nRetry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 0\r\n\r\n", Self.ok)
        let started = ContinuousClock.now
        let response = try await RetryingTransport(CurlTransport()).send(TransportRequest(url: server.base + "/"))
        #expect(response.status == 200 && server.requests.count == 4)
        #expect(ContinuousClock.now - started >= .milliseconds(1100))
    }

    @Test("a server that asks for more time than allowed is not waited for: its answer is final")
    func tooLong() async throws {
        let server = try RawServer("HTTP/1.1 503 Later\r\nRetry-After: 86400\r\nContent-Length: 0\r\n\r\n")
        #expect(
            try await RetryingTransport(CurlTransport()).send(TransportRequest(url: server.base + "/")).status == 503)
        #expect(server.requests.count == 1)
    }

    @Test(
        "a storm of 429 from a server with a limit is ridden out: paced by what it says, every request is answered once"
    )
    func storm() async throws {
        let server = try LocalServer([CurlTransportTests.page], "--fault", "page=1:limit:3/0.2")
        let transport = RetryingTransport(
            PacedTransport(CurlTransport()), policy: RetryPolicy(attempts: 20, firstDelay: .milliseconds(10)))
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<12 {
                group.addTask { try await transport.send(TransportRequest(url: server.base + "/issues?page=1")).status }
            }
            for try await status in group { #expect(status == 200) }
        }
        let refused = server.requests.count { $0.contains(" 429 ") }
        #expect(server.requests.count == 12 + refused && refused > 0)
    }

    @Test("waiting for the next try ends at once when the task is cancelled")
    func cancellation() async throws {
        let server = try LocalServer([CurlTransportTests.page], "--fault", ":status:503")
        let transport = RetryingTransport(
            CurlTransport(), policy: RetryPolicy(firstDelay: .seconds(3600), longestDelay: .seconds(3600)))
        let task = Task { try await transport.send(TransportRequest(url: server.base + "/issues?page=1")) }
        while server.requests.isEmpty { try await Task.sleep(for: .milliseconds(2)) }
        task.cancel()
        await expectFailure(.cancelled) { try await task.value }
        #expect(server.requests.count == 1)
    }

    @Test(
        "a rule of the user's goes before the policy: a success that means no is tried again, a failure that is final is not"
    )
    func rules() async throws {
        let limited = #"{"ok":false,"error":"ratelimited"}"#
        let inner = ScriptedTransport([.status(200, [:], limited), .status(200, [:], limited), .status(200, [:], "[]")])
        let time = TestTime()
        let transport = RetryingTransport(
            inner, rules: [ResponseRule(statuses: [200...200], text: "ratelimited", action: .retry)], time: time.source)
        #expect(try await transport.send(TransportRequest(url: "http://h/")).body == Array("[]".utf8))
        #expect(time.slept == [.milliseconds(250), .milliseconds(500)])

        for action in [ResponseRule.Action.ignore, .fail, .empty, .stop] {
            let inner = ScriptedTransport([.status(503)])
            let transport = RetryingTransport(
                inner, rules: [ResponseRule(statuses: [500...599], action: action)], time: time.source)
            #expect(try await transport.send(TransportRequest(url: "http://h/")).status == 503)
            #expect(inner.requests.count == 1)
        }
    }

    @Test("a rule is met by status, by text, or by both; the first one counts")
    func matching() {
        let rules = [
            ResponseRule(statuses: [404...404, 410...410], action: .empty), ResponseRule(text: "gone\"", action: .stop),
            ResponseRule(statuses: [400...499], text: "deep", action: .ignore),
        ]
        func action(_ status: Int, _ body: String) -> ResponseRule.Action? {
            rules.first(for: TransportResponse(status: status, body: Array(body.utf8)))?.action
        }
        #expect(action(404, "gone\"") == .empty)
        #expect(action(410, "") == .empty)
        #expect(action(200, "it is \"gone\"") == .stop)
        #expect(action(422, "too deep") == .ignore)
        #expect(action(422, "too high") == nil)
        #expect(action(500, "too deep") == nil)
        #expect(action(200, String(repeating: " ", count: 64 << 10) + "gone\"") == nil)
    }

    @Test("new credentials are asked for once, and the request is sent again with them")
    func refresh() async throws {
        let inner = ScriptedTransport([.status(419), .status(200), .status(419), .status(419)])
        let transport = RetryingTransport(
            inner, rules: [ResponseRule(statuses: [419...419], action: .refreshToken)],
            refresh: { (_: Int?) async throws(TransportError) in true })
        #expect(try await transport.send(TransportRequest(url: "http://h/")).status == 200)
        #expect(try await transport.send(TransportRequest(url: "http://h/")).status == 419)
        #expect(inner.requests.count == 4)
    }

    @Test("the log of a retry hides the parameters of keys, whatever their names are")
    func hiddenParameters() async throws {
        let log = LogStore()
        let transport = RetryingTransport(
            ScriptedTransport([.status(503), .status(200)]), time: TestTime().source, logger: log.logger,
            secretParameters: ["k"])
        _ = try await transport.send(TransportRequest(url: "https://api.test.example/a?k=hidden&page=2"))
        #expect(log.text.contains("retrying request") && log.text.contains("page=2") && !log.text.contains("hidden"))
    }
}
