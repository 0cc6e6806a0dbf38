// Overlays: a second file that replaces the sources of values in a description.

import Foundation
import TarnDescription
import TarnImport
import Testing

@testable import Tarn

@Suite("Description: overlays")
struct OverlayTests {
    private static let base = """
        api: { base: 'https://a.example', naming: snake_case, nulls: ignore }
        entities:
          Thing:
            key: id
            ignore: [a]
            attributes:
              id: int
              title: string
              size: { type: int?, from: [size, length], epoch: seconds }
              state: { type: enum?, values: [open, closed], from: status }
            relationships:
              owner: User
              tags: { to: [User], from: labels }
          User: { key: id, attributes: { id: int } }
        endpoints: { things: { path: /things, entity: Thing } }
        """.replacing(", epoch: seconds", with: "")

    private static func description() throws -> Description { try Description.parse(base, file: "dir/base.yaml") }

    @Test("keys take the place of the description's, one without a value removes it, and what is not named stays")
    func merging() throws {
        let description = try Self.description()
        let laid = try description.applying(
            overlay: """
                api: { naming: camelCase, nulls: ~ }
                entities:
                  Thing:
                    ignore: [b, c]
                    version: size
                    attributes:
                      title: { from: [name, title] }
                      size: { value: 7 }
                      state: { from: ~, fallback: open }
                    relationships:
                      owner: { from: '@parent' }
                      tags: { to_many: append }
                """, file: "o.yaml")
        #expect(laid.mapping.naming.style == .camelCase && laid.mapping.rules == FieldRules())
        let thing = try #require(laid.mapping.entities["Thing"])
        #expect(
            thing.paths == [
                "title": ["name", "title"], "size": [.constant(.number("7"))], "owner": ["@parent"], "tags": ["labels"],
            ])
        #expect(thing.ignored == ["b", "c"] && thing.version == "size")
        var rules = FieldRules()
        rules.fallback = "open"
        #expect(thing.fields == ["state": rules, "tags": FieldRules(toMany: .append)])
        #expect(
            laid.schema == description.schema && laid.endpoints == description.endpoints
                && laid.storePath == description.storePath)
        #expect(laid.fingerprint != description.fingerprint)
        #expect(laid.mapping.entities["User"] == description.mapping.entities["User"])
        #expect(try description.applying(overlay: "{}", file: "o.yaml").fingerprint == description.fingerprint)
    }

    @Test("overlays are laid one over the other, and keep what code changed and registered")
    func several() throws {
        var description = try Description.parse(
            Self.base.replacing("title: string", with: "title: { type: string, transform: shout }"), file: "b.yaml",
            transformers: [ValueTransformer("shout", decode: { $0 })])
        description.storePath = "/elsewhere"
        let laid =
            try description
            .applying(overlay: "entities: { Thing: { attributes: { title: { from: a } } } }", file: "1.yaml")
            .applying(overlay: "entities: { Thing: { attributes: { size: { from: b } } } }", file: "2.yaml")
        #expect(laid.storePath == "/elsewhere")
        #expect(
            laid.mapping.entities["Thing"]?.paths["title"] == ["a"]
                && laid.mapping.entities["Thing"]?.paths["size"] == ["b"])
        #expect(laid.mapping.transformers.map(\.name) == ["shout"])
    }

    @Test(
        "an error in an overlay names its file, line and column; one that it makes in the description too",
        arguments: [
            (
                "entities: { Thing: { attributes: { title: { from: 'a[' } } } }",
                "o.yaml:1:51: entities.Thing.attributes.title.from: \"a[\" is not a key path"
            ),
            (
                "entities:\n  Thing:\n    attributes: { titel: { from: a } }",
                "o.yaml:3:19: entities.Thing.attributes.titel: unknown attribute \"titel\": did you mean \"title\"?; an overlay cannot add one"
            ),
            ("entities: { Thin: {} }", "o.yaml:1:13: entities.Thin: unknown entity \"Thin\": did you mean \"Thing\"?"),
            (
                "entities: { Thing: { attributes: { title: { type: int } } } }",
                "o.yaml:1:45: entities.Thing.attributes.title.type: an overlay can only change where values come from"
            ),
            (
                "entities: { Thing: { attributes: { title: name } } }",
                "o.yaml:1:43: entities.Thing.attributes.title: expected a mapping"
            ),
            (
                "entities: { Thing: { key: other } }",
                "o.yaml:1:22: entities.Thing.key: an overlay can only change where values come from"
            ),
            (
                "entities: { Thing: { relationships: { owner: { form: a } } } }",
                "o.yaml:1:48: entities.Thing.relationships.owner.form: unknown key \"form\": did you mean \"from\"?"
            ),
            ("endpoints: {}", "o.yaml:1:1: endpoints: an overlay can only change where values come from"),
            (
                "api: { base: 'https://b.example' }",
                "o.yaml:1:8: api.base: an overlay can only change where values come from"
            ),
            (
                "entities: { Thing: { version: nothing } }",
                "o.yaml:1:31: entities.Thing.version: unknown attribute \"nothing\""
            ),
            ("a: [", "o.yaml:"), ("- a", "o.yaml:1:1: expected a mapping"),
        ])
    func problems(_ overlay: String, _ expected: String) throws {
        let error = try #require(throws: DescriptionError.self) {
            try Self.description().applying(overlay: overlay, file: "o.yaml")
        }
        #expect(error.problems.count == 1 && error.description.hasPrefix(expected), "\(error)")
    }

    @Test(
        "an overlay is read from a file; one that is not there, or a description that was not read, is an error that says so"
    )
    func files() throws {
        let path = FileManager.default.temporaryDirectory.path + "/tarn-overlay-\(UUID().uuidString).yaml"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let description = try Self.description()
        #expect(throws: DescriptionError.self) { try description.applying(overlay: path) }
        try "entities: { Thing: { attributes: { title: { from: name } } } }".write(
            toFile: path, atomically: true, encoding: .utf8)
        #expect(try description.applying(overlay: path).mapping.entities["Thing"]?.paths["title"] == ["name"])
        let made = Description(
            file: "x", storePath: "", api: description.api, schema: description.schema, mapping: description.mapping,
            endpoints: [])
        let error = try #require(throws: DescriptionError.self) { try made.applying(overlay: path) }
        #expect(error.description.contains("read from a file"))
    }
}
