// Rules of a program's own for the values of structs: date patterns, transformers, policies.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Suite("Rules for the values of structs")
struct RecordRulesTests {
    @Record struct Delivery: Equatable {
        @Key var id: Int
        @Attribute(rules: FieldRules(dates: [.pattern("dd/MM/yyyy"), .epoch(.seconds)])) var day: Date?
        @Attribute(rules: FieldRules(transformers: ["shout"])) var note: String?

        static func configure(_ mapping: inout EntityMapping) { mapping.rules.nulls = .ignore }
    }

    @Test("a struct names date patterns and transformers, and its policy for nulls; the program adds the transformers")
    func rules() async throws {
        let folder = try TemporaryFolder()
        let store = try Store.open(at: folder("s.tarn"), schema: Schema(records: [Delivery.self]))
        var mapping = Mapping(records: [Delivery.self])
        mapping.transformers = [
            ValueTransformer("shout") { if case .string(let text) = $0 { .string(text.uppercased()) } else { nil } }
        ]
        let importer = try Importer(mapping, store.catalog)
        for page in [
            #"[{"id": 1, "day": "24/12/2026", "note": "fragile"}]"#, #"[{"id": 1, "day": 86400, "note": null}]"#,
        ] {
            _ = try importer.add(Array(page.utf8), entity: "Delivery")
            _ = try await importer.commit(to: store)
            let stored = try store.read { try $0.get(Delivery.self, 1) }
            let day = page.contains("24/12") ? "2026-12-24T00:00:00Z" : "1970-01-02T00:00:00Z"
            #expect(stored == Delivery(id: 1, day: Timestamp(day)?.date, note: "FRAGILE"))
        }
    }

    @Record struct Parcel: Equatable {
        @Key var id: Int
        @Relationship(from: "owner", inverse: \Owner.parcels) var owner: Reference<Owner>
    }

    @Record struct Owner: Equatable {
        @Key var id: Int
        var parcels = Inverse<Parcel>()
    }

    @Test("a nested list under the name of an inverse is imported, or the report names its path")
    func nestedInverse() async throws {
        let folder = try TemporaryFolder()
        let store = try Store.open(at: folder("s.tarn"), schema: Schema(records: [Parcel.self, Owner.self]))
        let importer = try Importer(Mapping(records: [Parcel.self, Owner.self]), store.catalog)
        _ = try importer.add(Array(#"[{"id": 1, "parcels": [{"id": 7}]}]"#.utf8), entity: "Owner")
        let report = try await importer.commit(to: store)
        let parcels = try store.read { try $0.count(Query("Parcel")) }
        #expect(parcels == 1 || report.unmapped.contains { $0.entity == "Owner" && $0.path == "parcels" })
    }
}
