// Schemas that are composed of others: `allOf`, `oneOf` and `anyOf` beside each other, and references
// with more beside them.

import Tarn
import TestSupport
import Testing

@testable import TarnProposal

@Suite("Composed schemas of a specification")
struct ComposedSchemaTests {
    private typealias Specification = TestSpecification

    /// A property and the parts of payments.
    private static let schemas: [String: String] = [
        "Base": Specification.object(#""id":{"type":"integer"},"at":{"type":"string","format":"date-time"}"#),
        "Card": Specification.object(#""method":{"type":"string"},"digits":{"type":"string"}"#, required: "digits"),
        "Bank": Specification.object(#""method":{"type":"string"},"iban":{"type":"string"}"#, required: "iban"),
        "Undeclared": Specification.object(#""iban":{"type":"string"}"#, required: "iban"),
    ]
    private static let payments = """
        [{"id":1,"at":"2025-01-01T00:00:00Z","method":"card","digits":"1234"},
         {"id":2,"at":"2025-01-02T00:00:00Z","method":"bank","iban":"DE"}]
        """
    private static let base = Specification.reference("Base")
    private static let alternatives =
        #""oneOf":[\#(Specification.reference("Card")),\#(Specification.reference("Bank"))]"#
    private static let mapping = ##"{"card":"#/components/schemas/Card","bank":"#/components/schemas/Bank"}"##
    private static let discriminator = #""discriminator":{"propertyName":"method","mapping":\#(mapping)}"#

    /// Syncs a list by the proposal of its specification.
    private func mirror(
        _ schemas: [String: String], of schema: String = "Item", _ records: String
    ) async throws -> ProposedMirror {
        let server = try ScriptedServer { _ in .init(body: records) }
        let proposal = try await Specification(
            paths: [("/items", Specification.get(Specification.list(schema)))], schemas: schemas, server: server.base
        ).proposal()
        return try await ProposedMirror(CurlTransport(), proposal)
    }

    @Test(
        "alternatives beside properties, beside allOf, and as a part of it are parts of the record",
        arguments: [
            #"{"allOf":[\#(base)],\#(alternatives)}"#,
            #"{"allOf":[\#(base),{\#(alternatives)}]}"#,
            #"{"type":"object","properties":{"id":{"type":"integer"},"at":{"type":"string"}},\#(alternatives)}"#,
            #"{"allOf":[\#(base)],\#(alternatives),\#(discriminator)}"#,
            #"{"allOf":[\#(base),{\#(alternatives),\#(discriminator)}]}"#,
            #"{"allOf":[\#(base),{"oneOf":[{"oneOf":[\#(Specification.reference("Card"))]},"#
                + #"\#(Specification.reference("Bank"))]}]}"#,
        ])
    func parts(item: String) async throws {
        let mirror = try await mirror(Self.schemas.merging(["Item": item]) { $1 }, Self.payments)
        mirror.expectClean()
        let text = mirror.proposal.text
        #expect(
            text.contains("key: id\n") && text.contains("digits: string?") && text.contains("iban: string?"), "\(text)")
        #expect(text.contains("kinds:") == item.contains("discriminator"), "\(text)")
        #expect(try mirror.count("Item") == 2)
    }

    @Test("a base that lists the kinds that extend it adds none of them to the others")
    func circle() async throws {
        let kinds = #""oneOf":[\#(Specification.reference("Card")),\#(Specification.reference("Bank"))]"#
        func kind(_ property: String) -> String {
            #"{"allOf":[\#(Specification.reference("Item")),{"type":"object","properties":{"\#(property)":{"type":"string"}}}]}"#
        }
        for discriminator in ["", "," + Self.discriminator] {
            let schemas = [
                "Item": #"{"type":"object","required":["id"],"properties":{"id":{"type":"integer"},"#
                    + #""at":{"type":"string"},"method":{"type":"string"}},\#(kinds)\#(discriminator)}"#,
                "Card": kind("digits"), "Bank": kind("iban"),
            ]
            let mirror = try await mirror(schemas, Self.payments)
            mirror.expectClean()
            let text = mirror.proposal.text
            #expect(text.components(separatedBy: "digits:").count == 2, "\(text)")
            #expect(try mirror.count("Item") == 2, "\(text)")
            // Of a list of one kind, the base is a part.
            let cards = try await self.mirror(
                schemas, of: "Card", #"[{"id":1,"at":"2025-01-01","method":"card","digits":"1234"}]"#)
            #expect(!cards.proposal.text.contains("iban"), "\(cards.proposal.text)")
        }
    }

    @Test("properties beside alternatives are those of every record, also if an alternative has them, too")
    func common() async throws {
        let mirror = try await mirror(
            [
                "Item": #"{"type":"object","required":["id","at"],"properties":{"id":{"type":"integer"},"#
                    + #""at":{"type":"string"}},"oneOf":[{"properties":{"at":{"type":"string"},"digits":{"type":"string"}}},"#
                    + #"{"properties":{"iban":{"type":"string"}}}]}"#
            ], #"[{"id":1,"at":"a","digits":"1234"},{"id":2,"at":"b","iban":"DE"}]"#)
        mirror.expectClean()
        let text = mirror.proposal.text
        #expect(text.contains("at: string\n") && text.contains("digits: string?"), "\(text)")
    }

    @Test("alternatives of an alternative are kinds of their own")
    func nestedKinds() async throws {
        let cash = #"{"type":"object","properties":{"method":{"type":"string"},"id":{"type":"integer"}}}"#
        let mapping = Self.mapping.replacing("}", with: ##","cash":"#/components/schemas/Cash"}"##)
        let item =
            #"{"oneOf":[{\#(Self.alternatives)},\#(Specification.reference("Cash"))],"#
            + #""discriminator":{"propertyName":"method","mapping":\#(mapping)}}"#
        func kind(_ name: String) -> String {
            Specification.object(#""id":{"type":"integer"},"method":{"type":"string"},"\#(name)":{"type":"string"}"#)
        }
        let mirror = try await mirror(
            ["Item": item, "Card": kind("digits"), "Bank": kind("iban"), "Cash": cash],
            #"[{"id":1,"method":"card","digits":"1"},{"id":2,"method":"bank","iban":"DE"},{"id":3,"method":"cash"}]"#)
        let text = mirror.proposal.text
        for expected in ["Card: { method: card }", "Bank: { method: bank }"] {
            #expect(text.contains(expected), "\(expected) in\n\(text)")
        }
        #expect(try mirror.count("Item") == 3, "\(text)")
    }

    @Test("schemas that name each other any number of times are read in a moment")
    func circles() async throws {
        let text = Specification.reference("Text"), item = Specification.reference("Item")
        let parts = (0..<40).map { _ in text }.joined(separator: ",")
        let kinds = (0..<8).map {
            #"{"allOf":[\#(item),{"type":"object","properties":{"p\#($0)":{"type":"string"}}}]}"#
        }
        let mirror = try await mirror(
            [
                "Text": #"{"allOf":[\#(parts),\#(Specification.reference("Other"))]}"#,
                "Other": #"{"allOf":[\#(parts),{"oneOf":[{"allOf":[\#(parts)]},{"type":"string"}]}]}"#,
                "Item": #"{"type":"object","required":["id"],"properties":{"id":{"type":"integer"},"name":\#(text)},"#
                    + #""oneOf":[\#(kinds.joined(separator: ","))]}"#,
            ], #"[{"id":1,"name":"a","p0":"b"}]"#)
        mirror.expectClean()
        for expected in ["key: id\n", "name: string", "p7: string?"] {
            #expect(mirror.proposal.text.contains(expected), "\(expected) in\n\(mirror.proposal.text)")
        }
        #expect(!mirror.proposal.text.contains("values: those behind"), "\(mirror.proposal.text)")
    }

    @Test("a discriminator that no schema declares is an attribute, and several of its values have one schema")
    func undeclared() async throws {
        let item =
            #"{"oneOf":[{"type":"object","properties":{"id":{"type":"integer"},"radius":{"type":"integer"}}},"#
            + #"\#(Specification.reference("Box"))],"discriminator":{"propertyName":"form","mapping":"#
            + ##"{"box":"#/components/schemas/Box","cube":"#/components/schemas/Box"}}}"##
        let mirror = try await mirror(
            [
                "Item": item,
                "Box": Specification.object(#""id":{"type":"integer"},"side":{"type":"integer"}"#),
            ], #"[{"id":1,"form":"box","side":1},{"id":2,"form":"cube","side":2},{"id":3,"form":"kind1","radius":3}]"#)
        mirror.expectClean()
        let text = mirror.proposal.text
        for expected in ["Box: { form: box }", "Cube: { form: cube }", "form: string", "side: int"] {
            #expect(text.contains(expected), "\(expected) in\n\(text)")
        }
        #expect(try mirror.count("Item") == 3)
    }

    @Test("properties beside a reference are those of the record, and a nullable reference is optional")
    func siblings() async throws {
        let mirror = try await mirror(
            [
                "Base": Self.schemas["Base"] ?? "", "Name": #"{"type":"string"}"#,
                "Item": ##"{"$ref":"#/components/schemas/Base","required":["name","nick"],"properties":{"##
                    + ##""name":{"$ref":"#/components/schemas/Name"},"##
                    + ##""nick":{"$ref":"#/components/schemas/Name","nullable":true}}}"##,
            ], #"[{"id":1,"at":"2025-01-01T00:00:00Z","name":"a","nick":null}]"#)
        mirror.expectClean()
        for expected in ["key: id\n", "name: string\n", "nick: string?"] {
            #expect(mirror.proposal.text.contains(expected), "\(expected) in\n\(mirror.proposal.text)")
        }
    }

    @Test("allOf around a text and a description is the text, and around a list the list")
    func plain() async throws {
        let state = ##"{"allOf":[{"$ref":"#/components/schemas/State"},{"description":"x"}]}"##
        let server = try ScriptedServer { _ in .init(body: #"[{"id":1,"state":"open"}]"#) }
        let proposal = try await Specification(
            paths: [
                (
                    "/items",
                    Specification.get(##"{"allOf":[{"$ref":"#/components/schemas/Items"},{"description":"x"}]}"##)
                )
            ],
            schemas: [
                "State": #"{"type":"string","enum":["open","closed"]}"#, "Items": Specification.list("Item"),
                "Item": Specification.object(#""id":{"type":"integer"},"state":\#(state)"#),
            ], server: server.base
        ).proposal()
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(proposal.text.contains("values: [open, closed]"), "\(proposal.text)")
        #expect(try mirror.count("Item") == 1)
    }

    @Test(
        "an alternative of null makes the others optional, and no format or value of one is that of all",
        arguments: [
            (##"{"oneOf":[{"$ref":"#/components/schemas/State"},{"$ref":"#/components/schemas/Null"}]}"##, "null"),
            (#"{"oneOf":[{"type":"string","enum":["a"]},{"enum":[""]},{"enum":[null]}]}"#, #""""#),
            (#"{"anyOf":[{"type":"string","const":"a"},{"const":null}]}"#, "null"),
            (#"{"anyOf":[{"type":"string","format":"date-time"},{"type":"string"},{"type":"null"}]}"#, #""soon""#),
            (#"{"anyOf":[{"type":"string"},{"type":"string","format":"uuid"},{"type":"null"}]}"#, #""x""#),
            (#"{"type":"string","anyOf":[{"format":"email"},{"pattern":"x"}]}"#, #""x""#),
            (
                ##"{"anyOf":[{"type":"array","items":{"$ref":"#/components/schemas/Item"}},{"$ref":"#/components/schemas/Item"}]}"##,
                "[]"
            ),
        ])
    func nulls(schema: String, value: String) async throws {
        let mirror = try await mirror(
            [
                "State": #"{"type":"string","enum":["a","b"]}"#, "Null": #"{"type":["null"]}"#,
                "Item": #"{"type":"object","required":["id","state"],"properties":{"id":{"type":"integer"},"#
                    + #""state":\#(schema)}}"#,
            ], #"[{"id":1,"state":\#(value)}]"#)
        mirror.expectClean()
        #expect(try mirror.count("Item") == 1, "\(mirror.proposal.text)")
    }

    @Test("values of an enum without quotes in YAML are texts of a declared string")
    func unquoted() async throws {
        let server = try ScriptedServer { _ in
            .init(body: #"[{"id":1,"version":"1.0","mode":"true"},{"id":2,"version":"latest","mode":"auto"}]"#)
        }
        let text = """
            openapi: 3.0.3
            info: { title: x, version: '1' }
            servers: [{ url: '\(server.base)' }]
            paths:
              /items:
                get:
                  responses:
                    '200':
                      description: ok
                      content: { application/json: { schema: { type: array, items: { $ref: '#/components/schemas/Item' } } } }
            components:
              schemas:
                Item:
                  type: object
                  required: [id, version, mode]
                  properties:
                    id: { type: integer }
                    version: { type: string, enum: [1.0, latest] }
                    mode: { type: string, enum: [true, false, auto] }
            """
        let document = try OpenAPIDocument(Array(text.utf8), name: "spec")
        let mirror = try await ProposedMirror(CurlTransport(), try Proposal([], specification: document))
        mirror.expectClean()
        #expect(mirror.proposal.text.contains("type: enum"), "\(mirror.proposal.text)")
    }

    @Test("a property whose schema is write-only by reference is not in the records")
    func writeOnly() async throws {
        let secret = Specification.reference("Secret")
        let mirror = try await mirror(
            [
                "Secret": #"{"type":"string","writeOnly":true}"#,
                "Item": #"{"type":"object","required":["id","password","pin"],"properties":{"id":{"type":"integer"},"#
                    + #""password":\#(secret),"pin":{"allOf":[\#(secret)]}}}"#,
            ], #"[{"id":1}]"#)
        mirror.expectClean()
        #expect(!mirror.proposal.text.contains("password:"), "\(mirror.proposal.text)")
    }
}
