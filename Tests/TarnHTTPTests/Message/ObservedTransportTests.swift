// Metrics and logs of requests.

import Foundation
import Logging
import Metrics
import Synchronization
import TestSupport
import Testing

@testable import TarnHTTP

@Suite("Metrics and logs", .serialized)
struct ObservedTransportTests {
    @Test("answers and failures are counted by host, method and status, and logged without secrets")
    func counted() async throws {
        CountingMetrics.install()
        let logs = LogStore(), logger = logs.logger(.debug)
        let inner = ScriptedTransport([.status(200, [:], "12345"), .status(503), .failure(.connect)])
        let transport = RetryingTransport(
            ObservedTransport(inner, logger: logger, secretParameters: ["kk"]), time: TestTime().source, logger: logger)
        let host = "observed.example"
        _ = try await transport.send(TransportRequest(url: "http://\(host)/a?token=s3cret&kk=s3cret&page=2"))
        await expectFailure(.connect) { try await transport.send(TransportRequest(url: "http://\(host)/b")) }
        #expect(CountingMetrics.value("tarn_http_requests", ["host": host, "method": "GET", "status": "200"]) == 1)
        #expect(CountingMetrics.value("tarn_http_requests", ["host": host, "method": "GET", "status": "503"]) == 1)
        #expect(CountingMetrics.value("tarn_http_requests", ["host": host, "method": "GET", "status": "connect"]) == 3)
        #expect(CountingMetrics.value("tarn_http_received_bytes", ["host": host]) == 5)
        #expect(CountingMetrics.timed("tarn_http_duration", ["host": host, "method": "GET"]) == 5)
        let text = logs.text
        #expect(
            !text.contains("s3cret") && text.contains("page=2") && text.contains("kk=***")
                && text.contains("token=***"), "\(text)")
        #expect(
            text.contains("notice retrying request") && text.contains("reason=503")
                && text.contains("debug no answer"), "\(text)")
    }
}

/// Metrics that keep their values; process-wide, as swift-metrics requires.
private final class CountingMetrics: MetricsFactory {
    private static let state = Mutex<(counts: [String: Int64], timed: [String: Int])>(([:], [:]))
    private static let installed: Void = MetricsSystem.bootstrap(CountingMetrics())

    static func install() { _ = installed }
    static func value(_ label: String, _ dimensions: [String: String]) -> Int64? {
        state.withLock { $0.counts[key(label, dimensions.map { ($0, $1) })] }
    }
    static func timed(_ label: String, _ dimensions: [String: String]) -> Int? {
        state.withLock { $0.timed[key(label, dimensions.map { ($0, $1) })] }
    }

    private static func key(_ label: String, _ dimensions: [(String, String)]) -> String {
        label + " " + dimensions.map { "\($0)=\($1)" }.sorted().joined(separator: " ")
    }

    private struct Handler: Sendable {
        let key: String
        func increment(by amount: Int64) { CountingMetrics.state.withLock { $0.counts[key, default: 0] += amount } }
        func recordNanoseconds(_ duration: Int64) { CountingMetrics.state.withLock { $0.timed[key, default: 0] += 1 } }
    }

    private final class CounterBox: CounterHandler {
        let handler: Handler
        init(_ handler: Handler) { self.handler = handler }
        func increment(by amount: Int64) { handler.increment(by: amount) }
        func reset() {}
    }
    private final class RecorderBox: RecorderHandler {
        func record(_ value: Int64) {}
        func record(_ value: Double) {}
    }
    private final class TimerBox: TimerHandler {
        let handler: Handler
        init(_ handler: Handler) { self.handler = handler }
        func recordNanoseconds(_ duration: Int64) { handler.recordNanoseconds(duration) }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        CounterBox(Handler(key: Self.key(label, dimensions)))
    }
    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        RecorderBox()
    }
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        TimerBox(Handler(key: Self.key(label, dimensions)))
    }
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}
