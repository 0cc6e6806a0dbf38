// A plan that is compiled once for several importers.

import Testing

@testable import TarnImport
@testable import TarnStore

@Suite("Import: a plan for several importers")
struct ImportPlanKeeperTests {
    private static let schema = Schema([
        EntityDefinition(
            "Thing", key: ["id"],
            attributes: [AttributeDefinition("id", .int), AttributeDefinition("v", .string, optional: true)],
            relationships: [RelationshipDefinition("owner", to: "User")]),
        EntityDefinition(
            "Special", parent: "Thing", attributes: [AttributeDefinition("w", .string, optional: true)]),
        EntityDefinition("User", key: ["login"], attributes: [AttributeDefinition("login", .string)]),
    ])

    private static func mapping() throws -> Mapping {
        let url = RecordURL([try URLTemplate("/users/{login}")])
        var mapping = Mapping(entities: [
            "Thing": EntityMapping {
                $0.paths = ["v": ["deep.v"]]
                $0.choice = EntityChoice([.entity("Special", when: [RecordCondition("w", .isPresent)])])
            },
            "User": EntityMapping { $0.url = url },
        ])
        mapping.bases = ["https://a.example"]
        return mapping
    }

    private static func thing(_ id: Int) -> [UInt8] {
        Array(
            (#"[{"id":\#(id),"w":"s","x\#(id)":1,"deep":{"v":"d\#(id)","y":1},"#
                + #""owner":"https://a.example/users/u\#(id)"}]"#).utf8)
    }

    @Test("each importer has its own unmapped keys, kinds and URLs, however many share the plan")
    func apart() throws {
        let mapping = try Self.mapping(), bed = try TestStore(Self.schema, mapping), catalog = bed.store.catalog
        let keeper = ImportPlanKeeper()
        let importers = try (0..<3).map { _ in try Importer(keeper.plan(mapping, catalog), catalog) }
        for (id, importer) in importers.enumerated() {
            #expect(try importer.add(Self.thing(id), entity: "Thing").listed.count == 1)
        }
        for (id, importer) in importers.enumerated() {
            let report = try bed.store.write { try importer.commit(into: &$0) }
            #expect(report.unmapped.map { "\($0.path) \($0.count)" }.sorted() == ["deep.y 1", "x\(id) 1"])
            let record = try #require(try bed.record("Thing", Int64(id)))
            #expect(record.entity == "Special" && record["v"] == .string("d\(id)") && record["w"] == .string("s"))
            #expect(record["owner"] == .reference(RecordKey("u\(id)")))
        }
    }

    @Test("no importer of a plan keeps ignored keys of nested objects, however many there are")
    func ignoredNestedKeys() throws {
        let attributes = [
            AttributeDefinition("id", .int), AttributeDefinition("v", .string, optional: true),
            AttributeDefinition("extra", .json, optional: true),
        ]
        let thing = EntityMapping {
            $0.paths = ["v": ["deep.v"]]
            $0.rest = "extra"
            $0.ignored = ["deep.custom_*"]
        }
        let bed = try TestStore(
            Schema([EntityDefinition("Thing", key: ["id"], attributes: attributes)]),
            Mapping(entities: ["Thing": thing]))
        let keeper = ImportPlanKeeper(), catalog = bed.store.catalog
        let importers = try (0..<2).map { _ in try Importer(keeper.plan(bed.mapping, catalog), catalog) }
        let ignored = (0..<2100).map { #""custom_\#($0)":0"# }.joined(separator: ",")
        for (id, importer) in importers.enumerated() {
            _ = try importer.add(
                Array(#"[{"id":\#(id),"deep":{"v":"x","y":1,\#(ignored)}}]"#.utf8), entity: "Thing")
            _ = try bed.store.write { try importer.commit(into: &$0) }
            #expect(try bed.value("Thing", Int64(id), "extra") == .json(#"{"deep":{"y":1}}"#), "\(id)")
        }
    }

    @Test("importers of one plan draft at the same time")
    func sideBySide() async throws {
        let mapping = try Self.mapping(), bed = try TestStore(Self.schema, mapping), catalog = bed.store.catalog
        let keeper = ImportPlanKeeper()
        let listed = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let importer = try Importer(keeper.plan(mapping, catalog), catalog)
                    var listed = 0
                    for id in 0..<100 {
                        listed += try importer.add(Self.thing(number * 100 + id), entity: "Thing").listed.count
                    }
                    return listed
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(listed == 800)
    }

    @Test("code of the same name is not shared, nor is the plan of another catalog")
    func others() throws {
        let keeper = ImportPlanKeeper(), bed = try TestStore(Self.schema), catalog = bed.store.catalog
        for suffix in ["a", "b"] {
            let rules = FieldRules { $0.transformers = ["t"] }
            let mapping = Mapping(
                entities: ["Thing": EntityMapping { $0.fields = ["v": rules] }],
                transformers: [
                    ValueTransformer(
                        "t",
                        decode: { value in
                            guard case .string(let text) = value else { return nil }
                            return .string(text + suffix)
                        })
                ])
            let importer = try Importer(keeper.plan(mapping, catalog), catalog)
            _ = try importer.add(Array(#"[{"id":1,"v":"x"}]"#.utf8), entity: "Thing")
            _ = try bed.store.write { try importer.commit(into: &$0) }
            #expect(try bed.value("Thing", 1, "v") == .string("x" + suffix))
        }
        for isSpecial in [true, false] {
            let predicate = JSONPredicate("p") { _ in isSpecial }
            let choice = EntityChoice([.entity("Special", when: [RecordCondition("v", .satisfies(predicate))])])
            let mapping = Mapping(entities: ["Thing": EntityMapping { $0.choice = choice }])
            let importer = try Importer(keeper.plan(mapping, catalog), catalog), id: Int64 = isSpecial ? 2 : 3
            _ = try importer.add(Array(#"[{"id":\#(id),"v":"x"}]"#.utf8), entity: "Thing")
            _ = try bed.store.write { try importer.commit(into: &$0) }
            #expect(try bed.record("Thing", id)?.entity == (isSpecial ? "Special" : "Thing"))
        }
        let other = try TestStore(Schema([EntityDefinition("Only", key: ["id"], attributes: [.init("id", .int)])]))
        #expect(try keeper.plan(Mapping(), catalog).plans.count == 3)
        #expect(try keeper.plan(Mapping(), other.store.catalog).plans.count == 1)
    }
}
