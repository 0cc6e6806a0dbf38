// Repair rebuilds everything that follows from rows, and leaves the rest as it is.

import Foundation
import LMDB
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Repair")
struct RepairTests {
    /// Damage that cannot be repaired, with or without the removal of rows.
    private static let left: Set<Finding.Code> = [
        .indexNotUnique, .rowValue, .rowKey, .setting, .dictionary, .tableUnknown, .tableMissing, .catalog, .noStore,
        .newerFormat,
    ]

    @Test(
        "whatever follows from rows is made anew, and rows that cannot be read are taken out",
        arguments: VerificationTests.damages)
    func repairs(_ damage: VerificationTests.Damage) throws {
        guard damage.codes.isDisjoint(with: [.catalog, .noStore, .newerFormat]) else { return }
        let rich = try RichStore()
        try rich.damage(damage)
        do {
            let store = try Store.open(at: rich.path)
            let before = try rich.bytes
            let planned = try store.repair([.dryRun, .removesDamagedRows])
            let unchanged = try rich.bytes
            #expect(unchanged == before, "the dry run has written")
            let done = try store.repair([.removesDamagedRows])
            #expect(done == planned)
            #expect(done.isEmpty == damage.codes.subtracting(RepairTests.left).isEmpty)
            #expect(try store.repair([.removesDamagedRows]).isEmpty, "the second repair has something to do")
        }
        let report = try verifyBothWays(rich.path)
        // A mark without an index is removed when the store is opened.
        let left = damage.testDescription == "a mark of no index" ? [] : damage.codes.intersection(RepairTests.left)
        #expect(Set(report.counts.keys) == left, "\(report.findings.prefix(5))")
    }

    @Test("without being asked to, a repair leaves rows that cannot be read, and names them")
    func damagedRowsStay() throws {
        let rich = try RichStore()
        try rich.damage(#require(VerificationTests.damages.first { $0.codes == [.rowForm] }))
        let store = try Store.open(at: rich.path)
        let report = try store.repair()
        #expect(report.damagedRows == ["User 5"] && !report.removesDamagedRows)
        #expect(throws: StoreError.damagedRow(entity: "User", key: "5")) {
            try store.read { _ = try $0.record("User", RecordKey(5)) }
        }
        // Otherwise a query by an index would leave the record out, and say nothing.
        #expect(report.indexes.isEmpty)
        #expect(throws: StoreError.damagedRow(entity: "User", key: "5")) {
            try store.read { _ = try $0.first("User", index: "login", equalTo: [.string("user5")]) }
        }
        _ = try store.repair([.removesDamagedRows])
        #expect(try store.read { try $0.record("User", RecordKey(5)) } == nil)
        #expect(try store.read { try $0.first("User", index: "login", equalTo: [.string("user5")]) } == nil)
        // It can come again.
        try store.write { try $0.put("User", RecordKey(5), [.init("login", .string("user5"))]) }
    }

    @Test(
        "the mark of a local change goes with the row that had its values, unless the outbox has them",
        arguments: [true, false])
    func marksOfRemovedRows(findsOperations: Bool) throws {
        let rich = try RichStore()
        try rich.damage(
            VerificationTests.Damage("two damaged rows", []) { editor in
                if !findsOperations {
                    let user = try #require(editor.catalog.entity("User")).root
                    let record = ListedRecord(entity: user, storageKey: editor.key(4))
                    try editor.remove("outbox", OutboxEntryKey.record(.own, record, 1))
                }
                for number: Int64 in [3, 4] {
                    try editor.change(editor.records("User"), editor.key(number)) { $0 = Array($0.prefix(10)) }
                }
            })
        let store = try Store.open(at: rich.path)
        func hasMark(_ number: Int64) throws -> Bool {
            try store.read { try $0.localChange("User", RecordKey(number)) != nil }
        }
        #expect(try hasMark(3))
        #expect(try hasMark(4))
        _ = try store.repair([.removesDamagedRows])
        #expect(try !hasMark(3))
        #expect(try hasMark(4))
    }

    @Test("an index is not built without a row whose header is damaged: queries would not report it")
    func newIndex() throws {
        let rich = try RichStore()
        try rich.damage(
            VerificationTests.Damage("a byte of an entity's id", []) {
                try $0.change($0.records("User"), $0.key(5)) { $0[6] ^= 0x40 }
            })
        var schema = RichStore.schema
        schema.entities[0].attributes[2] = .init("name", .string, optional: true, indexed: true)
        do {
            _ = try Store.open(at: rich.path, schema: schema)
            Issue.record("it was opened")
        } catch StoreOpenError.store(let error) {
            #expect(error == .damagedRow(entity: "User", key: "5"))
        }
    }

    @Test("an index that is rebuilt keeps the entries of damaged rows that stay")
    func rebuiltIndex() throws {
        let rich = try RichStore()
        try rich.damage(
            VerificationTests.Damage("a damaged row, and an entry that is gone", []) { editor in
                try editor.change(editor.records("User"), editor.key(6)) { $0 = Array($0.prefix(10)) }
                try editor.removeFirst(editor.index("User", "age"))
            })
        let store = try Store.open(at: rich.path), report = try store.repair()
        #expect(report.damagedRows == ["User 6"] && report.indexes.map(\.name) == ["User.age"])
        #expect(throws: StoreError.damagedRow(entity: "User", key: "6")) {
            try store.read { _ = try $0.first("User", index: "age", equalTo: [.int(6)]) }
        }
    }

    @Test("the rows of an entity are read once for all of its damaged indexes, and those of others not at all")
    func rowsReadOnce() throws {
        let rich = try RichStore()
        try rich.damage(
            VerificationTests.Damage("entries of three indexes that are gone", []) { editor in
                for name in ["age", "byName", "login"] { try editor.removeFirst(editor.index("User", name)) }
            })
        let store = try Store.open(at: rich.path), report = try store.repair()
        #expect(Set(report.indexes.map(\.name)) == ["User.age", "User.byName", "User.login"])
        #expect(report.rowsReadForIndexes == Int(RichStore.users) + 2)
        #expect(try verifyBothWays(rich.path).findings.isEmpty)
        #expect(try store.repair().rowsReadForIndexes == 0)
    }

    @Test("a record with an incomplete long list keeps the entries of its fields, also those of lost references")
    func incompleteList() throws {
        let rich = try RichStore()
        try rich.damage(VerificationTests.Damage("a reference that is gone", []) { try $0.removeFirst("edges") })
        let report = try Store.open(at: rich.path).repair()
        #expect(report.damagedRows == ["Issue 5"])
        // The entries of the references that are there follow from the row: none is counted twice.
        #expect(report.indexes.isEmpty)
        #expect(try Set(verifyBothWays(rich.path).counts.keys) == [.list, .indexExtra])
    }

    @Test("an entry between those of a long list, with a key of another length, is removed, and the record stays")
    func entryBetween() throws {
        let rich = try RichStore()
        try rich.damage(
            VerificationTests.Damage("an entry too many", []) { editor in
                let (key, _) = try editor.first("edges")
                try editor.put("edges", key + [0], RecordKey([.int(5), .int(5000)]).storageKey)
            })
        let store = try Store.open(at: rich.path), report = try store.repair([.removesDamagedRows])
        #expect(report.damagedRows.isEmpty && report.listRowsRemoved == 1)
        #expect(try verifyBothWays(rich.path).isSound)
    }

    @Test("a row whose version is damaged does not empty the change log")
    func damagedVersion() throws {
        let rich = try RichStore()
        try rich.damage(
            VerificationTests.Damage("a byte of a version", []) {
                try $0.change($0.records("User"), $0.key(5)) { $0[13] ^= 1 }
            })
        let report = try Store.open(at: rich.path).repair()
        #expect(report.damagedRows == ["User 5"] && !report.clearsChangeLog)
    }

    @Test("a row with a version that no commit can have leaves the change log and the number of the last commit alone")
    func impossibleVersion() throws {
        let rich = try RichStore()
        try rich.damage(
            VerificationTests.Damage("a version of ones", []) { editor in
                try editor.changeRow("User", 5) { row in for index in 12..<20 { row[index] = 0xFF } }
            })
        let store = try Store.open(at: rich.path), before = try store.read { try $0.sequence }
        let report = try store.repair()
        #expect(report.counters.isEmpty && !report.clearsChangeLog)
        try store.write { writer in
            try writer.put("User", RecordKey(7), [.init("login", .string("user7")), .init("name", .string("after"))])
        }
        #expect(try store.read { try $0.sequence } == before + 1)
    }

    @Test("no consumer continues behind a change log that was reset, not even one that knows the newest commit")
    func resetChangeLog() throws {
        let rich = try RichStore()
        let token = try Store.open(at: rich.path, options: .init(isReadOnly: true)).read { try $0.changeToken }
        try rich.damage(#require(VerificationTests.damages.first { $0.testDescription == "a change that is gone" }))
        let store = try Store.open(at: rich.path)
        #expect(try store.read { try $0.changes(since: token).changes.isEmpty })
        #expect(try store.repair().clearsChangeLog)
        #expect(throws: ChangeLogError.self) { try store.read { _ = try $0.changes(since: token) } }
        let next = try store.read { try $0.changeToken }
        try store.write { writer in
            try writer.put("User", RecordKey(7), [.init("login", .string("user7")), .init("name", .string("after"))])
        }
        #expect(try store.read { try $0.changes(since: next).changes.map(\.key) } == [RecordKey(7)])
    }

    @Test(
        "a number that no commit can have does not stay or become the store's sequence: there would be no next commit",
        arguments: ["sequence", "changes"])
    func impossibleSequence(_ table: String) throws {
        let rich = try RichStore(), number = Array(repeating: UInt8(0xFF), count: 8)
        try rich.damage(
            VerificationTests.Damage("a number of ones", []) { editor in
                if table == "changes" {
                    try editor.put("changes", number + [0, 1, 0, 0], [3, 1, 0] + editor.key(99))
                } else {
                    try editor.put("meta", Array(table.utf8), number)
                }
            })
        do {
            let store = try Store.open(at: rich.path)
            #expect(try store.repair().clearsChangeLog)
            #expect(try store.repair().isEmpty)
            try store.write { writer in
                try writer.put(
                    "User", RecordKey(7), [.init("login", .string("user7")), .init("name", .string("after"))])
            }
        }
        #expect(try verifyBothWays(rich.path).isSound)
    }

    @Test("a store of the first format is looked at, and repaired, by its own form of the keys of requests")
    func firstFormat() throws {
        let golden =
            URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path + "/TarnStoreTests/Golden"
        let victim = try GoldenFile("\(golden)/format-1/2026-11-plain"), path = victim.path
        #expect(try verifyBothWays(path).isSound)
        do {
            let store = try Store.open(at: path)
            #expect(store.state.format == 1)
            try store.environment.write { try $0.raw.removeAll(store.state.requests) }
        }
        #expect(try Set(verifyBothWays(path).counts.keys) == [.responseMissing])
        do {
            let store = try Store.open(at: path)
            #expect(try store.repair().tables.map(\.name) == ["requests"])
            #expect(try store.repair().isEmpty)
        }
        #expect(try verifyBothWays(path).isSound)
    }

    @Test("a scan member of an entity that does not exist is removed")
    func membersOfNoEntity() throws {
        let rich = try RichStore()
        try rich.damage(
            VerificationTests.Damage("a member of no entity", []) {
                let key = Array(repeating: UInt8(1), count: 16) + [3, 231] + $0.key(1)
                try $0.put("scans", key, Array(repeating: 0, count: 24))
            })
        #expect(try Set(verifyBothWays(rich.path).counts.keys) == [.scan])
        #expect(try Store.open(at: rich.path).repair().ownRowsRemoved == 1)
        #expect(try verifyBothWays(rich.path).isSound)
    }

    @Test("the removal of an entity leaves none of its marks and scan members")
    func removedEntity() throws {
        let path = FileManager.default.temporaryDirectory.path + "/tarn-removed-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let entities = ["Note", "Other"].map {
            EntityDefinition($0, key: ["id"], attributes: [.init("id", .int), .init("title", .string)])
        }
        do {
            let store = try Store.open(at: path, schema: Schema(entities))
            try store.write { writer in
                for name in ["Note", "Other"] {
                    let id = try #require(writer.catalog.entity(name)?.id)
                    for number: Int64 in 1...5 {
                        try writer.put(name, RecordKey(number), [.init("title", .string("t"))])
                        try writer.putLocally(name, RecordKey(number), [.init("title", .string("changed"))])
                        let listed = ListedRecord(entity: id, storageKey: RecordKey(number).storageKey)
                        try writer.noteListed([listed], of: "list", scan: 1)
                    }
                }
            }
            #expect(try store.remove(entity: "Note", step: 1) == 5)
            #expect(try store.read { try $0.access.scans.count } == 5)
            var marks: [String] = []
            try store.read { reader in
                try reader.forEachLocalChange { change in
                    marks.append(change.entity)
                    return true
                }
            }
            #expect(marks == Array(repeating: "Other", count: 5))
        }
        #expect(try verifyBothWays(path).isSound)
    }

    @Test("the removal of an entity takes the lists that keep the places of its deleted records, and no others")
    func listsOfRemovedEntity() throws {
        let path = FileManager.default.temporaryDirectory.path + "/tarn-lists-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let entities = ["Note", "Other"].map { EntityDefinition($0, key: ["id"], attributes: [.init("id", .int)]) }
        do {
            let store = try Store.open(at: path, schema: Schema(entities)), time = Timestamp(microseconds: 1)
            try store.write { writer in
                for name in ["Note", "Other"] {
                    let id = try #require(writer.catalog.entity(name)?.id)
                    for number: Int64 in 1...3 { try writer.put(name, RecordKey(number), []) }
                    let listed = (1...3).map { ListedRecord(entity: id, storageKey: RecordKey($0).storageKey) }
                    try writer.putResponse(
                        ResponseEntry(
                            request: RequestKey(url: "https://api.example.org/\(name)", endpoint: name),
                            validation: .init(status: 200, fetchedAt: time, validatedAt: time),
                            listing: .init(
                                listed, count: 3, identity: ResponseEntry.Listing.listIdentity + name)))
                }
            }
            #expect(try store.remove(entity: "Note", step: 2) == 3)
        }
        let found = try verifyBothWays(path)
        #expect(found.isSound && found.responses == 1, "\(found.findings.prefix(3))")
    }

    @Test("the removal of an entity takes the marks of its deleted records, and no others of its tree")
    func marksOfRemovedEntity() throws {
        let path = FileManager.default.temporaryDirectory.path + "/tarn-marks-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let schema = Schema([
            EntityDefinition("Event", key: ["id"], attributes: [.init("id", .int)]),
            EntityDefinition("Push", parent: "Event", attributes: [.init("branch", .string, optional: true)]),
            EntityDefinition("Note", key: ["id"], attributes: [.init("id", .int)]),
        ])
        do {
            let store = try Store.open(at: path, schema: schema)
            try store.write { writer in
                for (name, number) in [("Event", 1), ("Push", 2), ("Note", 3)] as [(String, Int64)] {
                    try writer.put(name, RecordKey(number), [])
                    _ = try writer.deleteLocally(name, RecordKey(number))
                }
            }
        }
        let store = try Store.open(at: path)
        func marks() throws -> Int {
            try store.read { reader in
                let table = try #require(reader.access.state.local)
                return try reader.access.raw.statistics(table).entries
            }
        }
        #expect(try marks() == 3)
        #expect(try store.remove(entity: "Push") == 0)
        #expect(try marks() == 2 && store.read { try $0.localChange("Event", RecordKey(1)) } != nil)
        #expect(try store.remove(entity: "Note") == 0)
        #expect(try marks() == 1)
    }

    @Test("an index is not built without a row whose damaged header names another entity of its tree")
    func newIndexOfKind() throws {
        let rich = try RichStore()
        try rich.damage(
            VerificationTests.Damage("the id of the parent", []) { editor in
                let event = try #require(editor.catalog.entity("Event")).id
                try editor.change(editor.records("Push"), editor.key(2)) { row in
                    (row[6], row[7]) = (UInt8(truncatingIfNeeded: event), UInt8(truncatingIfNeeded: event >> 8))
                }
            })
        var schema = RichStore.schema
        let push = try #require(schema.entities.firstIndex { $0.name == "Push" })
        schema.entities[push].indexes = [.init("byBranch", on: ["branch"])]
        let changed = schema
        #expect(throws: StoreOpenError.self) { try Store.open(at: rich.path, schema: changed) }
    }

    @Test("the members of a kind keep their damaged rows when the index is rebuilt")
    func rebuiltMembers() throws {
        let rich = try RichStore()
        try rich.damage(
            VerificationTests.Damage("a damaged row, and a member that is gone", []) { editor in
                try editor.removeFirst(editor.members("Push"))
                try editor.change(editor.records("Push"), editor.key(20)) { $0 = Array($0.prefix(10)) }
            })
        let store = try Store.open(at: rich.path), report = try store.repair()
        #expect(report.indexes.map(\.entriesBefore) == [9] && report.indexes.map(\.entriesAfter) == [10])
        #expect(throws: StoreError.self) { try store.read { _ = try $0.fetch(Query("Push")) } }
    }

    @Test("a mark of an entity that does not exist is removed")
    func marksOfNoEntity() throws {
        let rich = try RichStore()
        try rich.damage(
            VerificationTests.Damage("a mark of no entity", []) { editor in
                let mark = LocalMark(.update, [], entity: 999, since: Timestamp(microseconds: 1))
                let key: [UInt8] = [3, 231] + editor.key(1), table = try editor.table("local")
                try key.withUnsafeBytes { try mark.store(editor.transaction, table, $0, sequence: 1) }
            })
        let store = try Store.open(at: rich.path)
        #expect(try store.repair().ownRowsRemoved == 1)
        #expect(try store.repair().isEmpty)
        #expect(try store.read { try $0.localChange("User", RecordKey(3)) } != nil)
    }

    @Test(
        "a change log that is reset goes on above all its changes, also those behind a damaged one",
        arguments: [false, true])
    func numbersOfResetLog(isDamagedBefore: Bool) throws {
        let rich = try RichStore()
        try rich.damage(
            VerificationTests.Damage("a change too late", []) { editor in
                if isDamagedBefore { try editor.flip("changes", editor.first("changes").key) }
                try editor.put("changes", [0, 0, 0, 0, 0, 0, 3, 232, 0, 1, 0, 0], [3, 1, 0] + editor.key(99))
            })
        let store = try Store.open(at: rich.path)
        #expect(try store.repair().clearsChangeLog)
        try store.write { try $0.put("Label", RecordKey("new"), []) }
        #expect(try #require(try store.read { try $0.record("Label", RecordKey("new")) }).version > 1001)
    }

    @Test("a lost number of the last commit is reported with the change log that is reset for it")
    func lostSequence() throws {
        let rich = try RichStore()
        try rich.damage(
            VerificationTests.Damage("a number that is gone", []) { try $0.remove("meta", Array("sequence".utf8)) })
        let report = try Store.open(at: rich.path).repair()
        #expect(report.clearsChangeLog && report.counters["sequence"] == 5, "\(report.counters)")
    }

    @Test("a sound store is left as it is, to the byte")
    func soundStoreStays() throws {
        let rich = try RichStore()
        let store = try Store.open(at: rich.path), before = try rich.bytes
        #expect(try store.repair([.removesDamagedRows]).isEmpty)
        let after = try rich.bytes
        #expect(after == before)
    }
}

extension RichStore {
    func damage(_ damage: VerificationTests.Damage) throws {
        let names =
            try StoreInspector(at: path).statistics().tables.map(\.name)
            + (damage.codes == [.tableUnknown] ? ["r/999"] : [])
        try self.damage { transaction, catalog in
            var tables: [String: LMDB.Table] = [:]
            for name in names { tables[name] = try transaction.table(name) }
            var editor = Editor(transaction: transaction.raw, catalog: catalog, tables: tables)
            try damage.body(&editor)
        }
    }
}
