// Relationships joined by an attribute whose index was withdrawn, or does not have all records yet.

import TestSupport
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Inspect: joins without an index")
struct JoinsWithoutIndexTests {
    private let folder: TemporaryFolder
    private var path: String { folder("joined.tarn") }
    private static let options = Store.Options(durability: .volatile)

    /// Fills a store without the join: 7 and 250 have equal values.
    init() throws {
        folder = try TemporaryFolder()
        let schema = Schema([
            EntityDefinition("Item", key: ["id"], attributes: [.init("id", .int), .init("name", .string)])
        ])
        let store = try Store.open(at: path, schema: schema, options: Self.options)
        try store.write { writer in
            for id: Int64 in 0..<300 {
                try writer.put("Item", RecordKey(id), [.init("name", .string(id == 250 ? "n7" : "n\(id)"))])
            }
        }
    }

    private static func joined(by name: AttributeDefinition) -> Schema {
        Schema([
            EntityDefinition(
                "Item", key: ["id"], attributes: [.init("id", .int), name],
                relationships: [.init("same", to: "Item", many: true, joinedBy: .init("name", equals: "name"))])
        ])
    }

    private func related(_ id: Int64) throws -> [RecordKey] {
        var keys: [RecordKey] = []
        let isStored = try StoreInspector(at: path).related(
            "Item", "same", key: { _ in RecordKey(id) }, damaged: { Issue.record("\($0)") }
        ) { keys.append($0.key) }
        #expect(isStored)
        return keys
    }

    private func selected(_ condition: String) throws -> (keys: [RecordKey], damages: [String]) {
        var keys: [RecordKey] = [], damages: [String] = []
        try StoreInspector(at: path).selectRecords(
            of: "Item",
            { catalog in
                var selection = RecordSelection()
                selection.query = Query(
                    "Item", where: try Condition(text: condition, entity: "Item", catalog: catalog))
                return selection
            }, record: { keys.append($0.key) }, damaged: { damages.append("\($0)") })
        return (keys, damages)
    }

    @Test("a join whose index was withdrawn leads to all records, and so do conditions and referrers")
    func withdrawn() throws {
        #expect(throws: (any Error).self) {
            _ = try Store.open(
                at: path, schema: Self.joined(by: .init("name", .string, unique: true)), options: Self.options,
                building: IndexBuildOptions(rows: 20))
        }
        let same = [RecordKey(7), RecordKey(250)]
        #expect(try related(7) == same)
        #expect(try related(8) == [RecordKey(8)])
        let selected = try selected("same contains 250")
        #expect(selected.keys == same && selected.damages.isEmpty, "\(selected)")
        let found = try StoreInspector(at: path).record("Item", RecordKey(250))
        #expect(found.referrers.map { "\($0.relationship) \($0.count) \($0.keys)" } == ["Item.same 2 [\"7\", \"250\"]"])
    }

    @Test("a join whose index is being built is an error for relationships and conditions, and marks the referrers")
    func building() throws {
        let store = try Store.open(at: path, options: Self.options), options = IndexBuildOptions(rows: 50)
        try store.adopt(Self.joined(by: .init("name", .string, indexed: true)), options)
        for _ in 0..<2 { _ = try store.write(alone: true) { try $0.indexStep(options) } }
        #expect(throws: StoreError.indexIncomplete(entity: "Item", index: "name", done: 150, total: 300)) {
            try related(7)
        }
        let selected = try selected("same contains 250")
        #expect(selected.keys.isEmpty && selected.damages.count == 300)
        #expect(selected.damages.allSatisfy { $0.contains("the condition cannot be evaluated") })
        let found = try StoreInspector(at: path).record("Item", RecordKey(250))
        #expect(found.referrers.map { "\($0.relationship) \($0.count) \($0.isCountWhole)" } == ["Item.same 1 false"])
        #expect(found.lines().contains { $0.hasSuffix("Item.same: 7, and 0 or more") }, "\(found.lines())")
    }
}
