// Values from the response and the request of a real scan over a real socket.

import Tarn
import TarnImport
import TestSupport
import Testing

@Suite("Mirror: sources of values")
struct MirrorSourcesTests {
    private static func yaml(_ attribute: String = "from: '@header.ETag'") -> String {
        """
        api: { base: 'https://api.test.example/v1' }
        entities:
          Shelf: { key: name, attributes: { name: string } }
          Item:
            key: [shelf, id]
            attributes:
              id: int
              shelf: { type: string, from: '@param.shelf.name' }
              page: { type: int, from: '@param.page', absent: { value: 1 } }
              size: { type: int, from: '@param.per_page' }
              at: { type: int, from: '@position' }
              tag: { type: string?, \(attribute) }
        endpoints:
          shelves: { path: /shelves, entity: Shelf }
          items:
            path: /shelves/{shelf.name}/items
            with: { per_page: 2 }
            for_each: Shelf
            entity: Item
            paginate: header_link
        """
    }

    private static let recordings =
        [recording("/shelves", #"[{"name":"a b"},{"name":"c"}]"#)]
        + [("a%20b", 3), ("c", 1)].flatMap { shelf, count -> [String] in
            let next = "Link: <https://api.test.example/v1/shelves/\(shelf)/items?per_page=2&page=2>; rel=\"next\""
            let first = "/shelves/\(shelf)/items?per_page=2", items = (1...count).map { #"{"id":\#($0)}"# }
            guard count > 2 else {
                return [recording(first, "[\(items.joined(separator: ","))]", "ETag: \"\(shelf)1\"")]
            }
            return [
                recording(first, "[\(items.prefix(2).joined(separator: ","))]", "ETag: \"\(shelf)1\"", next),
                recording(first + "&page=2", "[\(items.dropFirst(2).joined(separator: ","))]", "ETag: \"\(shelf)2\""),
            ]
        }

    @Test("header fields, parameters of the path and of the query that was sent, and the position over all pages")
    func walk() async throws {
        let server = try LocalServer(Self.recordings)
        let store = try MirrorStore(yaml: Self.yaml())
        let report = try await store.sync(server.base)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(report.report.diagnosticCount == 0, "\(report.report.diagnostics)")
        #expect(
            try store.dump().filter { $0.hasPrefix("Item") } == [
                #"Item [a b, 1] {"id":1,"shelf":"a b","page":1,"size":2,"at":0,"tag":"\"a%20b1\""}"#,
                #"Item [a b, 2] {"id":2,"shelf":"a b","page":1,"size":2,"at":1,"tag":"\"a%20b1\""}"#,
                #"Item [a b, 3] {"id":3,"shelf":"a b","page":2,"size":2,"at":2,"tag":"\"a%20b2\""}"#,
                #"Item [c, 1] {"id":1,"shelf":"c","page":1,"size":2,"at":0,"tag":"\"c1\""}"#,
            ])
    }

    @Test("an overlay makes the next sync ask for everything anew, since it takes other values")
    func overlay() async throws {
        let server = try LocalServer(Self.recordings)
        var store = try MirrorStore(yaml: Self.yaml())
        try await store.sync(server.base)
        #expect(try await store.sync(server.base).notModified > 0)
        store.description = try store.description.applying(
            overlay: "entities: { Item: { attributes: { tag: { value: x } } } }", file: "o.yaml")
        let report = try await store.sync(server.base)
        #expect(report.endpoint("items")?.notModified == 0)
        #expect(try store.dump().filter { $0.contains(#""tag":"x""#) }.count == 4)
    }
}
