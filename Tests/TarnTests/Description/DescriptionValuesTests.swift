// Rules for values in a description.

import Foundation
import TarnDescription
import TarnImport
import Testing

@testable import Tarn

@Suite("Description: values")
struct DescriptionValuesTests {
    @Test("coercion and formats of dates may be said by the API, an entity and an attribute")
    func rules() throws {
        let text = thingDescription(
            "coercion: strict\n  dates: [http, day]", "coercion: lenient\n    dates: iso8601",
            "{ type: date, format: [milliseconds, 'dd/MM/yyyy'], coercion: strict }")
        let mapping = try Description.parse(text, file: "f.yaml").mapping
        #expect(mapping.rules == FieldRules(coercion: .strict, dates: [.http, .day]))
        let thing = try #require(mapping.entities["Thing"])
        #expect(thing.rules == FieldRules(coercion: .lenient, dates: [.iso8601]))
        #expect(
            thing.fields == [
                "v": FieldRules(
                    coercion: .strict, dates: [.epoch(.milliseconds), .pattern(try DatePattern("dd/MM/yyyy"))])
            ])
        let plain = try Description.parse(thingDescription("", "", "date"), file: "f.yaml").mapping
        #expect(plain.rules == FieldRules() && plain.entities["Thing"]?.fields == [:])
    }

    @Test("rules of merging may be said by the API, an entity, an attribute and a relationship")
    func merging() throws {
        let text = """
            api: { base: 'https://a.example', nulls: ignore, to_many: append, duplicates: first_wins }
            entities:
              Thing:
                key: id
                nulls: clear
                absent: clear
                duplicates: last_wins
                version: revision
                deleted: { 'state.name': gone }
                attributes: { id: int, revision: int, v: { type: int?, nulls: ignore, absent: keep } }
                relationships:
                  others: { to: [Thing], to_many: prepend }
                  next: { to: Thing, nulls: ignore }
              Other: { key: id, attributes: { id: int }, deleted: deleted_at }
            """
        let mapping = try Description.parse(text, file: "f.yaml").mapping
        #expect(mapping.rules == FieldRules(nulls: .ignore, toMany: .append) && mapping.duplicates == .firstWins)
        let thing = try #require(mapping.entities["Thing"])
        var clearing = FieldRules(nulls: .clear), keeping = FieldRules(nulls: .ignore)
        clearing.absent = .clear
        keeping.absent = .keep
        #expect(thing.rules == clearing && thing.duplicates == .lastWins)
        #expect(thing.version == "revision" && thing.tombstone == TombstoneRule(path: "state.name", equals: "gone"))
        #expect(
            thing.fields == [
                "v": keeping, "others": FieldRules(toMany: .prepend),
                "next": FieldRules(nulls: .ignore),
            ])
        #expect(mapping.entities["Other"]?.tombstone == TombstoneRule(path: "deleted_at"))
    }

    @Test(
        "fallbacks, transformers and what keeps the rest may be said; transformers of code are named as the built-in ones are"
    )
    func transformers() throws {
        let text = """
            api: { base: 'https://a.example' }
            entities:
              Thing:
                key: id
                rest: extra
                attributes:
                  id: int
                  extra: json?
                  v: { type: enum, values: [a, b], fallback: b }
                  w: { type: string, transform: [trim, shout] }
            """
        let shout = ValueTransformer("shout", decode: { $0 })
        let mapping = try Description.parse(text, file: "f.yaml", transformers: [shout]).mapping
        let thing = try #require(mapping.entities["Thing"])
        #expect(thing.rest == "extra" && mapping.transformers == [shout])
        var rules = FieldRules()
        rules.fallback = "b"
        #expect(thing.fields == ["v": rules, "w": FieldRules(transformers: ["trim", "shout"])])
        let error = try #require(throws: DescriptionError.self) { try Description.parse(text, file: "f.yaml") }
        #expect(
            error.problems.count == 1 && error.problems[0].message.hasPrefix("unknown transformer \"shout\""),
            "\(error)")
        #expect(error.problems[0].line == 10)
    }

    @Test("the fingerprint of a description changes with every rule, so that answers of before are asked for anew")
    func fingerprints() throws {
        func mirror(_ api: String, _ entity: String, _ attribute: String) throws -> String {
            try Description.parse(thingDescription(api, entity, attribute), file: "f.yaml").fingerprint
        }
        let plain = try mirror("", "", "date")
        var seen: Set = [plain]
        for (api, entity, attribute) in [
            ("coercion: strict", "", "date"), ("dates: day", "", "date"), ("nulls: ignore", "", "date"),
            ("absent: clear", "", "date"),
            ("to_many: append", "", "date"), ("duplicates: first_wins", "", "date"), ("", "coercion: strict", "date"),
            ("", "dates: day", "date"), ("", "duplicates: first_wins", "date"), ("", "version: v", "date"),
            ("", "deleted: gone", "date"), ("", "deleted: { gone: yes }", "date"),
            ("", "", "{ type: date, format: day }"),
            ("", "", "{ type: date, nulls: ignore }"), ("", "", "{ type: date, transform: trim }"),
            ("", "", "{ type: enum, values: [a] }"), ("", "", "{ type: enum, values: [a, b] }"),
            ("", "", "{ type: '[enum]', values: [a] }"), ("", "", "{ type: '[enum]', values: [a, b] }"),
        ] {
            #expect(seen.insert(try mirror(api, entity, attribute)).inserted, "\(api) \(entity) \(attribute)")
        }
        #expect(try mirror("", "", "{ type: date }") == plain)
    }

    @Test(
        "what is wrong about values is reported at its line with the way out",
        arguments: [
            ("coercion: strickt", "", "date", "unknown coercion \"strickt\": did you mean \"strict\"?"),
            ("dates: []", "", "date", "missing format"),
            ("", "dates: yyyy-MM", "date", "missing day (d)"),
            ("", "", "{ type: date, format: rfc339 }", "the named formats are rfc3339, iso8601"),
            ("", "", "{ type: int, format: day }", "only a date can have a format"),
            ("", "", "{ type: date, format: day, epoch: seconds }", "write its unit as format"),
            ("", "", "{ type: int, coercion: Strict }", "unknown coercion \"Strict\""),
            ("", "", "{ type: enum, values: [a], fallback: c }", "unknown value \"c\""),
            ("", "", "{ type: int, fallback: c }", "only an enum can have a fallback"),
            ("", "rest: extra", "int", "there is no such attribute extra"),
            ("", "rest: v", "int", "no such attribute v"),
            ("", "", "{ type: int, transform: [] }", "missing transformer"),
            ("nulls: keep", "", "int", "unknown rule for nulls \"keep\""),
            ("", "duplicates: first", "int", "unknown rule for duplicates \"first\""),
            ("", "version: w", "int", "unknown attribute \"w\""),
            ("", "version: v", "bool", "a version must be a number, a date or a text"),
            ("", "deleted: { a: 1, b: 2 }", "int", "expected one key path and its value"),
            ("", "deleted: $", "int", "$ is the whole record"),
            ("", "deleted: items.*.gone", "int", "items.*.gone is not a single value of the record"),
            ("", "deleted: { items.*.state: gone }", "int", "without *"),
            ("", "relationships: { r: { to: Thing, to_many: append } }", "int", "to_many is for to-many relationships"),
        ])
    func problems(_ api: String, _ entity: String, _ attribute: String, _ expected: String) throws {
        let text = thingDescription(api, entity, attribute)
        let error = try #require(throws: DescriptionError.self) { try Description.parse(text, file: "f.yaml") }
        #expect(error.problems.count == 1 && error.problems[0].message.contains(expected), "\(error)")
        #expect(error.problems[0].line.map { $0 > 2 } == true)
    }
}
