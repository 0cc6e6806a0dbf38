// The next sync can bring back records that a repair has removed.

import Foundation
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Repair: records that the next sync restores")
struct RestoringRepairTests {
    private let request = RequestKey(url: "https://api.example.org/issues?page=0", endpoint: "issues")

    private func issue(_ number: Int64, _ catalog: Catalog) throws -> ListedRecord {
        ListedRecord(entity: try #require(catalog.entity("Issue")).root, storageKey: RecordKey(number).storageKey)
    }

    @Test("after the removal of a row, lists are requested as a whole and without conditions; writes keep the versions")
    func removedRow() throws {
        let rich = try RichStore()
        try Store.open(at: rich.path).write { writer in
            var list = try #require(try writer.access.checkpoints.checkpoint("issues"))
            list.since = "2026-11-30"
            try writer.setCheckpoint("issues", list)
        }
        // No response lists a user.
        try rich.damage(
            VerificationTests.Damage("a row", []) {
                try $0.change($0.records("User"), $0.key(5)) { $0 = Array($0.prefix(10)) }
            })
        let store = try Store.open(at: rich.path)
        func progress() throws -> (since: String?, plan: String?, validators: [String]?, version: [String]?) {
            try store.read { reader in
                let list = try reader.access.checkpoints.checkpoint("issues")
                let entry = try reader.access.responses.entry(of: request)
                return (list?.since, list?.plan, entry?.validation.validators, entry?.validation.version)
            }
        }
        _ = try store.repair()
        let before = try progress()
        #expect(before.since == "2026-11-30" && before.plan == "p" && before.validators == ["etag \"0\""])
        _ = try store.repair([.removesDamagedRows])
        let after = try progress()
        #expect(after.since == nil && after.plan == "" && after.validators == [])
        #expect(after.version == ["etag", "\"0\""])
        #expect(try verifyBothWays(rich.path).isSound)
    }

    @Test(
        "if the mark of a deleted record is lost, lists are requested as a whole, unless its deletion is still queued",
        arguments: [false, true])
    func lostMark(isQueued: Bool) throws {
        let rich = try RichStore()
        try Store.open(at: rich.path).write { writer in
            var list = try #require(try writer.access.checkpoints.checkpoint("issues"))
            list.since = "2026-11-30"
            try writer.setCheckpoint("issues", list)
        }
        try rich.damage(
            VerificationTests.Damage("a mark, and perhaps the operation", []) { editor in
                let root = try #require(editor.catalog.entity("Issue")).root
                let mark = withUnsafeBytes(of: root.bigEndian) { Array($0) } + editor.key(2001)
                try editor.put("local", mark, [UInt8](repeating: 1, count: 30))
                guard !isQueued else { return }
                try editor.put("outbox", OutboxEntryKey.operation(4), [UInt8](repeating: 1, count: 30))
            })
        let store = try Store.open(at: rich.path)
        #expect(try store.repair().ownRowsRemoved == (isQueued ? 1 : 2))
        let (since, validators) = try store.read { reader in
            let entry = try reader.access.responses.entry(of: request)
            return (try reader.access.checkpoints.checkpoint("issues")?.since, entry?.validation.validators)
        }
        #expect(since == (isQueued ? "2026-11-30" : nil) && validators == (isQueued ? ["etag \"0\""] : []))
        #expect(try verifyBothWays(rich.path).isSound)
    }

    private static let unreadable = VerificationTests.Damage("two operations", []) { editor in
        for id: UInt64 in [1, 4] {
            try editor.put("outbox", OutboxEntryKey.operation(id), [UInt8](repeating: 1, count: 30))
        }
    }

    private func expectDeletionTakenBack(_ path: String) throws {
        let store = try Store.open(at: path, schema: RichStore.schema)
        func hasMark(_ entity: String, _ number: Int64) throws -> Bool {
            try store.read { try $0.localChange(entity, RecordKey(number)) != nil }
        }
        #expect(try !hasMark("Issue", 2001))
        #expect(try hasMark("User", 4))
        #expect(try hasMark("Issue", 2000))
        #expect(try store.read { try $0.outbox.window(limit: 10) }.map(\.operation.id) == [3])
    }

    @Test("an operation that is lost is named with its record; a record whose deletion is lost may come back")
    func lostOperations() throws {
        let rich = try RichStore()
        try rich.damage(Self.unreadable)
        let report = try Store.open(at: rich.path).repair()
        #expect(
            report.lostOperations == [
                "operation 1 of User 4: the change (name) is not sent, and stays a local change",
                "operation 4 of Issue 2001: the deletion is not sent, and the next sync restores the record",
            ])
        try expectDeletionTakenBack(rich.path)
        #expect(try verifyBothWays(rich.path).isSound)
    }

    @Test("salvage takes back a deletion whose operation is lost: the record may come back")
    func salvagedOperations() throws {
        let rich = try RichStore(), new = rich.path + ".salvaged"
        defer { try? FileManager.default.removeItem(atPath: new) }
        try rich.damage(Self.unreadable)
        let report = try StoreInspector(at: rich.path).salvage(to: new)
        #expect(report.localChanges == 3 && report.operations == 1 && report.mayLackLocalChanges)
        try expectDeletionTakenBack(new)
        #expect(try verifyBothWays(new).isSound)
    }

    @Test("a damaged member of a scan is made anew if a response lists its record, and removed otherwise")
    func scanMembers() throws {
        let rich = try RichStore()
        func repair() throws -> RepairReport {
            try rich.damage(VerificationTests.Damage("a member", []) { try $0.flip("scans", $0.first("scans").key) })
            return try Store.open(at: rich.path).repair()
        }
        func member() throws -> ScanMember? {
            try Store.open(at: rich.path).read { reader in
                try reader.access.scans.member(issue(1, reader.catalog), of: "issues")
            }
        }
        let first = try repair()
        #expect(first.scanMembersRestored == 1 && first.ownRowsRemoved == 0)
        #expect(try member() == ScanMember(issue(1, Store.open(at: rich.path).catalog), lastListed: 1))
        #expect(try verifyBothWays(rich.path).isSound)
        try Store.open(at: rich.path).write { writer in
            for id in try writer.access.responses.ids(listing: issue(1, writer.catalog)) {
                try writer.removeResponse(id: id)
            }
        }
        let second = try repair()
        #expect(try second.scanMembersRestored == 0 && second.ownRowsRemoved == 1 && member() == nil)
    }
}
