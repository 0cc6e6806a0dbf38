// Typed requests from page to page, for every pagination style.

import Foundation
import Tarn
import TestSupport
import Testing

/// An item of the cache tests, declared without the macro.
private struct Item: MappedRecord {
    static let entity = "Item"
    typealias Key = Int64
    enum Field: Int, RecordField { case id, name }
    struct Columns: RecordColumns {
        let path: ColumnPath
        init(path: ColumnPath) { self.path = path }
    }
    static var fields: [FieldDeclaration] {
        [.attribute("id", Int64.self, isKey: true), .attribute("name", String.self)]
    }

    var id: Int64
    var name: String?

    init(_ row: Row<Item>) throws(StoreError) {
        id = try row.get(.id)
        name = try row.get(.name)
    }

    func encode(into row: inout RowEncoder<Item>) {
        row.set(.id, id)
        row.set(.name, name)
    }
}

@Suite("Typed requests: pages", .serialized, .timeLimit(.minutes(5)))
struct RecordPagesTests {
    @Test(
        "pages are those of the list, whatever its style, from the server and from the store; a loop may stop after each",
        arguments: RecordCacheNextTests.lists.filter { $0.answers == nil && !$0.name.hasPrefix("restart") })
    func everyStyle(_ list: RecordCacheNextTests.List) async throws {
        let fixture = try RecordCacheNextTests.fixture(list),
            pagination = fixture.mirrored.description.endpoints[0].pagination
        let server = try LocalServer(RecordCacheNextTests.recordings(list))
        var options = APIClient.Options()
        options.base = server.base + "/v1"
        options.retry = .never
        let client = RecordClient(
            try APIClient(
                fixture.mirrored.description, store: fixture.store, transport: MirrorStore.impatient(), options: options
            ))
        let first: [String] = ["page", "offset"].filter { list.endpoint.hasPrefix("with: { \($0)") }
        let request: RecordRequest<Item> =
            switch first.first {
            case "page": .get("/items", ["page": "1"], records: "items", pagination: pagination)
            case "offset": .get("/items", ["offset": "0"], records: "items", pagination: pagination)
            default: .get("/items", records: "items", pagination: pagination)
            }
        let expected = list.pages.map { $0.ids ?? [] }
        for count in 1...expected.count {
            var pages: [[Int]] = []
            for try await page in client.pages(request) {
                pages.append(page.records.map { Int($0.id) })
                #expect(page.source == (pages.count < count ? .stored : .fetched))
                if pages.count == count { break }
            }
            #expect(pages == Array(expected.prefix(count)))
            #expect(server.requests.count == count)
        }
        #expect(try await client.all(request.policy(.cacheOnly)).map { Int($0.id) } == expected.flatMap(\.self))
        #expect(server.requests.count == expected.count)
    }

    @Test(
        "a list that has grown behind a full last page goes on, although the page is answered 304 without its Link",
        arguments: [nil, "X-Next-Cursor"])
    func grown(field: String?) async throws {
        let style = field.map { "{ header_cursor: { field: \($0), param: after } }" } ?? "header_link"
        let server = GrowingList(cursorField: field), fixture = try CacheFixture(yaml: itemsYAML("paginate: \(style)"))
        let pagination = fixture.mirrored.description.endpoints[0].pagination
        let client = RecordClient(
            try APIClient(fixture.mirrored.description, store: fixture.store, transport: server.transport))
        let request = RecordRequest<Item>.get("/items", pagination: pagination).policy(.networkFirst)
        #expect(try await client.all(request).map(\.id) == Array(0..<6))
        server.log.withLock { $0 = [] }
        server.count.withLock { $0 = 8 }
        #expect(try await client.all(request).map(\.id) == Array(0..<8))
        #expect(server.log.withLock(\.self) == ["0?", "3?", "3", "6"])
        server.log.withLock { $0 = [] }
        #expect(try await client.all(request).map(\.id) == Array(0..<8))
        #expect(server.log.withLock(\.self) == ["0?", "3?", "6?"])
    }
}
