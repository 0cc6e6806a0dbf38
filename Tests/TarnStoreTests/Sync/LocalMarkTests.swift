// Marks of records that were changed here: written with the change, listed, added up, cleared.

import TestSupport
import Testing

@testable import TarnStore

@Suite("Local changes")
struct LocalMarkTests {
    let folder: TemporaryFolder
    let store: Store

    init() throws {
        folder = try TemporaryFolder()
        store = try Forge.open(folder("s"))
        try store.put("Issue", 1, ["title": .string("t")])
        try store.put("User", 7, ["login": .string("l")])
    }

    private func changes() throws -> [LocalChange] {
        try store.read { reader in
            var changes: [LocalChange] = []
            try reader.forEachLocalChange {
                changes.append($0)
                return true
            }
            return changes
        }
    }

    private func change(_ key: RecordKey, _ entity: String = "Issue") throws -> LocalChange? {
        try store.read { try $0.localChange(entity, key) }
    }

    @Test(
        "a write by query marks what it changes, and nothing else; what it deletes stays deleted, but for what was made here"
    )
    func byQuery() throws {
        try store.put("Issue", 2, ["title": .string("x")])
        let report = try store.updateLocally(Query("Issue"), set: ["title": .string("x")])
        #expect(report.matched == 2 && report.changed == 1)
        #expect(
            try changes().map { "\($0.operation.rawValue) \($0.entity) \($0.key) \($0.fields)" } == [
                "update Issue 1 [\"title\"]"
            ])
        #expect(try store.updateLocally(Query("Issue"), set: ["title": .string("x")]).changed == 0)
        try store.write { try $0.putLocally("Issue", 3, [Record.Field("title", .string("mine"))]) }
        #expect(try store.deleteLocally(Query("Issue"), step: 1).changed == 3)
        #expect(try store.deleteLocally(Query("User")).changed == 1)
        #expect(
            try changes().map { "\($0.operation.rawValue) \($0.entity) \($0.key) \($0.fields)" } == [
                "delete User 7 []", "delete Issue 1 []", "delete Issue 2 []",
            ])
        try store.put("User", 8, ["login": .string("l")])
        try store.update(Query("User"), set: ["login": .string("k")])
        try store.delete(Query("User"))
        #expect(try change(8, "User") == nil)
    }

    @Test("a write by query suspends the task of a caller that waits for it")
    func byQueryOfATask() async throws {
        let updated = try await store.updateLocally(Query("Issue"), set: ["title": .string("x")])
        #expect(updated.changed == 1)
        let deleted = try await store.deleteLocally(Query("Issue"))
        #expect(deleted.changed == 1)
        #expect(try changes().map { "\($0.operation.rawValue) \($0.entity) \($0.key)" } == ["delete Issue 1"])
    }

    @Test("a mark is written with its change, or not at all; every one is listed")
    func written() throws {
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try store.write { writer in
                try writer.putLocally("Issue", 1, [Record.Field("title", .string("x"))])
                throw Stop()
            }
        }
        #expect(try changes() == [] && store.record("Issue", 1)?["title"] == .string("t"))
        try store.write { writer in
            try writer.putLocally("Issue", 1, [Record.Field("title", .string("x"))])
            try writer.putLocally("Issue", 2, [Record.Field("title", .string("new"))])
            try writer.deleteLocally("User", 7)
        }
        #expect(
            try changes().map { "\($0.operation.rawValue) \($0.entity) \($0.key) \($0.fields)" } == [
                "delete User 7 []", "update Issue 1 [\"title\"]", "create Issue 2 []",
            ])
        #expect(
            try changes().allSatisfy {
                $0.since.microseconds > 1_700_000_000_000_000 && $0.server.isEmpty && !$0.isGoneAtServer
            })
    }

    @Test(
        "several changes of one record add up: fields are united, what was made here stays so, a deletion counts more")
    func addingUp() throws {
        try store.write { try $0.putLocally("Issue", 1, [Record.Field("title", .string("x"))]) }
        let since = try #require(try change(1)?.since)
        try store.write {
            try $0.putLocally("Issue", 1, [Record.Field("number", .int(4)), Record.Field("author", .reference(7))])
        }
        #expect(try change(1)?.fields == ["title", "number", "author"] && change(1)?.since == since)
        try store.write { try $0.markLocal("Issue", 1) }
        #expect(try change(1)?.fields == [])
        try store.write { try $0.putLocally("Issue", 1, [Record.Field("title", .string("y"))]) }
        #expect(try change(1)?.fields == [])
        try store.write { try $0.putLocally("Issue", 2, [Record.Field("title", .string("a"))]) }
        try store.write { try $0.putLocally("Issue", 2, [Record.Field("title", .string("b"))]) }
        #expect(try change(2)?.operation == .create && change(2)?.fields == [])
        // A record created and deleted locally leaves no mark.
        _ = try store.write { try $0.deleteLocally("Issue", 2) }
        #expect(try change(2) == nil)
        _ = try store.write { try $0.deleteLocally("Issue", 1) }
        #expect(try change(1)?.operation == .delete)
        // Made again after that: the server has it, so it is changed as a whole.
        try store.write { try $0.putLocally("Issue", 1, [Record.Field("title", .string("z"))]) }
        #expect(try change(1)?.operation == .update && change(1)?.fields == [] && store.record("Issue", 1) != nil)
        #expect(try store.write { try $0.deleteLocally("Issue", 99) } == false)
    }

    @Test("a mark is cleared as a whole or field by field; what is not marked says so")
    func clearing() throws {
        try store.write { try $0.markLocal("Issue", 1, fields: ["title", "number"]) }
        #expect(try store.write { try $0.clearLocalChange("Issue", 1, fields: ["number"]) })
        #expect(try change(1)?.fields == ["title"])
        #expect(try store.write { try $0.clearLocalChange("Issue", 1, fields: ["title"]) })
        #expect(try change(1) == nil)
        #expect(try store.write { try $0.clearLocalChange("Issue", 1) } == false)
        // A single field of a record that is marked as a whole cannot be done.
        try store.write { try $0.markLocal("Issue", 1) }
        #expect(try store.write { try $0.clearLocalChange("Issue", 1, fields: ["title"]) })
        #expect(try change(1)?.fields == [])
        #expect(try store.write { try $0.clearLocalChange("Issue", 1) })
        #expect(try changes() == [])
    }

    @Test("marks of keys that are longer than LMDB's keep the whole key")
    func longKeys() throws {
        let key = RecordKey(String(repeating: "long ", count: 100))
        try store.write { try $0.putLocally("Label", key, []) }
        #expect(try changes().map(\.key) == [key])
        // An earlier version may have marked it without the key: it is listed all the same.
        try store.write { writer in
            let root = try writer.access.state.entity("Label").root
            try key.storageKey.withUnsafeBytes { place in
                var mark = try #require(try writer.access.localChanges.mark(root, place))
                mark.wholeKey = nil
                try writer.putLocalMark(mark, root, place)
            }
        }
        #expect(try changes().map(\.key) == [key.asReference])
        _ = try store.write { try $0.deleteLocally("Label", key) }
        #expect(try changes() == [])
    }

    @Test("a mark that cannot be read is an error, and no lack of local changes")
    func unreadable() throws {
        try store.write { writer in
            let state = writer.access.state, operation: String? = "transfer"
            let place = try withUnsafeBytes(of: state.entity("Issue").root.bigEndian) { Array($0) }
            var row = SystemRowBuilder()
            row.field(1, operation)
            try (place + RecordKey(1).storageKey).withUnsafeBytes {
                try row.store(writer.access.raw, state.localTable(), $0, sequence: 1)
            }
        }
        for error in [storeError { _ = try change(1) }, storeError { _ = try changes() }] {
            guard case StoreError.damagedEntry("local", _)? = error else {
                Issue.record("nothing was said: \(String(describing: error))")
                continue
            }
        }
        #expect(try store.repair().ownRowsRemoved == 1)
        #expect(try changes() == [])
    }

    @Test("what the schema does not have is refused, and marks nothing")
    func wrongNames() throws {
        #expect(storeError { try store.write { try $0.markLocal("Nothing", 1) } } != nil)
        #expect(storeError { try store.write { try $0.markLocal("Issue", "text") } } != nil)
        #expect(
            storeError { try store.write { try $0.markLocal("Issue", 1, fields: ["titel"]) } }?.description.contains(
                "titel") == true)
        #expect(storeError { _ = try store.write { try $0.clearLocalChange("Issue", 1, fields: ["titel"]) } } != nil)
        #expect(try changes() == [])
    }
}
