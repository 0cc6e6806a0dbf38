import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite("Outbox: members of relationships")
struct OutboxMembersTests {
    let bed: OutboxBed
    var store: Store { bed.store }

    init() throws { bed = try OutboxBed() }

    private func add(_ members: [RecordKey], _ relationship: String, _ entity: String, _ key: RecordKey) throws
        -> OutboxReceipt
    {
        try store.write { try $0.enqueueAdd(members, to: relationship, of: entity, key) }
    }

    private func remove(_ members: [RecordKey], _ relationship: String, _ entity: String, _ key: RecordKey) throws
        -> OutboxReceipt
    {
        try store.write { try $0.enqueueRemove(members, from: relationship, of: entity, key) }
    }

    @Test("members of a stored list: only the new ones are added; discarding restores the positions")
    func stored() throws {
        _ = try add(["bug", "new", "new"], "labels", "Issue", 17)
        #expect(try bed.operations() == ["1 add Issue 17 labels=[new]"])
        _ = try remove(["bug"], "labels", "Issue", 17)
        #expect(try store.related("Issue", 17, "labels") == ["new"])
        #expect(try bed.marks() == ["update Issue 17 labels"])
        #expect(try add(["new"], "labels", "Issue", 17).operation == nil)
        try bed.discard(2)
        #expect(try store.related("Issue", 17, "labels") == ["bug", "new"])
        try bed.discard(1)
        #expect(try store.related("Issue", 17, "labels") == ["bug"] && bed.marks() == [])
    }

    @Test(
        "a member that is added and removed, or removed and added: discarding both leaves the list as it was",
        arguments: [[1, 2], [2, 1]])
    func thereAndBack(_ order: [UInt64]) throws {
        _ = try add(["new"], "labels", "Issue", 17)
        _ = try remove(["new"], "labels", "Issue", 17)
        for id in order { try bed.discard(id) }
        #expect(try store.related("Issue", 17, "labels") == ["bug"] && bed.marks() == [])
        _ = try remove(["bug"], "labels", "Issue", 17)
        _ = try add(["bug"], "labels", "Issue", 17)
        for id in order { try bed.discard(id + 2) }
        #expect(try store.related("Issue", 17, "labels") == ["bug"] && bed.marks() == [])
        // Without a list before.
        try store.put("Issue", 18)
        _ = try add(["new"], "labels", "Issue", 18)
        _ = try remove(["new"], "labels", "Issue", 18)
        for id in order { try bed.discard(id + 4) }
        #expect(try store.record("Issue", 18)?["labels"] == nil && bed.marks() == [])
    }

    @Test("many members of a list have an operation each, and the list is written once")
    func eachOfList() throws {
        let new = (0..<60).map { RecordKey("label \($0)") }
        let token = try store.read { try $0.changeToken }
        _ = try store.write { try $0.enqueueEach(.add, new + ["bug", new[3]], of: "labels", "Issue", 17) }
        #expect(try bed.operations().count == 60)
        #expect(try store.related("Issue", 17, "labels") == ["bug"] + new)
        #expect(try store.read { try $0.changes(since: token).changes.count } == 1)
        let keys = try store.read { reader in
            var keys: Set<UUID> = []
            try reader.outbox.forEach { operation in
                keys.insert(operation.idempotencyKey)
                return true
            }
            return keys
        }
        #expect(keys.count == 60, "each request has an idempotency key of its own")
        // Each waits for the one before it, however many there are.
        #expect(try bed.waits(60) == bed.waits(2).map { $0.replacing("1", with: "59") })
        _ = try store.write { try $0.enqueueEach(.remove, Array(new[..<20]), of: "labels", "Issue", 17) }
        #expect(try store.related("Issue", 17, "labels") == ["bug"] + new[20...])
        for id in (61...80).reversed() { try bed.discard(UInt64(id)) }
        #expect(try store.related("Issue", 17, "labels") == ["bug"] + new)
        for id in (1...60).reversed() { try bed.discard(UInt64(id)) }
        #expect(try store.related("Issue", 17, "labels") == ["bug"] && bed.marks() == [])
    }

    @Test(
        "members that are queued together have the operations of members that are queued one by one",
        arguments: [("issues", "Repo", RecordKey(1)), ("reviews", "Issue", 17), ("issues", "Label", "bug")])
    func eachOfOthers(_ relationship: String, _ entity: String, _ key: RecordKey) throws {
        let one = try OutboxBed()
        for bed in [bed, one] {
            for id in 21...23 {
                try bed.store.put(relationship == "reviews" ? "Review" : "Issue", RecordKey(Int64(id)))
            }
        }
        _ = try store.write { try $0.enqueueEach(.add, [21, 22, 23], of: relationship, entity, key) }
        for member in [21, 22, 23] as [RecordKey] {
            try one.store.write { _ = try $0.enqueueAdd([member], to: relationship, of: entity, key) }
        }
        #expect(try bed.operations() == one.operations() && bed.marks() == one.marks())
        _ = try store.write { try $0.enqueueEach(.remove, [22, 21], of: relationship, entity, key) }
        for member in [22, 21] as [RecordKey] {
            try one.store.write { _ = try $0.enqueueRemove([member], from: relationship, of: entity, key) }
        }
        #expect(try bed.operations() == one.operations() && bed.marks() == one.marks())
        #expect(try store.related(entity, key, relationship) == one.store.related(entity, key, relationship))
    }

    @Test("changes of members of a new record, one operation each, know that its key is temporary")
    func eachOfNew() throws {
        for id in 21...22 { try store.put("Note", RecordKey(Int64(id))) }
        let issue = try bed.create("Issue").key
        try bed.claim(1)
        _ = try store.write { try $0.enqueueEach(.add, [21, 22], of: "notes", "Issue", issue) }
        let operations = try store.read { reader in try [2, 3].compactMap { try reader.outbox.operation($0) } }
        #expect(operations.map(\.hasTemporaryKey) == [true, true])
    }

    @Test("the operation of one of many members is discarded alone: the others stay", arguments: [true, false])
    func oneOfEach(isList: Bool) throws {
        for id in 21...23 { try store.put("Note", RecordKey(Int64(id)), ["issue": .reference(17)]) }
        try store.put("Issue", 18)
        let members: [RecordKey] = isList ? ["a", "b", "c"] : [21, 22, 23], relationship = isList ? "labels" : "notes"
        _ = try store.write { try $0.enqueueEach(.add, members, of: relationship, "Issue", 18) }
        try bed.discard(2)
        #expect(try store.related("Issue", 18, relationship) == [members[0], members[2]])
        try bed.complete(1)
        #expect(try bed.marks() == [isList ? "update Issue 18 labels" : "update Note 23 issue"])
    }

    @Test("members that a later change has sent leave an earlier dead one; a retry withdraws it without any")
    func overtaken() throws {
        func removeAndSend(_ member: RecordKey) throws {
            let id = try #require(try remove([member], "labels", "Issue", 17).operation)
            try store.write { writer in
                try writer.dropOvertakenChanges(by: id)
                _ = try writer.completeOperation(id)
            }
        }
        _ = try add(["new", "other"], "labels", "Issue", 17)
        try bed.bury(1)
        try removeAndSend("new")
        #expect(try bed.operations() == ["1 add Issue 17 labels=[other]"])
        #expect(try store.related("Issue", 17, "labels") == ["bug", "other"])
        #expect(try bed.marks() == ["update Issue 17 labels"])
        try removeAndSend("other")
        #expect(try bed.marks() == [] && bed.counts.dead == 1)
        #expect(try store.write { try $0.retryOperation(1) } == nil)
        #expect(try store.related("Issue", 17, "labels") == ["bug"] && bed.counts.isEmpty)
    }

    /// Completes an operation as a drain does.
    private func send(_ id: UInt64?) throws {
        let id = try #require(id)
        try store.write { writer in
            try writer.dropOvertakenChanges(by: id)
            _ = try writer.completeOperation(id)
        }
    }

    @Test("a member that a later change has moved elsewhere leaves an earlier dead addition", arguments: [true, false])
    func movedBehindDead(isAddition: Bool) throws {
        for id: Int64 in [18, 19] { try store.put("Issue", RecordKey(id)) }
        for id: Int64 in [3, 4] { try store.put("Note", RecordKey(id), ["issue": .reference(17)]) }
        _ = try add([3, 4], "notes", "Issue", 18)
        try bed.bury(1)
        try send(
            isAddition
                ? add([3], "notes", "Issue", 19).operation
                : bed.update(3, ["issue": .reference(19)], "Note").operation)
        #expect(try bed.operations() == ["1 add Issue 18 notes=[4]"] && bed.marks() == ["update Note 4 issue"])
        #expect(try store.write { try $0.retryOperation(1) } != nil)
        #expect(try store.related("Issue", 19, "notes") == [3] && store.related("Issue", 18, "notes") == [4])
        try bed.discard(1)
        #expect(try store.related("Issue", 17, "notes") == [4] && bed.marks() == [])
    }

    @Test("a reference that a later addition has sent leaves an earlier dead update of the member")
    func movedBehindDeadUpdate() throws {
        for id: Int64 in [18, 19] { try store.put("Issue", RecordKey(id)) }
        try store.put("Note", 3, ["issue": .reference(17), "text": .string("a")])
        try bed.update(3, ["issue": .reference(18), "text": .string("b")], "Note")
        try bed.claim(1)
        try bed.bury(1)
        try send(add([3], "notes", "Issue", 19).operation)
        #expect(try bed.operations() == ["1 update Note 3 text:a>b"] && bed.marks() == ["update Note 3 text"])
        #expect(try store.record("Note", 3)?["issue"] == .reference(19))
    }

    @Test("an update of the whole list takes the members out of an earlier dead addition")
    func replacedBehindDead() throws {
        _ = try add(["new", "other"], "labels", "Issue", 17)
        try bed.bury(1)
        try send(bed.update(17, ["labels": .references(["bug", "last"])]).operation)
        #expect(try bed.operations() == ["1 add Issue 17 labels=[]"] && bed.marks() == [])
        #expect(try store.write { try $0.retryOperation(1) } == nil)
        #expect(try store.related("Issue", 17, "labels") == ["bug", "last"] && bed.counts.isEmpty)
    }

    @Test(
        "responses with a record that an operation of another one has changed cannot be confirmed once that is done",
        arguments: [true, false])
    func changedByAnother(isDeletion: Bool) throws {
        try store.put("Issue", 18)
        try store.put("Note", 3, ["issue": .reference(17)])
        let request = RequestKey(url: "https://api.example.org/notes/3", endpoint: "note:1", authScope: "")
        let listed = try store.read { reader in
            ListedRecord(entity: try #require(reader.catalog.entity("Note")?.root), storageKey: RecordKey(3).storageKey)
        }
        let entry = ResponseEntry(
            request: request,
            validation: .init(status: 200, headers: ["ETag", "v1"], fetchedAt: .now, validatedAt: .now),
            listing: .init([listed], count: 1, metadata: nil, scan: 1))
        try store.write { try $0.putResponse(entry) }
        func versions() throws -> [[String]] {
            try store.read { reader in
                let view = try #require(try reader.access.responses.view(request.digest))
                return [view.headers, try reader.access.responses.version(of: view)]
            }
        }
        if isDeletion {
            try bed.delete("Issue", 17)
            // Here alone, the record at the server is still the version that is known.
            #expect(try versions() == [[], ["ETag", "v1"]])
        } else {
            _ = try add([3], "notes", "Issue", 18)
            #expect(try versions() == [["ETag", "v1"], ["ETag", "v1"]])
        }
        try send(1)
        #expect(try versions() == (isDeletion ? [[], []] : [[], ["ETag", "v1"]]))
    }

    @Test("members that a response has brought meanwhile are visible once the operations are done")
    func membersOfOthers() throws {
        _ = try add(["new"], "labels", "Issue", 17)
        _ = try remove(["bug"], "labels", "Issue", 17)
        try bed.tell("Issue", 17, "labels", .references(["bug", "theirs"]))
        try bed.complete(1)
        #expect(try store.related("Issue", 17, "labels") == ["new"])
        try bed.complete(2)
        #expect(try store.related("Issue", 17, "labels") == ["theirs", "new"])
        #expect(try bed.marks() == [] && bed.counts.isEmpty)
    }

    @Test("members that a response has brought meanwhile are not in the list twice once their addition is done")
    func membersOfBoth() throws {
        _ = try add(["new", "other"], "labels", "Issue", 17)
        _ = try add(["last", "theirs"], "labels", "Issue", 17)
        try bed.tell("Issue", 17, "labels", .references(["bug", "new", "theirs"]))
        try bed.complete(1)
        try bed.complete(2)
        #expect(try store.related("Issue", 17, "labels") == ["bug", "new", "theirs", "other", "last"])
    }

    @Test("a member that another client has moved meanwhile is not taken out of its new record")
    func movedMember() throws {
        try store.put("Note", 3, ["issue": .reference(17)])
        try store.put("Note", 4, ["issue": .reference(17)])
        try store.put("Issue", 18)
        _ = try remove([3, 4], "notes", "Issue", 17)
        try bed.tell("Note", 3, "issue", .reference(18))
        try bed.tell("Note", 4, "issue", .reference(17))
        try bed.complete(1)
        #expect(try store.record("Note", 3)?["issue"] == .reference(18))
        #expect(try store.record("Note", 4)?["issue"] == .null)
        #expect(try bed.marks() == [] && bed.counts.isEmpty)
    }

    @Test("a long list in the edge table")
    func edges() throws {
        let many = (0..<400).map { RecordKey("label \($0)") }
        try store.put("Issue", 17, ["labels": .references(many)])
        _ = try remove([many[3], many[200]], "labels", "Issue", 17)
        _ = try add(["last"], "labels", "Issue", 17)
        #expect(try store.related("Issue", 17, "labels").count == 399)
        #expect(try bed.waits(2) == ["1 sameRecord"])
        try bed.discard(1)
        #expect(try store.related("Issue", 17, "labels") == many + ["last"])
        try bed.complete(2)
        #expect(try bed.marks() == [])
    }

    @Test("members of a derived side: their references change and are marked, in either order")
    func derived() throws {
        try store.put("Note", 3, ["issue": .reference(17)])
        try store.put("Issue", 18)
        try store.put("Note", 4)
        _ = try add([3, 4], "notes", "Issue", 18)
        #expect(try store.related("Issue", 18, "notes") == [3, 4] && store.related("Issue", 17, "notes") == [])
        #expect(try bed.marks() == ["update Note 3 issue", "update Note 4 issue"])
        #expect(try bed.operations() == ["1 add Issue 18 notes=[3, 4]"])
        _ = try remove([3], "notes", "Issue", 18)
        #expect(try bed.waits(2) == ["1 sameRecord"])
        // The other operation continues from the value before the discarded one.
        try bed.discard(1)
        #expect(try store.record("Note", 3)?["issue"] == .null && store.record("Note", 4)?["issue"] == nil)
        #expect(try bed.marks() == ["update Note 3 issue"])
        try bed.discard(2)
        #expect(try store.record("Note", 3)?["issue"] == .reference(17) && bed.marks() == [])
    }

    @Test("an ordered derived side gets new members at its end")
    func ordered() throws {
        let board = try bed.create("Board").key
        try store.put("Issue", 5)
        _ = try add([17], "cards", "Board", board)
        _ = try add([5], "cards", "Board", board)
        #expect(try store.related("Board", board, "cards") == [17, 5])
        try bed.discard(2)
        #expect(try store.related("Board", board, "cards") == [5])
    }

    @Test("joined members get and lose the attribute")
    func joined() throws {
        try store.put("Review", 8)
        _ = try add([8], "reviews", "Issue", 17)
        #expect(try store.record("Review", 8)?["issueID"] == .int(17) && store.related("Issue", 17, "reviews") == [8])
        #expect(try bed.marks() == ["update Review 8 issueID"])
        try bed.complete(1)
        _ = try remove([8], "reviews", "Issue", 17)
        #expect(try store.record("Review", 8)?["issueID"] == .null)
        try bed.discard(2)
        #expect(try store.record("Review", 8)?["issueID"] == .int(17) && bed.marks() == [])
    }

    @Test("members that a later change has sent leave an earlier dead one with their references, of one relationship")
    func overtakenReferences() throws {
        try store.put("Issue", 18)
        for note: RecordKey in [3, 4] { try store.put("Note", note, ["issue": .reference(18)]) }
        try store.put("Note", 8, ["issue": .reference(17)])
        try store.put("Review", 8)
        _ = try add([3, 4], "notes", "Issue", 17)
        _ = try add([8], "reviews", "Issue", 17)
        for id: UInt64 in [1, 2] { try bed.bury(id) }
        for note: RecordKey in [3, 8] {
            let id = try #require(try remove([note], "notes", "Issue", 17).operation)
            try store.write { writer in
                try writer.dropOvertakenChanges(by: id)
                _ = try writer.completeOperation(id)
            }
        }
        #expect(try bed.operations() == ["1 add Issue 17 notes=[4]", "2 add Issue 17 reviews=[8]"])
        #expect(try bed.marks() == ["update Note 4 issue", "update Review 8 issueID"])
    }

    @Test("what is no to-many relationship, or a part of a key, is refused")
    func refused() throws {
        #expect(throws: OutboxError.notToMany(entity: "Issue", relationship: "repo")) {
            try add([1], "repo", "Issue", 17)
        }
        #expect(throws: StoreError.self) { try add([1], "nothing", "Issue", 17) }
        try store.put("Comment", RecordKey([.int(17), .int(1)]))
        #expect(throws: OutboxError.self) {
            try remove([RecordKey([.int(17), .int(1)])], "comments", "Issue", 17)
        }
        #expect(try bed.operations() == [])
    }
}
