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
