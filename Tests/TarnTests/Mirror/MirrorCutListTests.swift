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
}
