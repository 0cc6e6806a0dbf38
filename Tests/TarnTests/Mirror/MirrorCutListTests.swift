// Lists inside of records of which the server gives only the first elements.

import Foundation
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: lists in records that go on", .timeLimit(.minutes(2)))
struct MirrorCutListTests {
    private func report(_ from: String, _ list: String, more: String = "") async throws -> SyncReport {
        let store = try MirrorStore(
            yaml: """
                api: { base: 'https://api.test.example' }
                entities:
                  Issue: { key: id, attributes: { id: int }, relationships: { labels: { to: [Label], from: '\(from)' } } }
                  Label: { key: id, attributes: { id: int } }
                endpoints:
                  issues: { path: /issues, records: items, entity: Issue, paginate: single_page\(more) }
                """)
        let transport = ClosureTransport { _ in
            let others = #"{"id":2,"labels":{"nodes":[],"has_more":false}},{"id":3}"#
            let body = #"{"items":[{"id":1,"labels":\#(list)},\#(others)]}"#
            return TransportResponse(status: 200, body: Array(body.utf8))
        }
        let report = try await store.sync(nil, transport: transport)
        #expect(report.failures.isEmpty, "\(report.texts)")
        return report
    }

    @Test(
        "the sync counts records whose list goes on, and names the flag",
        arguments: [
            ("labels.nodes", #"{"nodes":[{"id":1}],"pageInfo":{"hasNextPage":true}}"#, "labels.pageInfo.hasNextPage"),
            (
                "labels.edges.*.node", #"{"edges":[{"node":{"id":1}}],"pageInfo":{"hasNextPage":true}}"#,
                "labels.pageInfo.hasNextPage"
            ),
            ("labels.data", #"{"data":[{"id":1}],"has_more":true}"#, "labels.has_more"),
            ("labels.items", #"{"items":[],"hasMore":true}"#, "labels.hasMore"),
        ])
    func counted(from: String, list: String, flag: String) async throws {
        #expect(try await report(from, list).endpoint("issues")?.cutLists == [flag: 1])
        let ignored = try await report(from, list, more: ", more: { ignore: [\(flag)] }")
        #expect(ignored.endpoint("issues")?.cutLists == [:])
    }

    @Test("the lists of a parent entity count, too")
    func ofParent() async throws {
        let store = try MirrorStore(
            yaml: """
                api: { base: 'https://api.test.example' }
                entities:
                  Base:
                    key: id
                    attributes: { id: int }
                    relationships: { labels: { to: [Label], from: labels.data } }
                  Issue: { parent: Base, attributes: { title: string? } }
                  Label: { key: id, attributes: { id: int } }
                endpoints:
                  issues: { path: /issues, entity: Issue, paginate: single_page }
                """)
        let transport = ClosureTransport { _ in
            let body = #"[{"id":1,"title":"a","labels":{"data":[{"id":1}],"has_more":true}}]"#
            return TransportResponse(status: 200, body: Array(body.utf8))
        }
        let report = try await store.sync(nil, transport: transport)
        #expect(report.failures.isEmpty && report.endpoint("issues")?.cutLists == ["labels.has_more": 1])
    }

    @Test(
        "a list that is whole, one without a flag, and a flag of the record itself are not counted",
        arguments: [
            ("labels.data", #"{"data":[{"id":1}],"has_more":false}"#), ("labels.data", #"{"data":[{"id":1}]}"#),
            ("labels.data", #"{"data":[{"id":1}],"has_more":"true"}"#), ("labels", #"[{"id":1}],"has_more":true"#),
        ])
    func whole(from: String, list: String) async throws {
        #expect(try await report(from, list).endpoint("issues")?.cutLists == [:])
    }

    private func labelled() throws -> MirrorStore {
        try MirrorStore(
            yaml: """
                api: { base: https://api.test.example/v1 }
                entities:
                  Issue:
                    key: id
                    attributes: { id: int, text: string? }
                    relationships: { labels: { to: [Label], from: labels.data } }
                  Label: { key: id, attributes: { id: int } }
                endpoints:
                  issues: { path: /issues, entity: Issue, paginate: single_page }
                """)
    }

    @Test(
        "the next syncs tell it, too, as long as it is true: of an equal body, and of a page that is not modified",
        arguments: [[], ["ETag: \"a\""]])
    func again(fields: [String]) async throws {
        let body = #"[{"id":1,"labels":{"data":[{"id":1}],"has_more":true}},{"id":2}]"#
        let server = try LocalServer([
            "GET /v1/issues\nHTTP/1.1 200 OK\n" + fields.map { $0 + "\n" }.joined() + "\n" + body
        ])
        let store = try labelled()
        for number in 0..<3 {
            let report = try await store.sync(server.base + "/v1")
            #expect(report.failures.isEmpty && report.endpoint("issues")?.cutLists == ["labels.has_more": 1])
            #expect(report.notModified == (fields.isEmpty || number == 0 ? 0 : 1), "\(report.texts)")
        }
    }

    /// Eight long records, of which the first two may have a list that goes on: long elements are
    /// recognised one by one.
    private static func page(_ changed: String, more: Bool) -> TransportResponse {
        let text = String(repeating: "text ", count: 400)
        let records = (1...8).map { id in
            let list = #"{"data":[{"id":\#(id)}],"has_more":\#(id <= 2 && more)}"#
            return #"{"id":\#(id),"text":"\#(id == 8 ? changed : "")\#(text)","labels":\#(list)}"#
        }
        return TransportResponse(status: 200, body: Array("[\(records.joined(separator: ","))]".utf8))
    }

    @Test("records that are recognised as unchanged count beside changed ones")
    func besideChanged() async throws {
        let store = try labelled()
        let pages = [("a", true, 2), ("b", true, 2), ("b", true, 2), ("b", false, 0), ("c", false, 0)]
        for (changed, more, count) in pages {
            let report = try await store.sync(nil, transport: ClosureTransport { _ in Self.page(changed, more: more) })
            #expect(
                report.failures.isEmpty && report.endpoint("issues")?.cutLists["labels.has_more"] ?? 0 == count,
                "\(changed): \(report.texts)")
        }
    }
}
