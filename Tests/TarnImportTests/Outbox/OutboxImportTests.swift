// Imports of records with queued operations.

import TarnImport
import TarnStore
import Testing

@Suite("Import: records with operations in the outbox")
struct OutboxImportTests {
    private func bed() throws -> TestStore {
        var mapping = Forge.mapping
        mapping.entities["Issue"]?.tombstone = TombstoneRule(path: "gone")
        let bed = try TestStore(Forge.schema, mapping)
        try bed.take(
            #"[{"id":1,"title":"old","body":"b","author":7,"comments":[{"id":3}]},{"id":2,"title":"other"}]"#, "Issue")
        return bed
    }

    private func mark(_ bed: TestStore, _ key: Int64, entity: String = "Issue") throws -> LocalChange? {
        try bed.store.read { try $0.localChange(entity, RecordKey(key)) }
    }

    @Test("a record with a queued deletion that the server deletes, too, is not restored by a discard")
    func deletedOnBothSides() throws {
        let bed = try bed()
        _ = try bed.store.write { try $0.enqueueDelete("Issue", RecordKey(1)) }
        try bed.take(#"[{"id":1,"title":"server"}]"#, "Issue")
        #expect(try bed.record("Issue", 1) == nil)
        try bed.take(#"[{"id":1,"gone":true}]"#, "Issue")
        #expect(try mark(bed, 1)?.isGoneAtServer == true)
        _ = try bed.store.write { try $0.discardOperation(1) }
        #expect(try bed.record("Issue", 1) == nil && mark(bed, 1) == nil)
    }

    @Test("a discarded deletion restores the record with what pages have told meanwhile")
    func restored() throws {
        let bed = try bed()
        _ = try bed.store.write { try $0.enqueueDelete("Issue", RecordKey(1)) }
        try bed.take(#"[{"id":1,"title":"server"}]"#, "Issue")
        _ = try bed.store.write { try $0.discardOperation(1) }
        #expect(
            try bed.value("Issue", 1, "title") == .string("server") && bed.value("Issue", 1, "body") == .string("b"))
        #expect(try mark(bed, 1) == nil)
    }

    @Test("a record with a discarded change that the server has deleted is deleted with its last change")
    func goneWithItsLastChange() throws {
        let bed = try bed()
        for title in ["a", "b"] {
            _ = try bed.store.write {
                try $0.enqueueUpdate("Issue", RecordKey(1), [Record.Field("title", .string(title))])
            }
            // So that the next change is another operation.
            if title == "a" { _ = try bed.store.write { try $0.claimOperations([1]) } }
        }
        try bed.take(#"[{"id":1,"gone":true}]"#, "Issue")
        #expect(try bed.value("Issue", 1, "title") == .string("b"))
        _ = try bed.store.write { try $0.discardOperation(1, evenIfSending: true) }
        #expect(try bed.value("Issue", 1, "title") == .string("b") && mark(bed, 1)?.isGoneAtServer == true)
        let result = try bed.store.write { try $0.discardOperation(2) }
        #expect(try bed.record("Issue", 1) == nil && mark(bed, 1) == nil)
        #expect(result.records == [OutboxRecord("Issue", RecordKey(1))])
    }

    @Test(
        "a record that the server has deleted goes when its change ends with the creation that it needs",
        arguments: [true, false])
    func goneWithCreation(isDiscarded: Bool) throws {
        let bed = try bed()
        let made = try bed.store.write {
            try $0.enqueueCreate("User", .temporary, [Record.Field("login", .string("new"))])
        }
        _ = try bed.store.write {
            try $0.enqueueUpdate("Issue", RecordKey(1), [Record.Field("author", .reference(made.key))])
        }
        try bed.take(#"[{"id":1,"gone":true}]"#, "Issue")
        #expect(try mark(bed, 1)?.isGoneAtServer == true)
        if isDiscarded {
            let result = try bed.store.write { try $0.discardOperation(1) }
            #expect(result.records.contains(OutboxRecord("Issue", RecordKey(1))))
        } else {
            _ = try bed.store.write { try $0.enqueueDelete("User", made.key) }
        }
        #expect(try bed.record("Issue", 1) == nil && mark(bed, 1) == nil)
    }

    @Test("a record that the server has deleted goes when its change is taken back, and not when it is done")
    func goneAndTakenBack() throws {
        let bed = try bed()
        for title in ["mine", "old"] {
            _ = try bed.store.write {
                try $0.enqueueUpdate("Issue", RecordKey(1), [Record.Field("title", .string(title))])
            }
            if title == "mine" { try bed.take(#"[{"id":1,"gone":true}]"#, "Issue") }
        }
        #expect(try bed.record("Issue", 1) == nil && mark(bed, 1) == nil)
        _ = try bed.store.write {
            try $0.enqueueUpdate("Issue", RecordKey(2), [Record.Field("title", .string("mine"))])
        }
        try bed.take(#"[{"id":2,"gone":true}]"#, "Issue")
        _ = try bed.store.write { try $0.completeOperation(2) }
        #expect(try bed.value("Issue", 2, "title") == .string("mine") && mark(bed, 2) == nil)
    }

    @Test("a record that the server has deleted, and whose change a deletion withdraws, is not restored by a discard")
    func goneAndDeleted() throws {
        let bed = try bed()
        _ = try bed.store.write {
            try $0.enqueueUpdate("Issue", RecordKey(1), [Record.Field("title", .string("mine"))])
        }
        try bed.take(#"[{"id":1,"gone":true}]"#, "Issue")
        _ = try bed.store.write { try $0.enqueueDelete("Issue", RecordKey(1)) }
        #expect(try mark(bed, 1)?.isGoneAtServer == true)
        _ = try bed.store.write { try $0.discardOperation(2) }
        #expect(try bed.record("Issue", 1) == nil && mark(bed, 1) == nil)
    }

    @Test("a response that may be older than a change that the server has does not delete the record")
    func overtakenDeletion() throws {
        let bed = try bed()
        let revision = try bed.store.read { try $0.outbox.revision }
        _ = try bed.store.write {
            try $0.enqueueUpdate("Issue", RecordKey(1), [Record.Field("title", .string("mine"))])
        }
        _ = try bed.store.write { try $0.completeOperation(1) }
        #expect(try mark(bed, 1) == nil)
        bed.importer.unit.outboxRevision = revision
        let report = try bed.take(#"[{"id":1,"gone":true},{"id":2,"gone":true}]"#, "Issue")
        #expect(try bed.value("Issue", 1, "title") == .string("mine") && bed.record("Issue", 2) == nil)
        #expect(report.deleted == 1 && report.older == 1 && report.dropped.isEmpty)
        // The next response was requested after it.
        bed.importer.unit.outboxRevision = try bed.store.read { try $0.outbox.revision }
        #expect(try bed.take(#"[{"id":1,"gone":true}]"#, "Issue").deleted == 1)
        #expect(try bed.record("Issue", 1) == nil)
    }

    @Test("a list that a member was moved to here says nothing of where the member is at the server")
    func moved() throws {
        let bed = try bed()
        _ = try bed.store.write {
            try $0.enqueueUpdate("Comment", RecordKey(3), [Record.Field("issue", .reference(RecordKey(2)))])
        }
        func server() throws -> [Record.Field]? { try mark(bed, 3, entity: "Comment")?.server }
        try bed.take(#"[{"id":2,"title":"other","comments":[]}]"#, "Issue")
        #expect(try server() == [])
        let lists = #"[{"id":1,"title":"old","comments":[3]},{"id":2,"title":"other","comments":[]}]"#
        try bed.take(lists, "Issue")
        #expect(try server() == [Record.Field("issue", .reference(RecordKey(1)))])
        // It was moved there at the server as well, and then taken out of the list.
        try bed.take(#"[{"id":2,"title":"other","comments":[3]}]"#, "Issue")
        #expect(try server() == [Record.Field("issue", .reference(RecordKey(2)))])
        try bed.take(#"[{"id":2,"title":"other","comments":[]}]"#, "Issue")
        #expect(try server() == [Record.Field("issue", .null)])
    }

    @Test("a list that lacks a member which was moved out of it here says that the server has removed it as well")
    func movedAndRemoved() throws {
        let bed = try bed()
        _ = try bed.store.write {
            try $0.enqueueUpdate("Comment", RecordKey(3), [Record.Field("issue", .reference(RecordKey(2)))])
        }
        try bed.take(#"[{"id":1,"title":"old","comments":[]},{"id":2,"title":"other","comments":[]}]"#, "Issue")
        #expect(try mark(bed, 3, entity: "Comment")?.server == [Record.Field("issue", .null)])
        #expect(try bed.value("Comment", 3, "issue") == .reference(RecordKey(2)))
        _ = try bed.store.write { try $0.discardOperation(1) }
        #expect(try bed.value("Comment", 3, "issue") == .null)
    }

    @Test("a page that no longer lists a member leaves the members that were added here")
    func members() throws {
        let bed = try bed()
        try bed.take(#"[{"id":4}]"#, "Comment")
        _ = try bed.store.write { try $0.enqueueAdd([RecordKey(4)], to: "comments", of: "Issue", RecordKey(1)) }
        try bed.take(#"[{"id":1,"comments":[{"id":3}]}]"#, "Issue")
        func related() throws -> [RecordKey?] {
            try bed.store.read { reader in
                var keys: [RecordKey?] = []
                try reader.forEachRelated("Issue", RecordKey(1), "comments") { target in
                    keys.append(target.key)
                    return true
                }
                return keys
            }
        }
        #expect(try Set(related()) == [RecordKey(3), RecordKey(4)])
        _ = try bed.store.write { try $0.completeOperation(1) }
        try bed.take(#"[{"id":1,"comments":[{"id":3}]}]"#, "Issue")
        #expect(try related() == [RecordKey(3)])
    }

    @Test("the answer to a creation is imported in the transaction that adopts its key; later changes stay")
    func answer() throws {
        let bed = try bed()
        let made = try bed.store.write {
            try $0.enqueueCreate("Issue", .temporary, [Record.Field("title", .string("mine"))])
        }
        _ = try bed.store.write { try $0.claimOperations([1]) }
        _ = try bed.store.write {
            try $0.enqueueUpdate("Issue", made.key, [Record.Field("title", .string("later"))])
        }
        try bed.add(#"[{"id":99,"title":"Mine","body":"by the server"}]"#, "Issue")
        _ = try bed.store.write { writer in
            _ = try writer.completeOperation(1, adopting: RecordKey(99))
            return try bed.importer.commit(into: &writer)
        }
        #expect(try bed.value("Issue", 99, "title") == .string("later"))
        #expect(try bed.value("Issue", 99, "body") == .string("by the server"))
        let change = try #require(try mark(bed, 99))
        #expect(change.operation == .update && change.fields == ["title"])
        #expect(change.server == [Record.Field("title", .string("Mine"))])
        _ = try bed.store.write { try $0.discardOperation(2) }
        #expect(try bed.value("Issue", 99, "title") == .string("Mine") && mark(bed, 99) == nil)
    }
}
