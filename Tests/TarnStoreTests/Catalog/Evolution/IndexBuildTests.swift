// Indexes over existing rows: built in steps, maintained by writers meanwhile, continued by the
// next process, rolled back if values are not unique.

import Foundation
import LMDB
import Locking
import TestSupport
import Testing

@testable import TarnStore

@Suite("Index builds")
struct IndexBuildTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    static func schema(
        _ attributes: [AttributeDefinition] = [], indexes: [IndexDefinition] = [],
        name: AttributeDefinition = .init("name", .string)
    ) -> Schema {
        Schema([
            EntityDefinition(
                "Item", key: ["id"],
                attributes: [.init("id", .int), name, .init("group", .int, optional: true)] + attributes,
                relationships: [.init("next", to: "Item", inverse: "previous")], indexes: indexes)
        ])
    }

    private static let indexed = schema(
        indexes: [
            .init("byGroup", on: "group", "name"),
            .init("late", on: "name", where: [.init("group", .greaterOrEqual, .int(3))]),
        ], name: .init("name", .string, indexed: true))

    private func filled(_ count: Int, _ schema: Schema = schema(), name: (Int) -> String = { "n\($0 % 97)" }) throws
        -> String
    {
        let path = folder("s"), store = try Forge.open(path, schema)
        try store.write { writer in
            for id in 0..<count {
                try writer.put(
                    "Item", RecordKey(Int64(id)),
                    [.init("name", .string(name(id))), .init("group", id % 5 == 0 ? .null : .int(Int64(id % 7)))])
            }
        }
        return path
    }

    private static func open(
        _ path: String, _ schema: Schema?, rows: Int, _ progress: ((IndexBuildProgress) -> Void)? = nil
    )
        throws -> Store
    {
        try Store.open(
            at: path, schema: schema, options: Forge.quick, building: IndexBuildOptions(rows: rows), progress: progress)
    }

    private struct Stop: Error {}

    /// Leaves a store whose build stopped after some steps, as after a kill.
    private func begun(_ path: String, _ schema: Schema, rows: Int, steps: Int) throws {
        let store = try Forge.open(path, nil)
        let options = IndexBuildOptions(rows: rows)
        try store.adopt(schema, options)
        for _ in 0..<steps { _ = try store.write(alone: true) { try $0.indexStep(options) } }
    }

    @Test(
        "a build goes in bounded steps, tells how far it is, and gives the entries that the rows have",
        arguments: [1, 7, 100, 10_000])
    func steps(_ rows: Int) throws {
        let path = try filled(500)
        var told: [IndexBuildProgress] = []
        let before = try Forge.open(path, nil).environment.information().lastTransaction
        let store = try Self.open(path, Self.indexed, rows: rows) { told.append($0) }
        #expect(try IndexVerification.problem(in: store) == nil)
        #expect(try store.indexStates.allSatisfy { $0.state == .complete })
        #expect(try store.read { try $0.first("Item", index: "byGroup", equalTo: [.int(3), .string("n3")])?.key } == 3)
        if rows < 500 {
            // All three at once: as many steps as the rows need, of which the first is part of the
            // change of the catalog.
            let transactions = try store.environment.information().lastTransaction - before
            #expect(transactions <= 500 / rows + 3, "\(transactions)")
            #expect(
                told.filter { $0.index == "late" }.map(\.done) == Array(stride(from: rows * 2, to: 500, by: rows)) + [
                    500
                ])
            #expect(told.last?.done == told.last?.total)
            #expect(Set(told.map(\.index)) == ["name", "byGroup", "late"])
        } else {
            #expect(told.isEmpty)
        }
    }

    @Test("an index that is not complete does not answer: the error says how far it is, and reading by key goes on")
    func incompleteDoesNotAnswer() throws {
        let path = try filled(500)
        try begun(path, Self.indexed, rows: 50, steps: 2)
        let store = try Store.open(at: path, options: .init(durability: .volatile, isReadOnly: true))
        #expect(
            try store.indexStates.filter { $0.state == .building }.map(\.name).sorted() == ["byGroup", "late", "name"])
        #expect(try store.indexStates.filter { $0.state == .building }.allSatisfy { $0.done == 150 && $0.total == 500 })
        let error = storeError { _ = try store.read { try $0.first("Item", index: "name", equalTo: [.string("n1")]) } }
        #expect(error == StoreError.indexIncomplete(entity: "Item", index: "name", done: 150, total: 500))
        #expect(error?.description.contains("150 of 500") == true)
        #expect(try store.record("Item", 7)?["name"] == .string("n7"))
        #expect(try store.related("Item", 7, "previous") == [])
        #expect(
            try store.read { reader in reader.access.catalog.indexIDs.contains { !reader.access.state.isComplete($0) } }
        )
    }

    @Test(
        "whoever opens the store next goes on from the mark, with the schema or without one", arguments: [true, false])
    func nextOpenerGoesOn(_ withSchema: Bool) throws {
        let path = try filled(500)
        try begun(path, Self.indexed, rows: 100, steps: 2)
        var done: [Int] = []
        let store = try Self.open(path, withSchema ? Self.indexed : nil, rows: 100) {
            if $0.index == "name" { done.append($0.done) }
        }
        #expect(done == [400, 500])
        #expect(try IndexVerification.problem(in: store) == nil)
        #expect(try store.read { try $0.first("Item", index: "name", equalTo: [.string("n1")])?.key } == 1)
    }

    @Test("writers keep up an index that is being built, on both sides of the mark")
    func writersMaintain() throws {
        let path = try filled(600), seed = UInt64.random(in: 0..<1_000_000)
        var random = SeededRandom(seed: seed)
        let store = try Forge.open(path, nil), options = IndexBuildOptions(rows: 30)
        try store.adopt(Self.indexed, options)
        var steps = 0
        while store.state.hasIndexWork {
            try store.write { writer in
                for _ in 0..<10 {
                    let key = RecordKey(Int64.random(in: -20..<650, using: &random))
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: try writer.delete("Item", key)
                    case 1: try writer.put("Item", key, [.init("group", .int(Int64.random(in: 0..<7, using: &random)))])
                    default:
                        try writer.put(
                            "Item", key, [.init("name", .string("w\(Int.random(in: 0..<9, using: &random))"))])
                    }
                }
            }
            #expect(try IndexVerification.problem(in: store, completely: false) == nil, "seed \(seed), step \(steps)")
            _ = try store.write(alone: true) { try $0.indexStep(options) }
            steps += 1
            try store.reload()
        }
        #expect(steps > 15)
        #expect(try IndexVerification.problem(in: store) == nil, "seed \(seed)")
    }

    @Test("two builders share the work, and neither does harm when it steps behind the other")
    func twoBuilders() throws {
        let path = try filled(400), options = IndexBuildOptions(rows: 40)
        let store = try Forge.open(path, nil)
        try store.adopt(Self.indexed, options)
        let group = DispatchGroup(), failures = Guarded<[String]>([])
        for _ in 0..<3 {
            DispatchQueue.global().async(group: group) {
                do { try store.finishIndexes(options) } catch { failures.withLock { $0.append("\(error)") } }
            }
        }
        group.wait()
        #expect(failures.withLock { $0 } == [])
        #expect(try IndexVerification.problem(in: store) == nil)
        // And one that has nothing to do.
        #expect(try store.write { try $0.indexStep(options) == nil })
    }

    @Test(
        "the index of a reference, and that of a new kind's members, are complete at once, however many rows there are")
    func completeByConstruction() throws {
        let path = try filled(300)
        var schema = Self.schema()
        schema.entities[0].relationships.append(.init("other", to: "Item", inverse: "others"))
        schema.entities.append(
            EntityDefinition("Special", parent: "Item", attributes: [.init("grade", .int, indexed: true)]))
        var told = 0
        let store = try Self.open(path, schema, rows: 10) { _ in told += 1 }
        #expect(told == 0)
        try store.put("Special", 1, ["grade": .int(3), "other": .reference(2)])
        #expect(try store.count("Special") == 1)
        #expect(try store.related("Item", 2, "others") == [1])
        #expect(try IndexVerification.problem(in: store) == nil)
    }

    @Test("an index of a new attribute has every row that is there, under null")
    func newAttribute() throws {
        let path = try filled(300)
        let store = try Self.open(path, Self.schema([.init("color", .string, optional: true, indexed: true)]), rows: 50)
        var keys = 0
        try store.read {
            try $0.forEach("Item", index: "color", equalTo: [.null]) { _ in
                keys += 1
                return true
            }
        }
        #expect(keys == 300)
        #expect(try IndexVerification.problem(in: store) == nil)
    }

    // MARK: Unique

    private static let unique = schema(name: .init("name", .string, unique: true))

    @Test(
        "values that are not unique are found, wherever the two stand: the catalog is as before, and the error names them",
        arguments: [1, 2, 20, 5000])
    func duplicates(_ rows: Int) throws {
        let path = try filled(300) { $0 == 250 ? "n7" : "n\($0)" }
        let before = try Forge.open(path, nil).catalog
        let error = storeError { _ = try Self.open(path, Self.unique, rows: rows) }
        #expect(error == StoreWriteError.notUnique(entity: "Item", index: "name", keys: ["7", "250"]))
        let store = try Forge.open(path, nil)
        #expect(store.catalog.entity("Item")?.field("name") == before.entity("Item")?.field("name"))
        #expect(try IndexVerification.problem(in: store) == nil)
        // After one of them is removed, it works.
        try store.write { _ = try $0.delete("Item", 250) }
        let again = try Self.open(path, Self.unique, rows: rows)
        #expect(again.catalog.entity("Item")?.field("name")?.isUnique == true)
        #expect(try IndexVerification.problem(in: again) == nil)
        #expect(
            storeError { try again.put("Item", 1000, ["name": .string("n7")]) }
                == StoreWriteError.notUnique(entity: "Item", index: "name", keys: ["7", "1000"]))
    }

    /// Returns a store with a join whose index was withdrawn, since 7 and 250 have equal values.
    private func withdrawn() throws -> Store {
        let path = try filled(300) { $0 == 250 ? "n7" : "n\($0)" }
        let joined = Schema([
            EntityDefinition(
                "Item", key: ["id"],
                attributes: [
                    .init("id", .int), .init("name", .string, unique: true), .init("group", .int, optional: true),
                ],
                relationships: [
                    .init("next", to: "Item", inverse: "previous"),
                    .init("same", to: "Item", many: true, joinedBy: .init("name", equals: "name")),
                ])
        ])
        let error = storeError { _ = try Self.open(path, joined, rows: 20) }
        #expect(error == StoreWriteError.notUnique(entity: "Item", index: "name", keys: ["7", "250"]))
        let store = try Forge.open(path, nil)
        try #require(store.catalog.entity("Item")?.joins.isEmpty == false)
        return store
    }

    @Test("a join whose new index was withdrawn, since values are not unique, still leads to all records")
    func joinWithoutIndex() throws {
        let store = try withdrawn()
        #expect(try store.related("Item", 7, "same") == [7, 250])
        #expect(try store.related("Item", 8, "same") == [8])
    }

    @Test("a join without its index compares values as the index does: −0 equals 0")
    func joinOfZeros() throws {
        func schema(isUnique: Bool, _ relationships: [RelationshipDefinition] = []) -> Schema {
            Schema([
                EntityDefinition(
                    "Item", key: ["id"], attributes: [.init("id", .int), .init("ratio", .double, unique: isUnique)],
                    relationships: relationships)
            ])
        }
        let path = folder("s")
        try Forge.open(path, schema(isUnique: false)).write { writer in
            for id in 0..<300 as Range<Int64> {
                let ratio = id == 7 ? 0 : id == 250 ? -0.0 : Double(id + 1)
                try writer.put("Item", RecordKey(id), [.init("ratio", .double(ratio))])
            }
        }
        let joined = RelationshipDefinition("same", to: "Item", many: true, joinedBy: .init("ratio", equals: "ratio"))
        let error = storeError { _ = try Self.open(path, schema(isUnique: true, [joined]), rows: 20) }
        #expect(error == StoreWriteError.notUnique(entity: "Item", index: "ratio", keys: ["7", "250"]))
        #expect(try Forge.open(path, nil).related("Item", 7, "same") == [7, 250])
    }

    @Test("missing targets of a join whose new index was withdrawn are an error, and not none")
    func missingTargetsWithoutIndex() throws {
        let store = try withdrawn()
        #expect(throws: StoreError.unknownField(entity: "Item", name: "index name", known: [])) {
            try store.read { try $0.missingTargets(of: "Item", "same") }
        }
    }

    @Test(
        "an index of long values that begin alike becomes unique in steps, by the whole values",
        arguments: [2, 20, 500])
    func longValuesBecomeUnique(_ rows: Int) throws {
        let plain = Self.schema(name: .init("name", .string, indexed: true))
        let start = String(repeating: "https://example.org/", count: 20)
        let path = try filled(300, plain) { start + ($0 == 250 ? "7" : "\($0)") }
        #expect(
            storeError { _ = try Self.open(path, Self.unique, rows: rows) }
                == StoreWriteError.notUnique(entity: "Item", index: "name", keys: ["7", "250"]))
        try Forge.open(path, nil).put("Item", 250, ["name": .string(start + "250")])
        let store = try Self.open(path, Self.unique, rows: rows)
        #expect(store.catalog.entity("Item")?.field("name")?.isUnique == true)
        #expect(try store.indexStates.first { $0.name == "name" }?.state == .complete)
    }

    @Test("an index that becomes unique is checked in steps, answers meanwhile, and stays, not unique, if it cannot be")
    func existingIndexBecomesUnique() throws {
        let plain = Self.schema(name: .init("name", .string, indexed: true))
        let path = try filled(300, plain) { $0 == 250 ? "n7" : "n\($0)" }
        let index = try #require(try Forge.open(path, nil).catalog.entity("Item")?.field("name")?.index)
        #expect(
            storeError { _ = try Self.open(path, Self.unique, rows: 20) }
                == StoreWriteError.notUnique(entity: "Item", index: "name", keys: ["7", "250"]))
        do {
            let store = try Forge.open(path, nil)
            #expect(store.catalog.entity("Item")?.field("name")?.index == index)
            #expect(store.catalog.entity("Item")?.field("name")?.isUnique == false)
            #expect(try store.read { try $0.first("Item", index: "name", equalTo: [.string("n7")])?.key } == 7)
            try store.put("Item", 250, ["name": .string("free")])
        }
        try begun(path, Self.unique, rows: 20, steps: 1)
        do {
            let reading = try Store.open(at: path, options: .init(durability: .volatile, isReadOnly: true))
            #expect(try reading.indexStates.first { $0.name == "name" }?.state == .checking)
            #expect(try reading.read { try $0.first("Item", index: "name", equalTo: [.string("free")])?.key } == 250)
        }
        let store = try Self.open(path, Self.unique, rows: 20)
        #expect(store.catalog.entity("Item")?.field("name")?.index == index)
        #expect(try store.indexStates.first { $0.name == "name" }?.state == .complete)
    }

    @Test(
        "while a unique index is being built, writers are held to the values that are in it; what they cannot know is found at the end"
    )
    func writersAndUniqueBuild() throws {
        let path = try filled(300) { "n\($0)" }
        let store = try Forge.open(path, nil), options = IndexBuildOptions(rows: 50)
        try store.adopt(Self.unique, options)
        // Rows up to 49 are in it.
        #expect(
            storeError { try store.put("Item", 1000, ["name": .string("n7")]) }
                == StoreWriteError.notUnique(entity: "Item", index: "name", keys: ["7", "1000"]))
        try store.put("Item", 1001, ["name": .string("n200")])
        #expect(
            storeError { try store.finishIndexes(options) }
                == StoreWriteError.notUnique(entity: "Item", index: "name", keys: ["200", "1001"]))
        #expect(store.catalog.entity("Item")?.field("name")?.index == nil)
        #expect(try store.count("Item") == 301)
        #expect(try IndexVerification.problem(in: store) == nil)
    }

    @Test(
        "an opener without a schema takes an index back that cannot be unique, and opens; one with another schema does not mind either"
    )
    func othersDoNotMind() throws {
        for schema in [nil, Self.schema()] {
            let path = try filled(300) { $0 == 250 ? "n7" : "n\($0)" }
            try begun(path, Self.unique, rows: 20, steps: 1)
            do {
                let store = try Self.open(path, schema, rows: 20)
                // The second one declares it not unique; it remains an index.
                #expect((store.catalog.entity("Item")?.field("name")?.index == nil) == (schema == nil))
                #expect(store.catalog.entity("Item")?.field("name")?.isUnique == false)
                #expect(try IndexVerification.problem(in: store) == nil)
                #expect(!store.state.hasIndexWork)
                try store.put("Item", 1, ["name": .string("still writable")])
            }
            try FileManager.default.removeItem(atPath: path)
        }
    }

    @Test("an index that is dropped or changed while it is being built is not built any further")
    func changedMeanwhile() throws {
        let path = try filled(300)
        try begun(path, Self.schema(indexes: [.init("x", on: "group", "name")]), rows: 20, steps: 2)
        let store = try Self.open(path, Self.schema(indexes: [.init("x", on: "name", "group")]), rows: 20)
        #expect(try IndexVerification.problem(in: store) == nil)
        #expect(store.catalog.entity("Item")?.indexes.count == 1)
        #expect(try store.read { try IndexMark.all($0.access.raw, $0.access.state.meta).isEmpty })
    }

    @Test("a store whose build meets a damaged row opens without a schema, to be repaired, and names the row with one")
    func damagedRow() throws {
        let path = try filled(300)
        do {
            let store = try Forge.open(path, nil)
            try store.environment.write { transaction in
                let table = try store.state.records(of: 1)
                try RecordKey(200).storageKey.withUnsafeBytes { key in
                    var bytes = Array(try #require(try transaction.raw.get(table, key)))
                    bytes[RowFormat.headerSize] = 0xFF
                    try bytes.withUnsafeBytes { try transaction.raw.put(table, key, $0) }
                }
            }
        }
        #expect(
            storeError { _ = try Self.open(path, Self.indexed, rows: 20) }
                == StoreError.damagedRow(entity: "Item", key: "200"))
        let store = try Self.open(path, nil, rows: 20)
        #expect(try store.indexStates.first { $0.name == "name" }?.done == 200)
        try store.put("Item", 1, ["name": .string("still writable")])
    }
}
