// Indexes, kinds, unique attributes and defaults in a description file.

import Tarn
import TarnDescription
import TarnStore
import Testing

@Suite("Description file: indexes, kinds, defaults")
struct DescriptionIndexTests {
    private func parse(_ entities: String) throws -> Schema {
        try Description.parse("api: { base: https://a.example }\nentities:\n" + entities, file: "t.yaml").schema
    }

    private func problem(_ entities: String) -> String {
        do {
            _ = try parse(entities)
            return ""
        } catch {
            return "\(error)"
        }
    }

    private static let event =
        "  Event: { key: id, attributes: { id: int, at: date?, state: { type: enum, values: [open, shut] }, title: string, size: double } }\n"

    @Test("indexes have a short form and a long one")
    func indexes() throws {
        let schema = try parse(
            """
              Event:
                key: id
                attributes: { id: int, at: date?, state: { type: enum, values: [open, shut] }, title: string, size: double }
                relationships: { author: User }
                indexes:
                  byState: [state, at]
                  one: title
                  title: { on: title, unique: true, ignore_case: title }
                  some: { on: [author, at], where: { state: open, at: '>= 2024-01-01T00:00:00Z', title: '!= null', size: '< 1.5' } }
              User: { key: id, attributes: { id: int } }
            """)
        let date = try #require(Timestamp("2024-01-01T00:00:00Z"))
        #expect(
            schema.entities[0].indexes == [
                IndexDefinition("byState", on: "state", "at"), IndexDefinition("one", on: "title"),
                IndexDefinition("title", on: [.init("title", ignoringCase: true)], unique: true),
                IndexDefinition(
                    "some", on: "author", "at",
                    where: [
                        IndexCondition("state", .equal, .string("open")),
                        IndexCondition("at", .greaterOrEqual, .date(date)),
                        IndexCondition("title", .notEqual, .null), IndexCondition("size", .less, .double(1.5)),
                    ]),
            ])
    }

    @Test(
        "the condition of an index may be a text, which says the same as the mapping",
        arguments: [
            ("state = open", [IndexCondition("state", .equal, .string("open"))]),
            (
                "'size >= 1.5 and size < 3'",
                [IndexCondition("size", .greaterOrEqual, .double(1.5)), IndexCondition("size", .less, .double(3))]
            ),
            (
                "size between 1 and 2 and (title is not missing and state is missing)",
                [
                    IndexCondition("size", .greaterOrEqual, .double(1)),
                    IndexCondition("size", .lessOrEqual, .double(2)),
                    IndexCondition("title", .notEqual, .null), IndexCondition("state", .equal, .null),
                ]
            ),
            ("title != 12", [IndexCondition("title", .notEqual, .string("12"))]),
            (
                "\"at > '2024-01-01T00:00:00Z'\"",
                [IndexCondition("at", .greater, Timestamp("2024-01-01T00:00:00Z").map(Value.date) ?? .null)]
            ),
            ("all", []),
        ] as [(String, [IndexCondition])])
    func conditionTexts(text: String, conditions: [IndexCondition]) throws {
        let schema = try parse(
            "  E: { key: id, attributes: { id: int, title: string, state: string, at: date, size: double }, indexes: { i: { on: title, where: \(text) } } }\n"
        )
        #expect(schema.entities[0].indexes == [IndexDefinition("i", on: "title", where: conditions)])
    }

    @Test(
        "a text that is no condition of an index is reported with line and column",
        arguments: [
            ("n = x", "3:84: entities.A.indexes.i.where: \"x\" is not a valid int"),
            ("m = 1", "3:80: entities.A.indexes.i.where: unknown attribute \"m\""),
            (
                "n = 1 or n = 2",
                "3:80: entities.A.indexes.i.where: the condition of an index cannot use `or` and `not`; expected comparisons"
            ),
            (
                "'n = 1 and n like x'",
                "3:91: entities.A.indexes.i.where: the condition of an index cannot use this comparison; expected comparisons"
            ),
            ("n =", "3:83: entities.A.indexes.i.where: unexpected end; expected a value"),
            (
                "a.n = 1",
                "3:80: entities.A.indexes.i.where: the condition of an index can only use attributes of the record itself"
            ),
        ])
    func wrongConditionTexts(text: String, message: String) {
        let found = problem(
            "  A: { key: id, attributes: { id: int, n: int }, indexes: { i: { on: n, where: \(text) } } }\n")
        #expect(found.contains(message), "\(found)")
    }

    @Test("a kind needs neither key nor attributes, and its conditions may be about what it inherits")
    func kinds() throws {
        let schema = try parse(
            "  Push: { parent: Event, attributes: { branch: string? }, indexes: { open: { on: branch, where: { state: open } } } }\n  Other: { parent: Push }\n"
                + Self.event)
        #expect(schema.entities.map(\.parent) == ["Event", "Push", nil])
        #expect(schema.entities[0].indexes[0].conditions == [IndexCondition("state", .equal, .string("open"))])
    }

    @Test("unique attributes and defaults of every type")
    func attributes() throws {
        let schema = try parse(
            """
              A:
                key: id
                attributes:
                  id: int
                  login: { type: string, unique: true }
                  n: { type: int, default: 5 }
                  u: { type: uint, default: 18446744073709551615 }
                  s: { type: string, default: no }
                  b: { type: bool, default: true }
                  d: { type: decimal, default: 1.50 }
                  o: { type: int?, default: null }
                  e: { type: enum, values: [x, y], default: y }
                  l: { type: [int], default: [1, 2] }
            """)
        let attributes = schema.entities[0].attributes
        #expect(attributes[1].isUnique && attributes[1].isIndexed)
        #expect(
            attributes.dropFirst(2).map(\.defaultValue) == [
                .int(5), .uint(.max), .string("no"), .bool(true), .decimal(try #require(ExactDecimal("1.50"))), .null,
                .string("y"),
                .array([.int(1), .int(2)]),
            ])
    }

    @Test(
        "what is wrong is named with its place",
        arguments: [
            (
                event + "  B: { parent: Evnt }\n",
                "4:16: entities.B.parent: unknown entity \"Evnt\": did you mean \"Event\"?"
            ),
            (
                event + "  B: { parent: Event, key: id }\n",
                "4:28: entities.B.key: an entity with a parent inherits the parent's key"
            ),
            (
                "  A: { key: id, attributes: { id: int, n: { type: int, default: x } } }\n",
                "3:65: entities.A.attributes.n.default: \"x\" is not a valid int"
            ),
            (
                "  A: { key: id, attributes: { id: int, n: int }, indexes: { i: [m] } }\n",
                "3:61: entities.A.indexes.i: unknown attribute \"m\""
            ),
            (
                "  A: { key: id, attributes: { id: int, n: int }, indexes: { i: { on: n, where: { n: x } } } }\n",
                "entities.A.indexes.i.where.n: \"x\" is not a valid int"
            ),
            (
                "  A: { key: id, attributes: { id: int, n: int }, indexes: { i: { on: n, where: { m: 1 } } } }\n",
                "entities.A.indexes.i.where.m: unknown attribute \"m\""
            ),
            (
                "  A: { key: id, attributes: { id: int, n: int }, indexes: { i: { on: n, ignore_case: m } } }\n",
                "entities.A.indexes.i.ignore_case: unknown attribute \"m\""
            ),
            (
                "  A: { key: id, attributes: { id: int, n: int }, indexes: { i: { on: n, ignore_case: n } } }\n",
                "only text can be case-insensitive"
            ),
            (
                "  A: { key: id, attributes: { id: int, n: int }, indexes: { i: { unique: true } } }\n",
                "entities.A.indexes.i.on: missing: write on: [state, updatedAt]"
            ),
            (
                "  A: { key: id, attributes: { id: int, n: int }, indexes: { i: { on: , unique: true } } }\n",
                "entities.A.indexes.i.on: missing attribute: write one, or remove the index"
            ),
            (
                "  A: { key: id, attributes: { id: int, n: int }, indexes: { i: [] } }\n",
                "3:64: entities.A.indexes.i: missing attribute: write one, or remove the index"
            ),
            (
                "  A: { key: id, attributes: { id: int, n: int }, indexes: [n] }\n",
                "entities.A.indexes: expected a mapping from names to attributes"
            ),
        ])
    func wrong(_ entities: String, _ message: String) {
        let found = problem(entities)
        #expect(found.contains(message), "\(found)")
    }
}
