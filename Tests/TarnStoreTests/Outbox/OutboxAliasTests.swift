// Keys that the server's keys have replaced: how long they lead to their records.

import TestSupport
import Testing

@testable import TarnStore

@Suite("Outbox: replaced keys")
struct OutboxAliasTests {
    let bed: OutboxBed
    var store: Store { bed.store }

    init() throws { bed = try OutboxBed() }

    /// The number of aliases, after a check that the entries of the outbox agree with each other.
    private var aliases: UInt64 {
        get throws {
            let (removed, _, isChanged) = try store.write { try $0.access.repairOutbox() }
            #expect(removed == 0 && !isChanged)
            return try store.read { try $0.outbox.counters.aliases }
        }
    }

    @Test("a mark that is set or cleared by a temporary key that was replaced is the record's")
    func marks() throws {
        let made = try bed.create("Issue", .temporary, ["title": .string("mine")]).key
        try bed.complete(1, 99)
        try store.write { writer in
            try writer.put("Issue", made, [.init("title", .string("later"))], ifVersion: nil)
            try writer.markLocal("Issue", made, fields: ["title"])
        }
        #expect(try bed.marks() == ["update Issue 99 title"])
        #expect(try store.record("Issue", made)?["title"] == .string("later"))
        #expect(try store.read { try $0.localChange("Issue", made) }?.key == 99)
        #expect(try store.write { try $0.clearLocalChange("Issue", made) })
        #expect(try bed.marks() == [] && store.count("Issue") == 2)
    }

    @Test(
        "a record under a replaced key of its owner, which a response has brought, is marked itself when it is deleted")
    func deletedUnderOldOwner() throws {
        try bed.create("Issue", .client(5), ["title": .string("mine")])
        try bed.complete(1, 99)
        let comment = RecordKey([.int(5), .int(4)])
        try store.write { try $0.put("Comment", comment, [.init("text", .string("theirs"))], isComplete: true) }
        #expect(try store.write { try $0.deleteLocally("Comment", comment) })
        #expect(try bed.marks() == ["delete Comment \(comment) "])
    }

    /// An issue as a program holds it since before its parent got the server's key.
    private struct Child: StoredRecord {
        static let entity = "Issue"
        typealias Key = Int64
        enum Field: Int, RecordField { case id, parent }

        var id: Int64
        var parent: Reference<Child>?

        init(id: Int64, parent: Int64) { (self.id, self.parent) = (id, Reference(parent)) }

        init(_ row: Row<Child>) throws(StoreError) {
            id = try row.get(.id)
            parent = try row.get(.parent)
        }

        func encode(into row: inout RowEncoder<Child>) {
            row.set(.id, id)
            row.set(.parent, parent)
        }
    }

    @Test("references to a replaced key that are put, as fields or in structs, lead to the record")
    func references() throws {
        let made = try bed.create("Issue").key, old = try #require(Int64(made)), label = try bed.create("Label").key
        try bed.complete(1, 99)
        try bed.complete(2, "la")
        try store.write { writer in
            try writer.put(
                "Issue", 18, [.init("parent", .reference(made)), .init("labels", .references(["bug", label]))],
                ifVersion: nil)
            try writer.putLocally("Issue", 19, [.init("parent", .reference(made))])
            try writer.put(Child(id: 20, parent: old))
            try writer.put(contentsOf: [Child(id: 21, parent: old), Child(id: 3, parent: old)])
            try writer.put("Issue", 22, [], ifVersion: nil)
            _ = try writer.patch(Child.self, 22) { $0.set(.parent, Reference<Child>(old)) }
        }
        #expect(try store.related("Issue", 99, "children") == [3, 18, 19, 20, 21, 22])
        #expect(try store.related("Issue", 18, "labels") == ["bug", "la"])
    }

    @Test("references to a replaced key lead to the record if they are put at the end of the table")
    func referencesAtEnd() throws {
        let made = try bed.create("Issue").key, old = try #require(Int64(made))
        try bed.complete(1, 99)
        try store.write { _ = try $0.put(contentsOf: [Child(id: 100, parent: old), Child(id: 101, parent: old)]) }
        #expect(try store.related("Issue", 99, "children") == [100, 101])
    }

    @Test("a reference to a replaced key leads to the record if it is put with a key that was replaced itself")
    func referenceOfReplaced() throws {
        let parent = try bed.create("Issue").key, child = try bed.create("Issue").key
        try bed.complete(1, 99)
        try bed.complete(2, 98)
        let put = Child(id: try #require(Int64(child)), parent: try #require(Int64(parent)))
        try store.write { try $0.put(put) }
        #expect(try store.related("Issue", 99, "children") == [98])
        #expect(try store.record("Issue", 98)?["parent"] == .reference(99) && store.count("Issue") == 3)
    }

    @Test("an update by a replaced key may have the values of that key, as a struct has them")
    func updateWithKey() throws {
        let made = try bed.create("Issue", .temporary, ["title": .string("mine")]).key
        try bed.complete(1, 99)
        let id = try #require(made.components.first.map { Value($0) })
        #expect(try bed.update(made, ["id": id, "title": .string("later")]).key == 99)
        #expect(try bed.operations() == ["2 update Issue 99 title:mine>later"])
        try store.write { writer in
            try writer.changeLocally("Issue", made, [.init("id", id), .init("state", .string("open"))])
        }
        #expect(try bed.marks() == ["update Issue 99 title,state"])
        #expect(throws: StoreError.self) { try bed.update(made, ["id": .int(100)]) }
        #expect(throws: StoreError.self) { try bed.update(99, ["id": id]) }
    }

    @Test("a key leads to no other record any more once the server's record with it was stored, and removed again")
    func endsForGood() throws {
        try bed.create("Issue", .client(5), ["title": .string("mine")])
        try bed.complete(1, 99)
        try store.put("Issue", 5, ["title": .string("theirs")])
        #expect(try store.delete("Issue", 5) == 1)
        #expect(try store.delete("Issue", 5) == 0 && store.record("Issue", 5) == nil)
        try store.write { try $0.put("Issue", 5, [.init("title", .string("new"))], ifVersion: nil) }
        #expect(try store.record("Issue", 5)?["title"] == .string("new"))
        #expect(try store.record("Issue", 99)?["title"] == .string("mine"))
        #expect(try aliases == 0 && store.read { try !$0.outbox.hasAliases })
    }

    @Test("a queued deletion of the server's record with a replaced key, repeated after it was sent, finds no record")
    func endsWithQueuedDeletion() throws {
        try bed.create("Issue", .client(5), ["title": .string("mine")])
        try bed.complete(1, 99)
        try store.put("Issue", 5, ["title": .string("theirs")])
        let deletion = try #require(try bed.delete("Issue", 5).operation)
        #expect(throws: OutboxError.self) { try bed.delete("Issue", 5) }
        try bed.complete(deletion)
        #expect(throws: OutboxError.self) { try bed.delete("Issue", 5) }
        #expect(try store.record("Issue", 99) != nil && bed.counts.isEmpty)
    }

    @Test("a key that was replaced twice leads to its record after others have got the key between")
    func replacedTwice() throws {
        let issue = try bed.create("Issue").key
        let first = RecordKey(issue.components + [.int(7)]), second = RecordKey([.int(99), .int(7)])
        let third = RecordKey([.int(99), .int(9)])
        try bed.create("Comment", .client(first), ["text": .string("mine")])
        try bed.complete(1, 99)
        try bed.complete(2, third)
        #expect(try store.record("Comment", first)?.key == third && store.record("Comment", second)?.key == third)
        // The server's own record.
        try store.put("Comment", second, ["text": .string("theirs")])
        #expect(try store.record("Comment", second)?["text"] == .string("theirs"))
        #expect(try store.record("Comment", first)?["text"] == .string("mine"))
        #expect(try store.delete("Comment", second) == 1 && store.delete("Comment", second) == 0)
        #expect(try store.record("Comment", first)?["text"] == .string("mine"))
        #expect(try aliases == 2)
    }

    @Test(
        "a change by a key that was replaced twice is of its record also while the server has one with the key between")
    func changedByReplacedTwice() throws {
        let issue = try bed.create("Issue").key
        let first = RecordKey(issue.components + [.int(7)]), second = RecordKey([.int(99), .int(7)])
        let third = RecordKey([.int(99), .int(9)])
        try bed.create("Comment", .client(first), ["text": .string("mine")])
        try bed.complete(1, 99)
        try bed.complete(2, third)
        try store.put("Comment", second, ["text": .string("theirs")])
        #expect(try store.read { try $0.outbox.resolvedKey("Comment", first) } == third)
        #expect(try bed.update(first, ["text": .string("later")], "Comment").key == third)
        #expect(try store.record("Comment", second)?["text"] == .string("theirs"))
    }

    @Test("a key that another created record adopts keeps no older key that led to the record before")
    func adoptedByAnother() throws {
        let issue = try bed.create("Issue").key
        let first = RecordKey(issue.components + [.int(7)]), second = RecordKey([.int(99), .int(7)])
        let third = RecordKey([.int(99), .int(9)])
        try bed.create("Comment", .client(first), ["text": .string("mine")])
        try bed.complete(1, 99)
        try bed.complete(2, third)
        let other = try bed.create("Comment", .partial([.int(99), nil]), ["text": .string("other")]).key
        try bed.complete(3, second)
        #expect(try store.record("Comment", other)?["text"] == .string("other"))
        #expect(try store.record("Comment", second)?["text"] == .string("other"))
        #expect(try store.record("Comment", first)?["text"] == .string("mine"))
        #expect(try bed.update(first, ["text": .string("later")], "Comment").key == third)
        #expect(try store.delete("Comment", second) == 1)
        #expect(try store.record("Comment", first)?.key == third && store.record("Comment", other) == nil)
        #expect(try aliases == 3)
    }

    @Test("a created record whose chosen key the server gives to another one is sent as a record of its own")
    func displaced() throws {
        try bed.create("Issue", .client(5), ["title": .string("a")])
        try bed.create("Issue", .client(6), ["title": .string("b")])
        try bed.claim(1, 2)
        try bed.update(5, ["title": .string("later")])
        try bed.update(6, ["state": .string("closed")])
        #expect(try bed.complete(1, 6)?.isMerged == false)
        #expect(try store.record("Issue", 6)?["title"] == .string("later") && store.count("Issue") == 3)
        let own = try #require(try store.read { try $0.outbox.operation(2) })
        #expect(own.hasTemporaryKey && own.changes.map(\.name) == ["title"])
        try bed.complete(2, 7)
        #expect(try store.record("Issue", 7)?["title"] == .string("b"))
        #expect(try store.record("Issue", 7)?["state"] == .string("closed"))
        #expect(try store.record("Issue", 6)?["title"] == .string("later") && store.record("Issue", 5)?.key == 6)
        #expect(try bed.operations().map { $0.prefix(16) } == ["3 update Issue 6", "4 update Issue 7"])
        #expect(try bed.marks() == ["update Issue 6 title", "update Issue 7 state"])
    }

    @Test("the changes behind a created record that the server's answer has displaced have its temporary key")
    func changesOfDisplaced() throws {
        try bed.create("Issue", .client(5), ["title": .string("a")])
        try bed.create("Issue", .client(6), ["title": .string("b")])
        try bed.claim(1, 2)
        try bed.update(6, ["state": .string("closed")])
        try bed.complete(1, 6)
        let change = try #require(try store.read { try $0.outbox.operation(3) })
        #expect(change.key != 6 && change.hasTemporaryKey)
    }

    @Test("a key that another creation had got before the record was sent is reported as merged, and not as shared")
    func adoptedBefore() throws {
        let sent = Timestamp(microseconds: 2_000_000)
        try bed.create("Issue", .temporary, ["title": .string("a")])
        _ = try store.write { try $0.completeOperation(1, adopting: 99, at: Timestamp(microseconds: 1_000_000)) }
        try bed.create("Issue", .temporary, ["title": .string("b")])
        _ = try store.write { try $0.claimOperations([2], at: sent) }
        let completion = try #require(
            try store.write { try $0.completeOperation(2, adopting: 99, at: Timestamp(microseconds: 3_000_000)) })
        #expect(completion.isMerged && !completion.isShared)
    }

    @Test(
        "a created record that a response has brought is not displaced by another one with its key: both are that one")
    func broughtMeanwhile() throws {
        try bed.create("Issue", .client(5), ["title": .string("a")])
        try bed.create("Issue", .client(6), ["title": .string("b")])
        try bed.claim(1, 2)
        try bed.tell("Issue", 6, "title", .string("theirs"))
        #expect(try bed.complete(1, 6)?.isMerged == true)
        #expect(try store.count("Issue") == 2 && store.record("Issue", 5)?.key == 6)
        #expect(try store.read { try $0.outbox.operation(2) }?.hasTemporaryKey == false)
    }

    @Test("two creations that the server takes for one record become one, also without a key in the second answer")
    func sameRecord() throws {
        try bed.create("Issue", .client(5), ["title": .string("a")])
        try bed.create("Issue", .client(6), ["title": .string("b")])
        let sent = try bed.claim(1, 2)
        try bed.complete(1, 6)
        let second = try #require(sent.first { $0.id == 2 })
        let completion = try store.write { try $0.completeOperation(second) }
        #expect(completion?.key == 6 && completion?.isMerged == true)
        #expect(try store.record("Issue", 6) != nil && store.count("Issue") == 2)
        #expect(try bed.marks() == [] && bed.counts.isEmpty)
        #expect(try aliases == 2)
    }
}
