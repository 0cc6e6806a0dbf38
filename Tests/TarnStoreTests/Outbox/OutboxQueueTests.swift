import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite("Outbox: queueing")
struct OutboxQueueTests {
    let bed: OutboxBed
    var store: Store { bed.store }

    init() throws { bed = try OutboxBed() }

    @Test("an update is visible at once, marked and queued with the values before; an equal value is not")
    func update() throws {
        let receipt = try bed.update(17, ["title": .string("new"), "state": .string("open")])
        #expect(receipt.operation == 1 && !receipt.isFolded)
        #expect(try store.record("Issue", 17)?["title"] == .string("new"))
        #expect(try bed.operations() == ["1 update Issue 17 title:old>new"])
        #expect(try bed.marks() == ["update Issue 17 title"])
        #expect(try bed.update(17, ["title": .string("new")]).operation == nil)
        // Absent and null are different.
        try bed.update(17, ["sku": .null], options: "x")
        #expect(try bed.operations().last == "2 update Issue 17 sku:->null")
        #expect(try bed.counts.pending == 2)
    }

    @Test("updates fold into the last unsent operation of the record, and vanish if everything is as before")
    func folding() throws {
        try bed.update(17, ["title": .string("a")])
        let receipt = try bed.update(17, ["title": .string("b"), "state": .string("closed")])
        #expect(receipt.isFolded && receipt.operation == 1)
        #expect(try bed.operations() == ["1 update Issue 17 title:old>b state:open>closed"])
        try bed.update(17, ["title": .string("old")])
        #expect(try bed.operations() == ["1 update Issue 17 state:open>closed"])
        #expect(try bed.marks() == ["update Issue 17 state"])
        let last = try bed.update(17, ["state": .string("open")])
        #expect(last.operation == nil && last.withdrawn.map(\.id) == [1])
        #expect(try bed.operations() == [] && bed.marks() == [] && bed.counts.isEmpty)
        // Ids are not used again.
        #expect(try bed.update(17, ["title": .string("c")]).operation == 2)
    }

    @Test("a change that is taken back stays queued if a response has brought another value since")
    func takenBack() throws {
        try bed.update(17, ["title": .string("a"), "state": .string("closed")])
        try bed.tell("Issue", 17, "title", .string("theirs"))
        try bed.tell("Issue", 17, "state", .string("open"))
        let receipt = try bed.update(17, ["title": .string("old"), "state": .string("open")])
        // The server still has the state.
        #expect(receipt.operation == 1 && receipt.isFolded)
        #expect(try bed.operations() == ["1 update Issue 17 title:old>old"] && bed.marks() == ["update Issue 17 title"])
        #expect(try store.record("Issue", 17)?["title"] == .string("old"))
        try bed.discard(1)
        #expect(try store.record("Issue", 17)?["title"] == .string("theirs") && bed.marks() == [])
    }

    @Test("a change that is taken back to the value of an operation before it is withdrawn, whatever was told since")
    func takenBackToEarlier() throws {
        try bed.update(17, ["title": .string("a")])
        try bed.claim(1)
        try bed.update(17, ["title": .string("b")])
        // The operation before it replaces this value, or does not, by the conflict policy.
        try bed.tell("Issue", 17, "title", .string("theirs"))
        #expect(try bed.update(17, ["title": .string("a")]).withdrawn.map(\.id) == [2])
        try store.write { try $0.releaseOperations([1]) }
        #expect(try bed.operations() == ["1 update Issue 17 title:old>a"] && bed.marks() == ["update Issue 17 title"])
    }

    @Test("nothing folds into what was claimed, has other options, or is older than a creation it refers to")
    func noFolding() throws {
        try bed.update(17, ["title": .string("a")])
        try bed.claim(1)
        #expect(try bed.update(17, ["title": .string("b")]).operation == 2)
        try store.write { try $0.releaseOperations([1]) }
        #expect(try bed.update(17, ["title": .string("c")], options: "{}").operation == 3)
        let made = try bed.create("Repo")
        #expect(try bed.update(17, ["repo": .reference(made.key)], options: "{}").operation == 5)
        #expect(try bed.waits(5) == ["3 sameRecord", "4 creation"])
        #expect(
            try bed.operations().filter { $0.contains("title") } == [
                "1 update Issue 17 title:old>a", "2 update Issue 17 title:a>b", "3 update Issue 17 title:b>c",
            ])
    }

    @Test("a creation has a temporary key for every form of key, and updates fold into it")
    func create() throws {
        let issue = try bed.create("Issue", .temporary, ["title": .string("t")])
        #expect(issue.key == RecordKey(Int64.min + 1))
        #expect(try store.record("Issue", issue.key)?["title"] == .string("t"))
        try bed.update(issue.key, ["title": .string("u")])
        #expect(try bed.operations() == ["1 create Issue \(Int64.min + 1) title:->u"])
        #expect(try bed.marks() == ["create Issue \(Int64.min + 1) "])
        guard case .string(let name)? = try bed.create("Label").key.components.first else {
            Issue.record("no text")
            return
        }
        #expect(name.hasPrefix("tarn:new:"))
        guard case .uuid? = try bed.create("Board").key.components.first else {
            Issue.record("no UUID")
            return
        }
        let comment = try bed.create("Comment", .temporary, ["issue": .reference(issue.key), "text": .string("c")])
        #expect(comment.key.components == issue.key.components + [.int(Int64.min + 2)])
        #expect(try bed.waits(4) == ["1 creation"])
        let reaction = try bed.create("Reaction", .partial(comment.key.components.map(Optional.some) + [.string("+1")]))
        #expect(try bed.store.read { try $0.outbox.operation(5)?.hasTemporaryKey } == false)
        #expect(try bed.waits(5) == ["4 creation"])
        #expect(reaction.key.components.count == 3)
        #expect(throws: OutboxError.recordExists(entity: "Issue", key: "17")) {
            try bed.create("Issue", .client(17))
        }
    }

    @Test("a deletion withdraws unsent updates, and an unsent creation with its own operations and owned records")
    func delete() throws {
        try bed.update(17, ["title": .string("a")])
        let receipt = try bed.delete("Issue", 17)
        #expect(receipt.operation == 2 && receipt.withdrawn.map(\.id) == [1])
        #expect(try store.record("Issue", 17) == nil && bed.marks() == ["delete Issue 17 "])
        #expect(try bed.store.read { try $0.outbox.operation(2)?.deleted?["title"] } == .string("old"))
        let made = try bed.create("Issue", .temporary, ["repo": .reference(1)])
        try bed.create("Comment", .temporary, ["issue": .reference(made.key)])
        try store.put("Note", 3, ["text": .string("n")])
        _ = try store.write { try $0.enqueueAdd([3], to: "notes", of: "Issue", made.key) }
        let vanished = try bed.delete("Issue", made.key)
        #expect(vanished.operation == nil && vanished.withdrawn.map(\.id) == [3, 4, 5])
        #expect(try store.count("Comment") == 0 && store.count("Issue") == 0)
        #expect(try store.record("Note", 3)?["issue"] == nil)
        #expect(try bed.operations() == ["2 delete Issue 17"] && bed.marks() == ["delete Issue 17 "])
        #expect(throws: OutboxError.recordMissing(entity: "Issue", key: "99")) { try bed.delete("Issue", 99) }
    }

    @Test("an update that loses its reference to a record that was never sent has the version that was known")
    func versionOfReleased() throws {
        try store.putResponse(listing: "Issue", 17, tag: "v1")
        let made = try bed.create("Issue", .temporary, ["title": .string("t")])
        try bed.update(17, ["title": .string("mine"), "parent": .reference(made.key)])
        #expect(try bed.delete("Issue", made.key).changed.map(\.id) == [2])
        #expect(try bed.operations() == ["2 update Issue 17 title:old>mine"])
        let versions = try store.versions(listing: "Issue", 17)
        #expect(versions.confirmed == [] && versions.written == ["etag", "v1"])
    }

    @Test("operations of other records lose their references to a deleted record that was never sent, and stay")
    func deleteReferenced() throws {
        let made = try bed.create("Issue", .temporary, ["title": .string("t")])
        try bed.update(17, ["title": .string("mine"), "parent": .reference(made.key)])
        let note = try bed.create("Note", .temporary, ["text": .string("n"), "issue": .reference(made.key)])
        try store.put("Issue", 18, ["title": .string("other")])
        try bed.update(18, ["parent": .reference(made.key)])
        let receipt = try bed.delete("Issue", made.key)
        #expect(receipt.operation == nil && receipt.withdrawn.map(\.id).sorted() == [1, 4])
        #expect(receipt.changed.map(\.id).sorted() == [2, 3])
        #expect(
            try bed.operations() == [
                "2 update Issue 17 title:old>mine", "3 create Note \(note.key) text:->n",
            ])
        #expect(try store.record("Issue", 17)?["title"] == .string("mine"))
        #expect(try store.record("Issue", 17)?["parent"] == nil && store.record("Issue", 18)?["parent"] == nil)
        #expect(try store.record("Note", note.key)?["text"] == .string("n"))
        #expect(try store.record("Note", note.key)?["issue"] == nil)
        #expect(try bed.marks() == ["create Note \(note.key) ", "update Issue 17 title"])
        #expect(try bed.waits(2).isEmpty && bed.waits(3).isEmpty)
    }

    @Test("records that a delete rule deletes with a new record are withdrawn; lists lose it as a member")
    func deleteReferencedByRule() throws {
        let repo = try bed.create("Repo", .temporary, ["name": .string("new")])
        try bed.create("Issue", .temporary, ["repo": .reference(repo.key)])
        try bed.update(17, ["repo": .reference(repo.key), "state": .string("closed")])
        let receipt = try bed.delete("Repo", repo.key)
        #expect(receipt.withdrawn.map(\.id) == [1, 2] && receipt.changed.map(\.id) == [3])
        #expect(try bed.operations() == ["3 update Issue 17 state:open>closed"])
        #expect(try store.record("Issue", 17)?["repo"] == .reference(1) && store.count("Issue") == 1)

        let label = try bed.create("Label", .client("new"), ["color": .string("red")])
        try bed.update(17, ["labels": .references(["bug", "new"])])
        try bed.delete("Label", label.key)
        #expect(try store.record("Issue", 17)?["labels"] == .references(["bug"]))
        #expect(try bed.operations() == ["3 update Issue 17 state:open>closed"])
    }

    @Test("a new record that an update has moved to a later one is withdrawn with that by a delete rule")
    func deleteMovedByRule() throws {
        let issue = try bed.create("Issue", .temporary, ["repo": .reference(1)])
        let repo = try bed.create("Repo", .temporary, ["name": .string("new")])
        try bed.update(issue.key, ["repo": .reference(repo.key)])
        #expect(try bed.counts.pending == 3)
        let receipt = try bed.delete("Repo", repo.key)
        #expect(receipt.operation == nil && receipt.withdrawn.map(\.id).sorted() == [1, 2, 3])
        #expect(try store.count("Issue") == 1 && store.count("Repo") == 1)
        #expect(try bed.marks() == [] && bed.counts.isEmpty)
    }

    @Test("new records to which a deleted new record leads by a delete rule are withdrawn with it; others stay")
    func deleteTargetsByRule() throws {
        let schema = Schema([
            EntityDefinition(
                "Box", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                relationships: [
                    RelationshipDefinition("lid", to: "Part", onDelete: .cascade),
                    RelationshipDefinition("parts", to: "Part", many: true, ordered: true, onDelete: .cascade),
                ]),
            EntityDefinition(
                "Part", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                relationships: [RelationshipDefinition("screws", to: "Part", many: true, onDelete: .cascade)]),
        ])
        let folder = try TemporaryFolder()
        let bed = OutboxBed(folder, try Store.open(at: folder("s"), schema: schema, options: Forge.quick))
        try bed.store.put("Part", 5)
        let screw = try bed.create("Part").key
        let part = try bed.create("Part", .temporary, ["screws": .references([screw])]).key
        let sending = try bed.create("Part").key, lid = try bed.create("Part").key
        try bed.claim(3)
        let parts: [RecordKey] = [5, part, sending]
        let box = try bed.create("Box", .temporary, ["lid": .reference(lid), "parts": .references(parts)]).key
        let receipt = try bed.delete("Box", box)
        #expect(receipt.operation == nil && receipt.withdrawn.map(\.id).sorted() == [1, 2, 4, 5])
        #expect(try bed.operations() == ["3 create Part \(sending)"])
        #expect(try bed.store.count("Part") == 2 && bed.store.count("Box") == 0)
        #expect(try bed.marks() == ["create Part \(sending) "])
    }

    @Test("fields that a later operation has sent leave an earlier dead update; a retry withdraws it without any")
    func overtaken() throws {
        func complete(_ id: UInt64) throws {
            try bed.claim(id)
            try store.write { writer in
                try writer.dropOvertakenChanges(by: id)
                _ = try writer.completeOperation(id)
            }
        }
        try bed.update(17, ["title": .string("a"), "state": .string("closed")])
        try bed.claim(1)
        try bed.bury(1)
        try bed.update(17, ["title": .string("b")])
        try complete(2)
        #expect(try bed.operations() == ["1 update Issue 17 state:open>closed"])
        #expect(try bed.marks() == ["update Issue 17 state"])
        try bed.update(17, ["state": .string("gone")])
        try complete(3)
        #expect(try bed.operations() == ["1 update Issue 17"] && bed.marks() == [] && bed.counts.dead == 1)
        #expect(try store.write { try $0.retryOperation(1) } == nil)
        #expect(try bed.operations() == [] && bed.marks() == [] && bed.counts.dead == 0)
        #expect(try store.record("Issue", 17)?["state"] == .string("gone"))
    }

    @Test("a dead deletion whose record was created again since is withdrawn by a retry")
    func recreated() throws {
        try bed.delete("Repo", 1)
        try bed.bury(1)
        #expect(try store.record("Issue", 17) == nil)
        try bed.create("Repo", .client(1), ["name": .string("again")])
        try store.write { writer in
            try writer.dropOvertakenChanges(by: 2)
            _ = try writer.completeOperation(2)
        }
        #expect(try store.read { try $0.outbox.operation(1) }?.failure?.kind == "recreated")
        #expect(try bed.marks() == ["delete Issue 17 "])
        #expect(try store.write { try $0.retryOperation(1) } == nil)
        // The server has never deleted the issue.
        #expect(try store.record("Issue", 17)?["title"] == .string("old"))
        #expect(try store.record("Repo", 1)?["name"] == .string("again"))
        #expect(try bed.marks() == [] && bed.counts.isEmpty)
    }

    @Test("dead changes of a record that was deleted and created again are withdrawn by a retry")
    func earlierRecord() throws {
        try bed.update(17, ["title": .string("a"), "parent": .reference(17)])
        try store.put("Note", 3)
        _ = try store.write { try $0.enqueueAdd([3], to: "notes", of: "Issue", 17) }
        for id in [1, 2] as [UInt64] {
            try bed.claim(id)
            try bed.bury(id)
        }
        try bed.delete("Issue", 17)
        try bed.complete(3)
        try bed.create("Issue", .client(17), ["title": .string("again")])
        try store.write { writer in
            try writer.dropOvertakenChanges(by: 4)
            _ = try writer.completeOperation(4)
        }
        #expect(try bed.operations() == ["1 update Issue 17", "2 add Issue 17 notes=[]"])
        #expect(try bed.marks() == [])
        for id in [1, 2] as [UInt64] { #expect(try store.write { try $0.retryOperation(id) } == nil) }
        let record = try #require(try store.record("Issue", 17))
        #expect(record["title"] == .string("again") && record["parent"] == nil)
        #expect(try store.related("Issue", 17, "notes") == [])
        #expect(try bed.marks() == [] && bed.counts.isEmpty)
    }

    @Test("dead changes of a deleted record are withdrawn by a retry once the server has assigned its key again")
    func assignedAgain() throws {
        try bed.update(17, ["title": .string("a")])
        try bed.claim(1)
        try bed.bury(1)
        try bed.delete("Issue", 17)
        try bed.complete(2)
        let made = try bed.create("Issue", .temporary, ["title": .string("new")]).key
        try bed.complete(3, 17)
        #expect(try bed.operations() == ["1 update Issue 17"] && bed.marks() == [])
        #expect(try store.write { try $0.retryOperation(1) } == nil)
        #expect(try store.record("Issue", made)?["title"] == .string("new") && bed.counts.isEmpty)
    }

    @Test("a record that is deleted with a mark while its creation is queued stays deleted once that is sent")
    func deletedWithMark() throws {
        let made = try bed.create("Issue", .temporary, ["title": .string("mine")]).key
        #expect(try store.write { try $0.deleteLocally("Issue", made) })
        #expect(try bed.marks() == ["delete Issue \(made) "])
        try bed.complete(1, 99)
        #expect(try bed.marks() == ["delete Issue 99 "] && store.record("Issue", 99) == nil && bed.counts.isEmpty)
        let other = try bed.create("Issue").key
        #expect(try store.write { try $0.deleteLocally("Issue", other) })
        try bed.discard(2)
        #expect(try bed.marks() == ["delete Issue 99 "])
    }

    @Test(
        "a record that a query deletes while its creation is queued stays deleted once that is sent",
        arguments: ["Issue", "Note"])
    func deletedByQueryWithMark(_ entity: String) throws {
        let made = try bed.create(entity).key, query = Query(entity, where: .compare("id", .less, .int(0)))
        #expect(try store.deleteLocally(query).changed == 1)
        #expect(try bed.marks() == ["delete \(entity) \(made) "])
        try bed.complete(1, 99)
        #expect(try bed.marks() == ["delete \(entity) 99 "] && store.record(entity, 99) == nil && bed.counts.isEmpty)
    }

    @Test("a record that is stored with a mark while its deletion is queued stays once that is sent or discarded")
    func storedWithMark() throws {
        func store(_ title: String) throws {
            try self.store.write { try $0.putLocally("Issue", 17, [Record.Field("title", .string(title))]) }
        }
        try bed.delete("Issue", 17)
        try store("again")
        try bed.discard(1)
        #expect(try self.store.record("Issue", 17)?["title"] == .string("again"))
        #expect(try bed.marks() == ["update Issue 17 "])
        try bed.delete("Issue", 17)
        try store("once more")
        try bed.complete(2)
        #expect(try self.store.record("Issue", 17)?["title"] == .string("once more"))
        #expect(try bed.marks() == ["create Issue 17 "] && bed.counts.isEmpty)
    }

    @Test(
        "a record that is stored and changed while its deletion is queued has the mark of the change once that is sent")
    func storedAndChanged() throws {
        try bed.delete("Issue", 17)
        try store.write { try $0.putLocally("Issue", 17, [Record.Field("title", .string("again"))]) }
        try bed.update(17, ["state": .string("closed")])
        try bed.complete(1)
        #expect(try bed.marks().map { $0.prefix(15) } == ["update Issue 17"])
    }

    @Test("a wait that was noted while the clock was ahead is over")
    func clockAhead() throws {
        let year: Int64 = 365 * 86_400 * 1_000_000, now = Timestamp.now
        let ahead = Timestamp(microseconds: now.microseconds + year)
        let end = Timestamp(microseconds: ahead.microseconds + 1_000_000)
        try bed.update(17, ["title": .string("x")])
        _ = try store.write { writer in
            _ = try writer.claimOperations([1], at: ahead)
            return try writer.retryOperationLater(1, notBefore: end, OutboxFailure(kind: "connection", message: "no"))
        }
        #expect(try store.read { try $0.outbox.entry(1, now: ahead) }?.isReady == false)
        #expect(try store.read { try $0.outbox.nextBackOff(after: ahead) } == end)
        #expect(try store.read { try $0.outbox.entry(1, now: now) }?.isReady == true)
        #expect(try store.read { try $0.outbox.nextBackOff(after: now) } == nil)
    }

    @Test(
        "a retry after a refusal of the record's version has a new key; after others, and for a creation, it has the same",
        arguments: [409, 412, 422, 428])
    func retryKey(status: Int) throws {
        try bed.update(17, ["title": .string("x")])
        try bed.create("Issue")
        for id: UInt64 in [1, 2] {
            let key = try #require(try bed.claim(id).first).idempotencyKey
            try store.write {
                _ = try $0.buryOperation(id, OutboxFailure(kind: "refused", status: status, message: "no"))
            }
            let retried = try #require(try store.write { try $0.retryOperation(id) })
            #expect((retried.idempotencyKey == key) == (id == 2 || status == 422))
        }
    }

    @Test("counts, ids and operations survive reopening; several operations in one write are all or nothing")
    func reopening() throws {
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try store.write { writer in
                try writer.enqueueUpdate("Issue", 17, [Record.Field("title", .string("x"))])
                throw Stop()
            }
        }
        #expect(try bed.operations() == [] && bed.marks() == [])
        try store.write { writer in
            try writer.enqueueUpdate("Issue", 17, [Record.Field("title", .string("x"))])
            try writer.enqueueUpdate("Repo", 1, [Record.Field("name", .string("y"))])
        }
        try bed.bury(2)
        #expect(try bed.counts.pending == 1 && bed.counts.dead == 1)
        let status = try store.read { try $0.outbox.status(of: "Repo", 1) }
        #expect(status.counts.dead == 1 && status.operations == [2] && status.failure?.status == 422)
        let retried = try #require(try store.write { try $0.retryOperation(2) })
        #expect(retried.state == .pending && retried.failure == nil)
        let key = retried.idempotencyKey
        #expect(try bed.claim(2).first?.idempotencyKey == key)
        #expect(throws: OutboxError.self) { try bed.discard(2) }
        let later = Timestamp.now.microseconds + 60_000_000
        _ = try store.write {
            try $0.retryOperationLater(
                2, notBefore: Timestamp(microseconds: later),
                OutboxFailure(kind: "connection", message: String(repeating: "ä", count: 5000)))
        }
        #expect(try bed.counts.failed == 1 && bed.counts.pending == 2 && bed.counts.sending == 0)
        let entry = try #require(try store.read { try $0.outbox.entry(2) })
        #expect(!entry.isReady && entry.operation.attempts == 1)
        let message = entry.operation.failure?.message ?? ""
        #expect(message.utf8.count <= OutboxFailure.longestText && message.hasSuffix("ä…"))
        #expect(try store.read { try $0.outbox.nextBackOff(after: .now) }?.microseconds == later)
        #expect(try store.read { try $0.outbox.window(limit: 10) }.map(\.isReady) == [true, false])
    }
}
