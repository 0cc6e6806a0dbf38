// Ids of the catalog: stable, never reused; changes of a schema that are allowed and refused; which
// side is stored.

import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite("Catalog")
struct CatalogTests {
    private func entity(
        _ name: String = "A", key: [String] = ["id"], _ attributes: [AttributeDefinition] = [],
        _ relationships: [RelationshipDefinition] = []
    ) -> EntityDefinition {
        EntityDefinition(
            name, key: key, attributes: [AttributeDefinition("id", .int)] + attributes, relationships: relationships)
    }

    private func refusal(_ first: Schema, then second: Schema) throws -> SchemaError? {
        let catalog = try Catalog().applying(first).catalog
        do {
            _ = try catalog.applying(second)
            return nil
        } catch {
            return error
        }
    }

    @Test("applying the same schema again changes nothing")
    func applyingAgainChangesNothing() throws {
        let catalog = try Catalog().applying(Forge.schema).catalog
        let again = try catalog.applying(Forge.schema)
        #expect(again.catalog == catalog)
        #expect(again.newIndexes.isEmpty)
    }

    @Test("each of many fields is found by its id and by its name, and others are not")
    func manyFields() throws {
        let names = (0..<1000).map { "field\($0)" }
        let schema = Schema([entity("A", names.map { AttributeDefinition($0, .int, optional: true) })])
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let store = try Forge.open(folder("s"), schema)
        let found = try #require(store.catalog.entity("A"))
        for field in found.fields {
            #expect(found.field(id: field.id) == field)
            #expect(found.fieldIDs[field.name] == field.id)
        }
        for id in [0, (found.fields.last?.id ?? 0) + 1, .max] as [UInt16] { #expect(found.field(id: id) == nil) }

        let values = names.enumerated().map { Record.Field($1, .int(Int64($0))) }
        try store.write { try $0.put("A", RecordKey(1), values.reversed()) }
        let record = try #require(try store.read { try $0.record("A", RecordKey(1)) })
        #expect(record.fields.filter { $0.name != "id" } == values)
        #expect(throws: StoreError.self) {
            try store.write { try $0.put("A", RecordKey(2), values + [.init("other", .int(1))]) }
        }
    }

    @Test("ids stay when entities and fields come, go and come back in another order")
    func idsAreStable() throws {
        let first = try Catalog().applying(
            Schema([entity("A", [.init("x", .int), .init("y", .string, indexed: true)]), entity("B")])
        ).catalog
        let second = try first.applying(
            Schema([entity("C"), entity("A", [.init("z", .bool), .init("y", .string, indexed: true)])])
        ).catalog
        let third = try second.applying(
            Schema([entity("B", [.init("x", .int, indexed: true)]), entity("A", [.init("x", .int)])])
        ).catalog
        for catalog in [second, third] {
            for old in first.entities {
                let now = try #require(catalog.entity(old.name))
                #expect(now.id == old.id)
                for field in old.fields { #expect(now.field(field.name) == field) }
            }
        }
        #expect(third.entity("A")?.fields.map(\.name) == ["id", "x", "y", "z"])
        #expect(Set(third.entities.map(\.id)).count == 3)
        let indexes = third.entities.flatMap { $0.fields.compactMap(\.index) }
        #expect(Set(indexes).count == indexes.count)
        #expect(third.entity(id: 1)?.name == "A")
    }

    @Test("additions are allowed: attributes, entities, relationships, indexes, optionality, enumeration values")
    func additionsAreAllowed() throws {
        let first = Schema([entity("A", [.init("x", .int), .init("state", .enumeration(["open"]))])])
        let second = Schema([
            entity(
                "A",
                [
                    .init("x", .int, optional: true, indexed: true), .init("state", .enumeration(["open", "closed"])),
                    .init("new", .json),
                ],
                [.init("b", to: "B")]), entity("B"),
        ])
        let before = try Catalog().applying(first).catalog
        let change = try before.applying(second)
        let a = try #require(change.catalog.entity("A"))
        #expect(a.field("x")?.isOptional == true)
        #expect(a.field("state")?.kind == .attribute(.enumeration(["open", "closed"])))
        #expect(
            Set(change.newIndexes.compactMap(\.field)) == [
                try #require(a.field("x")?.id), try #require(a.field("b")?.id),
            ])
    }

    @Test("another type of an attribute is refused, with its name, both types and the way out")
    func anotherTypeIsRefused() throws {
        for (old, new) in [
            (AttributeType.int, AttributeType.string), (.int, .double), (.array(.int), .array(.string)),
            (.string, .enumeration(["a"])),
        ] {
            let error = try refusal(
                Schema([entity("A", [.init("x", old)])]), then: Schema([entity("A", [.init("x", new)])]))
            #expect(error?.entity == "A")
            #expect(error?.field == "x")
            #expect(error?.message.contains("the type changed from \(old) to \(new)") == true)
            #expect(error?.message.contains("start a new store") == true)
        }
    }

    @Test("another key is refused, also another order of the same attributes")
    func anotherKeyIsRefused() throws {
        let attributes = [AttributeDefinition("a", .int), AttributeDefinition("b", .int)]
        for (old, new) in [(["id"], ["a"]), (["a", "b"], ["b", "a"]), (["a"], ["a", "b"])] {
            let error = try refusal(
                Schema([entity("A", key: old, attributes)]), then: Schema([entity("A", key: new, attributes)]))
            #expect(error?.entity == "A")
            #expect(
                error?.message.contains("records are stored under the key (\(old.joined(separator: ", ")))") == true)
        }
    }

    @Test("another destination, arity or order of the inverse is refused; an attribute does not become a relationship")
    func anotherReferenceIsRefused() throws {
        let others = [entity("B"), entity("C")]
        func schema(_ relationship: RelationshipDefinition, _ b: EntityDefinition? = nil) -> Schema {
            Schema([entity("A", [], [relationship])] + (b.map { [$0, others[1]] } ?? others))
        }
        let old = schema(.init("r", to: "B", inverse: "as"))
        #expect(try refusal(old, then: schema(.init("r", to: "C", inverse: "as")))?.field == "r")
        #expect(try refusal(old, then: schema(.init("r", to: "B", many: true, inverse: "as")))?.field == "r")
        let ordered = schema(
            .init("r", to: "B", inverse: "as"),
            entity("B", [], [.init("as", to: "A", many: true, ordered: true, inverse: "r")]))
        #expect(try refusal(old, then: ordered)?.field == "r")
        #expect(
            try refusal(old, then: Schema([entity("A", [.init("r", .int)])] + others))?.message.contains(
                "a relationship") == true)
        #expect(try refusal(Schema([entity("A", [.init("r", .int)])] + others), then: old)?.field == "r")
        #expect(try refusal(old, then: old) == nil)
    }

    @Test("the stored side cannot move: neither away from where it was, nor to both")
    func storedSideCannotMove() throws {
        let many = RelationshipDefinition("bs", to: "B", many: true, inverse: "a")
        let one = RelationshipDefinition("a", to: "A", inverse: "bs")
        let onlyMany = Schema([entity("A", [], [many]), entity("B")])
        let pair = Schema([entity("A", [], [many]), entity("B", [], [one])])
        let away = try refusal(onlyMany, then: pair)
        #expect(away?.entity == "A" && away?.field == "bs")
        #expect(away?.message.contains("B.a") == true)
        let both = try refusal(pair, then: onlyMany)
        #expect(both?.entity == "A" && both?.field == "bs")
        #expect(both?.message.contains("B.a") == true)
        // A relationship declared on one side only stays there.
        #expect(try refusal(pair, then: Schema([entity("A"), entity("B", [], [one])])) == nil)
    }

    /// Arity and order of both sides, and which is stored.
    struct Pair: Sendable, CustomTestStringConvertible {
        var first: (many: Bool, ordered: Bool), second: (many: Bool, ordered: Bool)
        var firstIsStored: Bool
        var testDescription: String { "\(first) and \(second)" }
    }

    @Test(
        "of a pair the to-one side is stored, else the ordered one, else the one declared first",
        arguments: [
            Pair(first: (false, false), second: (true, false), firstIsStored: true),
            Pair(first: (true, false), second: (false, false), firstIsStored: false),
            Pair(first: (true, true), second: (false, false), firstIsStored: false),
            Pair(first: (false, false), second: (true, true), firstIsStored: true),
            Pair(first: (true, true), second: (true, false), firstIsStored: true),
            Pair(first: (true, false), second: (true, true), firstIsStored: false),
            Pair(first: (true, false), second: (true, false), firstIsStored: true),
            Pair(first: (false, false), second: (false, false), firstIsStored: true),
        ])
    func storedSide(_ pair: Pair) throws {
        let first = RelationshipDefinition(
            "x", to: "B", many: pair.first.many, ordered: pair.first.ordered, inverse: "y")
        let second = RelationshipDefinition(
            "y", to: "A", many: pair.second.many, ordered: pair.second.ordered, inverse: "x")
        let catalog = try Catalog().applying(Schema([entity("A", [], [first]), entity("B", [], [second])])).catalog
        let a = try #require(catalog.entity("A"))
        let b = try #require(catalog.entity("B"))
        #expect((a.field("x") != nil) == pair.firstIsStored)
        #expect((b.field("y") != nil) == !pair.firstIsStored)
        // Seen from both sides, the pair equals the declaration.
        let x = try #require(catalog.relationship("x", of: a))
        let y = try #require(catalog.relationship("y", of: b))
        #expect(x.isStored == pair.firstIsStored && y.isStored != pair.firstIsStored)
        #expect(x.isToMany == pair.first.many && y.isToMany == pair.second.many)
        #expect(x.isOrdered == pair.first.ordered && y.isOrdered == pair.second.ordered)
        #expect(x.destination == b.id && y.destination == a.id)
    }

    @Test("the known relationships of a catalog are those that would be collected, also after a change of its schema")
    func knownRelationships() throws {
        var catalog = try Catalog().applying(Forge.schema).catalog
        let plain = catalog
        catalog.knowRelationships()
        #expect(catalog == plain && catalog.hashValue == plain.hashValue)
        for entity in plain.entities {
            let collected = plain.relationships(of: entity)
            #expect(catalog.relationships(of: entity) == collected)
            for found in collected { #expect(catalog.relationship(found.name, of: entity) == found) }
        }
        #expect(plain.entities.contains { plain.relationships(of: $0).count > 2 })
        var schema = Forge.schema
        schema.entities.append(entity("Note", [], [.init("about", to: schema.entities[0].name, inverse: "notes")]))
        let changed = try catalog.applying(schema).catalog,
            about = try #require(changed.entity(schema.entities[0].name))
        #expect(changed.relationship("notes", of: about) != nil && catalog.relationship("notes", of: about) == nil)
    }

    @Test("a catalog comes back from its JSON, whatever its attributes are")
    func jsonRoundTrip() throws {
        let types: [AttributeType] = [
            .bool, .int, .uint, .double, .string, .date, .uuid, .url, .json, .enumeration(["a", "b \"c\""]),
            .array(.string),
            .array(.enumeration(["x"])),
        ]
        let attributes = types.enumerated().map {
            AttributeDefinition("f\($0.offset)", $0.element, optional: $0.offset % 2 == 0)
        }
        let catalog = try Catalog().applying(Schema([entity("A", attributes, [.init("r", to: "A", inverse: "rs")])]))
            .catalog
        let data = try JSONEncoder().encode(CatalogJSON(catalog))
        #expect(try JSONDecoder().decode(CatalogJSON.self, from: data).catalog == catalog)
    }

    @Test("a schema that is not sound is refused, by entity and field")
    func unsoundSchemaIsRefused() {
        let error = #expect(throws: SchemaError.self) {
            try Catalog().applying(Schema([entity("A", [], [.init("r", to: "Nowhere")])]))
        }
        #expect(error?.entity == "A" && error?.field == "r")
    }
}
