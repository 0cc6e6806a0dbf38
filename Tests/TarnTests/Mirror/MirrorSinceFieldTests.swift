// Changes that are requested by a header field, as Xero's `If-Modified-Since`.

import Foundation
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: changes by a header field", .timeLimit(.minutes(5)))
struct MirrorSinceFieldTests {
    private typealias Items = IncrementalItems

    private static let yaml = Items.yaml(
        "{ header_field: If-Modified-Since, field: changed_at, format: http }",
        more: "paginate: single_page\n    more: ignore\n    orphans: after_one_scan")

    private static func server() throws -> ScriptedServer {
        try ScriptedServer { request in
            switch request.field("If-Modified-Since") {
            case nil:
                .tagged(
                    "all", request,
                    #"[{"id":1,"changed_at":"2026-01-01T10:00:00Z"},{"id":2,"changed_at":"2026-01-03T10:00:30Z"}]"#)
            case "Sat, 03 Jan 2026 10:00:30 GMT" where request.field("If-None-Match") == nil:
                .notModified
            default: .init(status: "400 Bad Request")
            }
        }
    }

    @Test("the value is sent without a condition, a 304 has no changes, and the whole list keeps its own tag")
    func field() async throws {
        let store = try MirrorStore(yaml: Self.yaml), server = try Self.server()
        var report = try await store.sync(server.base)
        #expect(report.failures.isEmpty && report.listed == 2, "\(report.texts)")
        for _ in 0..<2 {
            report = try await store.sync(server.base)
            #expect(report.failures.isEmpty && report.listed == 0, "\(report.texts)")
            #expect(server.requests.last?.field("If-Modified-Since") == "Sat, 03 Jan 2026 10:00:30 GMT")
        }
        #expect(try store.items() == [1, 2], "no orphans")
        report = try await store.sync(server.base) { $0.isFull = true }
        #expect(report.failures.isEmpty && report.listed == 2, "\(report.texts)")
        #expect(server.requests.last?.field("If-Modified-Since") == nil)
        #expect(server.requests.last?.hasTag("all") == true)
        #expect(try store.items() == [1, 2])
    }

    @Test("a value with a line break is not sent: it would begin another field")
    func lineBreak() async throws {
        let store = try MirrorStore(
            yaml: Items.yaml("{ header_field: X-Since, field: changed_at }", type: "string", more: "more: ignore"))
        let server = try ScriptedServer { _ in .init(body: #"[{"id":1,"changed_at":"a\r\nX-Other: b"}]"#) }
        try await store.sync(server.base)
        let report = try await store.sync(server.base)
        #expect(report.texts.first?.contains("cannot be sent in the header field X-Since") == true, "\(report.texts)")
        #expect(server.requests.count == 1)
    }
}
