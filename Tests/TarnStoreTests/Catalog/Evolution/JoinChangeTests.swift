// Joins that another process changes while this one has the store open.

import TestSupport
import Testing

@testable import TarnStore

@Suite("Changed joins")
struct JoinChangeTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func schema(_ attribute: String, onDelete rule: RelationshipDefinition.DeleteRule = .none) -> Schema {
        Schema([
            EntityDefinition(
                "Item", key: ["id"],
                attributes: [
                    .init("id", .int), .init("a", .int, indexed: true), .init("b", .int, indexed: true),
                ],
                relationships: [
                    .init(
                        "like", to: "Item", many: true, onDelete: rule,
                        joinedBy: .init(attribute, equals: attribute))
                ]),
            EntityDefinition("Bug", parent: "Item", attributes: []),
        ])
    }

    @Test("a process whose join another one has changed reads by the new one, and is refused writes")
    func joinChangedElsewhere() throws {
        let store = try Forge.open(folder("s"), schema("a"))
        try store.put("Item", 1, ["a": .int(1), "b": .int(1)])
        try store.put("Item", 2, ["a": .int(2), "b": .int(1)])
        // As another process does: its schema is none of this one's.
        func apply(_ schema: Schema) throws {
            _ = try Store.apply(schema, to: store.state, store.environment, IndexBuildOptions())
        }
        try apply(schema("a", onDelete: .deny))
        try store.put("Item", 3, ["a": .int(1), "b": .int(3)])
        #expect(try store.related("Item", 1, "like") == [1, 3])
        try apply(schema("b", onDelete: .deny))
        #expect(try store.related("Item", 1, "like") == [1, 2])
        guard case StoreWriteError.schemaChanged? = storeError({ try store.put("Item", 4, [:]) }) else {
            Issue.record("it wrote")
            return
        }
        #expect(try store.count("Item") == 3)
    }

    @Test("a later schema of the same process replaces its join, and writes go on")
    func joinChangedHere() throws {
        let store = try Forge.open(folder("s"), schema("a"))
        for (id, a) in [(1, 1), (2, 2), (3, 1)] as [(Int64, Int64)] {
            try store.put("Item", RecordKey(id), ["a": .int(a), "b": .int(a % 2)])
        }
        #expect(try Forge.open(folder("s"), schema("b")) === store)
        try store.put("Item", 4, ["a": .int(1), "b": .int(0)])
        #expect(try store.related("Item", 2, "like") == [2, 4])
    }
}
