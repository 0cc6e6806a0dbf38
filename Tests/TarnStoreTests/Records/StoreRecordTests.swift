// Records of a store: put, patch, get, delete, scan, versions and the change log.

import Foundation
import LMDB
import TestSupport
import Testing

@testable import TarnStore

@Suite("Records")
struct StoreRecordTests {
    struct Stop: Error {}

    let folder: TemporaryFolder
    let store: Store

    init() throws {
        folder = try TemporaryFolder()
        store = try Forge.open(folder("s"))
    }

    @Test("a record comes back with its key and its values, in the order of the catalog")
    func recordComesBack() throws {
        try store.put("Issue", RecordKey(7), ["title": .string("t"), "number": .int(3), "closedAt": .null])
        let record = try #require(try store.record("Issue", RecordKey(7)))
        #expect(record.entity == "Issue")
        #expect(record.key == RecordKey(7))
        #expect(record.fields.map(\.name) == ["id", "title", "number", "closedAt"])
        #expect(record["id"] == .int(7))
        #expect(record["closedAt"] == .null)
        #expect(record["author"] == nil)
        #expect(!record.isPartial)
        #expect(try store.record("Issue", RecordKey(8)) == nil)
    }

    @Test("values of every attribute type come back")
    func everyTypeComesBack() throws {
        let values: [String: (AttributeType, Value)] = [
            "b": (.bool, .bool(true)), "i": (.int, .int(.min)), "u": (.uint, .uint(.max)), "d": (.double, .double(0.1)),
            "s": (.string, .string("a\0é\u{10FFFF}")), "t": (.date, .date(Timestamp(microseconds: -5))),
            "g": (.uuid, .uuid(UUID())),
            "l": (.url, .url("https://x.example/?q=é")), "j": (.json, .json("[1,{}]")),
            "e": (.enumeration(["x"]), .string("x")),
            "a": (.array(.double), .array([.double(1), .null])),
        ]
        let schema = Schema([
            EntityDefinition(
                "All", key: ["id"],
                attributes: [.init("id", .uuid)]
                    + values.map { AttributeDefinition($0.key, $0.value.0, indexed: $0.key != "a" && $0.key != "j") })
        ])
        let store = try Forge.open(folder("all"), schema)
        let key = RecordKey(UUID())
        try store.put("All", key, values.mapValues(\.1))
        let record = try #require(try store.record("All", key))
        for (name, value) in values { #expect(record[name] == value.1) }
    }

    @Test("a patch sets and clears what it names and keeps the rest")
    func patchKeepsTheRest() throws {
        try store.put("Issue", RecordKey(1), ["title": .string("a"), "number": .int(1)])
        try store.put("Issue", RecordKey(1), ["title": .string("b")])
        try store.put("Issue", RecordKey(1), ["number": .null])
        let record = try #require(try store.record("Issue", RecordKey(1)))
        #expect(record["title"] == .string("b"))
        #expect(record["number"] == .null)
        #expect(try store.count("Issue") == 1)
    }

    @Test("what does not change is not written: version, sequence and change log stay")
    func unchangedIsNotWritten() throws {
        try store.put("Issue", RecordKey(1), ["title": .string("a"), "number": .int(1)])
        let (version, sequence, changes) = (
            try store.record("Issue", RecordKey(1))?.version, try store.sequence, try store.changes()
        )
        try store.put("Issue", RecordKey(1), ["title": .string("a"), "number": .int(1)])
        try store.put("Issue", RecordKey(1), ["number": .int(1)])
        try store.write { _ in }
        #expect(try store.record("Issue", RecordKey(1))?.version == version)
        #expect(try store.sequence == sequence)
        #expect(try store.changes() == changes)
    }

    @Test("a change gets the next sequence as its version; the other records keep theirs")
    func versionsAreSequences() throws {
        try store.write { writer in
            try writer.put("User", RecordKey(1), [.init("login", .string("a"))])
            try writer.put("User", RecordKey(2), [.init("login", .string("b"))])
        }
        try store.put("User", RecordKey(2), ["login": .string("c")])
        #expect(try store.record("User", RecordKey(1))?.version == 1)
        #expect(try store.record("User", RecordKey(2))?.version == 2)
        #expect(try store.sequence == 2)
    }

    @Test("the change log has every change in order: created, updated, deleted")
    func changeLogHasEveryChange() throws {
        let user = try #require(store.catalog.entity("User")).id
        let issue = try #require(store.catalog.entity("Issue")).id
        try store.write { writer in
            try writer.put("User", RecordKey(2), [])
            try writer.put("Issue", RecordKey(1), [])
        }
        try store.write { writer in
            try writer.put("Issue", RecordKey(1), [.init("title", .string("x"))])
            try writer.delete("User", RecordKey(2))
            try writer.delete("User", RecordKey(3))
        }
        #expect(
            try store.changes() == [
                .init(sequence: 1, operation: 1, entity: user, key: RecordKey(2).storageKey),
                .init(sequence: 1, operation: 1, entity: issue, key: RecordKey(1).storageKey),
                .init(sequence: 2, operation: 2, entity: issue, key: RecordKey(1).storageKey),
                .init(sequence: 2, operation: 3, entity: user, key: RecordKey(2).storageKey),
            ])
    }

    @Test("a scan goes in key order, negative numbers first, and stops when told")
    func scanGoesInKeyOrder() throws {
        let ids: [Int64] = [5, -1, 300, 0, -70_000, 256, .min, .max]
        try store.write { writer in for id in ids { try writer.put("User", RecordKey(id), []) } }
        var seen: [RecordKey] = []
        var firstThree = 0
        try store.read { reader in
            try reader.forEach("User") { record in
                seen.append(record.key)
                return true
            }
            try reader.forEach("User") { _ in
                firstThree += 1
                return firstThree < 3
            }
        }
        #expect(seen == ids.sorted().map { RecordKey($0) })
        #expect(firstThree == 3)
        #expect(try store.count("User") == ids.count)
    }

    @Test("a deleted record is gone, and deleting it again says so")
    func deletedIsGone() throws {
        try store.put("User", RecordKey(1), ["login": .string("a")])
        #expect(try store.write { try $0.delete("User", RecordKey(1)) })
        #expect(try !store.write { try $0.delete("User", RecordKey(1)) })
        #expect(try store.record("User", RecordKey(1)) == nil)
        #expect(try store.count("User") == 0)
        #expect(try store.indexEntries("User", "login").isEmpty)
    }

    @Test("a record created, changed, deleted and made again in one transaction is what was said last")
    func manyChangesInOneTransaction() throws {
        try store.put("User", RecordKey(1), ["login": .string("old")])
        try store.write { writer in
            try writer.put("User", RecordKey(1), [.init("login", .string("x"))])
            try writer.delete("User", RecordKey(1))
            try writer.put("User", RecordKey(1), [.init("login", .string("y"))])
            try writer.put("User", RecordKey(1), [.init("login", .string("old"))])
            try writer.put("User", RecordKey(2), [.init("login", .string("z"))])
            try writer.delete("User", RecordKey(2))
        }
        #expect(try store.record("User", RecordKey(1))?["login"] == .string("old"))
        let entry = written { Array("old".utf8).withUnsafeBytesInto(&$0) } + RecordKey(1).storageKey
        #expect(try store.indexEntries("User", "login") == [entry])
    }

    @Test("unknown entities and fields, and keys of another form, are errors that name them")
    func wrongNamesAreErrors() throws {
        #expect(
            storeError { try store.put("Nobody", RecordKey(1)) }
                == StoreError.unknownEntity(name: "Nobody", known: ["User", "Label", "Issue", "Board"]))
        #expect(
            storeError { _ = try store.record("user", RecordKey(1)) }
                == StoreError.unknownEntity(name: "user", known: ["User", "Label", "Issue", "Board"]))
        #expect(
            storeError { try store.put("User", RecordKey(1), ["nick": .null]) }
                == StoreError.unknownField(entity: "User", name: "nick", known: ["id", "login"]))
        let wrong: [(String, RecordKey, String)] = [
            ("User", RecordKey("1"), "int"), ("User", RecordKey([]), "int"),
            ("User", RecordKey([.int(1), .int(2)]), "int"),
            ("Board", RecordKey("a"), "[string, string]"),
            ("Board", RecordKey([.string("a"), .int(1)]), "[string, string]"),
            ("Label", RecordKey(UUID(bytes: 0..<16)), "string"),
        ]
        for (entity, key, expected) in wrong {
            let error = StoreError.wrongKey(entity: entity, expected: expected, found: key.description)
            #expect(storeError { try store.put(entity, key) } == error)
            #expect(storeError { _ = try store.record(entity, key) } == error)
            #expect(storeError { _ = try store.write { try $0.delete(entity, key) } } == error)
        }
        #expect(try store.sequence == 0)
    }

    @Test("a write that throws leaves nothing: no row, no index entry, no change")
    func throwingWriteLeavesNothing() throws {
        try store.put("User", RecordKey(1), ["login": .string("a")])
        #expect(throws: Stop.self) {
            try store.write { writer in
                try writer.put("User", RecordKey(1), [.init("login", .string("b"))])
                try writer.put("User", RecordKey(2), [.init("login", .string("c"))])
                try writer.applyIndexChanges()
                throw Stop()
            }
        }
        #expect(try store.record("User", RecordKey(1))?["login"] == .string("a"))
        #expect(try store.count("User") == 1)
        #expect(try store.indexEntries("User", "login").count == 1)
        #expect(try store.changes().count == 1)
    }

    @Test("a write inside a read or a write is refused at once")
    func nestedWriteIsRefused() async throws {
        let path = folder("other")
        await #expect(processExitsWith: .success) { [path = path as String] in
            alarm(30)  // one that waited for itself would hang for ever
            try StoreRecordTests.nestWrites(try Forge.open(path))
        }
    }

    private static func nestWrites(_ store: Store) throws {
        func isNestedWrite(_ error: (any StoreFailure)?) -> Bool {
            if case StoreError.lmdb(let error)? = error { error.kind == .nestedWrite } else { false }
        }
        var refused = 0
        try store.read { _ in
            if isNestedWrite(storeError { try store.put("User", RecordKey(1)) }) { refused += 1 }
        }
        try store.write { _ in
            if isNestedWrite(storeError { try store.put("User", RecordKey(1)) }) { refused += 1 }
        }
        #expect(refused == 2)
        #expect(try store.count("User") == 0)
    }

    @Test("a read inside a write sees the store before it")
    func readInsideWriteSeesTheOldStore() throws {
        try store.write { writer in
            try writer.put("User", RecordKey(1), [])
            #expect(try store.count("User") == 0)
        }
        #expect(try store.count("User") == 1)
    }

    @Test("async writes are all done, each whole, and what their closures throw is thrown")
    func asyncWrites() async throws {
        let store = store
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in 0..<50 {
                group.addTask {
                    let returned = try await store.write { writer in
                        try writer.put("User", RecordKey(Int64(id)), [.init("login", .string("u\(id)"))])
                        return id
                    }
                    #expect(returned == id)
                }
            }
            try await group.waitForAll()
        }
        await #expect(throws: Stop.self) {
            try await store.write { writer in
                try writer.put("User", RecordKey(1000), [])
                throw Stop()
            }
        }
        #expect(try store.read { try $0.count("User") } == 50)
        #expect(try store.read { try $0.sequence } == 50)
    }

    @Test("a record known only in part is partial until its required fields or a complete one come")
    func partialUntilComplete() throws {
        // Ids of User: id 1, login 2.
        let key = RecordKey(9)
        #expect(try store.merge("User", key, complete: false, [(1, .int(9))]) == .created)
        #expect(try store.record("User", key)?.isPartial == true)
        #expect(try store.merge("User", key, complete: false, [(1, .int(9))]) == .unchanged)
        #expect(try store.merge("User", key, complete: false, [(1, .int(9)), (2, .string("x"))]) == .updated)
        #expect(try store.record("User", key)?.isPartial == false)
        #expect(try store.merge("User", RecordKey(10), complete: false, [(1, .int(10)), (2, .null)]) == .created)
        #expect(try store.record("User", RecordKey(10))?.isPartial == false)
    }

    @Test("the same content, now complete, clears the partial flag; a partial one never sets it again")
    func completeClearsThePartialFlag() throws {
        let key = RecordKey(9)
        try store.merge("User", key, complete: false, [(1, .int(9))])
        #expect(try store.merge("User", key, complete: true, [(1, .int(9))]) == .updated)
        #expect(try store.record("User", key)?.isPartial == false)
        #expect(try store.merge("User", key, complete: false, [(1, .int(9))]) == .unchanged)
        // New values of a partial record; the required login is still absent.
        #expect(try store.merge("User", key, complete: false, [(1, .int(9)), (777, .int(1))]) == .updated)
        #expect(try store.record("User", key)?.isPartial == false)
    }

    @Test("a field that the catalog does not know is shown by its number and survives a change")
    func unknownFieldsSurvive() throws {
        try store.merge("User", RecordKey(1), complete: true, [(1, .int(1)), (777, .string("later"))])
        try store.put("User", RecordKey(1), ["login": .string("x")])
        #expect(try store.record("User", RecordKey(1))?["#777"] == .string("later"))
    }

    @Test("a row that cannot be read is an error with its key, and a write does not overwrite it")
    func damagedRowIsAnError() throws {
        try store.put("User", RecordKey(1), ["login": .string("a")])
        try store.write { writer in
            let table = try writer.access.state.records(of: try writer.access.state.entity("User").id)
            try RecordKey(1).storageKey.withUnsafeBytes { key in
                try [UInt8](repeating: 0xEE, count: 40).withUnsafeBytes { try writer.access.raw.put(table, key, $0) }
            }
        }
        let error = StoreError.damagedRow(entity: "User", key: "1")
        #expect(storeError { _ = try store.record("User", RecordKey(1)) } == error)
        #expect(storeError { try store.put("User", RecordKey(1), ["login": .string("b")]) } == error)
        #expect(storeError { _ = try store.write { try $0.delete("User", RecordKey(1)) } } == error)
        #expect(storeError { try store.read { try $0.forEach("User") { _ in true } } } == error)
        #expect(error.description.contains("tarn inspect salvage"))
        #expect(error.description.contains("`tarn store repair --remove-damaged-rows` and sync again"))
    }

    @Test("rows in the store have valid checksums, also beyond the narrow limit")
    func storedChecksumsAreValid() throws {
        try store.put("User", RecordKey(1), ["login": .string("a")])
        try store.put("Issue", RecordKey(2), ["title": .string(String(repeating: "x", count: 70_000))])
        try store.put("Issue", RecordKey(2), ["number": .int(1)])
        #expect(try store.record("Issue", RecordKey(2))?["title"] == .string(String(repeating: "x", count: 70_000)))
        var rows = 0
        try store.read { reader in
            for entity in reader.catalog.entities {
                try reader.access.records.scan(entity) { key, row in
                    rows += row.hasValidChecksum(table: UInt32(entity.id), key: key) && row.body.isWellFormed ? 1 : -100
                    return true
                }
            }
        }
        #expect(rows == 2)
    }
}

extension [UInt8] {
    fileprivate func withUnsafeBytesInto(_ writer: inout ByteWriter) {
        withUnsafeBytes { writer.appendTuple(string: $0) }
    }
}
