// Sources of values, and names, in a description.

import TarnDescription
import TarnImport
import Testing

@testable import Tarn

@Suite("Description: sources of values")
struct DescriptionSourcesTests {
    private func sources(_ attribute: String) throws -> [ValueSource]? {
        try Description.parse(thingDescription("", "", attribute), file: "f.yaml").mapping.entities["Thing"]?.paths["v"]
    }

    @Test(
        "from takes paths with indexes, wildcards and origins, and texts with paths in them; value is a constant of the type"
    )
    func sources() throws {
        #expect(
            try sources("{ type: string, from: ['photos[0].url', '@parent.a', '{owner.login}/{name}'] }") == [
                "photos[0].url", "@parent.a", "{owner.login}/{name}",
            ])
        #expect(try sources("{ type: '[int]', from: 'groups.*.items' }") == ["groups.*.items"])
        #expect(try sources("{ type: string, from: '@type' }") == [.path(JSONPath(keys: ["@type"]))])
        for (attribute, value) in [
            ("{ type: string, value: github }", JSONValue.string("github")),
            ("{ type: string, value: 7 }", .string("7")),
            ("{ type: int, value: 7 }", .number("7")), ("{ type: bool, value: true }", .bool(true)),
            ("{ type: int?, value: ~ }", .null),
            ("{ type: [int], value: [1, 2] }", .array([.number("1"), .number("2")])),
            (
                "{ type: json, value: { a: [1, x, 'true', ~] } }",
                .object([.init("a", .array([.number("1"), .string("x"), .string("true"), .null]))])
            ),
            ("{ type: date, value: 2026-01-01T00:00:00Z }", .string("2026-01-01T00:00:00Z")),
        ] {
            #expect(try sources(attribute) == [.constant(value)], "\(attribute)")
        }
        let relations = try Description.parse(
            thingDescription(
                "",
                "relationships: { a: { to: Thing, value: 7 }, b: { to: [Thing], value: [1, x] }, c: { to: Thing, from: '@parent' } }",
                "int"),
            file: "f.yaml"
        ).mapping.entities["Thing"]?.paths
        #expect(
            relations == [
                "a": [.constant(.string("7"))], "b": [.constant(.array([.string("1"), .string("x")]))],
                "c": ["@parent"],
            ])
    }

    @Test("absent takes a value, and names have a style for the API, an entity and an attribute")
    func absentAndNaming() throws {
        let mapping = try Description.parse(
            thingDescription(
                "naming: { style: kebab-case, words: { id: identifier, url: URL } }", "naming: PascalCase",
                "{ type: int, absent: { value: 0 }, naming: none }"),
            file: "f.yaml"
        ).mapping
        #expect(mapping.naming == NamingConvention(.kebabCase, words: ["id": "identifier", "url": "URL"]))
        #expect(mapping.entities["Thing"]?.rules.naming == .pascalCase)
        var rules = FieldRules(absentValue: .number("0"))
        rules.naming = NamingStyle.none
        #expect(mapping.entities["Thing"]?.fields["v"] == rules)
        func naming(_ api: String) throws -> NamingConvention {
            try Description.parse(thingDescription(api, "", "int"), file: "f.yaml").mapping.naming
        }
        #expect(try naming("naming: camelCase") == NamingConvention(.camelCase))
        #expect(try naming("naming: { words: { id: key } }") == NamingConvention(words: ["id": "key"]))
        #expect(
            try naming("naming: { style: fashion, words: vocabulary }")
                == NamingConvention(words: ["style": "fashion", "words": "vocabulary"]))
    }

    @Test("the fingerprint changes with every source, so that answers of before are asked for anew")
    func fingerprints() throws {
        func fingerprint(_ api: String, _ entity: String, _ attribute: String) throws -> String {
            try Description.parse(thingDescription(api, entity, attribute), file: "f.yaml").fingerprint
        }
        var seen: Set = [try fingerprint("", "", "string")]
        for (api, entity, attribute) in [
            ("naming: camelCase", "", "string"), ("", "naming: camelCase", "string"),
            ("", "", "{ type: string, naming: camelCase }"),
            ("", "", "{ type: string, from: a }"), ("", "", "{ type: string, from: 'a[0]' }"),
            ("", "", "{ type: string, from: 'a[1]' }"),
            ("", "", "{ type: string, from: 'a.*' }"), ("", "", #"{ type: string, from: 'a.\*' }"#),
            ("", "", "{ type: string, from: '@root.a' }"),
            ("", "", "{ type: string, from: '{a}' }"), ("", "", "{ type: string, value: a }"),
            ("", "", "{ type: string, value: b }"),
            ("", "", "{ type: string, absent: { value: a } }"), ("", "", "{ type: string, absent: clear }"),
        ] {
            #expect(seen.insert(try fingerprint(api, entity, attribute)).inserted, "\(api) \(entity) \(attribute)")
        }
    }

    @Test(
        "what is wrong about sources is reported at its line with the way out",
        arguments: [
            ("", "", "{ type: int, from: 'a[x]' }", 10, "\"a[x]\" is not a key path"),
            ("", "", "{ type: int, from: '{a' }", 10, "is not a text with key paths"),
            ("", "", "{ type: int, from: '@parents.id' }", 10, "did you mean \"@parent\"?"),
            ("", "", "{ type: int, from: a, value: 1 }", 10, "from and value exclude each other"),
            ("", "", "{ type: int, value: x }", 10, "\"x\" is not a valid int"),
            ("", "", "{ type: [int], value: 1 }", 10, "expected a list"),
            ("", "", "{ type: int, absent: { value: 1, valu: 1 } }", 10, "unknown key \"valu\""),
            ("", "", "{ type: int, absent: { value: x } }", 10, "\"x\" is not a valid int"),
            ("", "", "{ type: double, value: 1e400 }", 10, "\"1e400\" is not a valid double"),
            ("", "", "{ type: double, default: nan }", 10, "\"nan\" is not a valid double"),
            ("", "", "{ type: [double], default: [1, -inf] }", 10, "\"-inf\" is not a valid double"),
            ("", "absent: { value: 1 }", "int", 7, "expected a single value, found a mapping"),
            (
                "", "", "{ type: int, naming: snake }", 10,
                "unknown naming style \"snake\": did you mean \"snake_case\"?"
            ),
            ("naming: { style: kebab-case, word: {} }", "", "int", 3, "unknown key \"word\""),
            ("naming: { id: myId }", "", "int", 3, "\"myId\" is not a single word"),
            ("", "ignore: ['@root.a']", "int", 7, "@root is not allowed here"),
            ("", "deleted: '@parent.a'", "int", 7, "@parent is not allowed here"),
            ("", "relationships: { r: { to: [Thing], from: '@parent' } }", "int", 7, "@parent is one record"),
            (
                "", "relationships: { r: { to: Thing, value: [1] } }", "int", 7,
                "a constant of a relationship must be a key"
            ),
            ("", "relationships: { r: { to: [Thing], value: 1 } }", "int", 7, "must be a list of keys"),
            (
                "", "relationships: { r: { to: [Thing], from: '@position' } }", "int", 7,
                "is a single value, but a list is required"
            ),
        ])
    func problems(_ api: String, _ entity: String, _ attribute: String, _ line: Int, _ expected: String) throws {
        let error = try #require(throws: DescriptionError.self) {
            try Description.parse(thingDescription(api, entity, attribute), file: "f.yaml")
        }
        #expect(error.problems.count == 1 && error.problems[0].message.contains(expected), "\(error)")
        #expect(error.problems[0].line == line, "\(error)")
    }
}
