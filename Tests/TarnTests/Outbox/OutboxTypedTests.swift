// Queueing changes of structs.

import Tarn
import TestSupport
import Testing

private struct ItemRecord: TypedRecord, Equatable {
    static let entity = "Item"
    typealias Key = Int64
    enum Field: Int, RecordField { case id, title, votes }
    struct Columns: RecordColumns {
        let path: ColumnPath
        var labels: ToManyColumn<LabelRecord> { ToManyColumn(path, "labels") }
        var up: ToOneColumn<ItemRecord> { ToOneColumn(path, "up") }
    }
    static var fields: [FieldDeclaration] {
        [
            .attribute("id", Int64.self, isKey: true), .attribute("title", String.self),
            .attribute("votes", Int64?.self),
        ]
    }

    var id: Int64
    var title: String
    var votes: Int64?

    init(id: Int64, title: String, votes: Int64?) { (self.id, self.title, self.votes) = (id, title, votes) }

    init(_ row: Row<ItemRecord>) throws(StoreError) {
        try self.init(id: row.get(.id), title: row.get(.title), votes: row.get(.votes))
    }

    func encode(into row: inout RowEncoder<ItemRecord>) {
        row.set(.id, id)
        row.set(.title, title)
        row.set(.votes, votes)
    }
}

private struct LabelRecord: StoredRecord {
    static let entity = "Label"
    typealias Key = Int64
    enum Field: Int, RecordField { case id, name }

    var id: Int64
    var name: String

    init(_ row: Row<LabelRecord>) throws(StoreError) {
        id = try row.get(.id)
        name = try row.get(.name)
    }

    func encode(into row: inout RowEncoder<LabelRecord>) {
        row.set(.id, id)
        row.set(.name, name)
    }
}

@Suite("Outbox: structs")
struct OutboxTypedTests {
    @Test("a struct is created with a temporary key, and only fields that differ are sent")
    func changes() async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        let made = try await outbox.create(ItemRecord(id: 0, title: "new", votes: 1))
        #expect(made.id != 0 && made.title == "new")
        _ = try await outbox.drain()
        #expect(fixture.effects == ["POST item 101 title=new"])
        // The temporary key leads to the record.
        try await outbox.update(ItemRecord.self, made.id) { $0.votes = 2 }
        #expect(try await outbox.update(ItemRecord.self, 101) { $0.title = "new" } == nil)
        _ = try await outbox.drain()
        #expect(fixture.server.with(\.requests).last?.text == #"{"votes":2}"#)
        #expect(
            try fixture.store.read { try $0.get(ItemRecord.self, 101) } == ItemRecord(id: 101, title: "new", votes: 2))
        try await outbox.delete(ItemRecord.self, 101)
        _ = try await outbox.drain()
        #expect(fixture.server.with(\.items).isEmpty)
    }

    @Test("a patch and a deletion by a temporary key that was replaced change the record")
    func replacedKey() async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        let made = try await outbox.create(ItemRecord(id: 0, title: "new", votes: 1))
        #expect(try await outbox.drain().sent == 1)
        #expect(try await fixture.store.write { try $0.patch(ItemRecord.self, made.id) { $0.set(.votes, Int64(9)) } })
        #expect(try fixture.field("votes", of: RecordKey(101)) == .int(9))
        #expect(try await fixture.store.write { try $0.delete(ItemRecord.self, made.id) })
        #expect(try fixture.keys("Item").isEmpty)
    }

    @Test("a struct with a temporary key that was replaced changes the record when it is put")
    func putReplacedKey() async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        let made = try await outbox.create(ItemRecord(id: 0, title: "new", votes: 1))
        #expect(try await outbox.drain().sent == 1)
        let changed = ItemRecord(id: made.id, title: "later", votes: 9)
        try await fixture.store.write { try $0.put(changed) }
        #expect(try fixture.keys("Item").count == 1 && fixture.field("votes", of: RecordKey(101)) == .int(9))
        #expect(try fixture.store.read { try $0.get(ItemRecord.self, 101) }?.title == "later")
        await #expect(throws: StoreWriteError.self) {
            try await fixture.store.write { try $0.put(changed, ifVersion: 0) }
        }
        let again = [ItemRecord(id: made.id, title: "again", votes: 9)]
        #expect(try await fixture.store.write { try $0.put(contentsOf: again) } == 1)
        #expect(try fixture.keys("Item").count == 1 && fixture.field("title", of: RecordKey(101)) == .string("again"))
    }

    @Test("a text of the same letters in other code points is a change")
    func codePoints() async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        try await fixture.stored(7, title: "caf\u{e9}")
        try #require("caf\u{e9}" == "cafe\u{301}")
        #expect(try await outbox.update(ItemRecord.self, 7) { $0.title = "cafe\u{301}" } != nil)
        _ = try await outbox.drain()
        #expect(fixture.server.with { $0.items[7].map { Array($0.title.utf8) } } == Array("cafe\u{301}".utf8))
    }

    @Test("a struct is created with its own key")
    func ownKey() async throws {
        let fixture = try OutboxFixture(write: ""), outbox = fixture.outbox()
        let made = try await outbox.create(ItemRecord(id: 55, title: "new", votes: nil), keepsKey: true)
        #expect(made.id == 55)
    }

    @Test("fields of a new struct that its request never sent are the server's; others stay local changes")
    func fieldsOfCreation() async throws {
        let fixture = try OutboxFixture(), sending = fixture.outbox(), leaving = try fixture.outbox(sending: ["title"])
        let early = try await sending.create(ItemRecord(id: 0, title: "early", votes: 4))
        let late = try await leaving.create(ItemRecord(id: 0, title: "late", votes: 4))
        // As an earlier program has queued it.
        let old = try await fixture.store.write { writer in
            try writer.enqueueCreate("Item", .temporary, [.init("title", .string("old")), .init("votes", .int(4))]).key
        }
        let queued = try sending.operations()
        #expect(queued.map(\.serverFields) == [[], ["votes"], nil] && queued.allSatisfy(\.unsent.isEmpty))
        let report = try await leaving.drain()
        #expect(report.sent == 3 && report.warnings.map(\.operation) == [queued[0].id], "\(report)")
        #expect(fixture.server.with { $0.items.values.allSatisfy { $0.votes == nil } })
        let expected: [(key: RecordKey, votes: Value)] = [
            (RecordKey(early.id), .int(4)), (RecordKey(late.id), .null), (old, .null),
        ]
        for (key, votes) in expected {
            let known = try fixture.store.read { try $0.outbox.resolvedKey("Item", key) }
            #expect(try fixture.field("votes", of: known) ?? .null == votes, "\(key)")
        }
        let changes = try fixture.store.read { reader in
            var found: [[String]] = []
            try reader.forEachLocalChange { change in
                found.append(change.fields)
                return true
            }
            return found
        }
        #expect(changes == [["votes"]])
    }

    @Test("fields that are not sent are counted, also behind the first hundred warnings")
    func manyUnsentFields() async throws {
        let fixture = try OutboxFixture(), sending = fixture.outbox(), leaving = try fixture.outbox(sending: ["title"])
        let count = OutboxReport.problemLimit + 2
        for number in 0..<count {
            _ = try await sending.create(ItemRecord(id: 0, title: "item \(number)", votes: 4))
        }
        let report = try await leaving.drain()
        #expect(report.sent == count && report.unsentFields == count, "\(report)")
        #expect(report.warnings.count == OutboxReport.problemLimit)
    }

    @Test(
        "a repeated creation of a struct has the body of the attempt that may have arrived",
        arguments: [["title"], ["title", "votes"]] as [Set<String>])
    func repeatedCreation(sent: Set<String>) async throws {
        let fixture = try OutboxFixture(), first = try fixture.outbox(sending: sent)
        let second = try fixture.outbox(sending: sent == ["title"] ? ["title", "votes"] : ["title"])
        fixture.server.with { $0.fault = { _ in .lost } }
        _ = try await first.create(ItemRecord(id: 0, title: "new", votes: 4))
        #expect(try await first.drain().sent == 0)
        fixture.server.with { $0.fault = { _ in nil } }
        try await Task.sleep(for: .milliseconds(6))
        let report = try await second.drain()
        #expect(report.sent == 1 && report.warnings.isEmpty, "\(report)")
        let body = sent == ["title"] ? #"{"title":"new"}"# : #"{"title":"new","votes":4}"#
        let bodies = fixture.server.with(\.requests).filter { $0.method == "POST" }.map(\.text)
        #expect(bodies.count > 1 && Set(bodies) == [body])
        #expect(fixture.effects == ["POST item 101 title=new"])
        #expect(try fixture.store.read { try $0.localChange("Item", RecordKey(101)) } == nil)
    }

    @Test("an update without a field that was sent before has another idempotency key")
    func otherUpdate() async throws {
        let fixture = try OutboxFixture(), sending = fixture.outbox()
        try await fixture.stored(7)
        let short = try fixture.outbox(sending: ["title"])
        try await sending.update("Item", RecordKey(7), [.init("title", .string("b")), .init("votes", .int(3))])
        fixture.server.with { api in
            api.clearLog()
            api.fault = { _ in .lost }
        }
        _ = try await sending.drain()
        fixture.server.with { $0.fault = { _ in nil } }
        #expect(try await drained(short).sent == 1)
        let writes = fixture.server.with(\.requests).filter { $0.method == "PATCH" }
        #expect(writes.last?.text == #"{"title":"b"}"#)
        #expect(writes.first?.fields["idempotency-key"] != writes.last?.fields["idempotency-key"])
        #expect(try fixture.field("votes", of: RecordKey(7)) == .int(3))
    }

    @Test("a member is added and removed by the column of its relationship")
    func members() async throws {
        var api = ModelAPI()
        api.labels = [1: "one"]
        let fixture = try OutboxFixture(api), outbox = fixture.outbox()
        try await fixture.stored(7)
        let item = try #require(try fixture.store.read { try $0.get(ItemRecord.self, 7) })
        let label = try #require(try fixture.store.read { try $0.get(LabelRecord.self, 1) })
        try await outbox.add(label, to: item, \.labels)
        _ = try await outbox.drain()
        #expect(fixture.server.with { $0.items[7]?.labels } == [1])
        try await outbox.remove(label, from: item, \.labels)
        _ = try await outbox.drain()
        #expect(fixture.server.with { $0.items[7]?.labels } == [])
    }

    @Test("a member is not added to a relationship of another record by a path that leads to it")
    func pathOfMembers() async throws {
        var api = ModelAPI()
        api.labels = [1: "one"]
        let fixture = try OutboxFixture(api), outbox = fixture.outbox()
        try await fixture.stored(7)
        let item = try #require(try fixture.store.read { try $0.get(ItemRecord.self, 7) })
        let label = try #require(try fixture.store.read { try $0.get(LabelRecord.self, 1) })
        await #expect(throws: StoreError.self) { try await outbox.add(label, to: item, \.up.labels) }
        await #expect(throws: StoreError.self) { try await outbox.remove(label, from: item, \.up.labels) }
        #expect(try outbox.operations().isEmpty)
    }

    @Test("changes within one write are queued together, or not at all")
    func together() async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        try await fixture.stored(7)
        struct Stop: Error {}
        await #expect(throws: Stop.self) {
            try await fixture.store.write { writer in
                try outbox.update("Item", RecordKey(7), [.init("title", .string("b"))], in: &writer)
                try outbox.create("Item", [.init("title", .string("c"))], in: &writer)
                throw Stop()
            }
        }
        #expect(try outbox.operations().isEmpty)
        #expect(try fixture.field("title", of: RecordKey(7)) == .string("a"))
    }

    @Test("a query is changed and deleted record by record")
    func queries() async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        for id in 1...5 { fixture.server.with { $0.items[id] = ModelAPI.Item(title: "a") } }
        try await fixture.sync()
        let changed = try await outbox.update(Query("Item", where: .all), set: ["votes": .int(1)], step: 2)
        #expect(changed.matched == 5 && changed.operations.count == 5)
        #expect(try await outbox.drain().sent == 5)
        let deleted = try await outbox.delete(Query("Item", where: .all), step: 2)
        #expect(deleted.operations.count == 5)
        #expect(try await outbox.drain().sent == 5)
        #expect(fixture.server.with(\.items).isEmpty)
    }
}
