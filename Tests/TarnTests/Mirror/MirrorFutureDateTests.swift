// Incremental scans of records whose dates are, or seem to be, in the future.

import Foundation
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: dates in the future", .timeLimit(.minutes(5)))
struct MirrorFutureDateTests {
    private typealias Items = IncrementalItems

    @Test("a date in the future does not count: the next sync begins with the time of this one")
    func future() async throws {
        let store = try MirrorStore(yaml: Items.yaml("{ param: since, field: changed_at }")), items = Items()
        items.set([(1, "2026-01-01T10:00:00Z"), (2, "2999-01-01T00:00:00Z")])
        let report = try await store.sync(nil, transport: items.transport)
        #expect(report.endpoint("items")?.futureValue == "2999-01-01T00:00:00Z")
        let since = try #require(try store.checkpoint("items")?.since)
        #expect(since > "2026-01-01T10:00:00Z" && since < "2999")
    }

    @Test("a date within the second of the response's Date is not in the future, also for a clock that is behind")
    func sameSecond() async throws {
        let store = try MirrorStore(yaml: Items.yaml("{ param: since, field: changed_at }"))
        let transport = ClosureTransport { _ in
            var headers = TransportHeaders()
            headers["Date"] = "Sat, 03 Jan 2026 10:00:30 GMT"
            let body = #"[{"id":1,"changed_at":"2026-01-03T10:00:30.5Z"}]"#
            return TransportResponse(status: 200, headers: headers, body: Array(body.utf8))
        }
        let report = try await store.sync(nil, transport: transport) { options in
            options.time.now = { Date(timeIntervalSince1970: 1_767_430_000) }
        }
        #expect(report.failures.isEmpty && report.endpoint("items")?.futureValue == nil, "\(report.texts)")
        #expect(try store.checkpoint("items")?.since == "2026-01-03T10:00:30.5Z")
    }

    @Test(
        "the time that replaces a date in the future has the form of that date",
        arguments: [
            ("dd/MM/yyyy", "31/12/2999"), ("yyyy-MM-dd HH:mm:ss", "2999-01-01 00:00:00"),
            ("iso8601", "2999-01-01T00:00:00"), ("iso8601", "2999-01-01 00:00:00"), ("iso8601", "2999-01-01"),
        ])
    func futureForm(format: String, value: String) async throws {
        let store = try MirrorStore(
            yaml: Items.yaml(
                "{ param: since, field: changed_at }", type: "{ type: date, format: '\(format)' }",
                more: "more: ignore"))
        let items = Items()
        items.set([(1, value)])
        let report = try await store.sync(nil, transport: items.transport)
        #expect(report.endpoint("items")?.futureValue == value && report.endpoint("items")?.leavesFutureOut == false)
        let since = try #require(try store.checkpoint("items")?.since)
        func form(_ text: String) -> String { String(text.map { $0.isNumber ? "0" : $0 }) }
        #expect(since != value && form(since) == form(value))
    }
}
