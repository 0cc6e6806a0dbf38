// Entities that descend from another one: one table, one space of keys, and a kind that can change
// in place.

import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite("Inheritance")
struct InheritanceTests {
    /// Event ← Push ← ForcePush, Event ← Release; and Log, which leads to events.
    static let schema = Schema([
        EntityDefinition(
            "Event", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int), AttributeDefinition("at", .int, optional: true, indexed: true),
            ],
            relationships: [RelationshipDefinition("actor", to: "User", inverse: "events")]),
        EntityDefinition(
            "ForcePush", parent: "Push",
            attributes: [AttributeDefinition("before", .string, optional: true, indexed: true)]),
        EntityDefinition(
            "Push", parent: "Event",
            attributes: [AttributeDefinition("branch", .string, optional: true)],
            relationships: [RelationshipDefinition("commits", to: "Commit", many: true, inverse: "pushes")],
            indexes: [IndexDefinition("byBranch", on: "branch", "at")]),
        EntityDefinition(
            "Release", parent: "Event", attributes: [AttributeDefinition("tag", .string, optional: true, indexed: true)]
        ),
        EntityDefinition("User", key: ["id"], attributes: [AttributeDefinition("id", .int)]),
        EntityDefinition("Commit", key: ["sha"], attributes: [AttributeDefinition("sha", .string)]),
        EntityDefinition(
            "Log", key: ["id"], attributes: [AttributeDefinition("id", .int)],
            relationships: [
                RelationshipDefinition("last", to: "Push", inverse: "logs"),
                RelationshipDefinition("any", to: "Event", inverse: "mentions"),
            ]),
    ])

    private func filled(_ folder: TemporaryFolder) throws -> Store {
        let store = try Forge.open(folder("s"), InheritanceTests.schema)
        try store.put("Event", 1, ["at": .int(10), "actor": .reference(1)])
        try store.put(
            "Push", 2,
            ["at": .int(20), "branch": .string("main"), "actor": .reference(1), "commits": .references(["a", "b"])])
        try store.put("ForcePush", 3, ["at": .int(30), "branch": .string("main"), "before": .string("x")])
        try store.put("Release", 4, ["at": .int(20), "tag": .string("1.0")])
        return store
    }

    private func keys(_ store: Store, _ entity: String, in range: KeyRange = .all, reversed: Bool = false) throws
        -> [RecordKey]
    {
        try store.read { reader in
            var keys: [RecordKey] = []
            try reader.forEach(entity, in: range, reversed: reversed) { record in
                keys.append(record.key)
                return true
            }
            return keys
        }
    }

    private func found(_ store: Store, _ entity: String, _ index: String, _ values: Value...) throws -> [RecordKey] {
        try store.read { reader in
            var keys: [RecordKey] = []
            try reader.forEach(entity, index: index, equalTo: values) { record in
                keys.append(record.key)
                return true
            }
            return keys
        }
    }

    @Test("a new attribute of an entity reaches its descendants, also those that the schema no longer names")
    func inheritedLater() throws {
        let first = try Catalog().applying(InheritanceTests.schema).catalog
        let later = Schema([
            EntityDefinition(
                "Event", key: ["id"],
                attributes: [
                    AttributeDefinition("id", .int), AttributeDefinition("at", .int, optional: true, indexed: true),
                    AttributeDefinition("note", .string, optional: true),
                ])
        ])
        let second = try first.applying(later).catalog, event = try #require(second.entity("Event"))
        let note = try #require(event.field("note"))
        for name in ["Push", "ForcePush", "Release"] {
            let entity = try #require(second.entity(name))
            #expect(entity.field("note") == note && entity.root == event.id && entity.key == event.key)
            #expect(entity.fields.map(\.id) == entity.fields.map(\.id).sorted())
        }
        let push = try #require(second.entity("Push")), forced = try #require(second.entity("ForcePush"))
        #expect(Set(push.fields.map(\.id)).isSubset(of: forced.fields.map(\.id)) && forced.indexes == push.indexes)
    }

    @Test("the catalog of very many entities is found at once", .timeLimit(.minutes(1)))
    func manyEntities() throws {
        let id = AttributeDefinition("id", .int)
        let plain = (1...1500).map { EntityDefinition("P\($0)", key: ["id"], attributes: [id]) }
        let kinds = (1...1500).map { EntityDefinition("K\($0)", parent: "P1", attributes: []) }
        let catalog = try #require(Catalog(Schema(plain + kinds)))
        let root = try #require(catalog.entity("P1"))
        #expect(catalog.entities.count == 3000 && catalog.entities.count { $0.root == root.id } == 1501)
        #expect(catalog.entity("K1500")?.keyTypes == root.keyTypes)
    }

    @Test("a record is one of its entity and of those above it, and of no other")
    func kinds() throws {
        let folder = try TemporaryFolder()
        let store = try filled(folder)
        #expect(try keys(store, "Event") == [1, 2, 3, 4])
        #expect(try keys(store, "Push") == [2, 3])
        #expect(try keys(store, "ForcePush") == [3])
        #expect(try keys(store, "Release") == [4])
        for (entity, count) in [("Event", 4), ("Push", 2), ("ForcePush", 1), ("Release", 1)] {
            #expect(try store.count(entity) == count)
        }
        #expect(try store.record("Event", 3)?.entity == "ForcePush")
        #expect(try store.record("Push", 3)?["before"] == .string("x"))
        #expect(try store.record("Release", 3) == nil)
        #expect(try store.record("ForcePush", 2) == nil)
    }

    @Test("ranges and both directions go over the records of one kind")
    func ranges() throws {
        let folder = try TemporaryFolder()
        let store = try filled(folder)
        #expect(try keys(store, "Push", reversed: true) == [3, 2])
        #expect(try keys(store, "Push", in: KeyRange(RecordKey(3)...)) == [3])
        #expect(try store.read { reader in try reader.count("Event", in: KeyRange(RecordKey(2)..<RecordKey(4))) } == 2)
        #expect(
            try store.read { reader in try reader.count("Release", in: KeyRange(RecordKey(2)..<RecordKey(4))) } == 0)
    }

    @Test("an index of the parent holds the records of all kinds, one of a special kind only its own")
    func indexes() throws {
        let folder = try TemporaryFolder()
        let store = try filled(folder)
        #expect(try found(store, "Event", "at", .int(20)) == [2, 4])
        #expect(try found(store, "Release", "at", .int(20)) == [4])
        #expect(try found(store, "Push", "byBranch", .string("main")) == [2, 3])
        #expect(try found(store, "ForcePush", "byBranch", .string("main")) == [3])
        #expect(storeError { _ = try found(store, "Event", "byBranch") } != nil)
    }

    @Test(
        "a relationship of the parent is every kind's, also seen from its other end; one to a kind leads to that kind only"
    )
    func relationships() throws {
        let folder = try TemporaryFolder()
        let store = try filled(folder)
        #expect(try store.related("User", 1, "events") == [1, 2])
        #expect(try store.related("Push", 2, "actor") == [1])
        #expect(try store.related("Commit", "a", "pushes") == [2])
        try store.put("Log", 1, ["last": .reference(3), "any": .reference(4)])
        try store.put("Log", 2, ["last": .reference(4), "any": .reference(4)])
        #expect(try store.related("ForcePush", 3, "logs") == [1])
        #expect(try store.related("Release", 4, "mentions") == [1, 2])
        // 4 is a release, no push: as a push it is missing.
        #expect(try store.missing("Log", 2, "last") == [4])
        #expect(try store.missing("Log", 2, "any") == [])
    }

    @Test(
        "a record stored as a more special kind becomes it, and keeps what it has; stored as its parent's it stays what it is"
    )
    func becomesMoreSpecial() throws {
        let folder = try TemporaryFolder()
        let store = try filled(folder)
        try store.put("Push", 1, ["branch": .string("main")])
        let record = try #require(try store.record("Event", 1))
        #expect(record.entity == "Push")
        #expect(record["at"] == .int(10))
        #expect(try store.related("User", 1, "events") == [1, 2])
        #expect(try found(store, "Push", "byBranch", .string("main")) == [1, 2, 3])
        #expect(try keys(store, "Push") == [1, 2, 3])
        try store.put("Event", 1, ["at": .int(11)])
        #expect(try store.record("Event", 1)?.entity == "Push")
        #expect(try store.record("Push", 1)?["branch"] == .string("main"))
        #expect(try found(store, "Push", "byBranch", .string("main"), .int(11)) == [1])
    }

    @Test("a record that becomes another kind loses the fields and the index entries that kind does not have")
    func becomesAnother() throws {
        let folder = try TemporaryFolder()
        let store = try filled(folder)
        try store.put("Release", 2, ["tag": .string("2.0")])
        let record = try #require(try store.record("Event", 2))
        #expect(record.entity == "Release")
        #expect(record["branch"] == nil)
        #expect(record["commits"] == nil)
        #expect(record["at"] == .int(20))
        #expect(record["tag"] == .string("2.0"))
        #expect(try keys(store, "Push") == [3])
        #expect(try keys(store, "Release") == [2, 4])
        #expect(try found(store, "Push", "byBranch") == [3])
        #expect(try store.related("Commit", "a", "pushes") == [])
        #expect(try found(store, "Release", "tag", .string("2.0")) == [2])
        #expect(try store.count("Event") == 4)
    }

    @Test("the same kind again changes nothing; a change of the kind alone is a change")
    func unchangedKind() throws {
        let folder = try TemporaryFolder()
        let store = try filled(folder)
        let sequence = try store.sequence
        try store.put("ForcePush", 3, ["before": .string("x")])
        try store.put("Event", 3, ["at": .int(30)])
        #expect(try store.sequence == sequence)
        try store.put("Push", 1)
        #expect(try store.sequence == sequence + 1)
        #expect(try store.changes().last?.operation == 2)
        #expect(try store.changes().last?.entity == store.catalog.entity("Push")?.id)
    }

    @Test("a record is deleted as its own kind or as one above, and not as another; its entries go everywhere")
    func deletion() throws {
        let folder = try TemporaryFolder()
        let store = try filled(folder)
        try store.write { writer in
            let asAnother = try writer.delete("Release", 3)
            #expect(!asAnother)
            let asParent = try writer.delete("Push", 3)
            #expect(asParent)
        }
        #expect(try keys(store, "Event") == [1, 2, 4])
        #expect(try store.count("ForcePush") == 0)
        #expect(try store.count("Push") == 1)
        #expect(try found(store, "Push", "byBranch") == [2])
    }

    struct Push: StoredRecord {
        static let entity = "Push"
        typealias Key = Int64
        enum Field: Int, RecordField { case id, at, branch }
        var id: Int64
        var at: Int64?
        var branch: String?

        init(_ row: Row<Push>) throws(StoreError) {
            id = try row.get(.id)
            at = try row.get(.at)
            branch = try row.get(.branch)
        }

        func encode(into row: inout RowEncoder<Push>) {
            row.set(.id, id)
            row.set(.at, at)
            row.set(.branch, branch)
        }
    }

    @Test("an ancestor and a descendant have no two relationships of one name by the schemas of two programs")
    func relationshipsOfOneName() throws {
        let folder = try TemporaryFolder()
        func schema(item: RelationshipDefinition? = nil, bug: RelationshipDefinition? = nil) -> Schema {
            Schema([
                EntityDefinition(
                    "Item", key: ["id"],
                    attributes: [.init("id", .int), .init("a", .int, indexed: true), .init("b", .int, indexed: true)],
                    relationships: [item].compactMap(\.self)),
                EntityDefinition("Bug", parent: "Item", attributes: [], relationships: [bug].compactMap(\.self)),
            ])
        }
        func join(_ attribute: String) -> RelationshipDefinition {
            RelationshipDefinition("like", to: "Item", many: true, joinedBy: .init(attribute, equals: attribute))
        }
        let stored = RelationshipDefinition("like", to: "Item", many: true)
        for (number, (first, second, isRefused)) in [
            (schema(item: join("a")), schema(bug: join("b")), true),
            (schema(item: join("a")), schema(bug: join("a")), false),
            (schema(item: join("a")), schema(item: join("b")), false),
            (schema(item: join("a")), schema(bug: stored), true),
            (schema(item: join("a")), schema(item: stored), false),
            (schema(bug: join("a")), schema(item: join("b")), true),
            (schema(bug: join("a")), schema(item: join("a")), false),
            (schema(bug: join("a")), schema(item: stored), true),
        ].enumerated() {
            do { _ = try Forge.open(folder("s\(number)"), first) }
            let refusal = storeError { _ = try Forge.open(folder("s\(number)"), second) }
            #expect(
                refusal?.description.contains("has another relationship of this name: rename one of them")
                    == (isRefused ? true : nil), "\(number): \(String(describing: refusal))")
        }
    }

    @Test("typed access reads and writes the records of a kind, with what they inherit")
    func typed() throws {
        let folder = try TemporaryFolder()
        let store = try filled(folder)
        try store.read { reader in
            let all = try reader.fetch(Push.self)
            #expect(all.map(\.id) == [2, 3])
            #expect(all.map(\.at) == [20, 30])
            let force = try reader.get(Push.self, 3)
            #expect(force?.branch == "main")
            let release = try reader.get(Push.self, 4)
            #expect(release == nil)
            let several = try reader.get(Push.self, [4, 2, 1])
            #expect(several.map { $0?.id } == [nil, 2, nil])
            let main = try reader.fetch(Push.self, index: "byBranch", equalTo: [.string("main")])
            #expect(main.map(\.id) == [2, 3])
            let count = try reader.count(Push.self)
            #expect(count == 2)
        }
    }

    @Test("a copied record is decoded as a struct of its entity or of one above it, and of no other")
    func decoded() throws {
        let folder = try TemporaryFolder()
        let store = try filled(folder)
        let force = try #require(try store.record("Event", 3)), release = try #require(try store.record("Event", 4))
        #expect(try store.read { try $0.decode(Push.self, from: force) }.branch == "main")
        #expect(
            throws: StoreError.wrongType(
                entity: "Release", field: "4", expected: "a record of Push", found: "a record of Release")
        ) { try store.read { try $0.decode(Push.self, from: release) } }
    }

    @Test("a compare-and-set write replaces no record of another entity of the tree whose version was not read")
    func compareAndSet() throws {
        let folder = try TemporaryFolder()
        let store = try filled(folder), version = try #require(try store.record("Push", 2)).version
        func put(_ version: UInt64) throws {
            try store.write { try $0.put("Release", 2, [.init("tag", .string("2.0"))], ifVersion: version) }
        }
        #expect(
            throws: StoreWriteError.versionMismatch(entity: "Release", key: "2", expected: 0, found: version)
        ) { try put(0) }
        var moved = try #require(try store.read { try $0.get(Push.self, 2) })
        moved.id = 4
        let push = moved, found = try #require(try store.record("Release", 4)).version
        #expect(throws: StoreWriteError.versionMismatch(entity: "Push", key: "4", expected: 0, found: found)) {
            try store.write { try $0.put(push, ifVersion: 0) }
        }
        #expect(try store.record("Release", 4)?["tag"] == .string("1.0"))
        #expect(try store.record("Event", 2)?["branch"] == .string("main"))
        try put(version)
        #expect(try store.record("Release", 2)?["tag"] == .string("2.0") && store.record("Push", 2) == nil)
    }

    @Test("fields of one tree have ids of their own, also when the parent gets one later; what descends from it has it")
    func fieldIDs() throws {
        let first = try Catalog().applying(InheritanceTests.schema).catalog
        var schema = InheritanceTests.schema
        schema.entities[0].attributes.append(AttributeDefinition("note", .string, optional: true, indexed: true))
        let second = try first.applying(schema).catalog
        for catalog in [first, second] {
            let tree = catalog.entities.filter { $0.root == catalog.entity("Event")?.id }
            #expect(Set(tree.map(\.name)) == ["Event", "Push", "ForcePush", "Release"])
            var names: [UInt16: String] = [:]
            for field in tree.flatMap(\.fields) {
                #expect(names[field.id] ?? field.name == field.name)
                names[field.id] = field.name
            }
        }
        #expect(second.entity("ForcePush")?.field("note") == second.entity("Event")?.field("note"))
        #expect(second.entity("ForcePush")?.fields.map(\.id).sorted() == second.entity("ForcePush")?.fields.map(\.id))
        #expect(second.entity("ForcePush")?.key == second.entity("Event")?.key)
    }

    @Test("an index of a kind that a new one of its parent replaces is emptied")
    func replacedIndex() throws {
        func schema(_ item: [IndexDefinition], _ bug: [IndexDefinition]) -> Schema {
            Schema([
                EntityDefinition(
                    "Item", key: ["id"], attributes: [.init("id", .int), .init("a", .string, optional: true)],
                    indexes: item),
                EntityDefinition("Bug", parent: "Item", attributes: [.init("b", .int, optional: true)], indexes: bug),
            ])
        }
        let first = try Catalog().applying(schema([], [.init("x", on: "a")])).catalog
        let id = try #require(first.entity("Bug")?.index("x")?.id)
        let second = try first.applying(schema([.init("x", on: "a")], []))
        #expect(second.oldIndexes == [id])
        #expect(second.catalog.entity("Bug")?.index("x")?.id == second.catalog.entity("Item")?.index("x")?.id)
    }

    @Test("programs may differ in the delete rule of a relationship of one tree")
    func otherRule() throws {
        func schema(_ event: [RelationshipDefinition], _ push: [RelationshipDefinition]) -> Schema {
            Schema([
                EntityDefinition(
                    "Event", key: ["id"], attributes: [.init("id", .int, indexed: true)], relationships: event),
                EntityDefinition(
                    "Push", parent: "Event", attributes: [.init("branch", .string, optional: true)],
                    relationships: push),
                EntityDefinition(
                    "Review", key: ["id"],
                    attributes: [.init("id", .int), .init("event", .int, optional: true, indexed: true)]),
            ])
        }
        func reviews(_ rule: RelationshipDefinition.DeleteRule) -> [RelationshipDefinition] {
            [.init("reviews", to: "Review", many: true, onDelete: rule, joinedBy: .init("id", equals: "event"))]
        }
        let catalog = try Catalog().applying(schema(reviews(.none), [])).catalog
        #expect(throws: Never.self) { try catalog.applying(schema([], reviews(.deny))) }
    }

    @Test("another parent is refused; so is a field of the parent that a kind has already")
    func refused() throws {
        let catalog = try Catalog().applying(InheritanceTests.schema).catalog
        var moved = InheritanceTests.schema
        moved.entities[3].parent = "Push"
        #expect(throws: SchemaError.self) { try catalog.applying(moved) }
        moved.entities[3].parent = nil
        moved.entities[3].key = ["id2"]
        moved.entities[3].attributes.append(AttributeDefinition("id2", .int))
        #expect(throws: SchemaError.self) { try catalog.applying(moved) }
        // The kind is not in the schema that gives the parent a field of the same name.
        let parent = Schema([
            EntityDefinition(
                "Event", key: ["id"],
                attributes: [AttributeDefinition("id", .int), AttributeDefinition("tag", .string, optional: true)])
        ])
        #expect(throws: SchemaError.self) { try catalog.applying(parent) }
    }

    @Test(
        "a schema's trees are checked",
        arguments: [
            ([EntityDefinition("A", parent: "B", attributes: [])], "unknown entity"),
            ([EntityDefinition("A", parent: "A", attributes: [])], "is its own ancestor"),
            (
                [
                    EntityDefinition("A", parent: "B", attributes: []),
                    EntityDefinition("B", parent: "A", attributes: []),
                ], "is its own ancestor"
            ),
            (
                [
                    EntityDefinition("A", key: ["id"], attributes: [.init("id", .int)]),
                    EntityDefinition("B", parent: "A", key: ["id"], attributes: []),
                ], "remove the key"
            ),
            (
                [
                    EntityDefinition("A", key: ["id"], attributes: [.init("id", .int)]),
                    EntityDefinition("B", parent: "A", attributes: [.init("id", .int)]),
                ], "already declares it"
            ),
        ])
    func checked(_ entities: [EntityDefinition], _ message: String) {
        #expect(Schema(entities).problems().contains { $0.message.contains(message) })
    }

    @Test("compression, reopening and new dictionaries leave kinds as they are")
    func compressed() throws {
        let folder = try TemporaryFolder()
        var store: Store? = try Forge.open(folder("s"), InheritanceTests.schema)
        for step in 0..<30 {
            try store?.write { writer in
                for id in step * 100..<step * 100 + 100 {
                    let text = Value.string(String(repeating: "branch \(id % 7) ", count: 40))
                    try writer.put(
                        id % 3 == 0 ? "ForcePush" : "Push", RecordKey(Int64(id)), [Record.Field("branch", text)])
                }
            }
        }
        #expect(try store?.trainDictionaries() == ["Event"])
        try store?.put("ForcePush", 1, ["before": .string("y")])
        store = nil
        store = try Forge.open(folder("s"), nil)
        #expect(try store?.count("ForcePush") == 1001)
        #expect(try store?.record("Push", 1)?.entity == "ForcePush")
    }
}
