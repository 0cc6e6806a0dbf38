// The next sync can bring back records that a repair has removed.

import Foundation
import LMDB
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

    @Test("a member of a scan that is made anew was listed by the last scan that is known")
    func lastScan() throws {
        let rich = try RichStore()
        try Store.open(at: rich.path).write { writer in
            try writer.noteListed([issue(2, writer.catalog)], of: "issues", scan: 3)
        }
        try rich.damage(VerificationTests.Damage("a member", []) { try $0.flip("scans", $0.first("scans").key) })
        #expect(try Store.open(at: rich.path).repair().scanMembersRestored == 1)
        let member = try Store.open(at: rich.path).read { reader in
            try reader.access.scans.member(issue(1, reader.catalog), of: "issues")
        }
        #expect(member?.lastListed == 3)
    }

    @Test("the body of a whole response does not depend on records: a repair leaves its validators")
    func wholeResponse() throws {
        let rich = try RichStore(), icon = RequestKey(url: "https://api.example.org/icon", endpoint: "*")
        try Store.open(at: rich.path).write { writer in
            let time = Timestamp(microseconds: 1)
            try writer.putResponse(
                ResponseEntry(
                    request: icon,
                    validation: .init(status: 200, headers: ["etag", "\"i\""], fetchedAt: time, validatedAt: time),
                    listing: .init(count: 0), caching: ResponseCaching(requestedAt: time, usedAt: time, bodySize: 3)),
                body: [1, 2, 3])
        }
        try rich.damage(
            VerificationTests.Damage("a row", []) {
                try $0.change($0.records("User"), $0.key(5)) { $0 = Array($0.prefix(10)) }
            })
        let store = try Store.open(at: rich.path)
        _ = try store.repair([.removesDamagedRows])
        let (whole, list) = try store.read { reader in
            let responses = reader.access.responses
            return try (
                responses.entry(of: icon)?.validation.validators, responses.entry(of: request)?.validation.validators
            )
        }
        #expect(whole == ["etag \"i\""] && list == [])
    }

    @Test("salvage takes back a deletion whose operation is missing, and counts it as a loss")
    func missingOperation() throws {
        let rich = try RichStore(), new = rich.path + ".salvaged"
        defer { try? FileManager.default.removeItem(atPath: new) }
        try rich.damage(
            VerificationTests.Damage("no operation", []) { editor in
                let table = try editor.table("outbox")
                _ = try OutboxEntryKey.operation(4).withUnsafeBytes { try editor.transaction.delete(table, $0) }
            })
        let report = try StoreInspector(at: rich.path).salvage(to: new)
        // With its progress, the next sync would not bring the record back.
        #expect(report.lostCount == 1 && !report.hasProgress && report.localChanges == 3, "\(report)")
        #expect(try Store.open(at: new).read { try $0.localChange("Issue", RecordKey(2001)) } == nil)
    }

    @Test("if a deletion is lost, what it has deleted by a rule comes back, too, and nothing else")
    func lostCascade() throws {
        let path = FileManager.default.temporaryDirectory.path + "/tarn-cascade-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let schema = Schema([
            EntityDefinition(
                "Board", key: ["id"], attributes: [.init("id", .int)],
                relationships: [.init("cards", to: "Card", many: true, inverse: "board", onDelete: .cascade)]),
            EntityDefinition(
                "Card", key: ["id"], attributes: [.init("id", .int)],
                relationships: [.init("board", to: "Board", inverse: "cards")]),
        ])
        do {
            let store = try Store.open(at: path, schema: schema)
            try store.write { writer in
                try writer.put("Board", RecordKey(1), [])
                for card: Int64 in 1...3 {
                    try writer.put(
                        "Card", RecordKey(card), [.init("board", card < 3 ? .reference(RecordKey(1)) : .null)])
                }
            }
            try store.write { _ = try $0.enqueueDelete("Card", RecordKey(3)) }
            try store.write { _ = try $0.enqueueDelete("Board", RecordKey(1)) }
            #expect(try store.read { try $0.count("Card") } == 0)
        }
        do {
            let environment = try Environment.open(at: path, options: Environment.Options(durability: .volatile))
            try environment.writeOpeningTables { transaction in
                let table = try transaction.table(TableName.outbox)
                try OutboxEntryKey.operation(2).withUnsafeBytes { key in
                    try [UInt8](repeating: 1, count: 30).withUnsafeBytes { try transaction.raw.put(table, key, $0) }
                }
            }
        }
        let store = try Store.open(at: path), report = try store.repair()
        #expect(
            report.lostOperations == [
                "operation 2 of Board 1: the deletion is not sent, and the next sync restores the record"
            ])
        func isDeleted(_ entity: String, _ key: Int64) throws -> Bool {
            try store.read { try $0.localChange(entity, RecordKey(key)) != nil }
        }
        #expect(try !isDeleted("Board", 1) && !isDeleted("Card", 1) && !isDeleted("Card", 2) && isDeleted("Card", 3))
    }
}
