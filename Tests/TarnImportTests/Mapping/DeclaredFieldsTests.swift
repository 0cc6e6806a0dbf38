// The fields that an import writes in a store that other descriptions use, too.

import TarnStore
import TestSupport
import Testing

@testable import TarnImport

@Suite("Import: fields of other descriptions")
struct DeclaredFieldsTests {
    private static let schema = Schema([
        EntityDefinition(
            "Item", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int), AttributeDefinition("title", .string, optional: true),
                AttributeDefinition("note", .string), AttributeDefinition("size", .int, optional: true),
                AttributeDefinition("rest", .json, optional: true),
            ],
            relationships: [
                RelationshipDefinition("owner", to: "User", inverse: "items"),
                RelationshipDefinition("tags", to: "User", many: true),
            ]),
        EntityDefinition("User", key: ["id"], attributes: [AttributeDefinition("id", .int)]),
        EntityDefinition("Box", parent: "Item", attributes: [AttributeDefinition("volume", .int, optional: true)]),
    ])
    private static let full = #"{"id":1,"title":"a","note":"n","size":1,"owner":7,"tags":[7,8],"volume":3}"#

    /// A store with a record of all fields, and an importer that declares some.
    private func bed(_ declared: [String: Set<String>], _ entity: String, _ mapping: Mapping = Mapping()) throws -> (
        TestStore, (String) throws -> ImportReport
    ) {
        let bed = try TestStore(Self.schema)
        try bed.take("[\(Self.full)]", entity)
        var mapping = mapping
        mapping.declaredFields = declared
        let importer = try Importer(mapping, bed.store.catalog)
        return (
            bed,
            { json in
                _ = try importer.add(Array(json.utf8), records: JSONPath(keys: []), entity: entity)
                return try bed.store.write { try importer.commit(into: &$0) }
            }
        )
    }

    @Test(
        "a field that the own description does not declare keeps its value, whatever the JSON has",
        arguments: [
            #""note":"x","size":2,"owner":9,"tags":[9]"#, #""note":null,"size":null,"owner":null,"tags":null"#,
            #""note":[],"size":"much","owner":{},"tags":{}"#, "",
        ])
    func kept(json: String) throws {
        for absent in [nil, AbsentPolicy.clear] {
            var mapping = Mapping(rules: FieldRules(toMany: .append))
            mapping.rules.absent = absent
            let (bed, take) = try bed(["Item": ["id", "title"]], "Item", mapping)
            let report = try take(#"[{"id":1,"title":"b"\#(json.isEmpty ? "" : "," + json)}]"#)
            #expect(
                try bed.lines().first { $0.hasPrefix("Item") }
                    == #"Item 1 {"id":1,"title":"b","note":"n","size":1,"owner":7,"tags":[7,8]}"#)
            #expect(report.diagnostics.isEmpty && report.updated == 1, "\(report.diagnostics)")
            #expect(report.unmapped.map(\.path) == (json.isEmpty ? [] : ["note", "owner", "size", "tags"]))
            #expect(report.presence["Item"]?.absent == [])
        }
    }

    @Test("a new record has only the declared fields, and a nested one that lacks required ones is partial")
    func created() throws {
        let (bed, take) = try bed(["Item": ["id", "title"]], "Item")
        let report = try take(#"[{"id":2,"title":"b","note":"x"}]"#)
        #expect(report.created == 1 && report.diagnostics.isEmpty)
        let record = try #require(try bed.record("Item", 2))
        #expect(record.fields.map(\.name) == ["id", "title"] && !record.isPartial)
        let nested = try TestStore(
            Schema(
                Self.schema.entities + [
                    EntityDefinition(
                        "Order", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                        relationships: [RelationshipDefinition("item", to: "Item")])
                ]))
        var mapping = Mapping()
        mapping.declaredFields = ["Item": ["id", "title"]]
        let importer = try Importer(mapping, nested.store.catalog)
        _ = try importer.add(
            Array(#"[{"id":1,"item":{"id":3,"title":"c","note":"x"}}]"#.utf8), records: JSONPath(keys: []),
            entity: "Order")
        _ = try nested.store.write { try importer.commit(into: &$0) }
        // It has all that the description declares: an attribute may have been removed from it.
        #expect(try nested.record("Item", 3)?.isPartial == false && nested.value("Item", 3, "note") == nil)
    }

    @Test("fields of parents are declared with them; what the mapping itself names counts as declared")
    func inherited() throws {
        var mapping = Mapping(entities: ["Box": EntityMapping(paths: ["size": ["width"]])])
        mapping.entities["Item", default: EntityMapping()].rest = "rest"
        let (bed, take) = try bed(["Item": ["id", "title"], "Box": ["volume"]], "Box", mapping)
        _ = try take(#"[{"id":1,"title":"b","note":"x","width":5,"volume":6,"owner":9}]"#)
        let record = try #require(try bed.record("Box", 1))
        #expect(
            ["title", "note", "size", "volume"].map { record[$0] } == [.string("b"), .string("n"), .int(5), .int(6)])
        #expect(record["rest"] == .json(#"{"note":"x","owner":9}"#))
        #expect(try bed.related("Box", 1, "owner") == ["7"] || bed.related("Box", 1, "owner") == ["7?"])
    }

    @Test("a list at the other side sets a reference that its records do not declare")
    func derived() throws {
        let bed = try TestStore(Self.schema)
        try bed.take("[\(Self.full)]", "Item")
        var mapping = Mapping(entities: ["User": EntityMapping(declared: ["items"])])
        mapping.declaredFields = ["Item": ["id", "title"], "User": ["id", "items"]]
        let importer = try Importer(mapping, bed.store.catalog)
        _ = try importer.add(
            Array(#"[{"id":9,"items":[{"id":1,"title":"c","owner":5,"note":"x"}]}]"#.utf8),
            records: JSONPath(keys: []), entity: "User")
        _ = try bed.store.write { try importer.commit(into: &$0) }
        #expect(try bed.related("Item", 1, "owner") == ["9"])
        #expect(try bed.value("Item", 1, "note") == .string("n"))
    }

    @Test("entities without declared fields take all of them, as mappings of programs do")
    func undeclaredEntity() throws {
        let (bed, take) = try bed(["User": ["id"]], "Item")
        _ = try take(#"[{"id":1,"note":"x"}]"#)
        #expect(try bed.value("Item", 1, "note") == .string("x"))
    }
}
