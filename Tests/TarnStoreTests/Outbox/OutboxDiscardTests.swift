import TestSupport
import Testing

@testable import TarnStore

@Suite("Outbox: discarding")
struct OutboxDiscardTests {
    let bed: OutboxBed
    var store: Store { bed.store }

    init() throws { bed = try OutboxBed() }

    private func title(_ key: RecordKey = 17) throws -> Value? { try store.record("Issue", key)?["title"] }

    /// Notes a title of the issue that a response has brought.
    private func tell(_ title: String) throws { try bed.tell("Issue", 17, "title", .string(title)) }

    @Test("the value before comes back; a later change stays and continues from it")
    func chain() throws {
        try bed.update(17, ["title": .string("a"), "sku": .int(1)])
        try bed.claim(1)
        try bed.update(17, ["title": .string("b")])
        try bed.bury(1)
        try bed.discard(1)
        #expect(try title() == .string("b") && store.record("Issue", 17)?["sku"] == nil)
        #expect(try bed.operations() == ["2 update Issue 17 title:old>b"] && bed.marks() == ["update Issue 17 title"])
        let result = try bed.discard(2)
        #expect(result.operations.map(\.id) == [2] && result.records == [OutboxRecord("Issue", 17)])
        #expect(try title() == .string("old") && bed.marks() == [] && bed.counts.isEmpty)
        #expect(throws: OutboxError.unknownOperation(id: 2)) { try bed.discard(2) }
    }

    @Test("a value that the server has told since comes instead of the one before")
    func server() throws {
        try bed.update(17, ["title": .string("a")])
        try tell("server")
        try bed.discard(1)
        #expect(try title() == .string("server"))
    }

    @Test(
        "a deletion and a creation that were marked without an operation outlast an update", arguments: [true, false])
    func markedBeside(isSent: Bool) throws {
        try bed.update(17, ["title": .string("a")])
        _ = try store.write { try $0.deleteLocally("Issue", 17) }
        try store.write { try $0.putLocally("Issue", 18, [Record.Field("title", .string("new"))]) }
        try bed.update(18, ["title": .string("newer")])
        for id: UInt64 in [1, 2] {
            try bed.claim(id)
            if isSent {
                try bed.complete(id)
            } else {
                try bed.bury(id)
                try bed.discard(id)
            }
        }
        #expect(try bed.marks() == ["create Issue 18 ", "delete Issue 17 "])
        #expect(try store.record("Issue", 17) == nil)
    }

    @Test("a partial record is partial again")
    func partial() throws {
        let schema = Schema([
            EntityDefinition(
                "A", key: ["id"],
                attributes: [AttributeDefinition("id", .int), AttributeDefinition("b", .string)])
        ])
        let folder = try TemporaryFolder()
        let store = try Store.open(at: folder("s"), schema: schema, options: Forge.quick)
        try store.write { writer in
            let entity = try #require(writer.catalog.entity("A"))
            var builder = BodyBuilder(), bytes = ByteWriter()
            builder.field(entity.key[0]) { $0.appendValue(Int64(1)) }
            builder.finish(into: &bytes)
            let body = try #require(RowBody(bytes.bytes, isWide: false))
            _ = try RecordKey(1).storageKey.withUnsafeBytes { try writer.merge(entity, $0, body, isComplete: false) }
        }
        #expect(try store.record("A", 1)?.isPartial == true)
        _ = try store.write { try $0.enqueueUpdate("A", 1, [Record.Field("b", .string("x"))]) }
        #expect(try store.record("A", 1)?.isPartial == false)
        _ = try store.write { try $0.discardOperation(1) }
        #expect(try store.record("A", 1)?.isPartial == true)
    }

    @Test("a dead deletion whose record was created again, and is gone again, does not restore the earlier one")
    func goneAgain() throws {
        try bed.delete("Issue", 17)
        try bed.bury(1)
        try bed.create("Issue", .client(17), ["title": .string("again")])
        try store.write { writer in
            try writer.dropOvertakenChanges(by: 2)
            _ = try writer.completeOperation(2)
        }
        #expect(try title() == .string("again"))
        // As after a list that no longer has it.
        _ = try store.write { try $0.delete("Issue", 17) }
        try bed.discard(1)
        #expect(try store.record("Issue", 17) == nil)
        #expect(try bed.marks() == [] && bed.counts.isEmpty)
    }

    @Test("a list that keeps the place of a deleted record does not hide the version that is kept for a discard")
    func listedLater() throws {
        try store.putResponse(listing: "Issue", 17, tag: "v1")
        let issue = try #require(store.catalog.entity("Issue")), time = Timestamp(microseconds: 2)
        let list = ResponseEntry(
            request: RequestKey(url: "https://api.example.org/issues", endpoint: "issues"),
            validation: .init(status: 200, fetchedAt: time, validatedAt: time),
            listing: .init(
                [ListedRecord(entity: issue.root, storageKey: RecordKey(17).storageKey)], count: 1,
                identity: ResponseEntry.Listing.listIdentity + "issues"))
        try store.write { try $0.putResponse(list) }
        try bed.delete("Issue", 17)
        try bed.discard(1)
        #expect(try store.versions(listing: "Issue", 17).written == ["etag", "v1"])
    }

    @Test("a creation behind a deletion that the server has carried out is of no record that it has")
    func createdBehindSentDeletion() throws {
        try store.putResponse(listing: "Issue", 17, tag: "v1")
        try bed.delete("Issue", 17)
        try bed.create("Issue", .client(17), ["title": .string("again")])
        try store.write { writer in
            _ = try writer.completeOperation(1)
            // As after each operation that has reached the server.
            _ = try writer.responses.removeValidators(ofResponsesListing: "Issue", 17, at: .now)
        }
        try bed.discard(2)
        #expect(try store.record("Issue", 17) == nil)
        #expect(try bed.marks() == [] && bed.counts.isEmpty)
    }

    @Test("a creation takes with it what depends on it, and nothing else")
    func creation() throws {
        let made = try bed.create("Issue", .temporary, ["title": .string("t")])
        try bed.create("Comment", .temporary, ["issue": .reference(made.key)])
        try bed.update(17, ["parent": .reference(made.key)])
        try bed.update(1, ["name": .string("other")], "Repo")
        let result = try bed.discard(1)
        #expect(result.operations.map(\.id) == [1, 2, 3])
        #expect(try store.count("Comment") == 0 && store.record("Issue", 17)?["parent"] == nil)
        #expect(try bed.operations() == ["4 update Repo 1 name:anvil>other"])
        #expect(try bed.marks() == ["update Repo 1 name"])
    }

    @Test(
        "a list of another record that lacks a new one is no proof that the server has it", arguments: [true, false])
    func listedElsewhere(isDeleted: Bool) throws {
        let made = try bed.create("Issue", .temporary, ["repo": .reference(1)])
        _ = try store.write { try $0.enqueueAdd(["bug"], to: "labels", of: "Issue", made.key) }
        try bed.tell("Issue", made.key, "repo", .null)
        if isDeleted {
            let receipt = try bed.delete("Issue", made.key)
            #expect(receipt.operation == nil && receipt.withdrawn.map(\.id) == [1, 2])
        } else {
            try bed.claim(1)
            try bed.bury(1)
            #expect(try bed.discard(1).operations.map(\.id) == [1, 2])
        }
        #expect(try store.count("Issue") == 1 && bed.marks() == [] && bed.counts.isEmpty)
    }

    @Test("a member that was added behind a refused change stays when that is discarded")
    func addedBehindRefused() throws {
        try bed.update(17, ["labels": .references(["a"])])
        try bed.claim(1)
        try bed.bury(1)
        _ = try store.write { try $0.enqueueAdd(["d"], to: "labels", of: "Issue", 17) }
        try bed.claim(2)
        try bed.complete(2)
        #expect(try store.record("Issue", 17)?["labels"] == .references(["a", "d"]))
        try bed.discard(1)
        #expect(try store.record("Issue", 17)?["labels"] == .references(["bug", "d"]))
        #expect(try bed.marks() == [] && bed.counts.isEmpty)
    }

    @Test("a deletion restores the record, its cascade and the references to it")
    func deletion() throws {
        try store.put("Issue", 18, ["repo": .reference(1)])
        try store.put("Note", 3, ["issue": .reference(18)])
        let before = try ["Issue 17", "Issue 18", "Repo 1", "Note 3"].map { try fields($0) }
        try bed.delete("Repo", 1)
        #expect(try store.count("Issue") == 0 && store.record("Note", 3)?["issue"] == .null)
        #expect(
            try bed.marks() == ["delete Issue 17 ", "delete Issue 18 ", "delete Repo 1 ", "update Note 3 issue"])
        let result = try bed.discard(1)
        #expect(Set(result.records.map(\.description)) == ["Issue 17", "Issue 18", "Note 3", "Repo 1"])
        #expect(try ["Issue 17", "Issue 18", "Repo 1", "Note 3"].map { try fields($0) } == before)
        #expect(try bed.marks() == [] && store.related("Repo", 1, "issues") == [17, 18])
    }

    private func fields(_ text: String) throws -> [Record.Field]? {
        let parts = text.split(separator: " ")
        return try store.record(String(parts[0]), RecordKey(Int64(parts[1]) ?? 0))?.fields
    }

    @Test("changes after a conflict: another base, other values, withdrawn fields")
    func replacing() throws {
        try bed.update(17, ["title": .string("mine"), "state": .string("closed")])
        let key = try bed.claim(1).first?.idempotencyKey
        try bed.update(17, ["title": .string("later")])
        let changed = try store.write {
            try $0.replaceChanges(
                ofOperation: 1,
                [OutboxOperation.Change("title", before: .string("theirs"), after: .string("merged"))])
        }
        #expect(changed?.idempotencyKey != key && changed?.state == .pending && changed?.attempts == 1)
        #expect(
            try bed.operations() == [
                "1 update Issue 17 title:theirs>merged", "2 update Issue 17 title:merged>later",
            ])
        #expect(try title() == .string("later") && store.record("Issue", 17)?["state"] == .string("open"))
        #expect(try bed.marks() == ["update Issue 17 title"])
        #expect(try store.write { try $0.replaceChanges(ofOperation: 1, []) } == nil)
        #expect(try bed.operations().count == 1)
        try bed.delete("Repo", 1)
        #expect(throws: OutboxError.wrongKind(id: 3, kind: .delete)) {
            try store.write { try $0.replaceChanges(ofOperation: 3, []) }
        }
    }

    /// Users with ordered lists of posts, and notes that belong to a post.
    private func lists() throws -> OutboxBed {
        let schema = Schema([
            EntityDefinition(
                "Post", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                relationships: [
                    RelationshipDefinition("fans", to: "User", many: true, inverse: "favourites", onDelete: .nullify),
                    RelationshipDefinition("notes", to: "Note", many: true, inverse: "post", onDelete: .cascade),
                ]),
            EntityDefinition(
                "User", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                relationships: [
                    RelationshipDefinition("favourites", to: "Post", many: true, ordered: true, inverse: "fans")
                ]),
            EntityDefinition(
                "Note", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                relationships: [RelationshipDefinition("post", to: "Post", inverse: "notes")]),
        ])
        let folder = try TemporaryFolder()
        let bed = OutboxBed(folder, try Store.open(at: folder("s"), schema: schema, options: Forge.quick))
        try bed.store.put("Post", 1)
        try bed.store.put("Post", 2)
        try bed.store.put("User", 7, ["favourites": .references([2, 1])])
        try bed.store.put("User", 8, ["favourites": .references([1])])
        return bed
    }

    @Test(
        "a deletion that changes thousands of records leaves no mark of them, be it done or discarded",
        arguments: [true, false])
    func manyChanged(isDiscarded: Bool) throws {
        let bed = try OutboxBed(), store = bed.store
        try store.write { writer in
            for id: Int64 in 1...3000 {
                try writer.put("Note", RecordKey(id), [.init("issue", .reference(RecordKey(17)))])
            }
        }
        try bed.update(5, ["text": .string("mine")], "Note")
        try bed.delete("Issue", 17)
        #expect(try bed.marks().count == 3001)
        #expect(try store.record("Note", 5)?["issue"] == .null)
        if isDiscarded { try bed.discard(2) } else { try bed.complete(2) }
        #expect(try bed.marks() == ["update Note 5 text"])
        let issue: Value = isDiscarded ? .reference(17) : .null
        for id: Int64 in [1, 5, 3000] { #expect(try store.record("Note", RecordKey(id))?["issue"] == issue) }
        #expect(try store.record("Note", 5)?["text"] == .string("mine"))
        #expect(try (store.record("Issue", 17) != nil) == isDiscarded)
    }

    @Test("deletions that are discarded in any order leave a list as it was", arguments: [[1, 2], [2, 1]])
    func listOrder(_ order: [UInt64]) throws {
        let bed = try lists()
        try bed.delete("Post", 2)
        try bed.delete("Post", 1)
        #expect(try bed.store.record("User", 7)?["favourites"] == .references([]))
        for id in order { try bed.discard(id) }
        #expect(try bed.store.record("User", 7)?["favourites"] == .references([2, 1]))
        #expect(try bed.store.record("User", 8)?["favourites"] == .references([1]))
        #expect(try bed.marks() == [])
    }

    @Test(
        "a deletion does not bring a reference back that only a discarded change had set",
        arguments: [[1, 2], [2, 1]])
    func listMember(_ order: [UInt64]) throws {
        let bed = try lists()
        try bed.update(8, ["favourites": .references([2])], "User")
        try bed.delete("Post", 2)
        for id in order { try bed.discard(id) }
        #expect(try bed.store.record("User", 8)?["favourites"] == .references([1]))
        #expect(try bed.marks() == [] && bed.counts.isEmpty)
    }

    @Test("a creation that is discarded stays away when the deletion of its owner is", arguments: [[1, 2], [2, 1]])
    func deletedCreation(_ order: [UInt64]) throws {
        let bed = try lists()
        try bed.create("Note", .temporary, ["post": .reference(1)])
        try bed.claim(1)
        try bed.bury(1)
        try bed.delete("Post", 1)
        for id in order { try bed.discard(id) }
        #expect(try bed.store.count("Note") == 0 && bed.store.record("Post", 1) != nil)
        #expect(try bed.marks() == [] && bed.counts.isEmpty)
    }

    @Test("a deletion that is discarded before a later one of the record, which was created again, restores nothing")
    func deletedAgain() throws {
        try bed.delete("Issue", 17)
        try bed.create("Issue", .client(17), ["title": .string("again")])
        try bed.claim(2)
        try bed.bury(2)
        try bed.delete("Issue", 17)
        #expect(try bed.discard(1).records == [])
        #expect(try store.record("Issue", 17) == nil && bed.marks() == ["delete Issue 17 "])
        try bed.discard(3)
        #expect(try title() == .string("again") && bed.marks() == ["create Issue 17 "])
    }

    @Test("a later change continues from the value of a settled one: the server has it")
    func settled() throws {
        try bed.update(17, ["title": .string("a")])
        try bed.claim(1)
        try bed.update(17, ["title": .string("b")])
        try tell("a")
        #expect(try store.write { try $0.replaceChanges(ofOperation: 1, []) } == nil)
        #expect(try bed.operations() == ["2 update Issue 17 title:a>b"])
        #expect(try title() == .string("b") && bed.marks() == ["update Issue 17 title"])
    }
}
