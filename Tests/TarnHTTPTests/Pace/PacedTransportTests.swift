// Requests wait for their turn: with a clock that the test sets, and over real sockets with the
// real one.

import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TarnHTTP

@Suite("Paced transport", .timeLimit(.minutes(1)))
struct PacedTransportTests {
    private let request = TransportRequest(url: "http://h.example/items")

    @Test("requests go one after the other as the pace allows, each host by itself")
    func pace() async throws {
        let time = TestTime(), inner = ScriptedTransport([.status(200)])
        let transport = PacedTransport(inner, pace: Pace(perSecond: 2), time: time.source)
        for _ in 0..<4 { _ = try await transport.send(request) }
        #expect(abs(time.now.timeIntervalSince(TestTime.start) - 1.5) < 0.02)
        let before = time.now
        _ = try await transport.send(TransportRequest(url: "http://other.example/"))
        #expect(time.now == before)
    }

    @Test("what a server says is left is not overdrawn: the next request waits for the reset")
    func learnedLimit() async throws {
        let time = TestTime()
        let inner = ScriptedTransport([
            .status(200, ["X-RateLimit-Remaining": "1", "X-RateLimit-Reset": "60"]), .status(200),
        ])
        let transport = PacedTransport(inner, time: time.source)
        _ = try await transport.send(request)
        _ = try await transport.send(request)
        #expect(time.slept.isEmpty)
        _ = try await transport.send(request)
        #expect(abs(time.now.timeIntervalSince(TestTime.start) - 60) < 0.1)
    }

    @Test(
        "a wait that only the body of a refusal states counts as Retry-After",
        arguments: [
            (429, #"{"ok":false,"error_code":429,"parameters":{"retry_after":35}}"#, 35.0),
            (429, #"{"message":"You are being rate limited.","retry_after":0.65,"global":false}"#, 0.65),
            (403, #"{"error":{"retryAfter":"12"}}"#, 12), (503, #"{"retry_after_ms":1500}"#, 1.5),
            (429, #"{"error":{"code":429,"details":[{"@type":"x"},{"retryDelay":"34s"}]}}"#, 34),
            (429, #"{"error":{"retryDelay":1000}}"#, 0),
            (429, #"{"message":"retry_after 9"}"#, 0), (429, #"{"retry_after":-1}"#, 0), (429, "retry_after: 9", 0),
            (400, #"{"retry_after":9}"#, 0), (200, #"{"retry_after":9}"#, 0),
            // The moment of its end: of the test's clock, 1,800,000,000 seconds since 1970.
            (429, #"{"retry_after":1800000025}"#, 25), (429, #"{"error":{"retryAfter":"1800000025000"}}"#, 25),
            (429, #"{"retry_after_ms":1800000025000}"#, 25), (429, #"{"retry_after":"2027-01-15T08:00:25Z"}"#, 25),
            (429, #"{"retry_after":1799999000}"#, 0), (429, #"{"retry_after":"soon"}"#, 0),
        ])
    func waitInBody(status: Int, body: String, seconds: Double) async throws {
        let time = TestTime(), inner = ScriptedTransport([.status(status, [:], body), .status(200)])
        let transport = PacedTransport(inner, time: time.source)
        let refused = try await transport.send(request)
        #expect(refused.headers["Retry-After"].flatMap { Double($0) } ?? 0 == seconds)
        _ = try await transport.send(request)
        #expect(abs(time.now.timeIntervalSince(TestTime.start) - seconds) < 0.1)
    }

    @Test("a header field with a wait takes precedence over the body")
    func waitInHeaderAndBody() async throws {
        let time = TestTime()
        let inner = ScriptedTransport([.status(429, ["Retry-After": "2"], #"{"retry_after":60}"#), .status(200)])
        let transport = PacedTransport(inner, time: time.source)
        _ = try await transport.send(request)
        _ = try await transport.send(request)
        #expect(abs(time.now.timeIntervalSince(TestTime.start) - 2) < 0.1)
    }

    @Test(
        "a number backoff beside the records of a success pauses the requests",
        arguments: [
            (#"{"items":[{"backoff":99}],"has_more":true,"backoff":10,"quota_remaining":9}"#, 10.0),
            ("{ \"backoff\" : 7.5\n, \"quota_max\" : 1 }", 7.5), (#"{"id":1,"backoff":300}"#, 0),
            (#"{"a":"\"backoff\":3,","items":[{"backoff":99}]}"#, 0),
            (#"[{"backoff":9}]"#, 0), (#"{"items":[],"backoff":"9"}"#, 0), (#"{"items":[],"backoff":{"a":9}}"#, 0),
            (#"{"a":"backoff"}"#, 0), (#"{"items":[],"backoff":-4}"#, 0), ("{\"backoff\"", 0),
            ("{\"backoff\":", 0), ("{\"backoff", 0),
        ])
    func backoffInBody(body: String, seconds: Double) async throws {
        let time = TestTime(), inner = ScriptedTransport([.status(200, [:], body), .status(200)])
        let transport = PacedTransport(inner, time: time.source)
        _ = try await transport.send(request)
        _ = try await transport.send(request)
        #expect(abs(time.now.timeIntervalSince(TestTime.start) - seconds) < 0.1)
    }

    @Test("a limit that is used up for longer than a request may wait is an error that says until when")
    func tooLong() async throws {
        let time = TestTime()
        let inner = ScriptedTransport([.status(429, ["Retry-After": "3600"])])
        let transport = PacedTransport(inner, pace: Pace(longestWait: .seconds(60)), time: time.source)
        _ = try await transport.send(request)
        let error = await #expect(throws: TransportError.self) { try await transport.send(request) }
        #expect(error?.kind == .rateLimit)
        #expect(
            error?.detail.contains("http://h.example") == true
                && error?.detail.contains("Fri, 15 Jan 2027 09:00:00 GMT") == true)
        #expect(inner.requests.count == 1)
    }

    @Test("what was learned is given to the next transport: it does not try what is used up")
    func afterRestart() async throws {
        let time = TestTime()
        let first = PacedTransport(ScriptedTransport([.status(429, ["Retry-After": "30"])]), time: time.source)
        _ = try await first.send(request)
        let kept = try JSONEncoder().encode(first.budgets)
        time.pass(10)
        let second = PacedTransport(
            ScriptedTransport([.status(200)]), budgets: try JSONDecoder().decode([String: RateBudget].self, from: kept),
            time: time.source)
        _ = try await second.send(request)
        #expect(abs(time.now.timeIntervalSince(TestTime.start) - 30) < 0.1)
        #expect(second.budgets.isEmpty)
    }

    @Test("a wait is told of once: until when, and whose limit it is; so is the wait before another try")
    func tellsOfWaits() async throws {
        let time = TestTime(), told = Mutex<[RequestWait]>([])
        let inner = ScriptedTransport([
            .status(200, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "60"]), .status(200),
        ])
        let transport = PacedTransport(inner, time: time.source) { wait in told.withLock { $0.append(wait) } }
        _ = try await transport.send(request)
        _ = try await transport.send(request)
        let waits = told.withLock { $0 }
        #expect(waits.map(\.reason) == [.limit] && waits.map(\.origin) == ["http://h.example"])
        #expect(abs((waits.first?.until.timeIntervalSince(TestTime.start) ?? 0) - 60) < 0.1)
        let refused = ScriptedTransport([.status(429, ["Retry-After": "7"]), .status(500), .status(200)])
        var retrying = RetryingTransport(refused, time: time.source)
        retrying.onWait = { wait in told.withLock { $0.append(wait) } }
        _ = try await retrying.send(request)
        #expect(told.withLock { $0.dropFirst().map(\.reason) } == [.limit, .retry])
    }

    @Test("many requests at once keep the concurrency, in the order in which they came")
    func concurrency() async throws {
        let seen = Mutex<(now: Int, most: Int)>((0, 0))
        let inner = ScriptedTransport([.status(200)]) { _ in
            seen.withLock { seen in
                seen.now += 1
                seen.most = max(seen.most, seen.now)
            }
            try? await Task.sleep(for: .milliseconds(5))
            seen.withLock { $0.now -= 1 }
        }
        let transport = PacedTransport(inner, pace: Pace(concurrent: 3))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask { _ = try await transport.send(TransportRequest(url: "http://h.example/\(number)")) }
            }
            try await group.waitForAll()
        }
        #expect(seen.withLock { $0.most } == 3)
        #expect(inner.requests.count == 40)
    }

    @Test("a request that comes to nothing gives its place back")
    func failures() async throws {
        let inner = ScriptedTransport([.failure(.cutShort), .failure(.timeout), .status(200)])
        let transport = PacedTransport(inner, pace: Pace(concurrent: 1))
        for _ in 0..<2 { await #expect(throws: TransportError.self) { try await transport.send(request) } }
        #expect(try await transport.send(request).status == 200)
    }

    @Test("a request that waits for its turn can be cancelled, and leaves its place to the next one")
    func cancellation() async throws {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let inner = ScriptedTransport([.status(200)]) { _ in for await _ in gate { break } }
        let transport = PacedTransport(inner, pace: Pace(concurrent: 1))
        let first = Task { try await transport.send(TransportRequest(url: "http://h.example/1")) }
        while inner.requests.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        let second = Task { try await transport.send(TransportRequest(url: "http://h.example/2")) }
        let third = Task { try await transport.send(TransportRequest(url: "http://h.example/3")) }
        second.cancel()
        await expectFailure(.cancelled) { try await second.value }
        open.finish()
        _ = try await first.value
        _ = try await third.value
        #expect(inner.requests.map(\.url) == ["http://h.example/1", "http://h.example/3"])
        // A request that is cancelled first does not take a place in the queue.
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await transport.send(TransportRequest(url: "http://h.example/4"))
        }
        await expectFailure(.cancelled) { try await late.value }
    }

    @Test("a request that was refused is sent before those that wait for the first time")
    func retriesFirst() async throws {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let inner = ScriptedTransport([.status(200)]) { _ in for await _ in gate { break } }
        let transport = PacedTransport(inner, pace: Pace(concurrent: 1))
        let first = Task { try await transport.send(TransportRequest(url: "http://h.example/1")) }
        while inner.requests.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        let second = Task { try await transport.send(TransportRequest(url: "http://h.example/2")) }
        try await Task.sleep(for: .milliseconds(100))
        let third = Task {
            var request = TransportRequest(url: "http://h.example/3")
            request.isRetry = true
            return try await transport.send(request)
        }
        try await Task.sleep(for: .milliseconds(300))
        open.finish()
        for task in [first, second, third] { _ = try await task.value }
        #expect(inner.requests.map { $0.url.suffix(1) } == ["1", "3", "2"])
    }

    @Test("tasks cancelled at random moments all end, and every place is given back")
    func randomCancellation() async throws {
        let inner = ScriptedTransport([.status(200)]) { _ in try? await Task.sleep(for: .microseconds(200)) }
        let transport = PacedTransport(inner, pace: Pace(perSecond: 4000, burst: 2, concurrent: 3))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    let task = Task { try await transport.send(TransportRequest(url: "http://h.example/")) }
                    try? await Task.sleep(for: .microseconds(Int.random(in: 0...20_000)))
                    task.cancel()
                    _ = await task.result
                }
            }
        }
        _ = try await transport.send(request)
    }

    @Test("over real sockets the pace is kept to the clock")
    func realTime() async throws {
        let server = try LocalServer([CurlTransportTests.page])
        let transport = PacedTransport(CurlTransport(), pace: Pace(perSecond: 20))
        let started = ContinuousClock.now
        for _ in 0..<5 { _ = try await transport.send(TransportRequest(url: server.base + "/issues?page=1")) }
        // The first is sent at once, the others 50 ms apart.
        #expect(ContinuousClock.now - started >= .milliseconds(195))
        #expect(server.requests.count == 5)
    }

    @Test("of ten thousand servers that are sent one request each, only those with a limit or a pace to keep are kept")
    func passingServers() async throws {
        let time = TestTime()
        let limited = ScriptedTransport([
            .status(200, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "7200"]), .status(200),
        ])
        let transport = PacedTransport(limited, pace: Pace(perSecond: 2, longestWait: .seconds(60)), time: time.source)
        _ = try await transport.send(request)
        for number in 0..<10_000 {
            _ = try await transport.send(TransportRequest(url: "http://\(number).example/"))
            // Half a second fills the bucket again.
            if number.isMultiple(of: 4) { time.pass(1) }
        }
        #expect(transport.originCount <= 80)
        #expect(transport.budgets.keys.sorted() == ["http://h.example"])
        await #expect(throws: TransportError.self) { try await transport.send(request) }
    }

    @Test("the pace of a server that is used up is kept while ever more servers are sent a request each")
    func usedUpPace() async throws {
        let time = TestTime(), inner = ScriptedTransport([.status(200)])
        let transport = PacedTransport(inner, pace: Pace(perSecond: 2), time: time.source)
        _ = try await transport.send(request)
        for number in 0..<200 { _ = try await transport.send(TransportRequest(url: "http://\(number).example/")) }
        #expect(time.now == TestTime.start)
        _ = try await transport.send(request)
        #expect(abs(time.now.timeIntervalSince(TestTime.start) - 0.5) < 0.02)
    }

    @Test("a server with a request under way keeps its concurrency while ever more servers are sent a request each")
    func underWay() async throws {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let inner = ScriptedTransport([.status(200)]) { request in
            if request.url.hasSuffix("/1") { for await _ in gate { break } }
        }
        let transport = PacedTransport(inner, pace: Pace(concurrent: 1))
        let first = Task { try await transport.send(TransportRequest(url: "http://h.example/1")) }
        while inner.requests.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        for number in 0..<200 { _ = try await transport.send(TransportRequest(url: "http://\(number).example/")) }
        // The first request is answered once the second one waits for it.
        let progress = RequestProgress()
        progress.transfers()
        progress.onEnd { open.finish() }
        progress.endWaits()
        _ = try await RequestProgress.$current.withValue(progress) {
            try await transport.send(TransportRequest(url: "http://h.example/2"))
        }
        #expect(progress.hasEnded, "the second request has waited")
        open.finish()
        #expect(try await first.value.status == 200)
    }
}
