// The options of MMRecord, its class methods to override, and the keys of its models.

import Foundation
import TarnDescription
import TarnMacros
import TestSupport
import Testing

@Suite("From MMRecord: options and hooks", .timeLimit(.minutes(2)))
struct MMRecordOptionTests {
    @Record struct Plan: Equatable {
        @Key @Attribute(from: "key") var id: String
        @Attribute(from: "details.title", "title") var name: String
        @Attribute(rules: FieldRules(dates: [.epoch(.seconds)])) var startsAt: Date?
    }

    @Record struct Item: Equatable {
        @Key var id: Int
        @Attribute(type: .json) var extra: [String: Int]?

        static func configure(_ mapping: inout EntityMapping) { mapping.rest = "extra" }
    }

    private static let plans = #"""
        {"plans": {"plan": [{"key": "P1", "details": {"title": "one"}, "starts_at": 60}, {"key": "P2", "title": "two"}]}}
        """#

    @Test(
        "MMRecord +keyPathForResponseObject → RecordRequest.get(records:): the records are at a key path, as a list or as one object"
    )
    func keyPath() async throws {
        let api = try APIFixture(["/plans": Self.plans, "/plans/P3": #"{"plan": {"key": "P3", "title": "three"}}"#]) {
            try RecordClient(base: $0, records: Plan.self, store: $1)
        }
        let plans = try await api.client.all(RecordRequest<Plan>.get("/plans", records: "plans.plan"))
        #expect(plans.map(\.id) == ["P1", "P2"])
        #expect(try await api.client.one(RecordRequest<Plan>.get("/plans/P3", records: "plan")).name == "three")
    }

    // An option that was set was used by the next request of any class.
    @Test(
        "MMRecordOptions.keyPathForResponseObject → RecordRequest.get(records:): a request is a value, and its options are those of no other request"
    )
    func options() async throws {
        let api = try APIFixture(["/plans": Self.plans, "/other": #"[{"key": "P9", "title": "nine"}]"#]) {
            try RecordClient(base: $0, records: Plan.self, store: $1)
        }
        let nested = RecordRequest<Plan>.get("/plans", records: "plans.plan"), plain = RecordRequest<Plan>.get("/other")
        let (a, b) = try await api.client.batch(nested, plain)
        #expect(a.count == 2 && b.map(\.id) == ["P9"])
        #expect(try await api.client.all(plain).count == 1)
    }

    @Test(
        "MMRecordEntityPrimaryAttributeKey → @Key: the entity's key, also under another name in the JSON"
    )
    func primaryKey() throws {
        let plans = try ImportFixture(Plan.self)
        for _ in 0..<2 { try plans.add(Self.plans, "Plan", records: "plans.plan") }
        #expect(try plans.fetch(Plan.all).map(\.id) == ["P1", "P2"])
    }

    @Record struct Envelope: Equatable {
        @Key @Attribute(from: "meta.id") var id: Int
        var owner: String?
    }

    @Test("MMRecordEntityPrimaryAttributeKey with a key path → @Key @Attribute(from:): a key inside of a nested object")
    func nestedKey() throws {
        let envelopes = try ImportFixture(Envelope.self)
        for owner in ["a", "b"] { try envelopes.add(#"{"meta": {"id": "7"}, "owner": "\#(owner)"}"#, "Envelope") }
        #expect(try envelopes.fetch(Envelope.all) == [Envelope(id: 7, owner: "b")])
    }

    // The name of the attribute won over its alternate, and nothing could change that.
    @Test(
        "MMRecordAttributeAlternateNameKey → @Attribute(from:): a key path, or several, in their order before the property's own name"
    )
    func alternateNames() throws {
        let plans = try ImportFixture(Plan.self)
        try plans.add(
            #"[{"key": "a", "title": "last", "details": {"title": "first"}, "name": "own"}, {"key": "b", "name": "own"}]"#,
            "Plan")
        #expect(try plans.fetch(Plan.all).map(\.name) == ["first", "own"])
    }

    @Test(
        "MMRecord -primaryKeyValue → TypedRecord.Key: the key is a typed value, and finds the record"
    )
    func keyValue() throws {
        let plans = try ImportFixture(Plan.self)
        try plans.add(Self.plans, "Plan", records: "plans.plan")
        let plan = try #require(try plans.get(Plan.self, "P2"))
        #expect(plan.id == "P2")
        #expect(try plans.get(Plan.self, "P7") == nil)
    }

    @Test("MMRecord +dateFormatter → @Attribute(rules: FieldRules(dates:)): each attribute may have formats of its own")
    func dates() throws {
        let plans = try ImportFixture(Plan.self)
        try plans.add(Self.plans, "Plan", records: "plans.plan")
        #expect(try plans.get(Plan.self, "P1")?.startsAt == Date(timeIntervalSince1970: 60))
    }

    @Test(
        "MMRecordOptions.entityPrimaryKeyInjectionBlock → ImportHooks.injectKey: the key is known before records are compared, so records with one injected key are one record"
    )
    func injectedKeys() throws {
        var plans = try ImportFixture(Plan.self)
        plans.hooks.injectKey = { _, json, _ in json["title"].map { ["id": $0] } ?? [:] }
        try plans.add(#"[{"title": "x"}, {"title": "y"}, {"title": "x", "starts_at": 5}]"#, "Plan")
        let stored = try plans.fetch(Plan.all)
        #expect(stored.map(\.id) == ["x", "y"] && stored[0].startsAt == Date(timeIntervalSince1970: 5))
    }

    @Test(
        "MMRecordOptions.entityPrimaryKeyInjectionBlock with the parent's prototype → ImportHooks.injectKey: the JSON of the enclosing record is its third argument"
    )
    func keysFromParents() throws {
        var orders = try ImportFixture(
            entities: """
                Order: { key: id, attributes: { id: int }, relationships: { lines: { to: [Line], ordered: true } } }
                Line: { key: id, attributes: { id: string, text: string } }
                """)
        orders.hooks.injectKey = { entity, json, parent in
            guard entity == "Line", let order = parent?["id"], case .string(let text)? = json["text"] else {
                return [:]
            }
            return ["id": .string("\(order.text)/\(text)")]
        }
        for _ in 0..<2 {
            try orders.add(#"{"id": 4, "lines": [{"text": "a"}, {"text": "b"}, {"text": "a"}]}"#, "Order")
        }
        #expect(try orders.related("Order", 4, "lines") == ["4/a", "4/b"] && orders.count("Line") == 2)
    }

    // The block ran after the identity was determined, so that it could change attributes only.
    @Test(
        "MMRecordOptions.recordPrePopulationBlock → ImportHooks.beforeDraft: the JSON is edited before its key and its relationships are read"
    )
    func prePopulation() throws {
        var plans = try ImportFixture(Plan.self)
        plans.hooks.beforeDraft = { _, json in
            guard json["hidden"] == nil else { return false }
            json["key"] = json["code"]
            json["title"] = .string("edited")
            return true
        }
        try plans.add(#"[{"code": "A", "title": "x"}, {"code": "B", "hidden": true}]"#, "Plan")
        #expect(try plans.fetch(Plan.all) == [Plan(id: "A", name: "edited")])
    }

    @Test(
        "MMRecordRepresentation -additionalKeyPathsForMappingPropertyDescription: → EntityMapping(paths:): sources of values that code makes, without a macro"
    )
    func representation() throws {
        let names = try ImportFixture(
            entities:
                "Name:\n  key: id\n  attributes: { id: int, text: { type: string, from: [a.b, 'c[0]', '{x}-{y}'] } }")
        try names.add(#"[{"id": 1, "a": {"b": "1"}}, {"id": 2, "c": ["2"]}, {"id": 3, "x": "p", "y": "q"}]"#, "Name")
        let texts = try (1...3).map { try names.record("Name", Int64($0))?["text"] }
        #expect(texts == [.string("1"), .string("2"), .string("p-q")])
    }

    @Record struct Renamed: Equatable {
        @Key var id: Int
        var gone: Bool?

        static func configure(_ mapping: inout EntityMapping) {
            mapping.ignored = ["links", "*_url"]
            mapping.tombstone = TombstoneRule(path: "gone", equals: "true")
            mapping.keyless = .fail
        }
    }

    @Test(
        "MMRecordRepresentation -setupMappingForProperty: and +representationClass → static func configure(_:): code that completes the mapping of a struct"
    )
    func configuration() throws {
        let records = try ImportFixture(Renamed.self)
        let report = try records.add(#"[{"id": 1, "links": {}, "html_url": "x"}, {"id": 2, "more": 1}]"#, "Renamed")
        #expect(report.unmapped.map(\.path) == ["more"])
        #expect(try records.add(#"[{"id": 1, "gone": true}]"#, "Renamed").deleted == 1)
        #expect(throws: ImportError.self) { try records.add("[{}]", "Renamed") }
        #expect(try records.fetch(Renamed.all).map(\.id) == [2])
    }

    // Null before a scalar, a number or an array raised an exception of key-value coding.
    @Test(
        "MMRecordRepresentation valueForKeyPath: through null or a scalar → JSONPath: such a path leads to nothing, and the import goes on"
    )
    func keyPathsThroughScalars() throws {
        let plans = try ImportFixture(Plan.self)
        try plans.add(
            #"[{"key": "a", "details": null, "title": "t"}, {"key": "b", "details": 7, "title": "t"}, {"key": "c", "details": [], "title": "t"}]"#,
            "Plan")
        #expect(try plans.fetch(Plan.all).map(\.name) == ["t", "t", "t"])
    }

    @Test(
        "MMRecordDynamicModel (a transformable attribute for everything else) → EntityMapping.rest: what is neither mapped nor ignored is kept as JSON"
    )
    func dynamicStorage() throws {
        let items = try ImportFixture(Item.self)
        try items.add(#"[{"id": 1, "likes": 4, "shares": 2}]"#, "Item")
        #expect(try items.get(Item.self, 1)?.extra == ["likes": 4, "shares": 2])
    }

    @Test(
        "MMRecord tweaks of key paths at run time → Description.applying(overlay:): a file over the description moves keys"
    )
    func overlay() throws {
        let description = try Description.parse(
            """
            api: { base: 'https://api.test.example' }
            entities: { Plan: { key: id, attributes: { id: string, name: string } } }
            """, file: "tarn.yaml")
        let moved = try description.applying(
            overlay: "entities: { Plan: { attributes: { name: { from: headline } } } }", file: "overlay.yaml")
        let folder = try TemporaryFolder()
        let store = try Store.open(at: folder("o.tarn"), schema: moved.schema)
        let importer = try Importer(moved.mapping, store.catalog)
        _ = try importer.add(Array(#"{"id": "p", "headline": "moved"}"#.utf8), entity: "Plan")
        _ = try store.write { try importer.commit(into: &$0) }
        #expect(try store.read { try $0.record("Plan", RecordKey("p"))?["name"] } == .string("moved"))
    }
}
