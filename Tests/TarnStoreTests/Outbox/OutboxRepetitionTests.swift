import TestSupport
import Testing

@testable import TarnStore

@Suite("Outbox: discarding behind later deletions")
struct OutboxRepetitionTests {
    @Test("a record that a later deletion would have deleted by its rules stays deleted, with its references")
    func cascade() throws {
        let bed = try OutboxBed(), store = bed.store
        try store.put("Note", 3, ["issue": .reference(17)])
        try bed.delete("Issue", 17)
        try bed.delete("Repo", 1)
        let result = try bed.discard(1)
        #expect(result.records == [OutboxRecord("Note", 3)])
        #expect(try store.count("Issue") == 0 && store.record("Note", 3)?["issue"] == .null)
        #expect(try bed.operations() == ["2 delete Repo 1"])
        #expect(try bed.marks() == ["delete Issue 17 ", "delete Repo 1 ", "update Note 3 issue"])
        try bed.discard(2)
        #expect(try store.record("Issue", 17)?["repo"] == .reference(1) && store.record("Repo", 1) != nil)
        #expect(try store.record("Note", 3)?["issue"] == .reference(17))
        #expect(try bed.marks() == [] && bed.counts.isEmpty)
    }

    @Test("once the later deletion has reached the server, nothing of the record is left")
    func completed() throws {
        let bed = try OutboxBed()
        try bed.delete("Issue", 17)
        try bed.delete("Repo", 1)
        try bed.discard(1)
        try bed.claim(2)
        try bed.complete(2)
        #expect(try bed.store.count("Issue") == 0 && bed.marks() == [] && bed.counts.isEmpty)
    }

    @Test("a reference to a record that was deleted later becomes null")
    func nullify() throws {
        let bed = try OutboxBed(), store = bed.store
        try store.put("Note", 3, ["issue": .reference(17)])
        try bed.delete("Note", 3)
        try bed.delete("Issue", 17)
        try bed.discard(1)
        #expect(try store.record("Note", 3)?["issue"] == .null)
        #expect(try bed.marks() == ["delete Issue 17 ", "update Note 3 issue"])
        try bed.discard(2)
        #expect(try store.record("Note", 3)?["issue"] == .reference(17))
        #expect(try bed.marks() == [] && bed.counts.isEmpty)
    }

    /// Three posts, and a user with an ordered list of some of them.
    private func posts(_ favourites: [RecordKey]) throws -> OutboxBed {
        let schema = Schema([
            EntityDefinition(
                "Post", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                relationships: [
                    RelationshipDefinition("fans", to: "User", many: true, inverse: "favourites", onDelete: .nullify)
                ]),
            EntityDefinition(
                "User", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                relationships: [
                    RelationshipDefinition("favourites", to: "Post", many: true, ordered: true, inverse: "fans")
                ]),
        ])
        let folder = try TemporaryFolder()
        let bed = OutboxBed(folder, try Store.open(at: folder("s"), schema: schema, options: Forge.quick))
        for post in 1...3 { try bed.store.put("Post", RecordKey(Int64(post))) }
        try bed.store.put("User", 7, ["favourites": .references(favourites)])
        return bed
    }

    @Test(
        "a discarded change of members does not bring those back that were deleted since", arguments: [true, false])
    func deletedMember(isUpdate: Bool) throws {
        let bed = try posts([1, 2])
        if isUpdate {
            try bed.update(7, ["favourites": .references([])], "User")
        } else {
            _ = try bed.store.write { try $0.enqueueRemove([2], from: "favourites", of: "User", 7) }
        }
        try bed.delete("Post", 2)
        try bed.discard(1)
        #expect(try bed.store.record("User", 7)?["favourites"] == .references([1]))
        #expect(try bed.operations() == ["2 delete Post 2"])
        try bed.discard(2)
        #expect(try bed.store.record("User", 7)?["favourites"] == .references([1, 2]))
        #expect(try bed.marks() == [] && bed.counts.isEmpty)
    }

    @Test("a record that was moved out of a deleted one, and is deleted then, keeps its own deletion")
    func movedAndDeleted() throws {
        let bed = try OutboxBed(), store = bed.store
        try store.put("Repo", 2)
        try bed.update(17, ["repo": .reference(2)])
        try bed.delete("Repo", 1)
        // The deletion of the repository waits for the update, which therefore stays.
        #expect(try bed.delete("Issue", 17).withdrawn.isEmpty)
        #expect(
            try bed.operations() == ["1 update Issue 17 repo:1>2", "2 delete Repo 1", "3 delete Issue 17"])
        #expect(try bed.waits(2) == ["1 deletion"] && bed.waits(3) == ["1 sameRecord"])
        try bed.discard(2)
        #expect(try store.count("Issue") == 0 && store.record("Repo", 1) != nil)
        try bed.discard(3)
        #expect(try store.record("Issue", 17)?["repo"] == .reference(2))
        try bed.discard(1)
        #expect(try store.record("Issue", 17)?["repo"] == .reference(1))
        #expect(try bed.marks() == [] && bed.counts.isEmpty)
    }

    @Test("a reference that was set after a deletion is not restored with the record that it deletes again")
    func referenceSetLater() throws {
        let bed = try OutboxBed(), store = bed.store
        try store.put("Repo", 2)
        try store.put("Note", 3, ["issue": .null])
        try bed.update(17, ["repo": .reference(2)])
        try bed.delete("Repo", 1)
        try bed.update(3, ["issue": .reference(17)], "Note")
        try bed.discard(1)
        #expect(try store.count("Issue") == 0)
        #expect(try bed.operations() == ["2 delete Repo 1", "3 update Note 3 issue:null>17"])
        try bed.discard(2)
        #expect(try store.record("Note", 3)?["issue"] == .reference(17))
        try bed.discard(3)
        #expect(try store.record("Note", 3)?["issue"] == .null)
        #expect(try store.record("Issue", 17)?["repo"] == .reference(1))
        #expect(try bed.marks() == [] && bed.counts.isEmpty)
    }

    @Test("a restored list loses the members that were deleted later", arguments: [[2, 3], [3, 2]])
    func list(_ order: [UInt64]) throws {
        let bed = try posts([3, 1, 2])
        try bed.delete("User", 7)
        try bed.delete("Post", 1)
        try bed.delete("Post", 3)
        try bed.discard(1)
        #expect(try bed.store.record("User", 7)?["favourites"] == .references([2]))
        for id in order { try bed.discard(id) }
        #expect(try bed.store.record("User", 7)?["favourites"] == .references([3, 1, 2]))
        #expect(try bed.marks() == [] && bed.counts.isEmpty)
    }

    @Test("a record in the list of one that was deleted later, with the rule cascade, stays deleted")
    func storedCascade() throws {
        let schema = Schema([
            EntityDefinition(
                "Folder", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                relationships: [RelationshipDefinition("files", to: "File", many: true, onDelete: .cascade)]),
            EntityDefinition("File", key: ["id"], attributes: [AttributeDefinition("id", .int)]),
        ])
        let folder = try TemporaryFolder()
        let bed = OutboxBed(folder, try Store.open(at: folder("s"), schema: schema, options: Forge.quick))
        try bed.store.put("File", 1)
        try bed.store.put("Folder", 7, ["files": .references([1])])
        try bed.delete("File", 1)
        try bed.delete("Folder", 7)
        try bed.discard(1)
        #expect(try bed.store.count("File") == 0 && bed.marks() == ["delete File 1 ", "delete Folder 7 "])
        try bed.discard(2)
        #expect(try bed.store.count("File") == 1 && bed.store.record("Folder", 7)?["files"] == .references([1]))
        #expect(try bed.marks() == [])
    }
}
