// Answers that come later: 202, status monitors, and states in bodies.

import Foundation
import Synchronization
import Testing

@testable import TarnHTTP

@Suite("Answers that come later")
struct AnswerWaitTests {
    private typealias Outcome = ScriptedTransport.Outcome
    private static let base = "https://api.test.example"
    private static let done = Outcome.status(
        200, ["ETag": "\"a\"", "Last-Modified": "Fri, 15 Jan 2027 08:00:00 GMT"], "[{\"id\":1}]")

    private struct Result {
        var response: TransportResponse?
        var error: TransportError?
        var requests: [TransportRequest]
        var slept: [Double]
    }

    private func send(
        _ outcomes: [Outcome], method: String = "GET", monitor: String? = nil, rules: [ResponseRule] = [],
        _ wait: AnswerWait = AnswerWait()
    ) async -> Result {
        let scripted = ScriptedTransport(outcomes), time = TestTime()
        var transport = RetryingTransport(scripted, rules: rules, time: time.source)
        transport.answerWait = wait
        var request = TransportRequest(
            method: method, url: Self.base + "/list",
            headers: TransportHeaders([.init("If-None-Match", "\"b\""), .init("X-Team", "blue")]),
            body: method == "POST" ? Array("{}".utf8) : nil)
        request.isRead = true
        request.monitor = monitor
        var result = Result(requests: [], slept: [])
        do throws(TransportError) { result.response = try await transport.send(request) } catch {
            result.error = error
        }
        result.requests = scripted.requests
        result.slept = time.slept.map(\.inSeconds)
        return result
    }

    @Test("the same request is sent again after 202 with Retry-After, as long as it says")
    func retryAfter() async {
        let result = await send([.status(202, ["Retry-After": "7"]), .status(202, ["Retry-After": "2"]), Self.done])
        #expect(result.response?.status == 200 && result.slept == [7, 2])
        #expect(result.requests.map(\.url) == Array(repeating: Self.base + "/list", count: 3))
        #expect(result.requests.allSatisfy { $0.headers["If-None-Match"] != nil })
    }

    @Test(
        "an empty 202 without a time is asked for again a few times, and then is the answer",
        arguments: ["", "{}", "[]"])
    func empty(body: String) async {
        let ready = await send([.status(202, [:], body), .status(202, [:], body), Self.done])
        #expect(ready.response?.status == 200 && ready.slept == [1, 2])
        let never = await send([.status(202, [:], body)])
        #expect(never.response?.status == 202 && never.requests.count == RetryPolicy().attempts)
    }

    @Test("202 with records and nothing else is an answer, and so is any 202 of a request that writes")
    func accepted() async {
        #expect(await send([.status(202, [:], "[{\"id\":1}]"), Self.done]).response?.status == 202)
        let job = Outcome.status(202, ["Location": "/jobs/1"], "{\"id\":1,\"status\":\"queued\"}")
        #expect(await send([job, Self.done], .never).response?.status == 202)
        let scripted = ScriptedTransport([.status(202, ["Location": "/jobs/1"]), Self.done])
        let response = try? await RetryingTransport(scripted).send(
            TransportRequest(method: "POST", url: Self.base + "/list"))
        #expect(response?.status == 202 && scripted.requests.count == 1)
    }

    @Test(
        "the monitor that a 202 names is asked until it has the result",
        arguments: ["Location", "Content-Location", "Operation-Location", "Azure-AsyncOperation"])
    func monitor(field: String) async {
        let result = await send(
            [
                .status(202, [field: "/jobs/7"], "{\"id\":77,\"status\":\"running\"}"),
                .status(202, ["Retry-After": "3", "X-Progress": "50%"]),
                .status(200, [:], "{\"status\":\"In Progress\"}"),
                Self.done,
            ], method: "POST")
        #expect(result.requests.map(\.url) == [Self.base + "/list"] + Array(repeating: Self.base + "/jobs/7", count: 3))
        #expect(result.requests.map(\.method) == ["POST", "GET", "GET", "GET"])
        #expect(result.requests.dropFirst().allSatisfy { $0.body == nil && $0.headers["If-None-Match"] == nil })
        #expect(result.requests.allSatisfy { $0.headers["X-Team"] == "blue" })
        #expect(result.slept == [1, 3, 4])
        // Its validators are those of the monitor.
        #expect(result.response?.redirectedTo == Self.base + "/jobs/7")
        #expect(result.response?.headers["ETag"] == nil && result.response?.headers["Last-Modified"] == nil)
    }

    @Test("a finished monitor may name the result")
    func resourceLocation() async {
        let result = await send([
            .status(202, ["Operation-Location": "/jobs/7"]),
            .status(200, [:], "{\"status\":\"Succeeded\",\"resourceLocation\":\"/results/7\"}"), Self.done,
        ])
        #expect(result.requests.map(\.url).last == Self.base + "/results/7" && result.response?.status == 200)
    }

    @Test("a monitor at another server is not asked")
    func foreign() async {
        let result = await send([.status(202, ["Location": "https://evil.example/jobs"]), Self.done])
        #expect(result.requests.count == 1 && result.error?.kind == .protocol)
    }

    @Test("the wait ends: after 15 minutes, or after the declared time")
    func bounded() async {
        let result = await send([.status(202, ["Retry-After": "60"])])
        #expect(result.error?.kind == .timeout && result.slept.reduce(0, +) == 900)
        var wait = AnswerWait()
        (wait.longest, wait.interval) = (.seconds(25), .seconds(10))
        let declared = await send([.status(202)], wait)
        #expect(declared.error?.kind == .timeout && declared.slept == [10, 10, 5])
        // A server that names no time at all must not be asked without end.
        let hasty = await send([.status(202, ["Retry-After": "0"])])
        #expect(hasty.error?.kind == .timeout && hasty.requests.count < 1000)
    }

    @Test("a declared state is waited for, also with POST, and with the URL in the body")
    func state() async {
        var wait = AnswerWait()
        (wait.state, wait.states) = (["job", "status"], ["created"])
        let graph = await send(
            [
                .status(200, [:], "{\"job\":{\"status\":\"CREATED\"}}"),
                .status(200, [:], "{\"job\":{\"status\":\"DONE\"}}"),
            ],
            method: "POST", wait)
        #expect(graph.requests.map(\.method) == ["POST", "POST"] && graph.slept == [1])
        wait = AnswerWait()
        (wait.state, wait.monitor) = (["status"], ["links", "status"])
        let export = await send(
            [
                .status(200, [:], "{\"links\":{\"status\":\"/e/1\"}}"),
                .status(200, [:], "{\"status\":\"PROCESSING\"}"),
                .status(200, [:], "{\"status\":\"COMPLETE\",\"result\":\"x\"}"),
            ], method: "POST", wait)
        #expect(export.requests.map(\.url) == [Self.base + "/list", Self.base + "/e/1", Self.base + "/e/1"])
    }

    @Test("work whose place nothing names is an error that asks for it, and no record")
    func nowhere() async {
        let result = await send([.status(202, [:], "{\"id\":5,\"status\":\"queued\"}")], method: "POST")
        #expect(result.error?.detail.contains("wait: { url: … }") == true && result.requests.count == 1)
    }

    @Test("an interrupted wait goes on at its monitor, and begins anew if that is gone")
    func resumed() async {
        let url = Self.base + "/jobs/7"
        let result = await send([.status(202, ["Retry-After": "1"]), Self.done], monitor: url)
        #expect(result.requests.map(\.url) == [url, url])
        let gone = await send([.status(404), .status(202, ["Location": "/jobs/8"]), Self.done], monitor: url)
        #expect(gone.requests.map(\.url) == [url, Self.base + "/list", Self.base + "/jobs/8"])
    }

    @Test("a monitor that is gone is no empty list, whatever a rule says of the list")
    func refusedMonitor() async {
        let url = Self.base + "/jobs/7", rules = [ResponseRule(statuses: [404...404], action: .empty)]
        let gone = await send(
            [.status(404), .status(202, ["Location": "/jobs/8"]), Self.done], monitor: url, rules: rules)
        #expect(gone.requests.map(\.url) == [url, Self.base + "/list", Self.base + "/jobs/8"])
        let lost = await send([.status(202, ["Location": "/jobs/7"]), .status(404)], rules: rules)
        #expect(lost.error?.kind == .protocol && lost.response == nil)
        #expect(await send([.status(404)], rules: rules).response?.status == 404)
    }

    @Test("a monitor that an earlier run has kept is not asked if its server is not permitted any more")
    func foreignKept() async {
        let result = await send([Self.done], monitor: "https://evil.example/jobs")
        #expect(result.requests.map(\.url) == [Self.base + "/list"] && result.response?.status == 200)
    }

    @Test("a time behind the end of the wait fails at once, and a large 202 is an answer")
    func farTimes() async {
        for field in ["86400", "1e300", "Fri, 31 Dec 9999 23:59:59 GMT"] {
            let result = await send([.status(202, ["Retry-After": field])])
            #expect(result.error?.kind == .timeout && result.slept.isEmpty && result.requests.count == 1)
        }
        let large = await send([.status(202, [:], "[\"" + String(repeating: "x", count: 2 << 20) + "\"]")])
        #expect(large.response?.status == 202 && large.requests.count == 1)
    }

    @Test("a result may be open or new itself")
    func openResult() async {
        let result = await send([
            .status(202, ["Location": "/jobs/7"]), .status(200, [:], "{\"id\":1,\"status\":\"open\"}"),
        ])
        #expect(result.response?.cameLater == true && result.requests.count == 2)
    }

    @Test("a monitor is told to the caller once it is named")
    func told() async throws {
        let told = Mutex<[String]>([])
        var transport = RetryingTransport(
            ScriptedTransport([.status(202, ["Location": "/jobs/7"]), Self.done]), time: TestTime().source)
        transport.onMonitor = { request, monitor in told.withLock { $0 += [request.url, monitor] } }
        var request = TransportRequest(url: Self.base + "/list")
        request.isRead = true
        _ = try await transport.send(request)
        #expect(told.withLock { $0 } == [Self.base + "/list", Self.base + "/jobs/7"])
    }

    @Test("a truncated list of lines is requested again")
    func truncatedLines() async throws {
        let fields = ["Content-Type": "application/x-ndjson"]
        let result = await send([
            .status(200, fields, "{\"id\":1}\n{\"i"), .status(200, fields, "{\"id\":1}\n{\"id\":2}\n"),
        ])
        #expect(result.response.map { String(decoding: $0.body, as: UTF8.self) } == "[{\"id\":1},{\"id\":2} ]")
        let never = await send([.status(200, fields, "{\"id\":1}\n{\"i")])
        #expect(never.error?.kind == .cutShort && never.requests.count == RetryPolicy().attempts)
    }

    @Test("an ordinary answer has a state of its own, and one to a request that writes has any form")
    func ordinary() async throws {
        let running = await send([.status(200, [:], "{\"id\":1,\"status\":\"running\"}"), Self.done])
        #expect(running.requests.count == 1 && running.response?.status == 200)
        let lines = ScriptedTransport([.status(200, ["Content-Type": "application/x-ndjson"], "{}\n{}\n")])
        let written = try await RetryingTransport(lines).send(TransportRequest(method: "POST", url: Self.base))
        #expect(String(decoding: written.body, as: UTF8.self) == "{}\n{}\n")
    }

    @Test("a refusal of the credentials at a monitor is that of the request, and so is one that a rule makes a failure")
    func refusedAtMonitor() async {
        let accepted = Outcome.status(202, ["Location": "/jobs/7"])
        for status in [401, 403] {
            let result = await send([accepted, .status(status)])
            #expect(result.response?.status == status && result.requests.count == 2)
        }
        let rules = [ResponseRule(statuses: [410...410], action: .fail)]
        #expect(await send([accepted, .status(410)], rules: rules).response?.status == 410)
    }

    @Test("each request of a wait has all attempts, and is none that failed before")
    func attempts() async {
        let fails = Array(repeating: Outcome.status(503), count: RetryPolicy().attempts - 1)
        let result = await send(
            fails + [.status(202, ["Location": "/jobs/7"])] + fails + [.status(202)] + fails + [Self.done])
        #expect(result.response?.status == 200 && result.requests.count == 3 * RetryPolicy().attempts)
        #expect(result.requests.filter { !$0.isRetry }.count == 3)
    }

    @Test("a monitor at another permitted server gets no fields of the API, and a result is no monitor")
    func permittedServer() async throws {
        let told = Mutex<[String]>([])
        let scripted = ScriptedTransport([
            .status(202, ["Location": "https://files.example/jobs/7", "Retry-After": "1"]),
            .status(200, [:], "{\"status\":\"Succeeded\",\"resourceLocation\":\"/results/7\"}"), Self.done,
        ])
        var transport = RetryingTransport(scripted, time: TestTime().source)
        transport.permit = { (reference: String, url: String) throws(PaginationError) in
            reference.hasPrefix("/") ? "https://files.example" + reference : reference
        }
        transport.onMonitor = { _, monitor in told.withLock { $0.append(monitor) } }
        var request = TransportRequest(
            url: Self.base + "/list", headers: TransportHeaders([.init("X-Team", "blue"), .init("Accept", "a/b")]))
        request.isRead = true
        #expect(try await transport.send(request).cameLater)
        #expect(scripted.requests.map(\.url).last == "https://files.example/results/7")
        #expect(scripted.requests.map { $0.headers["X-Team"] } == ["blue", nil, nil])
        #expect(scripted.requests.allSatisfy { $0.headers["Accept"] == "a/b" })
        #expect(told.withLock { $0 } == ["https://files.example/jobs/7"])
    }

    @Test("the URL of a monitor is relative to that of its answer, after redirects")
    func redirected() async throws {
        var accepted = TransportResponse(status: 202, headers: TransportHeaders([.init("Location", "jobs/7")]))
        accepted.redirectedTo = Self.base + "/v2/list"
        let result = await send([.answer(accepted), Self.done])
        #expect(result.requests.map(\.url).last == Self.base + "/v2/jobs/7")
    }
}
