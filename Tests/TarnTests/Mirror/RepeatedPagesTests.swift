// Pages that come again with the same bytes, from a server without validators.

import Foundation
import Tarn
import TestSupport
import Testing

@Suite("Mirror: pages that come again")
struct RepeatedPagesTests {
    /// Three pages of items without validators, each of an id and a name.
    private func pages(_ items: [[(Int, String)]]) -> [String] {
        items.enumerated().map { index, items in
            let target = index == 0 ? "/v1/items" : "/v1/items?page=\(index + 1)"
            let text = items.map { #"{"id":\#($0.0),"name":"\#($0.1)"}"# }.joined(separator: ",")
            let link = "Link: <https://api.test.example/v1/items?page=\(index + 2)>; rel=\"next\""
            return index < 2 ? recording(target, "[\(text)]", link) : recording(target, "[\(text)]")
        }
    }

    private func scan(_ store: MirrorStore, _ items: [[(Int, String)]]) async throws -> SyncReport.Endpoint {
        let report = try await store.sync(nil, transport: try WrittenTransport(pages(items)))
        let endpoint = try #require(report.endpoints.first)
        #expect(endpoint.failures.isEmpty, "\(report)")
        return endpoint
    }

    private static let items = [[(1, "a"), (2, "b")], [(3, "c"), (4, "d")], [(5, "e"), (6, "f")]]

    @Test(
        "records of equal pages count as unchanged and stay as they are; a changed page and a changed record are seen"
    )
    func again() async throws {
        let store = try MirrorStore(yaml: itemsYAML("paginate: header_link\n    orphans: after_one_scan"))
        #expect(try await scan(store, Self.items).report.created == 6)
        let dump = try store.dump(versions: true)
        let again = try await scan(store, Self.items)
        #expect(again.failures.isEmpty && again.pages == 3 && again.notModified == 0 && again.listed == 6)
        #expect(again.report.unchanged == 6 && again.report.created + again.report.updated == 0)
        #expect(try store.dump(versions: true) == dump)
        // A change by others is undone, as without recognition.
        try await store.open().write { try $0.put("Item", RecordKey(3), [.init("name", .string("mine"))]) }
        let restored = try await scan(store, Self.items)
        #expect(restored.report.updated == 1 && restored.report.unchanged == 5)
        #expect(try store.dump() == itemLines(Self.items))
        // The server changes a page, and drops a record.
        var items = Self.items
        items[1] = [(3, "changed")]
        let changed = try await scan(store, items)
        #expect(changed.report.updated == 1 && changed.report.unchanged == 4)
        #expect(try store.dump() == itemLines(items))
        #expect(try await scan(store, items).report.unchanged == 5)
        #expect(try store.dump() == itemLines(items))
    }

    @Test(
        "a repeated last page ends the list, although one of its records is marked as deleted",
        arguments: [false, true], [false, true])
    func deletedOnLastPage(hasValidators: Bool, isOnlyDeleted: Bool) async throws {
        let server = try ScriptedServer { request in
            let text = QueryParameters.values(in: request.target).first { $0.name == "page" }?.value
            let page = min(text.flatMap { Int($0) } ?? 1, 3), deleted = #"{"id":6,"gone":true}"#
            let parts = ["1 2", "3 4", "5"].map { part in
                part.split(separator: " ").map { #"{"id":\#($0),"name":"n"}"# }.joined(separator: ",")
            }
            let last = isOnlyDeleted ? deleted : "\(parts[2]),\(deleted)"
            let body = "[\(page < 3 ? parts[page - 1] : last)]"
            return hasValidators ? .tagged("\(page)", request, body) : .init(body: body)
        }
        let style = "paginate: { page_number: { param: page, end: repeated } }\n    limit: { pages: 9 }"
        let store = try MirrorStore(yaml: itemsYAML(style, attributes: "    deleted: gone"))
        for round in 1...3 {
            let report = try await store.sync(server.base + "/v1")
            #expect(report.failures.isEmpty, "\(report.texts)")
            #expect(server.requests.count == 4 * round)
            #expect(try store.items() == (isOnlyDeleted ? [1, 2, 3, 4] : [1, 2, 3, 4, 5]))
        }
        #expect(server.requests.contains { $0.field("If-None-Match") != nil } == hasValidators)
    }

    private func itemLines(_ items: [[(Int, String)]]) -> [String] {
        items.flatMap { $0 }.map { #"Item \#($0.0) {"id":\#($0.0),"name":"\#($0.1)"}"# }
    }
}
