// The mapping of a description, as an importer applies it.

import Foundation
import Tarn
import TarnDescription
import Testing

@Suite("Description: the mapping for an importer")
struct DescriptionMappingTests {
    private static let yaml = """
        api: { base: 'https://api.test.example' }
        entities:
          User:
            key: id
            attributes: { id: int }
            relationships: { items: { to: [Item], inverse: author } }
          Item:
            key: id
            attributes: { id: int, name: string }
            relationships: { author: { to: User, inverse: items } }
        endpoints:
          users: { path: /users, entity: User }
        """

    private func imported(_ description: Description) throws -> [Value?] {
        let store = try MirrorStore(description)
        let open = try store.open()
        let importer = try Importer(description.mapping, open.catalog)
        _ = try importer.add(
            Array(#"[{"id":7,"items":[{"id":1,"name":"a"},{"id":2,"name":"b"}]}]"#.utf8), entity: "User")
        _ = try open.write { try importer.commit(into: &$0) }
        return try [1, 2].map { try store.record("Item", $0)["author"] }
    }

    @Test("a list at the side that stores nothing is imported through the public mapping")
    func inverseList() throws {
        let description = try Description.parse(Self.yaml, file: "tarn.yaml")
        #expect(try imported(description) == [.reference(RecordKey(7)), .reference(RecordKey(7))])
    }

    @Test("so it is when a program has made the description, or has changed its schema or mapping")
    func byCode() throws {
        let parsed = try Description.parse(Self.yaml, file: "tarn.yaml")
        var made = Description(
            file: "f", storePath: "", api: parsed.api, schema: parsed.schema, mapping: Mapping(),
            endpoints: parsed.endpoints)
        #expect(try imported(made) == [.reference(RecordKey(7)), .reference(RecordKey(7))])
        made.mapping = Mapping(entities: ["Item": EntityMapping(ignored: ["x"])])
        #expect(try imported(made) == [.reference(RecordKey(7)), .reference(RecordKey(7))])
        made.schema = Schema([])
        made.mapping = Mapping()
        made.schema = parsed.schema
        #expect(try imported(made) == [.reference(RecordKey(7)), .reference(RecordKey(7))])
    }
}
