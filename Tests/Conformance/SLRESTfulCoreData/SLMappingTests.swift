// The attribute mappings, naming conventions and object converters of SLRESTfulCoreData.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Suite("From SLRESTfulCoreData: names and values")
struct SLMappingTests {
    @Record struct Entity: Equatable {
        @Key var identifier: Int
        var value: String?
        var someString: String?
        var attributeValueURL: String?
        var videoIdentifier: Int?
        @Attribute(from: "other_key") var mapped: String?
        @Attribute(from: "meta.key_path") var keyPathValue: String?
        @Transient var isShown = true

        static func configure(_ mapping: inout EntityMapping) { mapping.ignored = ["unwanted"] }
    }

    @Record struct Converted: Equatable {
        @Key var id: Int
        var text: String?
        var number: Double?
        @Attribute(rules: dates) var at: Date?
        var link: URL?
        @Attribute(rules: FieldRules(transformers: ["shout"])) var transformed: String?
        @Attribute(type: .json) var raw: [String: Int]?

        static var dates: FieldRules {
            FieldRules(coercion: .strict, dates: (try? [DateFormat("yyyy-MM-dd'T'HH:mm:ss'Z'")]) ?? [])
        }
    }

    private static let naming = NamingConvention(words: ["id": "identifier", "url": "URL"])

    private func entity(_ json: String) throws -> Entity? {
        let entities = try ImportFixture(Entity.self, naming: Self.naming)
        try entities.add(json, "Entity")
        return try entities.get(Entity.self, 5)
    }

    private func converted(_ documents: String...) throws -> (Converted?, [Diagnostic]) {
        let shout = ValueTransformer("shout") { value in
            if case .string(let text) = value { .string(text.uppercased()) } else { nil }
        }
        let fixture = try ImportFixture(Converted.self, transformers: [shout])
        var diagnostics: [Diagnostic] = []
        for json in documents { diagnostics += try fixture.add(json, "Converted").diagnostics }
        return (try fixture.get(Converted.self, 1), diagnostics)
    }

    @Test(
        "SLAttributeMapping that maps some_string to someString by default → NamingConvention: every property is read from its name in snake_case, or as it is written"
    )
    func defaultNames() throws {
        let found = try entity(#"{"id": 5, "value": "a", "some_string": "b"}"#)
        #expect(found?.value == "a" && found?.someString == "b")
        #expect(try entity(#"{"identifier": 5, "someString": "b"}"#)?.someString == "b")
    }

    @Test(
        "SLRESTfulCoreData +registerAttributeName:forJSONObjectKeyPath:, +registerAttributeMapping: → @Attribute(from:): another key, or a path"
    )
    func registeredNames() throws {
        let found = try entity(#"{"id": 5, "other_key": "x", "meta": {"key_path": "y"}}"#)
        #expect(found?.mapped == "x" && found?.keyPathValue == "y")
    }

    @Test(
        "SLRESTfulCoreData +unregisterAttributeName: → @Transient, EntityMapping.ignored: a property without a field, a JSON key that is known and not wanted"
    )
    func unregistered() throws {
        let entities = try ImportFixture(Entity.self, naming: Self.naming)
        let report = try entities.add(#"{"id": 5, "is_shown": false, "unwanted": 1}"#, "Entity")
        #expect(try entities.get(Entity.self, 5)?.isShown == true)
        #expect(report.unmapped.map(\.path) == ["is_shown"])
    }

    // `video_id` became `videoId`: the first "id" of the name was inside of a word.
    @Test(
        "SLRESTfulCoreData +registerObjcNamingConvention:forJSONNamingConvention: → NamingConvention(words:): whole words are replaced, at the beginning, in the middle and at the end"
    )
    func namingConventions() throws {
        let found = try entity(#"{"id": 5, "attribute_value_url": "u", "video_id": 7}"#)
        #expect(found?.attributeValueURL == "u" && found?.videoIdentifier == 7)
        for (json, name) in [
            ("id_value", "identifierValue"), ("foo_id_bar", "fooIdentifierBar"), ("foo_bar_id", "fooBarIdentifier"),
            ("paid_id", "paidIdentifier"), ("url", "url"), ("some_url_value", "someURLValue"), ("foo_urll", "fooUrll"),
            ("foo_lurl", "fooLurl"), ("id_of_id", "identifierOfIdentifier"),
        ] {
            #expect(Self.naming.schemaName(forJSONKey: json) == name)
            #expect(Self.naming.jsonKey(for: name) == json)
        }
    }

    // `identifiers` became `id_s`, and `purlName` became `p_url_name`.
    @Test(
        "SLAttributeMapping -convertManagedObjectAttributeToJSONObjectAttribute: → NamingConvention.jsonKey(for:): the name in JSON, also where a replaced word is a part of a longer one"
    )
    func otherDirection() {
        for (name, json) in [
            ("attributeValueURL", "attribute_value_url"), ("identifiers", "identifiers"), ("purlName", "purl_name"),
            ("oliverLetterer", "oliver_letterer"), ("GHAPIV3Repository", "ghapiv3_repository"),
        ] {
            #expect(Self.naming.jsonKey(for: name) == json)
        }
    }

    @Test(
        "SLRESTfulCoreData mappings of a class before those of all classes → FieldRules.naming and @Attribute(from:): the nearest declaration applies"
    )
    func precedence() throws {
        let entities = try ImportFixture(
            entities: """
                A: { key: id, naming: PascalCase, attributes: { id: int, createdAt: int?, eTag: { type: int?, naming: none }, own: { type: int?, from: mine } } }
                B: { key: id, attributes: { id: int, createdAt: int? } }
                """, api: "naming: kebab-case")
        try entities.add(#"{"Id": 1, "CreatedAt": 2, "eTag": 3, "mine": 4}"#, "A")
        try entities.add(#"{"id": 1, "created-at": 2}"#, "B")
        let a = try #require(try entities.record("A", 1))
        #expect(a["createdAt"] == .int(2) && a["eTag"] == .int(3) && a["own"] == .int(4))
        #expect(try entities.record("B", 1)?["createdAt"] == .int(2))
    }

    @Test(
        "SLRESTfulCoreData subclass that inherits mappings and converters → @Record(parent:): a kind has the sources and rules of its parent, and its own"
    )
    func inheritance() throws {
        let entities = try ImportFixture(
            entities: """
                Base: { key: id, attributes: { id: int, name: { type: string, from: title }, at: { type: date?, format: seconds } } }
                Sub: { parent: Base, attributes: { more: { type: string?, from: extra } } }
                """)
        try entities.add(#"{"id": 1, "title": "t", "at": 60, "extra": "e"}"#, "Sub")
        let sub = try #require(try entities.record("Base", 1))
        #expect(sub.entity == "Sub" && sub["name"] == .string("t") && sub["more"] == .string("e"))
        #expect(sub["at"] == .date(Timestamp(microseconds: 60_000_000)))
    }

    @Test("SLObjectConverter with a string, a number, a date → String, Double, Date: valid values of each type")
    func validValues() throws {
        let (found, diagnostics) = try converted(
            #"{"id": 1, "text": "a", "number": 5.5, "at": "1970-01-01T00:01:00Z"}"#)
        #expect(found?.text == "a" && found?.number == 5.5 && found?.at == Date(timeIntervalSince1970: 60))
        #expect(diagnostics.isEmpty)
    }

    // A value of a wrong type erased the stored one.
    @Test(
        "SLObjectConverter with an invalid string, number or date → Diagnostic.Code.valueType: reported, and the stored value is kept"
    )
    func invalidValues() throws {
        let (found, diagnostics) = try converted(
            #"{"id": 1, "text": "a", "number": 5.5, "at": "1970-01-01T00:01:00Z"}"#,
            #"{"id": 1, "text": [1], "number": "many", "at": "1970-01-01"}"#)
        #expect(found?.text == "a" && found?.number == 5.5 && found?.at == Date(timeIntervalSince1970: 60))
        #expect(Set(diagnostics.compactMap(\.field)) == ["text", "number", "at"])
    }

    @Test(
        "SLRESTfulCoreData +registerTimezone: and dateTimeFormat of SLObjectConverter → FieldRules(dates:): patterns, whose offset is read, or UTC"
    )
    func dateFormats() throws {
        let entities = try ImportFixture(
            entities: "At: { key: id, attributes: { id: int, at: { type: date?, format: 'yyyy-MM-dd HH:mm Z' } } }",
            api: "dates: [http]")
        try entities.add(#"[{"id": 1, "at": "1970-01-01 01:00 +0100"}]"#, "At")
        #expect(try entities.record("At", 1)?["at"] == .date(Timestamp(microseconds: 0)))
    }

    @Test(
        "SLRESTfulCoreData +registerValueTransformer:forManagedObjectAttributeName: → FieldRules(transformers:): a closure between the JSON and the attribute"
    )
    func transformers() throws {
        #expect(try converted(#"{"id": 1, "transformed": "hi"}"#).0?.transformed == "HI")
        #expect(try converted(#"{"id": 1, "transformed": 7}"#).1.map(\.field) == ["transformed"])
    }

    @Test(
        "SLNSURLValueTransformer, SLIdentityValueTransformer, JSON string transformer → URL, @Attribute(type: .json), and a transformer: read without code"
    )
    func builtInTransformers() throws {
        let (found, _) = try converted(#"{"id": 1, "link": "https://e.example", "raw": {"a": 1}}"#)
        #expect(found?.link == URL(string: "https://e.example") && found?.raw == ["a": 1])
        let entities = try ImportFixture(
            entities: "Box: { key: id, attributes: { id: int, content: { type: json?, transform: json } } }")
        try entities.add(#"{"id": 1, "content": "{\"a\":1}"}"#, "Box")
        #expect(try entities.record("Box", 1)?["content"] == .json(#"{"a":1}"#))
    }

    @Test(
        "SLRESTfulCoreData +registerSubclass:forManagedObjectAttributeName:withValue: → EntityChoice: the value of a member decides the entity; without a match it is the parent's"
    )
    func subclasses() throws {
        let entities = try ImportFixture(
            entities: """
                Shape: { key: id, attributes: { id: int, type: string? }, kinds: { Circle: { type: circle }, Square: { type: square } } }
                Circle: { parent: Shape, attributes: { radius: int? } }
                Square: { parent: Shape }
                Board: { key: id, attributes: { id: int }, relationships: { shapes: { to: [Shape], inverse: board } } }
                """)
        try entities.add(
            #"{"id": 1, "shapes": [{"id": 1, "type": "circle", "radius": 4}, {"id": 2, "type": "square"}, {"id": 3, "type": "?"}]}"#,
            "Board")
        #expect(try (1...3).map { try entities.record("Shape", Int64($0))?.entity } == ["Circle", "Square", "Shape"])
        #expect(try entities.related("Board", 1, "shapes") == ["1", "2", "3"])
    }
}
