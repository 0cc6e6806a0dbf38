// The mapper of BMO's RESTUtils: names, transformers, kinds of entities.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Suite("From BMO: REST mapper", .timeLimit(.minutes(2)))
struct BMOMapperTests {
    enum Visibility: String, AttributeValue, CaseIterable { case open, closed, unknown }

    @Record struct Sample: Equatable {
        @Key var id: Int
        @Attribute(from: "a.b") var nested: String?
        @Attribute(from: "first", "second") var either: String?
        @Attribute(from: .constant(.string("gallery"))) var network: String?
        @Attribute(from: "{given} {family}") var name: String?
    }

    @Record struct Values: Equatable {
        @Key var id: Int
        @Attribute(rules: FieldRules(transformers: ["bool"])) var flag: Bool?
        @Attribute(rules: FieldRules(transformers: ["hex"])) var mask: Int?
        @Attribute(rules: FieldRules(transformers: ["number"])) var count: Int?
        var ratio: Double?
        @Attribute(rules: FieldRules(dates: [.epoch(.seconds), .day, .iso8601])) var at: Date?
        var link: URL?
        var token: UUID?
        var data: Data?
        @Attribute(rules: visibility) var visibility: Visibility?
        @Attribute(rules: FieldRules(transformers: ["rgb"])) var color: [Double]?

        static var visibility: FieldRules {
            var rules = FieldRules(transformers: ["lowercased"])
            rules.fallback = "unknown"
            return rules
        }
    }

    private static let transformers = [
        ValueTransformer("bool") { value in
            switch value {
            case .bool, .number("0"), .number("1"): value
            case .string(let text):
                switch text.trimmingCharacters(in: .whitespacesAndNewlines).lowercased() {
                case "true", "t", "yes", "y", "ok": .bool(true)
                case "false", "f", "no", "n", "ko": .bool(false)
                default: nil
                }
            default: nil
            }
        },
        ValueTransformer("hex") { value in
            guard case .string(let text) = value, let number = Int(text, radix: 16) else { return nil }
            return .number(String(number))
        },
        ValueTransformer("rgb") { value in
            guard case .string(let text) = value else { return nil }
            let digits = text.hasPrefix("#") ? text.dropFirst() : text[...]
            guard digits.count == 6, let number = UInt32(digits, radix: 16) else { return nil }
            return .array([16, 8, 0].map { .number(String(Double((number >> $0) & 0xFF) / 255)) })
        },
    ]

    private func sample(_ json: String) throws -> Sample? {
        let samples = try ImportFixture(Sample.self)
        try samples.add(json, "Sample")
        return try samples.get(Sample.self, 1)
    }

    private func values(_ documents: String...) throws -> (Values?, [Diagnostic]) {
        let fixture = try ImportFixture(Values.self, transformers: Self.transformers)
        var diagnostics: [Diagnostic] = []
        for json in documents { diagnostics += try fixture.add(json, "Values").diagnostics }
        return (try fixture.get(Values.self, 1), diagnostics)
    }

    @Test("BMO .restName(\"a.b\"), .restPath([…]) → @Attribute(from:): a key path, or several in their order")
    func restNames() throws {
        let found = try sample(#"{"id": 1, "a": {"b": "x"}, "second": "y"}"#)
        #expect(found?.nested == "x" && found?.either == "y")
    }

    @Test("BMO .localConstant(_:) → ValueSource.constant(_:): a value of every record, whatever the JSON has")
    func constants() throws {
        #expect(try sample(#"{"id": 1, "network": "other"}"#)?.network == "gallery")
    }

    @Test(
        "BMO .restToLocalTransformer without a path (the whole object) → @Attribute(from:) with a template: a text that is composed of several values"
    )
    func wholeObject() throws {
        #expect(try sample(#"{"id": 1, "given": "Ada", "family": "L."}"#)?.name == "Ada L.")
        #expect(try sample(#"{"id": 1, "given": "Ada"}"#)?.name == nil)
    }

    @Test(
        "BMO .restToLocalMapping(.objectToObjectHandlerMapping) → ImportHooks.beforeDraft: code that changes the JSON of a record"
    )
    func handlers() throws {
        var samples = try ImportFixture(Sample.self)
        samples.hooks.beforeDraft = { _, json in
            if case .array(let parts)? = json["path"] {
                json["first"] = .string(parts.map(\.text).joined(separator: "/"))
            }
            return true
        }
        try samples.add(#"{"id": 1, "path": [1, 2]}"#, "Sample")
        #expect(try samples.get(Sample.self, 1)?.either == "1/2")
    }

    // A missing element skipped the whole property.
    @Test("BMO key path through an array → JSONPath with *: the values of all elements that have one")
    func arrays() throws {
        let tags = try ImportFixture(
            entities: "Photo:\n  key: id\n  attributes: { id: int, names: { type: '[string]?', from: 'tags.*.name' } }")
        try tags.add(#"{"id": 1, "tags": [{"name": "a"}, {}, {"name": "b"}]}"#, "Photo")
        #expect(try tags.record("Photo", 1)?["names"] == .array([.string("a"), .string("b")]))
    }

    // A value of another class was skipped, and only a log told it.
    @Test(
        "BMO value of a wrong class → Diagnostic.Code.valueType: reported with its path, and the stored value is kept")
    func wrongClass() throws {
        let (found, diagnostics) = try values(#"{"id": 1, "ratio": 1.5}"#, #"{"id": 1, "ratio": {"x": 1}}"#)
        #expect(found?.ratio == 1.5 && diagnostics.map(\.path) == ["$.ratio"])
    }

    @Test("BMO .isMandatory(true) → a property that is not optional: a listed record without it is reported")
    func mandatory() throws {
        let me = try ImportFixture(BMOImportTests.Me.self)
        #expect(try me.add("{}", "Me").diagnostics.map(\.code) == [.valueAbsent])
    }

    @Test("BMO RESTBoolTransformer(trimmedChars:) → ValueTransformer: the words of an API for true and false, in code")
    func booleans() throws {
        for (json, expected) in [("true", true), ("1", true), (#"" YES ""#, true), (#""ko""#, false), ("0", false)] {
            #expect(try values(#"{"id": 1, "flag": \#(json)}"#).0?.flag == expected)
        }
        for json in ["2", #""maybe""#] {
            let (found, diagnostics) = try values(#"{"id": 1, "flag": \#(json)}"#)
            #expect(found?.flag == nil && diagnostics.map(\.code) == [.valueType])
        }
    }

    @Test(
        "BMO RESTNumericTransformer(numericFormat:) → Int, Double, ExactDecimal and transformers: whole numbers, texts with separators, other bases; no fraction is rounded away"
    )
    func numbers() throws {
        let (found, _) = try values(#"{"id": 1, "mask": "ff", "count": "1,250", "ratio": "15.7"}"#)
        #expect(found?.mask == 255 && found?.count == 1250 && found?.ratio == 15.7)
        #expect(try values(#"{"id": 1, "count": 2.5}"#).1.map(\.field) == ["count"])
    }

    @Test(
        "BMO RESTDateAndTimeTransformer (formats in order) → FieldRules(dates:): a list of formats; fractions are kept"
    )
    func dates() throws {
        for (json, seconds) in [
            ("60", 60), (#""60.5""#, 60.5), (#""1970-01-02""#, 86_400), (#""1970-01-01T00:01:00.25Z""#, 60.25),
        ] {
            #expect(try values(#"{"id": 1, "at": \#(json)}"#).0?.at == Date(timeIntervalSince1970: seconds))
        }
        #expect(try values(#"{"id": 1, "at": "1970-02-30"}"#).1.map(\.code) == [.valueType])
    }

    @Test(
        "BMO RESTURLTransformer, RESTUUIDTransformer, RESTDataBase64Transformer → URL, UUID, Data: attributes of these types read their texts"
    )
    func texts() throws {
        let (found, _) = try values(
            #"{"id": 1, "link": "https://e.example/a?b", "token": "0B0E8F5C-6b0f-4a57-9c1e-0d8a3f1f2a3b", "data": "AQID"}"#
        )
        #expect(found?.link == URL(string: "https://e.example/a?b"))
        #expect(found?.token == UUID(uuidString: "0b0e8f5c-6b0f-4a57-9c1e-0d8a3f1f2a3b"))
        #expect(found?.data == Data([1, 2, 3]))
        #expect(try values(#"{"id": 1, "token": "x", "data": "?"}"#).1.count == 2)
    }

    // A text passed without a check, and the initializer was not public.
    @Test(
        "BMO RESTEnumTransformer(mapping:invalidValue:) → an enumeration that is an AttributeValue, with FieldRules.fallback: unknown texts become the fallback, and are reported"
    )
    func enumerations() throws {
        #expect(try values(#"{"id": 1, "visibility": "OPEN"}"#).0?.visibility == .open)
        let (found, diagnostics) = try values(#"{"id": 1, "visibility": "secret"}"#)
        #expect(found?.visibility == .unknown && diagnostics.map(\.code) == [.valueUnknown])
    }

    @Test(
        "BMO RESTColorTransformer → ValueTransformer: a colour as numbers; a text with something behind it is refused")
    func colors() throws {
        #expect(try values(##"{"id": 1, "color": "#ff0000"}"##).0?.color == [1, 0, 0])
        #expect(try values(##"{"id": 1, "color": "#ff0000 "}"##).1.map(\.field) == ["color"])
    }

    @Test(
        "BMO RESTEntityDescription .hasProperties, .doesNotHaveProperties, .matchesProperties, .complex, .noSpecificities, .abstract → EntityChoice: rules in their order; an abstract parent skips what none of them takes"
    )
    func entityDescriptions() throws {
        let media = try ImportFixture(
            entities: """
                Media:
                  key: id
                  attributes: { id: int }
                  kinds:
                    Video: { seconds: '*' }
                    Animation: { kind: gif, sound: ~ }
                    Still: { kind: [jpeg, 'png*'] }
                  otherwise: skip
                Video: { parent: Media, attributes: { seconds: int }, kinds: { Clip: { seconds: '< 60' } } }
                Clip: { parent: Video }
                Animation: { parent: Media }
                Still: { parent: Media }
                """)
        let report = try media.add(
            #"[{"id": 1, "seconds": 90}, {"id": 2, "seconds": 9}, {"id": 3, "kind": "gif"}, {"id": 4, "kind": "png8"}, {"id": 5}]"#,
            "Media")
        #expect(
            try (1...4).map { try media.record("Media", Int64($0))?.entity } == ["Video", "Clip", "Animation", "Still"])
        #expect(report.diagnostics.map(\.code) == [.entityUnknown] && report.skipped == 1)
        #expect(try media.record("Media", 5) == nil)
    }

    @Test(
        "BMO AdditionalRESTRequestInfo.forcedRESTPath, additionalRequestParameters, forcedPaginator → RecordRequest.get(_:_:pagination:): another path, parameters and pagination are another request"
    )
    func additionalInfo() async throws {
        let api = try APIFixture(
            ["/special?limit=2&sort=new&offset=0": Gallery.photos(1...2), "/special?limit=2&sort=new&offset=2": "[]"],
            Gallery.client)
        let request = RecordRequest<Gallery.Photo>.get(
            "/special", ["limit": "2", "sort": "new"], pagination: .offset(.query("offset")))
        #expect(try await api.client.all(request).count == 2)
        #expect(api.server.targets.first == "/special?limit=2&sort=new&offset=0")
    }

    @Test(
        "BMO .forcedParametersOnFetch → APIDescription.parameters, APIDescription.headers, static functions of RecordRequest: parameters and header fields of every request, or of one kind"
    )
    func forcedParameters() async throws {
        let api = try APIFixture(["/photos?v=2&format=json": "[]"]) { base, store in
            try RecordClient(
                base: base, records: Gallery.Photo.self, Gallery.User.self, Gallery.Tag.self, store: store
            ) { description in
                description.api.headers = [TransportHeaders.Field("X-Gallery", "7")]
                description.api.parameters = [Endpoint.Parameter("format", "json")]
            }
        }
        #expect(try await api.client.all(RecordRequest<Gallery.Photo>.get("/photos", ["v": "2"])).isEmpty)
        #expect(api.server.requests.first?.field("X-Gallery") == "7")
    }
}
