// The metrics and spans of refreshes.

import InMemoryTracing
import MetricsTestKit
import TarnMacros
import TarnService
import TestSupport
import Testing
import Tracing

@Suite("Refresh telemetry", .timeLimit(.minutes(2)))
struct RefreshTelemetryTests {
    @Test("refreshes, pages, changed records, failures and ages are counted")
    func metrics() async throws {
        let fails = Switch()
        let forge = try ForgeServer { _ in fails.isOn ? .init(status: "503 Service Unavailable") : nil }
        let client = try forge.client()
        let metrics = TestMetrics()
        var options = RefreshService.Options.quick
        options.metrics = metrics
        options.ageInterval = .milliseconds(5)
        let refresh = ScheduledRefresh(.issues(), of: client, name: "issues", every: .milliseconds(20))
        let running = try RunningService([refresh], options)
        func total(_ label: String, _ dimensions: [(String, String)]) -> Int64 {
            metrics.counterTotal(label: label, dimensions: dimensions)
        }
        try await eventually("two refreshes") {
            total("tarn_refreshes", [("refresh", "issues"), ("outcome", "complete")]) >= 2
        }
        fails.turn(on: true)
        try await eventually("a failure") {
            total("tarn_refreshes", [("refresh", "issues"), ("outcome", "failed")]) >= 1
        }
        try await running.end()
        // The full last page is requested again behind its 304, which has no Link.
        #expect(total("tarn_refresh_pages", [("refresh", "issues"), ("source", "fetched")]) >= 4)
        #expect(total("tarn_refresh_pages", [("refresh", "issues"), ("source", "revalidated")]) >= 2)
        func created(_ entity: String) -> Int64 {
            total("tarn_refresh_records", [("refresh", "issues"), ("entity", entity), ("change", "created")])
        }
        #expect(created("Issue") == 3 && created("Label") == 1)
        let age = try metrics.expectRecorder("tarn_refresh_age_seconds", [("refresh", "issues")])
        #expect(age.values.allSatisfy { $0 >= 0 && $0 < 60 } && age.values.count >= 2)
        #expect(try metrics.expectTimer("tarn_refresh_duration", [("refresh", "issues")]).values.count >= 3)
    }

    @Test("a refresh is a span, with those of its requests and imports below it, and without secrets")
    func spans() async throws {
        let forge = try ForgeServer()
        let tracer = InMemoryTracer()
        let client = try forge.client(TracedTransport(CurlTransport(), tracer: tracer))
        var options = RefreshService.Options.quick
        options.tracer = tracer
        let refreshes = [
            ScheduledRefresh(.issues(), of: client, name: "issues", every: .seconds(3600)),
            ScheduledRefresh(.labels(), of: client, name: "labels", every: .seconds(3600)),
        ]
        let running = try RunningService(refreshes, options)
        try await eventually("both") { running.service.health.status == .healthy }
        try await running.end()
        let spans = tracer.finishedSpans
        let refresh = try #require(
            spans.first {
                $0.attributes.get("tarn.refresh.name") == .string("issues") && $0.operationName == "tarn.refresh"
            })
        #expect(refresh.attributes.get("tarn.refresh.outcome") == .string("complete"))
        #expect(refresh.attributes.get("tarn.refresh.records") == .int64(3))
        let below = spans.filter { $0.spanContext.parentSpanID == refresh.spanContext.spanID }
        let requests = below.filter { $0.operationName == "tarn.request" }
        #expect(requests.count == 3 && requests.allSatisfy { $0.kind == .client })
        #expect(requests.allSatisfy { $0.attributes.get("url.path") == .string("/issues") })
        #expect(requests.allSatisfy { $0.attributes.get("http.response.status_code") == .int64(200) })
        let imports = below.filter { $0.operationName == "tarn.import" }
        // Either refresh may be the first that brings the label.
        #expect(imports.count == 3 && imports.allSatisfy { $0.attributes.get("tarn.records.created") != .int64(0) })
        for span in imports {
            let request = try #require(
                requests.first { $0.endInstant.nanosecondsSinceEpoch >= span.startInstant.nanosecondsSinceEpoch })
            #expect(request.startInstant.nanosecondsSinceEpoch < span.endInstant.nanosecondsSinceEpoch)
        }
        var text = ""
        for span in spans { span.attributes.forEach { text += "\($0)=\($1) " } }
        #expect(text.contains("/labels") && !text.contains("s3cret") && !text.contains("t0ken"))
        // The server sees the trace.
        #expect(forge.server.requests.allSatisfy { $0.field(InMemoryTracer.traceIDKey) != nil })
    }

    @Test("a request that fails is a span with an error, and sends no identifiers if it must not")
    func failedSpan() async throws {
        let forge = try ForgeServer { _ in .init(status: "404 Not Found") }
        let tracer = InMemoryTracer()
        let transport = TracedTransport(CurlTransport(), tracer: tracer, propagates: false)
        _ = try await transport.send(TransportRequest(url: forge.server.base + "/x?key=1"))
        let dead = DeadPort()
        await #expect(throws: TransportError.self) {
            _ = try await transport.send(TransportRequest(url: "http://127.0.0.1:\(dead.port)/"))
        }
        #expect(tracer.finishedSpans.allSatisfy { $0.status?.code == .error })
        #expect(tracer.finishedSpans.first?.attributes.get("http.response.status_code") == .int64(404))
        #expect(tracer.finishedSpans.last?.attributes.get("error.type") != nil)
        #expect(forge.server.requests.first?.field(InMemoryTracer.traceIDKey) == nil)
    }
}
