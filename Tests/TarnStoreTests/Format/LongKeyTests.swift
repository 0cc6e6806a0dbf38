// Keys that are too long for LMDB: stored under a digest, compared as a whole.

import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite("Long keys")
struct LongKeyTests {
    let folder: TemporaryFolder
    let store: Store
    let long = RecordKey(String(repeating: "long/", count: 100)),
        other = RecordKey(String(repeating: "long/", count: 100) + "other")

    init() throws {
        folder = try TemporaryFolder()
        store = try Forge.open(folder("s"))
    }

    @Test("records under long keys are put, found, listed with their whole keys, changed and deleted")
    func longKeysWork() throws {
        try store.put("Label", long)
        try store.put("Label", other)
        #expect(try store.record("Label", long)?.key == long)
        #expect(try store.record("Label", other)?.key == other)
        var seen: Set<RecordKey> = []
        try store.read { reader in
            try reader.forEach("Label") {
                seen.insert($0.key)
                return true
            }
        }
        #expect(seen == [long, other])
        let isDeleted = try store.write { writer in try writer.delete("Label", long) }
        #expect(isDeleted)
        #expect(try store.record("Label", long) == nil)
        #expect(try store.record("Label", other)?.key == other)
    }

    @Test("a composite key that is too long as a whole works in the same way")
    func longCompositeKey() throws {
        let board = RecordKey([
            .string(String(repeating: "a", count: 150)), .string(String(repeating: "b", count: 150)),
        ])
        try store.put("Board", board)
        try store.put("Issue", RecordKey(1), ["board": .reference(board)])
        #expect(try store.record("Board", board)?.key == board)
        #expect(try store.related("Board", board, "cards") == [RecordKey(1)])
    }

    @Test("references to long keys lead to their records and back")
    func referencesToLongKeys() throws {
        try store.put("Label", long)
        try store.put("Issue", RecordKey(1), ["labels": .references([RecordKey("short"), long])])
        #expect(try store.related("Issue", RecordKey(1), "labels") == [RecordKey("short"), long])
        #expect(try store.related("Label", long, "issues") == [RecordKey(1)])
        #expect(try store.related("Label", other, "issues") == [])
        #expect(try store.record("Issue", RecordKey(1))?["labels"] == .references([RecordKey("short"), long]))
    }

    @Test("a record that refers to a long key whose record is missing can be read")
    func missingTargetWithALongKey() throws {
        let board = RecordKey([
            .string(String(repeating: "a", count: 150)), .string(String(repeating: "b", count: 150)),
        ])
        try store.put(
            "Issue", RecordKey(1),
            ["title": .string("t"), "board": .reference(board), "labels": .references([RecordKey("a"), long])])
        let record = try #require(try store.record("Issue", RecordKey(1)))
        #expect(record["title"] == .string("t"))
        #expect(board.asReference.isDigest && record["board"] == .reference(board.asReference))
        #expect(record["labels"] == .references([RecordKey("a"), long.asReference]))
        #expect(try store.related("Issue", RecordKey(1), "board") == [board.asReference])
        #expect(try store.related("Issue", RecordKey(1), "labels") == [RecordKey("a"), long.asReference])
        #expect(try store.record("Board", board.asReference) == nil)
        #expect(throws: StoreError.self) { try store.put("Board", board.asReference) }
        // The digest can replace the key: a row that was read by it can be written.
        try store.put(
            "Issue", RecordKey(2),
            record.fields.filter { $0.name == "board" }.reduce(into: [:]) { $0[$1.name] = $1.value })
        try store.put("Board", board)
        for key in [1, 2] as [Int64] {
            #expect(try store.record("Issue", RecordKey(key))?["board"] == .reference(board))
        }
        #expect(try store.record("Board", board.asReference)?.key == board)
    }

    /// Changes a byte of the record under the long key.
    private func damage(_ store: Store, _ entity: String) throws {
        let table = try store.state.records(of: store.state.entity(entity).id)
        try store.environment.write { transaction in
            try long.storageKey.withUnsafeBytes { key in
                var row = Array(try #require(try transaction.raw.get(table, key)))
                row[row.count - 1] ^= 1
                try row.withUnsafeBytes { try transaction.raw.put(table, key, $0) }
            }
        }
    }

    @Test("a reference to a long key whose record is damaged is an error, and no digest: the record is not missing")
    func damagedTargetWithALongKey() throws {
        try store.put("Label", long)
        try store.put("Issue", RecordKey(1), ["title": .string("t"), "labels": .references([long])])
        try damage(store, "Label")
        let errors = [
            storeError { _ = try store.record("Issue", RecordKey(1)) },
            storeError { try store.read { _ = try $0.fetch(Query("Issue")) } },
        ]
        for error in errors {
            guard case StoreError.damagedRow("Label", _)? = error else {
                Issue.record("nothing was said: \(String(describing: error))")
                continue
            }
        }
    }

    /// A ticket whose author has a long key and a damaged record.
    private func ticketOfDamagedAuthor() throws -> TypedStore {
        let typed = try TypedStore(), author = Person(String(repeating: "long/", count: 100))
        var ticket = Ticket(1, "t")
        ticket.author = Reference(author.login)
        try typed.put([author])
        try typed.put([ticket])
        try damage(typed.store, "Person")
        return typed
    }

    @Test("groups of records by a reference to a damaged record with a long key are an error, and no digest")
    func groupsByDamagedTarget() throws {
        let typed = try ticketOfDamagedAuthor()
        let error = storeError { try typed.store.read { _ = try $0.counts(by: "author", Query("Ticket")) } }
        guard case StoreError.damagedRow("Person", _)? = error else {
            Issue.record("nothing was said: \(String(describing: error))")
            return
        }
    }

    @Test("a record as JSON that refers to a damaged record with a long key is an error, and has no digest")
    func jsonOfDamagedTarget() throws {
        let typed = try ticketOfDamagedAuthor()
        let error = storeError { try typed.store.read { _ = try $0.forEachJSONOfPage(Query("Ticket")) { _ in } } }
        guard case StoreError.damagedRow("Person", _)? = error else {
            Issue.record("nothing was said: \(String(describing: error))")
            return
        }
    }

    @Test("a struct's record as JSON that refers to a damaged record with a long key is an error, and has no digest")
    func typedJSONOfDamagedTarget() throws {
        let typed = try ticketOfDamagedAuthor()
        var bytes: [UInt8] = []
        let error = storeError { _ = try typed.store.read { try $0.writeJSON(Ticket.self, 1, into: &bytes) } }
        guard case StoreError.damagedRow("Person", _)? = error else {
            Issue.record("nothing was said: \(String(describing: error))")
            return
        }
        #expect(bytes.isEmpty)
    }

    @Test(
        "a condition names a missing record by the digest of its key, reads its own text, and takes nothing beside it")
    func digestInText() throws {
        try store.put("Issue", RecordKey(1), ["labels": .references([long])])
        try store.put("Issue", RecordKey(2), ["labels": .references([RecordKey("a")])])
        let key = "key(digest(\"\(long.storageKey.hexadecimal)\"))"
        let condition = try Condition(text: "labels contains \(key)", entity: "Issue", catalog: store.catalog)
        #expect("\(condition)".contains(key), "\(condition)")
        let found = try store.read { try $0.fetch(Query("Issue", where: condition)).map(\.key) }
        #expect(found == [RecordKey(1)])
        for wrong in [
            "key(digest(\"00\"))", "key(digest(\"\(long.storageKey.hexadecimal)\"), 5)", "key(digest(\"zz\"))",
        ] {
            #expect(throws: QueryTextError.self) {
                _ = try Condition(text: "labels contains \(wrong)", entity: "Issue", catalog: store.catalog)
            }
        }
    }

    @Test("another key under the same digest is a collision: nothing is overwritten, read or deleted")
    func collisionIsAnError() throws {
        // Two keys with one digest cannot be constructed, so the row of another key is written in
        // this one's place.
        let (long, other) = (long, other)
        try store.write { writer in
            let entity = try writer.access.state.entity("Label")
            var builder = BodyBuilder()
            var body = ByteWriter()
            builder.field(1) { $0.appendValue(.string(other.description)) }
            builder.finish(into: &body)
            let view = try #require(RowBody(body.bytes, isWide: false))
            _ = try long.storageKey.withUnsafeBytes { try writer.merge(entity, $0, view, isComplete: true) }
        }
        #expect(try store.record("Label", long) == nil)
        #expect(storeError { try store.put("Label", long) } == StoreWriteError.keyCollision(entity: "Label"))
        let isDeleted = try store.write { writer in try writer.delete("Label", long) }
        #expect(!isDeleted)
        #expect(try store.count("Label") == 1)
    }

    @Test("the longest indexed value with the longest key is still a key of LMDB")
    func longestIndexEntry() throws {
        let schema = Schema([
            EntityDefinition("A", key: ["k"], attributes: [.init("k", .string), .init("v", .string, indexed: true)])
        ])
        let store = try Forge.open(folder("a"), schema)
        let value = String(repeating: "\0é", count: 300)
        try store.put("A", long, ["v": .string(value)])
        #expect(try store.record("A", long)?["v"] == .string(value))
        #expect(try store.indexEntries("A", "v").map(\.count) == [511])
        try store.put("A", long, ["v": .null])
        #expect(try store.indexEntries("A", "v") == [[0] + long.storageKey])
    }
}
