// Everything that concerns one record, compared with what the store itself answers.

import Foundation
import LMDB
import TestSupport
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Inspect: get")
struct RecordInspectionTests {
    private func look(_ path: String, _ entity: String, _ key: RecordKey, limit: Int = 10) throws -> RecordInspection {
        try StoreInspector(at: path).record(entity, key, limit: limit)
    }

    @Test("a record has the fields, the header and the sizes that the store reads")
    func row() throws {
        let store = try RichStore()
        let found = try look(store.path, "Issue", RecordKey(7)), header = try #require(found.header)
        let wanted = try Store.open(at: store.path, options: Store.Options(isReadOnly: true)).read {
            try $0.record("Issue", RecordKey(7))
        }
        #expect(found.record == wanted && found.damage == nil && found.isStored && found.table == "r/2")
        #expect(header.isChecksumRight && header.version == wanted?.version && header.storedSize == found.row?.count)
        #expect(header.compression == "none" && header.dictionary == 0 && header.wholeSize == header.storedSize)
        let long = try #require(try look(store.path, "Issue", RecordKey(2099)).header)
        #expect(long.compression != "none" && long.dictionary == 1)
        #expect((long.wholeSize ?? 0) > long.storedSize + 300)
    }

    @Test("index entries are those of the row, and one that the index lacks is called missing")
    func indexEntries() throws {
        let store = try RichStore()
        let found = try look(store.path, "User", RecordKey(3))
        #expect(found.indexEntries.map(\.index).sorted() == ["User.age", "User.byName", "User.login"])
        #expect(found.indexEntries.allSatisfy { $0.isPresent })
        let login = try #require(found.indexEntries.first { $0.index == "User.login" })
        try store.damage { transaction, catalog in
            let id = try #require(catalog.entity("User")?.field("login")?.index)
            let raw = transaction.raw, table = try transaction.table(TableName.index(id))
            _ = try login.bytes.withUnsafeBytes { try raw.delete(table, $0) }
        }
        let damaged = try look(store.path, "User", RecordKey(3))
        #expect(damaged.indexEntries.filter { !$0.isPresent }.map(\.index) == ["User.login"])
        #expect(damaged.lines().contains { $0.hasSuffix("(missing)") })
    }

    @Test("a record whose text key goes on with a NUL has referrers of its own")
    func keysWithNUL() throws {
        let folder = try TemporaryFolder(), path = folder("nul.tarn")
        let schema = Schema([
            EntityDefinition(
                "Tag", key: ["name"], attributes: [.init("name", .string), .init("code", .string, unique: true)]),
            EntityDefinition(
                "Item", key: ["id"], attributes: [.init("id", .int), .init("code", .string, indexed: true)],
                relationships: [
                    .init("tag", to: "Tag", inverse: "items"),
                    .init("same", to: "Tag", inverse: "alike", joinedBy: .init("code", equals: "code")),
                ]),
        ])
        let store = try Store.open(at: path, schema: schema, options: Store.Options(durability: .volatile))
        try store.write { writer in
            for (id, name) in [(1, "a"), (2, "a\0b"), (3, "a\0b"), (4, "a\0")] as [(Int64, String)] {
                try writer.put("Tag", RecordKey(name), [.init("code", .string(name))])
                try writer.put(
                    "Item", RecordKey(id), [.init("tag", .reference(RecordKey(name))), .init("code", .string(name))])
            }
        }
        for (name, keys) in [("a", ["1"]), ("a\0", ["4"]), ("a\0b", ["2", "3"])] {
            let found = try look(path, "Tag", RecordKey(name))
            #expect(found.referrers.map(\.relationship) == ["Item.tag", "Item.same"], "\(found.lines())")
            #expect(found.referrers.allSatisfy { $0.keys == keys && $0.count == keys.count }, "\(found.lines())")
        }
    }

    @Test("referrers are counted by relationship, the first ones named, also those of a missing record")
    func referrers() throws {
        let store = try RichStore()
        let user = try look(store.path, "User", RecordKey(2))
        #expect(
            user.referrers.map { "\($0.relationship) \($0.count) \($0.keys)" } == ["Issue.author 2 [\"1\", \"41\"]"])
        let label = try look(store.path, "Label", RecordKey(String(repeating: "long ", count: 80)), limit: 3)
        #expect(
            label.referrers.map { "\($0.relationship) \($0.count) \($0.keys)" } == [
                "Issue.labels 60 [\"1\", \"2\", \"3\"]"
            ])
        // Of the long list of issue 5: stored in the edge table, and no record.
        let part = try look(store.path, "Part", RecordKey([.int(5), .int(700)]))
        #expect(!part.isStored && part.record == nil)
        #expect(part.referrers.map { "\($0.relationship) \($0.keys)" } == ["Issue.parts [\"5\"]"])
        let issue = try look(store.path, "Issue", RecordKey(7))
        #expect(issue.referrers.map(\.relationship) == ["Part.issue"])
    }

    @Test("referrers by a joined attribute are those with the whole value, also where an index entry cuts it")
    func joinedByLongValues() throws {
        let folder = try TemporaryFolder(), path = folder.path + "/joined.tarn"
        let long = "https://example.org/" + String(repeating: "x", count: 600)
        let entities = [("A", "own"), ("B", "theirs")].map { name, attribute in
            EntityDefinition(
                name, key: ["id"],
                attributes: [.init("id", .int), .init(attribute, .string, optional: true, indexed: true)],
                relationships: name == "B"
                    ? [] : [.init("targets", to: "B", many: true, joinedBy: .init("own", equals: "theirs"))])
        }
        let store = try Store.open(at: path, schema: Schema(entities), options: Store.Options(durability: .volatile))
        try store.write { writer in
            for (id, text) in [(1, long + "1"), (2, long + "2"), (3, long + "1"), (4, "short")] as [(Int64, String)] {
                try writer.put("A", RecordKey(id), [.init("own", .string(text))])
            }
            try writer.put("B", RecordKey(10), [.init("theirs", .string(long + "1"))])
            try writer.put("B", RecordKey(11), [.init("theirs", .string(long + "3"))])
        }
        let found = try look(path, "B", RecordKey(10))
        #expect(found.referrers.map { "\($0.relationship) \($0.count) \($0.keys)" } == ["A.targets 2 [\"1\", \"3\"]"])
        #expect(try look(path, "B", RecordKey(11)).referrers.isEmpty)
        // One that cannot be read is no referrer that is known, and is reported.
        try store.write { writer in
            let table = try writer.access.state.records(of: try #require(writer.catalog.entity("A")).root)
            try RecordKey(3).storageKey.withUnsafeBytes { key in
                try [0].withUnsafeBytes { try writer.access.raw.put(table, key, $0) }
            }
        }
        let damaged = try look(path, "B", RecordKey(10))
        #expect(damaged.referrers.map { "\($0.count) \($0.keys)" } == ["1 [\"1\"]"])
        #expect(damaged.damage?.hasPrefix("A 3: ") == true, "\(damaged.damage ?? "")")
    }

    @Test("responses that list the record, local changes and the last changes are those of the store")
    func listings() throws {
        let store = try RichStore()
        let found = try look(store.path, "Issue", RecordKey(17))
        #expect(found.listings.map { $0.request?.url } == ["https://api.example.org/issues?page=1"])
        #expect(found.listings.first?.index == 6 && found.listings.first?.status == 200)
        #expect(found.changes.map(\.operation) == ["created"] && !found.isChangedLocally)
        let user = try look(store.path, "User", RecordKey(3))
        #expect(user.isChangedLocally && user.changes.map(\.operation) == ["updated", "created"])
        let deleted = try look(store.path, "Issue", RecordKey(1500))
        #expect(!deleted.isStored && deleted.changes.map(\.operation).first == "deleted")
        #expect(try look(store.path, "Issue", RecordKey(1500), limit: 1).changes.count == 1)
    }

    @Test("a row with a wrong checksum is not decoded; header and bytes are there")
    func damagedRow() throws {
        let store = try InspectedStore()
        try store.damage("Volume number 1")
        let found = try look(store.path, "Book", RecordKey([.string("a/b"), .int(1)]))
        #expect(
            found.damage == "the checksum is wrong" && found.record == nil && found.header?.isChecksumRight == false)
        #expect(found.lines(bytes: true).contains { $0.contains("(wrong)") })
    }

    @Test("the JSON of a record can be parsed, whatever is in it")
    func json() throws {
        let store = try RichStore()
        for (entity, key) in [
            ("Issue", RecordKey(5)), ("User", RecordKey(3)), ("Push", RecordKey(4)), ("User", RecordKey(-1)),
        ] {
            let text = try look(store.path, entity, key).json(bytes: true)
            #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(text.utf8)) }
        }
        #expect(throws: StoreError.self) { try look(store.path, "Nope", RecordKey(1)) }
    }
}
