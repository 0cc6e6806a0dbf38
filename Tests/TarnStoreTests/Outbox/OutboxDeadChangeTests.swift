// Dead operations between others of the same record: what waits, and what a sent one replaces.

import TestSupport
import Testing

@testable import TarnStore

@Suite("Outbox: dead operations between others")
struct OutboxDeadChangeTests {
    let bed: OutboxBed
    var store: Store { bed.store }

    init() throws { bed = try OutboxBed() }

    /// Completes an operation as a drain does.
    private func send(_ id: UInt64) throws {
        try store.write { writer in
            try writer.dropOvertakenChanges(by: id)
            _ = try writer.completeOperation(id)
        }
    }

    @Test("behind a dead operation of the record, an operation waits for an earlier one that is not dead")
    func waitsPastDead() throws {
        try bed.update(17, ["title": .string("first")])
        try bed.claim(1)
        try bed.update(17, ["state": .string("closed")])
        try bed.bury(2)
        try bed.update(17, ["title": .string("last")])
        #expect(try bed.waits(3) == ["1 sameRecord"])
    }

    @Test("an earlier operation that is retried and sent takes nothing out of a later dead one")
    func laterDead() throws {
        try bed.update(17, ["title": .string("first")])
        try bed.bury(1)
        try bed.update(17, ["title": .string("last")])
        try bed.bury(2)
        #expect(try store.write { try $0.retryOperation(1) } != nil)
        try send(1)
        #expect(try bed.operations() == ["2 update Issue 17 title:first>last"])
        #expect(try bed.marks() == ["update Issue 17 title"])
        #expect(try store.write { try $0.retryOperation(2) } != nil, "the later change is sent as well")
    }

    @Test("an operation that was retried while a later one was sent keeps its changes, which are sent again")
    func retriedMeanwhile() throws {
        try bed.update(17, ["title": .string("first")])
        try bed.bury(1)
        try bed.update(17, ["title": .string("last")])
        try bed.claim(2)
        #expect(try store.write { try $0.retryOperation(1) } != nil)
        // A dead operation of another record: without any, no changes are looked for.
        try bed.update("bug", ["color": .string("blue")], "Label")
        try bed.bury(3)
        try send(2)
        #expect(try bed.operations().first == "1 update Issue 17 title:old>first")
        #expect(try bed.marks().contains("update Issue 17 title"))
    }

    @Test("a member that a later change has taken out of a list leaves an earlier dead change of the other side")
    func listOfOtherSide() throws {
        try store.put("Issue", 18)
        try store.put("Label", "new")
        _ = try store.write { try $0.enqueueAdd([17, 18], to: "issues", of: "Label", "new") }
        try bed.bury(1)
        let removal = try store.write { try $0.enqueueRemove(["new"], from: "labels", of: "Issue", 17) }
        try send(#require(removal.operation))
        #expect(try bed.operations() == ["1 add Label new issues=[18]"])
        #expect(try bed.marks() == ["update Issue 18 labels"])
    }

    @Test("a dead change of members of a record that was deleted and created again is rolled back in its members")
    func membersOfEarlierRecord() throws {
        try store.put("Issue", 18)
        for review: Int64 in [7, 8] { try store.put("Review", RecordKey(review), ["issueID": .int(17)]) }
        _ = try store.write { try $0.enqueueAdd([7, 8], to: "reviews", of: "Issue", 18) }
        try bed.bury(1)
        try bed.delete("Issue", 18)
        try send(2)
        #expect(try bed.operations() == ["1 add Issue 18 reviews=[7, 8]"])
        try bed.create("Issue", .client(18), ["title": .string("another")])
        try send(3)
        #expect(try bed.operations() == ["1 add Issue 18 reviews=[]"])
        #expect(try store.related("Issue", 17, "reviews") == [7, 8] && store.related("Issue", 18, "reviews") == [])
        #expect(try bed.marks() == [])
    }

    @Test("a dead update of a record that was deleted and created again loses its fields, and so does the mark")
    func updateOfEarlierRecord() throws {
        try bed.update(17, ["title": .string("mine")])
        try bed.bury(1)
        try bed.delete("Issue", 17)
        try send(2)
        try bed.create("Issue", .client(17), ["title": .string("another")])
        try bed.claim(3)
        try bed.update(17, ["state": .string("closed")])
        try send(3)
        #expect(try bed.operations() == ["1 update Issue 17", "4 update Issue 17 state:->closed"])
        #expect(try bed.marks() == ["update Issue 17 state"])
        #expect(try store.write { try $0.retryOperation(1) } == nil)
        #expect(try store.record("Issue", 17)?["title"] == .string("another"))
    }
}
