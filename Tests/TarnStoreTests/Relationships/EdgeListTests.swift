// Long lists of references: in a table of their own, with no more written than changes.

import Foundation
import LMDB
import TestSupport
import Testing

@testable import TarnStore

@Suite("Long lists")
struct EdgeListTests {
    let folder: TemporaryFolder
    let store: Store

    static let schema = Schema([
        EntityDefinition(
            "List", key: ["id"],
            attributes: [AttributeDefinition("id", .int), AttributeDefinition("name", .string, optional: true)],
            relationships: [
                RelationshipDefinition("items", to: "Item", many: true, ordered: true, inverse: "lists"),
                RelationshipDefinition("others", to: "Item", many: true, inverse: "otherLists"),
            ]),
        EntityDefinition(
            "Item", key: ["id"], attributes: [AttributeDefinition("id", .int)],
            relationships: [
                RelationshipDefinition("lists", to: "List", many: true, inverse: "items", onDelete: .nullify)
            ]),
    ])

    init() throws {
        folder = try TemporaryFolder()
        store = try Forge.open(folder("s"), EdgeListTests.schema)
    }

    private func keys(_ numbers: some Sequence<Int64>) -> [RecordKey] { numbers.map { RecordKey($0) } }

    /// Stores a list.
    ///
    /// - Returns: how many rows of the table of long lists were written or deleted, and what became
    ///   of the record.
    @discardableResult
    private func set(_ list: Int64, _ keys: [RecordKey], _ field: String = "items") throws -> Int {
        try store.write { writer in
            try writer.put("List", RecordKey(list), [.init(field, .references(keys))])
            return writer.edges.rowCount
        }
    }

    private func items(_ list: Int64 = 1, _ field: String = "items") throws -> [RecordKey]? {
        guard case .references(let keys)? = try store.record("List", RecordKey(list))?[field] else { return nil }
        return keys
    }

    private func edgeCount() throws -> Int {
        try store.read { reader in try reader.access.raw.statistics(reader.access.state.edgeTable()).entries }
    }

    /// All sources of the list's members agree.
    private func check(_ expected: [RecordKey], _ list: Int64 = 1, _ field: String = "items") throws {
        #expect(try items(list, field) == expected)
        #expect(try store.related("List", RecordKey(list), field) == expected)
        let owner = RecordKey(list).storageKey
        let entries = try store.indexEntries("List", field).filter { $0.suffix(owner.count).elementsEqual(owner) }
        let wanted = Set(expected).map { $0.storageKey + owner }.sorted { $0.lexicographicallyPrecedes($1) }
        #expect(entries == wanted)
    }

    private func tag(_ list: Int64 = 1, _ field: String = "items") throws -> UInt8? {
        try store.read { reader in
            let access = reader.access, entity = try access.state.entity("List")
            let id = try #require(entity.field(field)).id
            return try RecordKey(list).withStorageKey { key in
                try access.records.row(entity, key)?.body.value(of: id)?.tag
            }
        }
    }

    @Test("a list of 100,000 is created, appended to, reordered, cut and deleted, and each writes what differs")
    func hundredThousand() throws {
        let all = keys(1...100_000)
        #expect(try set(1, all) == 100_000)
        #expect(try tag() == ValueTag.edges)
        #expect(try edgeCount() == 100_000)
        #expect(try items() == all)
        #expect(try store.related("Item", RecordKey(77_777), "lists") == [RecordKey(1)])
        // Appending: one row of the table, one entry of the index, the record's own row.
        let before = try store.indexEntries("List", "items").count
        #expect(try set(1, all + keys([100_001])) == 1)
        #expect(try store.indexEntries("List", "items").count == before + 1)
        #expect(try items()?.count == 100_001)
        // Again: no change.
        let sequence = try store.sequence
        #expect(try set(1, all + keys([100_001])) == 0)
        #expect(try store.sequence == sequence)
        // Two that change places: two rows, no entry.
        var swapped = all + keys([100_001])
        swapped.swapAt(500, 90_000)
        #expect(try set(1, swapped) == 2)
        #expect(try items() == swapped)
        #expect(try store.indexEntries("List", "items").count == before + 1)
        // One that another takes the place of.
        swapped[7] = RecordKey(-1)
        #expect(try set(1, swapped) == 1)
        #expect(try store.related("Item", RecordKey(8), "lists") == [])
        #expect(try store.related("Item", RecordKey(-1), "lists") == [RecordKey(1)])
        // The last half is removed.
        let half = Array(swapped.prefix(50_000))
        #expect(try set(1, half) == 50_001)
        #expect(try edgeCount() == 50_000)
        #expect(try items() == half)
        #expect(try store.indexEntries("List", "items").count == 50_000)
        let store = store
        let isDeleted = try store.write { writer in try writer.delete("List", RecordKey(1)) }
        #expect(isDeleted)
        #expect(try edgeCount() == 0)
        #expect(try store.indexEntries("List", "items").isEmpty)
    }

    @Test("appending to a long list touches a few pages, however long it is")
    func pages() throws {
        let all = keys(1...50_000)
        try set(1, all)
        let store = store
        let dirty = try store.write { writer in
            let before = writer.access.raw.pageCount
            try writer.put("List", RecordKey(1), [.init("items", .references(all + [RecordKey(50_001)]))])
            try writer.applyIndexChanges()
            return writer.access.raw.pageCount - before
        }
        // Two trees of depth 3, the record's and the log's own pages.
        #expect(dirty < 20, "\(dirty)")
    }

    @Test("what is stored in a row up to 2 KB, goes to the table above it, and comes back", arguments: [1, 2])
    func thresholds(rounds: Int) throws {
        // A key of two bytes takes three in a list, one of three takes four, and the tag one: 1 + 3
        // * 681 + 4 = 2048.
        let short = keys((1...681).map { 1 + $0 % 100 } + [300]), long = short + [RecordKey(5)]
        for round in 0..<rounds {
            #expect(try set(1, short) == (round == 0 ? 0 : 683))
            #expect(try tag() == ValueTag.references)
            #expect(try edgeCount() == 0)
            try check(short)
            #expect(try set(1, long) == 683)
            #expect(try tag() == ValueTag.edges)
            try check(long)
        }
        #expect(try set(1, short) == 683)
        #expect(try edgeCount() == 0)
        try check(short)
    }

    @Test(
        "a query that deletes many members writes a list once in each step, and the others keep their order",
        arguments: [1000, 7])
    func membersDeletedByQuery(step: Int) throws {
        let store = store, all = keys(1...2000)
        try store.write { writer in
            for key in all { try writer.put("Item", key, []) }
        }
        try set(1, all)
        try set(2, keys([3, 1500, 2]))
        let before = try store.sequence, first = Query("Item", where: .compare("id", .less, .int(101)))
        let steps = (100 + step - 1) / step
        #expect(try store.delete(first, step: step) == QueryWriteReport(matched: 100, changed: 100, steps: steps))
        try check(keys(101...2000))
        try check(keys([1500]), 2)
        let changes = try store.changes().filter { $0.sequence > before }
        #expect(changes.filter { $0.operation == 3 }.count == 100)
        // The first list in every step, the second one in the first.
        #expect(changes.filter { $0.operation == 2 }.count == steps + 1)
        try store.write { writer in _ = try writer.delete(Query("Item")) }
        try check([])
        try check([], 2)
    }

    @Test("null and a short list take a long one out of the table, and an absent field keeps it")
    func cleared() throws {
        let store = store
        let all = keys(1...2000)
        try set(1, all)
        try store.put("List", RecordKey(1), ["name": .string("n")])
        try check(all)
        #expect(try edgeCount() == 2000)
        try store.put("List", RecordKey(1), ["items": .null])
        #expect(try edgeCount() == 0)
        #expect(try store.record("List", RecordKey(1))?["items"] == .null)
        #expect(try store.indexEntries("List", "items").isEmpty)
        try set(1, all)
        try set(1, keys([3]))
        #expect(try edgeCount() == 0)
        try check(keys([3]))
        try set(1, all)
        try set(1, [])
        #expect(try edgeCount() == 0)
        try check([])
    }

    @Test("lists of several fields and records do not mix, and ids are not used again")
    func severalLists() throws {
        let a = keys(1...1000), b = keys(500...1600), c = keys(-1200...0)
        let store = store
        try store.write { writer in
            try writer.put("List", RecordKey(1), [.init("items", .references(a)), .init("others", .references(b))])
            try writer.put("List", RecordKey(2), [.init("items", .references(c))])
        }
        try check(a, 1)
        try check(b, 1, "others")
        try check(c, 2)
        let last = try store.read { reader in
            try reader.access.raw.number(reader.access.state.meta, key: MetaKey.nextList)
        }
        #expect(last == 3)
        try set(1, Array(b.dropFirst()), "others")
        try check(a, 1)
        try check(Array(b.dropFirst()), 1, "others")
        _ = try store.write { try $0.delete("List", RecordKey(2)) }
        try set(3, c)
        let next = try store.read { reader in
            try reader.access.raw.number(reader.access.state.meta, key: MetaKey.nextList)
        }
        #expect(next == 4)
        try check(a, 1)
        try check(c, 3)
    }

    @Test("a target that a list has twice stays indexed until it has left both places")
    func twice() throws {
        let all = keys(1...1000)
        try set(1, all + keys([1, 2]))
        try check(all + keys([1, 2]))
        try set(1, all + keys([2]))
        try check(all + keys([2]))
        try set(1, Array(all.dropFirst()) + keys([2]))
        try check(Array(all.dropFirst()) + keys([2]))
    }

    @Test("random changes leave the list, its order and its index as they should be", arguments: [1, 2, 3] as [UInt64])
    func randomChanges(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var list: [RecordKey] = []
        for _ in 0..<25 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                list = keys(
                    (0..<Int64.random(in: 0...1500, using: &random)).map { _ in
                        Int64.random(in: 0...3000, using: &random)
                    })
            case 1: list.shuffle(using: &random)
            case 2: list.append(contentsOf: keys((0..<Int64.random(in: 0...900, using: &random)).map { $0 * 3 }))
            case 3: list = Array(list.dropFirst(Int.random(in: 0...300, using: &random)))
            case 4: list = Array(list.dropLast(Int.random(in: 0...300, using: &random)))
            default:
                if !list.isEmpty {
                    list[Int.random(in: list.indices, using: &random)] = RecordKey(
                        Int64.random(in: 0...9000, using: &random))
                }
            }
            try set(1, list)
            try check(list)
            let stored = try #require(try tag() == ValueTag.edges ? list.count : 0)
            #expect(try edgeCount() == stored)
        }
    }

    @Test("an item that is deleted leaves the long lists that it is in")
    func nullified() throws {
        let all = keys(1...1000), store = store
        try store.write { writer in for key in all { try writer.put("Item", key, []) } }
        try set(1, all)
        _ = try store.write { try $0.delete("Item", RecordKey(700)) }
        try check(all.filter { $0 != RecordKey(700) })
    }

    @Test("what a failed write of a group has done to a list is undone")
    func rolledBack() throws {
        struct Stop: Error {}
        let all = keys(1...1000)
        try set(1, all)
        #expect(throws: Stop.self) {
            try store.write { writer in
                try writer.put("List", RecordKey(1), [.init("items", .references(keys(5...5000)))])
                throw Stop()
            }
        }
        try check(all)
        #expect(try edgeCount() == 1000)
    }

    @Test("a long list of long keys leads to records, and to what is missing")
    func longKeys() throws {
        let schema = Schema([
            EntityDefinition("Name", key: ["text"], attributes: [AttributeDefinition("text", .string)]),
            EntityDefinition(
                "Names", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                relationships: [RelationshipDefinition("all", to: "Name", many: true, inverse: "in")]),
        ])
        let store = try Forge.open(folder("t"), schema)
        let names = (0..<20).map { RecordKey(String(repeating: "n", count: 300) + "\($0)") }
        try store.put("Names", RecordKey(1), ["all": .references(names)])
        for name in names.dropLast() { try store.put("Name", name) }
        #expect(try store.related("Names", RecordKey(1), "all") == names.dropLast() + [names[19].asReference])
        #expect(
            try store.record("Names", RecordKey(1))?["all"] == .references(names.dropLast() + [names[19].asReference]))
    }

    struct Item: StoredRecord {
        static let entity = "Item"
        typealias Key = Int64
        enum Field: Int, RecordField { case id }
        var id: Int64
        init(_ row: Row<Item>) throws(StoreError) { id = try row.get(.id) }
        func encode(into row: inout RowEncoder<Item>) { row.set(.id, id) }
    }

    struct List: StoredRecord {
        static let entity = "List"
        typealias Key = Int64
        enum Field: Int, RecordField { case id, items }
        var id: Int64
        var items: References<Item>
        init(_ id: Int64, _ items: [Int64]) {
            self.id = id
            self.items = References(items)
        }
        init(_ row: Row<List>) throws(StoreError) {
            id = try row.get(.id)
            items = try row.get(.items)
        }
        func encode(into row: inout RowEncoder<List>) {
            row.set(.id, id)
            row.set(.items, items)
        }
    }

    @Test("structs have long lists as they have short ones, and follow them")
    func typed() throws {
        let numbers = Array(Int64(1)...3000), store = store
        try store.write { writer in
            try writer.put(List(1, numbers))
            try writer.put(Item_(5))
        }
        let list = try store.read { reader in try reader.get(List.self, 1) }
        #expect(list?.items.keys == numbers)
        var found: [Int64] = []
        try store.read { reader in
            try reader.forEachRelated(List.self, 1, "items", to: Item.self) { row in found.append(try row.get(.id)) }
        }
        #expect(found == [5])
        try check(keys(numbers))
    }

    struct Item_: StoredRecord {
        static let entity = "Item"
        typealias Key = Int64
        enum Field: Int, RecordField { case id }
        var id: Int64
        init(_ id: Int64) { self.id = id }
        init(_ row: Row<Item_>) throws(StoreError) { id = try row.get(.id) }
        func encode(into row: inout RowEncoder<Item_>) { row.set(.id, id) }
    }

    /// A tree of entities with their own long lists, and values that must be unique.
    static let tree = Schema([
        EntityDefinition("Item", key: ["id"], attributes: [AttributeDefinition("id", .int)]),
        EntityDefinition(
            "List", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int), AttributeDefinition("code", .string, optional: true, unique: true),
            ],
            relationships: [RelationshipDefinition("items", to: "Item", many: true, inverse: "lists")]),
        EntityDefinition(
            "Special", parent: "List", attributes: [],
            relationships: [RelationshipDefinition("extra", to: "Item", many: true, inverse: "in")]),
        EntityDefinition("Other", parent: "List", attributes: []),
    ])

    @Test(
        "a record that becomes one of another entity loses the long lists that the entity does not have, and keeps the others"
    )
    func movedToAnotherEntity() throws {
        let store = try Forge.open(folder("tree"), Self.tree)
        let a = keys(1...1000), b = keys(500...1400)
        try store.put("Special", RecordKey(1), ["items": .references(a), "extra": .references(b)])
        let extra = try #require(store.catalog.entity("Special")?.field("extra")?.index)
        func extras() throws -> Int {
            try store.read { reader in try reader.access.keys(of: reader.access.state.index(extra)).count }
        }
        #expect(try extras() == 901)
        try store.put("Other", RecordKey(1), ["items": .references(a + keys([5000]))])
        #expect(try extras() == 0)
        #expect(try store.record("Other", RecordKey(1))?["items"] == .references(a + keys([5000])))
        #expect(try store.indexEntries("List", "items").count == 1001)
        let edges = try store.read { reader in try reader.access.raw.statistics(reader.access.state.edgeTable()).entries
        }
        #expect(edges == 1001)
    }

    @Test("a record that is undone because its values are not unique has its long list back")
    func undone() throws {
        let store = try Forge.open(folder("tree"), Self.tree)
        let a = keys(1...1000), b = keys(1...1500)
        try store.put("List", RecordKey(1), ["code": .string("a"), "items": .references(a)])
        try store.put("List", RecordKey(2), ["code": .string("b"), "items": .references(b)])
        try store.put("List", RecordKey(4), ["code": .string("d"), "items": .references(b)])
        let dropped = try store.write { writer in
            writer.remembersRecords = true
            func put(_ id: Int64, _ items: [RecordKey]) throws {
                try writer.put(
                    "List", RecordKey(id), [.init("code", .string("a")), .init("items", .references(items))])
            }
            try put(2, keys(5...600))
            try put(3, keys(1...900))
            try put(4, keys(7...9))
            return try writer.dropDuplicates().count
        }
        #expect(dropped == 3)
        #expect(try store.record("List", RecordKey(1))?["items"] == .references(a))
        #expect(try store.record("List", RecordKey(2))?["items"] == .references(b))
        #expect(try store.record("List", RecordKey(3)) == nil)
        #expect(try store.record("List", RecordKey(4))?["items"] == .references(b))
        #expect(try store.indexEntries("List", "items").count == 4000)
        let edges = try store.read { reader in try reader.access.raw.statistics(reader.access.state.edgeTable()).entries
        }
        #expect(edges == 4000)
    }

    @Test("an index that is built anew from the rows has the targets of long lists too")
    func indexBuild() throws {
        let all = keys(1...1000), store = store
        try set(1, all)
        try set(2, keys([7]))
        try store.write { writer in
            let access = writer.access, entity = try access.state.entity("List")
            let field = try #require(entity.field("items")), index = try #require(field.index)
            let table = try access.state.index(index)
            try access.raw.removeAll(table)
            try IndexMark(.building, isNew: false).put(index, access.raw, access.state.meta)
            _ = try writer.indexStep(IndexBuildOptions())
        }
        #expect(try store.indexEntries("List", "items").count == 1001)
        try check(all)
        #expect(try store.related("Item", RecordKey(7), "lists") == [RecordKey(1), RecordKey(2)])
    }

    @Test("a list of which a part is missing is a damaged row, not a shorter list")
    func damaged() throws {
        try set(1, keys(1...1000))
        try store.write { writer in
            var key = ByteWriter()
            key.appendBigEndian(UInt64(1))
            key.appendBigEndian(UInt32(500))
            let wasThere = try writer.access.raw.delete(writer.access.state.edgeTable(), key.bytes)
            #expect(wasThere)
        }
        let damaged = StoreError.damagedRow(entity: "List", key: "1")
        #expect(storeError { _ = try store.record("List", RecordKey(1)) } == damaged)
        #expect(storeError { _ = try store.related("List", RecordKey(1), "items") } == damaged)
        #expect(storeError { try set(1, keys(1...1001)) } == damaged)
    }

    @Test("a store from before there was the table gets it when it is opened, and a read-only opening does without")
    func olderStore() throws {
        let path = folder("old")
        do {
            // The form of an older version.
            let environment = try Environment.open(
                at: path, options: Environment.Options(durability: .volatile, creates: true, minimumMapSize: 1 << 30))
            let catalog = String(decoding: try JSONEncoder().encode(CatalogJSON(Catalog())), as: UTF8.self)
            try environment.writeOpeningTables { transaction in
                let meta = ChecksummedTable.meta(try transaction.table(TableName.meta), format: 1)
                for name in TableName.all where name != TableName.edges { _ = try transaction.table(name) }
                try transaction.raw.put(meta, key: MetaKey.format, text: "1")
                try transaction.raw.put(meta, key: MetaKey.incarnation, text: "old")
                try transaction.raw.put(meta, key: MetaKey.generation, number: 1)
                try transaction.raw.put(meta, key: MetaKey.catalog, text: catalog)
            }
        }
        do {
            let store = try Store.open(at: path, options: Store.Options(durability: .volatile, isReadOnly: true))
            #expect(store.state.edges == nil)
            #expect(try store.sequence == 0)
        }
        let store = try Forge.open(path, EdgeListTests.schema)
        try store.put("List", RecordKey(1), ["items": .references(keys(1...3000))])
        #expect(try store.related("List", RecordKey(1), "items").count == 3000)
    }
}
