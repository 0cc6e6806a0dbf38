// The rules of a schema and of a mapping that were built in code, without a file: the same rules,
// the same words.

import Tarn
import TarnImport
import TarnStore
import Testing

@Suite("Description file: schemas and mappings built in code")
struct DescriptionSchemaTests {
    private func entity(
        _ name: String, key: [String] = ["id"], _ attributes: [AttributeDefinition] = [.init("id", .int)],
        _ relationships: [RelationshipDefinition] = []
    ) -> EntityDefinition {
        EntityDefinition(name, key: key, attributes: attributes, relationships: relationships)
    }

    @Test("a sound schema has no problems, and an empty one neither")
    func soundSchemasHaveNone() {
        #expect(Schema().problems() == [])
        let nodes = entity("Node", [.init("id", .uuid)], [.init("parent", to: "Node", inverse: "children")])
        #expect(Schema([nodes]).problems() == [])
    }

    @Test("entities, attributes and relationships that are declared twice are problems")
    func duplicatesAreProblems() {
        let twice = entity(
            "A", [.init("id", .int), .init("x", .int), .init("x", .string)], [.init("b", to: "A"), .init("b", to: "A")])
        let problems = Schema([twice, entity("A")]).problems()
        #expect(problems.map { "\($0.entity ?? "").\($0.field ?? "")" } == ["A.x", "A.b", "A."])
        #expect(problems.allSatisfy { $0.message.hasPrefix("declared twice") })
    }

    @Test(
        "names that are not names are problems",
        arguments: ["", "1a", "a b", "a.b", "é", "a-b", "a\u{0}", "+1"])
    func namesAreChecked(name: String) {
        #expect(Schema([entity(name)]).problems().map(\.entity) == [name])
        #expect(Schema([entity("A", [.init("id", .int), .init(name, .int)])]).problems().map(\.field) == [name])
        #expect(Schema([entity("A", [.init("id", .int)], [.init(name, to: "A")])]).problems().map(\.field) == [name])
        #expect(
            Schema([entity("A", [.init("id", .int)], [.init("a", to: "A", inverse: name)])]).problems().map(\.field)
                == ["a"])
    }

    @Test("a field's name may begin with _, an entity's not")
    func underscoreMayBeginAField() {
        #expect(Schema([entity("A", key: ["_id"], [.init("_id", .string)])]).problems() == [])
        #expect(Schema([entity("_A")]).problems().count == 1)
    }

    @Test(
        "only int, string and uuid can be part of a key",
        arguments: [
            (AttributeType.int, true), (.string, true), (.uuid, true), (.bool, false), (.uint, false), (.double, false),
            (.date, false), (.url, false), (.json, false), (.enumeration(["a"]), false), (.array(.int), false),
        ])
    func keyTypes(type: AttributeType, allowed: Bool) {
        #expect(Schema([entity("A", [.init("id", type)])]).problems().isEmpty == allowed)
    }

    @Test(
        "lists hold scalars: lists of lists and lists of json are problems",
        arguments: [AttributeType.array(.string), .json])
    func listsHoldScalars(element: AttributeType) {
        let problems = Schema([entity("A", [.init("id", .int), .init("list", .array(element))])]).problems()
        #expect(problems.map(\.field) == ["list"])
        #expect(problems.first?.message.contains("use json") == true)
    }

    @Test("enum values are compared by their bytes")
    func valuesAreComparedByBytes() {
        func problems(_ values: [String]) -> Int {
            Schema([entity("A", [.init("id", .int), .init("e", .enumeration(values))])]).problems().count
        }
        #expect(problems(["\u{E9}", "e\u{301}"]) == 0)
        #expect(problems(["\u{E9}", "\u{E9}"]) == 1)
        #expect(problems([]) == 1)
    }

    @Test("two sides that are ordered are one problem, and one ordered side is none")
    func orderedSides() {
        func problems(_ first: Bool, _ second: Bool) -> [SchemaError] {
            Schema([
                entity("A", [.init("id", .int)], [.init("bs", to: "B", many: true, ordered: first, inverse: "as")]),
                entity("B", [.init("id", .int)], [.init("as", to: "A", many: true, ordered: second, inverse: "bs")]),
            ]).problems()
        }
        #expect(problems(true, false) == [] && problems(false, true) == [])
        #expect(problems(true, true).map(\.description).count == 1)
        #expect(
            problems(true, true).first?.description.hasPrefix("B.as: A.bs, the inverse, is ordered as well") == true)
    }

    @Test("a mapping that does not fit its schema is a problem")
    func mappingsAreChecked() throws {
        let schema = Schema([
            entity(
                "Issue", [.init("id", .int), .init("at", .date), .init("times", .array(.date))],
                [.init("next", to: "Issue")])
        ])
        func problems(_ entities: [String: EntityMapping]) -> [String] {
            Mapping(entities: entities).problems(for: schema).map(\.description)
        }
        #expect(
            problems([
                "Issue": .init(paths: ["at": ["a"], "next": ["b"]], epochs: ["at": .seconds, "times": .seconds])
            ]) == [])
        #expect(problems(["Isue": .init()]) == ["Isue: unknown entity \"Isue\": did you mean \"Issue\"?"])
        #expect(
            problems(["Issue": .init(paths: ["nxt": ["a"]])]) == [
                "Issue.nxt: unknown field \"nxt\": did you mean \"next\"?"
            ])
        #expect(
            problems(["Issue": .init(paths: ["at": [.path(JSONPath(keys: ["a", ""]))]])]) == [
                "Issue.at: empty key in a key path: remove it"
            ])
        #expect(problems(["Issue": .init(paths: ["at": ["$", "[0]"], "next": ["[1]"]])]) == [])
        #expect(
            problems(["Issue": .init(paths: ["next": ["$"]])]) == ["Issue.next: $ is the whole record: use a key of it"]
        )
        for path in ["$", "items.*.gone", "@parent.gone"] {
            var mapping = EntityMapping()
            mapping.tombstone = TombstoneRule(path: try #require(JSONPath(path)))
            let found = problems(["Issue": mapping])
            #expect(
                found == [
                    "Issue: the mark of deleted records, \(path), is not a single value of the record: use a key of it"
                ])
        }
        #expect(problems(["Issue": .init(declared: ["next"])]) == [])
        #expect(
            problems(["Issue": .init(declared: ["at"])]) == [
                "Issue.at: unknown relationship \"at\": expected one of next"
            ])
        #expect(
            problems(["Issue": .init(epochs: ["id": .seconds])]).first?.hasPrefix(
                "Issue.id: only a date can have an epoch, but the type is int") == true)
        #expect(
            problems(["Issue": .init(epochs: ["next": .seconds])]).first?.hasPrefix(
                "Issue.next: unknown attribute \"next\"") == true)
    }
}
