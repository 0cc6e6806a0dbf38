// Records that a list of an owner has lost, and that come back on the same page as before.

import Synchronization
import Tarn
import Testing

@Suite("Mirror: records that come back to their owner", .timeLimit(.minutes(2)))
struct ReturningRecordTests {
    /// A server of boxes, each with pages of items whose ETag depends on their content only.
    ///
    /// A last page with fewer items than the one before is confirmed without a look behind it.
    private final class Boxes: Sendable {
        private let content = Mutex<[[[Int]]]>([])

        func set(_ boxes: [[Int]]...) { content.withLock { $0 = boxes } }

        var transport: ClosureTransport {
            ClosureTransport { [content] request in
                let boxes = content.withLock(\.self)
                let parts = request.url.replacing("https://api.test.example/", with: "").split(separator: "?")
                var headers = TransportHeaders(), ids = Array(1...boxes.count)
                if let box = parts[0].split(separator: "/").dropFirst().first.flatMap({ Int($0) }) {
                    let query = QueryParameters.values(in: request.url)
                    let page = query.first { $0.name == "page" }.flatMap { Int($0.value) } ?? 1
                    ids = boxes[box - 1][page - 1]
                    if page < boxes[box - 1].count {
                        let since = query.first { $0.name == "since" }.map { "since=\($0.value)&" } ?? ""
                        headers["Link"] = "</\(parts[0])?\(since)page=\(page + 1)>; rel=\"next\""
                    }
                }
                headers["ETag"] =
                    "\"\(ids.map(String.init).joined(separator: "-"))\(headers["Link"] == nil ? "" : "+")\""
                if let tag = request.headers["If-None-Match"], tag == headers["ETag"] {
                    return TransportResponse(status: 304, headers: headers)
                }
                let body = "[" + ids.map { #"{"id":\#($0),"at":\#($0)}"# }.joined(separator: ",") + "]"
                return TransportResponse(status: 200, headers: headers, body: Array(body.utf8))
            }
        }
    }

    private let server = Boxes()

    private func store(_ rules: String) throws -> MirrorStore {
        try MirrorStore(
            yaml: """
                api: { base: https://api.test.example }
                entities:
                  Box: { key: id, attributes: { id: int, at: int } }
                  Item:
                    key: id
                    attributes: { id: int, at: int }
                    relationships: { box: { to: Box, inverse: items } }
                endpoints:
                  boxes: { path: /boxes, entity: Box, paginate: single_page }
                  content:
                    path: '/boxes/{box.id}/items'
                    entity: Item
                    paginate: header_link
                    for_each: { entity: Box, parent: box }
                    \(rules)
                """)
    }

    private func sync(_ store: MirrorStore) async throws {
        let report = try await store.sync(nil, transport: server.transport) { $0.isFull = true }
        #expect(report.failures.isEmpty, "\(report.texts)")
    }

    @Test(
        "a record that was unlinked belongs to its owner again when the list has it again, on a page that is unchanged",
        arguments: ["", "since: { param: since, field: at, initial: '0' }"])
    func unlinked(since: String) async throws {
        let store = try store("orphans: { after: one_scan, then: unlink }\n    \(since)")
        server.set([[1, 4], [2]])
        try await sync(store)
        #expect(try store.keys("Box", 1, "items") == [1, 2, 4])
        server.set([[1, 4]])
        try await sync(store)
        #expect(try store.keys("Box", 1, "items") == [1, 4] && store.record("Item", 2)["box"] == .null)
        server.set([[1, 4], [2]])
        try await sync(store)
        #expect(try store.keys("Box", 1, "items") == [1, 2, 4])
    }

    @Test("a record that has moved to another owner and back belongs to the first one, although its page is unchanged")
    func movedBack() async throws {
        let store = try store("")
        server.set([[1, 4], [2]], [[3]])
        try await sync(store)
        server.set([[1, 4]], [[3, 2]])
        try await sync(store)
        #expect(try store.keys("Box", 1, "items") == [1, 4] && store.keys("Box", 2, "items") == [2, 3])
        server.set([[1, 4], [2]], [[3]])
        try await sync(store)
        #expect(try store.keys("Box", 1, "items") == [1, 2, 4] && store.keys("Box", 2, "items") == [3])
    }
}
