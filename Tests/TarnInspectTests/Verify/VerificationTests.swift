// `verify` finds nothing in sound stores, and reports every deliberate damage with its own code.

import Foundation
import LMDB
import Locking
import TestSupport
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Inspect: verification")
struct VerificationTests {
    typealias Codes = Set<Finding.Code>

    private func verify(_ path: String) throws -> StoreVerification { try verifyBothWays(path) }

    @Test("a store that has some of everything is sound, and what was counted is what it holds")
    func soundStore() throws {
        let store = try RichStore()
        let before = try store.bytes
        let report = try verify(store.path)
        #expect(report.findings == [] && report.notCompared == [] && report.isSound && report.isHeld)
        #expect(
            report.records.map { "\($0.entity) \($0.count)" } == [
                "User 42", "Issue 360", "Label 4", "Part 88", "Event 10", "Push 10",
            ])
        #expect(report.responses == 7 && report.changes > 300 && report.indexEntries > 1000 && report.sequence == 4)
        let after = try store.bytes
        #expect(after == before, "something was written")
    }

    @Test(
        "a response with a size that no body has is a finding, and not the end of the process",
        arguments: [-1, .max, .max - 100_000])
    func impossibleBodySize(_ size: Int) throws {
        let store = try RichStore(), time = Timestamp(microseconds: 1)
        let entry = ResponseEntry(
            request: RequestKey(url: "https://api.example.org/huge", endpoint: "*"),
            validation: .init(status: 200, headers: [], fetchedAt: time, validatedAt: time),
            listing: .init(count: 0), caching: ResponseCaching(requestedAt: time, usedAt: time, bodySize: size))
        try store.damage { transaction, _ in
            try entry.store(transaction.raw, try transaction.table(TableName.responses), id: 1000, sequence: 1)
        }
        let findings = try verify(store.path).findings
        #expect(findings.contains { $0.code == .responseForm && $0.place == "response 1000" }, "\(findings)")
        var places: [String] = []
        try StoreInspector(at: store.path).responses({ _, _ in }, damaged: { places.append($0.place) })
        #expect(places == ["response 1000"])
    }

    @Test("two owners of one target in a one-to-one relationship are reported, and no others")
    func severalOwners() throws {
        let path = FileManager.default.temporaryDirectory.path + "/tarn-owners-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let schema = Schema([
            EntityDefinition(
                "User", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                relationships: [RelationshipDefinition("profile", to: "Profile", inverse: "user")]),
            EntityDefinition(
                "Profile", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                relationships: [RelationshipDefinition("user", to: "User", inverse: "profile")]),
        ])
        do {
            let store = try Store.open(at: path, schema: schema)
            try store.write { writer in
                // As it was written before.
                writer.claimsOwners = false
                for (user, profile) in [(1, 5), (2, 6), (3, 5)] as [(Int64, Int64)] {
                    try writer.put(
                        "User", RecordKey(user), [Record.Field("profile", .reference(RecordKey(profile)))])
                }
            }
        }
        let report = try verify(path)
        #expect(report.counts == [.indexNotUnique: 1], "\(report.findings)")
        #expect(report.findings.first?.detail.hasPrefix("User 1 and 3 both refer to 5") == true)
    }

    @Test("unique values that begin alike, longer than an index keeps, are compared as a whole")
    func longUniqueValues() throws {
        let folder = try TemporaryFolder(), path = folder("s"), start = String(repeating: "x", count: 300)
        defer { withExtendedLifetime(folder) {} }
        let schema = Schema([
            EntityDefinition(
                "User", key: ["id"],
                attributes: [AttributeDefinition("id", .int), AttributeDefinition("login", .string, unique: true)])
        ])
        do {
            let store = try Store.open(at: path, schema: schema, options: Store.Options(durability: .volatile))
            try store.write { writer in
                for id in 0..<500 {
                    try writer.put(
                        "User", RecordKey(Int64(id)), [Record.Field("login", .string("\(start)\(id % 250)-\(id)"))])
                }
            }
        }
        #expect(try verify(path).isSound)
    }

    @Test("an enumeration value that the schema no longer has is sound in the records that keep it")
    func removedEnumerationValue() throws {
        let path = FileManager.default.temporaryDirectory.path + "/tarn-enumeration-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        func schema(_ values: [String]) -> Schema {
            Schema([
                EntityDefinition(
                    "Issue", key: ["id"],
                    attributes: [
                        .init("id", .int), .init("state", .enumeration(values)),
                        .init("states", .array(.enumeration(values)), optional: true),
                    ])
            ])
        }
        try Store.open(at: path, schema: schema(["a", "b"])).write { writer in
            try writer.put(
                "Issue", RecordKey(1),
                [.init("state", .string("b")), .init("states", .array([.string("a"), .string("b")]))])
        }
        try Store.open(at: path, schema: schema(["a"])).read { _ in }
        #expect(try verify(path).findings == [])
    }

    @Test("a queued deletion keeps the version of its record, and the store is sound")
    func versionOfDeleted() throws {
        let rich = try RichStore(), request = RequestKey(url: "https://api.example.org/issues/2002", endpoint: "issue")
        try Store.open(at: rich.path).write { writer in
            let issue = try #require(writer.catalog.entity("Issue")?.id), time = Timestamp(microseconds: 1)
            let listed = [ListedRecord(entity: issue, storageKey: RecordKey(2002).storageKey)]
            try writer.putResponse(
                ResponseEntry(
                    request: request,
                    validation: .init(status: 200, headers: ["etag", "v1"], fetchedAt: time, validatedAt: time),
                    listing: .init(listed, count: 1)))
            try writer.enqueueDelete("Issue", RecordKey(2002))
        }
        let found = try verifyBothWays(rich.path)
        #expect(found.isSound && found.responses == 8, "\(found.findings.prefix(3))")
        #expect(try Store.open(at: rich.path).repair([.dryRun]).isEmpty)
        let new = rich.path + ".salvaged"
        defer { try? FileManager.default.removeItem(atPath: new) }
        #expect(try StoreInspector(at: rich.path).salvage(to: new).responses == 7)
        #expect(try verifyBothWays(new).isSound)
        let store = try Store.open(at: new, schema: RichStore.schema)
        let deletion = try #require(try store.read { try $0.outbox.window(limit: 10) }.last?.operation.id)
        let version = try store.write { writer in
            _ = try writer.discardOperation(deletion)
            return try writer.access.responses.entry(of: request)?.validation.version
        }
        #expect(version == ["etag", "v1"])
    }

    @Test("a store that is being written to is held as of one commit, and is sound however often it is looked at")
    func liveStore() throws {
        let rich = try RichStore()
        let store = try Store.open(at: rich.path, options: Store.Options(durability: .volatile))
        let isDone = Flag()
        let writer = Thread {
            var number: Int64 = 5000
            while !isDone.isSet {
                try? store.write { writer in
                    for key in number..<number + 20 { try writer.put("Label", RecordKey("label \(key % 300)"), []) }
                    for key in number - 200..<number - 100 {
                        _ = try writer.delete("Label", RecordKey("label \(key % 300)"))
                    }
                }
                number += 20
            }
            isDone.end()
        }
        writer.start()
        var sequences: Set<UInt64> = []
        for _ in 0..<15 {
            let report = try verify(rich.path)
            #expect(report.isSound && report.isHeld, "\(report.findings.prefix(3))")
            sequences.insert(report.sequence)
        }
        isDone.set()
        #expect(sequences.count > 3, "nothing was written meanwhile")
    }

    // MARK: - Damage to the content of tables

    struct Damage: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var codes: Codes
        var body: @Sendable (inout Editor) throws -> Void

        init(_ name: String, _ codes: Codes, _ body: @escaping @Sendable (inout Editor) throws -> Void) {
            (testDescription, self.codes, self.body) = (name, codes, body)
        }
    }

    static let damages: [Damage] = [
        Damage("a byte of a row", [.rowChecksum]) {
            try $0.change($0.records("User"), $0.key(5)) { $0[$0.count - 1] ^= 1 }
        },
        Damage("a row that ends early", [.rowForm]) {
            try $0.change($0.records("User"), $0.key(5)) { $0 = Array($0.prefix(10)) }
        },
        Damage("a row that is gone", [.indexExtra, .changeExtra]) { try $0.remove($0.records("User"), $0.key(1)) },
        Damage("a listed row that is gone", [.indexExtra, .responseRecord, .changeExtra]) {
            try $0.remove($0.records("Issue"), $0.key(1))
        },
        Damage("a row of an unknown entity", [.rowEntity]) { try $0.changeRow("User", 5) { $0[6] = 99 } },
        Damage("a row of an unknown format", [.rowForm]) { try $0.changeRow("User", 5) { $0[0] = 9 } },
        Damage("a field of the wrong type", [.rowValue]) { editor in
            try editor.changeRow("Issue", 1) { row in
                let title = try #require(row.firstRange(of: Array("\u{7}Issue 1".utf8)))
                row[title.lowerBound] = ValueTag.url
            }
        },
        Damage("a row under another key", [.rowKey, .changeMissing]) { editor in
            let row = try editor.value(editor.records("Label"), RecordKey("bug").storageKey)
            try editor.put(editor.records("Label"), RecordKey("gub").storageKey, row, of: "Label")
        },
        Damage("a dictionary that is gone", [.rowDictionary]) { try $0.remove("meta", Array("dictionary 1".utf8)) },
        Damage("a dictionary that zstd cannot use", [.dictionary, .counter]) {
            try $0.put("meta", Array("dictionary 9".utf8), [1])
        },
        Damage("an entry of an attribute's index that is gone", [.indexMissing]) {
            try $0.removeFirst($0.index("User", "age"))
        },
        Damage("an entry of a declared index that is gone", [.indexMissing]) {
            try $0.removeFirst($0.index("User", "byName"))
        },
        Damage("an entry of an inverse that is gone", [.indexMissing]) {
            try $0.removeFirst($0.index("Issue", "author"))
        },
        Damage("an entry of a long list's inverse that is gone", [.indexMissing]) {
            try $0.removeFirst($0.index("Issue", "parts"))
        },
        Damage("a member that is gone", [.indexMissing]) { try $0.removeFirst($0.members("Push")) },
        Damage("an entry too many", [.indexExtra]) { editor in
            var key = try editor.first(editor.index("User", "age")).key
            key[key.count - 1] ^= 1
            try editor.put(editor.index("User", "age"), key, [])
        },
        Damage("an index entry with a value", [.indexForm]) { editor in
            try editor.put(editor.index("User", "age"), editor.first(editor.index("User", "age")).key, [1])
        },
        Damage("two records with one unique value", [.indexNotUnique]) { editor in
            try editor.changeRow("User", 2) { row in
                let login = try #require(row.firstRange(of: Array("user2".utf8)))
                row[login.upperBound - 1] = UInt8(ascii: "1")
            }
            let table = try editor.index("User", "login"), entry = Array("\u{2}user".utf8)
            try editor.remove(table, entry + [UInt8(ascii: "2"), 0] + editor.key(2))
            try editor.put(table, entry + [UInt8(ascii: "1"), 0] + editor.key(2), [])
        },
        Damage("two records with one unique value that is longer than an index keeps", [.indexNotUnique]) { editor in
            try editor.changeRow("User", 101) { row in
                let end = try #require(row.firstRange(of: Array("xxxb".utf8)))
                row[end.upperBound - 1] = UInt8(ascii: "a")
            }
        },
        Damage("a reference of a long list that is gone", [.list, .indexExtra]) { try $0.removeFirst("edges") },
        Damage("another reference in a long list", [.list, .indexExtra, .indexMissing]) { editor in
            let (key, _) = try editor.first("edges")
            try editor.put("edges", key, RecordKey([.int(5), .int(5000)]).storageKey)
        },
        Damage("a reference of a list that nobody has", [.listExtra]) {
            try $0.put("edges", Array(repeating: 7, count: 12), $0.key(1))
        },
        Damage("a request that is gone", [.responseMissing]) { try $0.removeFirst("requests") },
        Damage("a request that leads to another response", [.responseMissing]) { editor in
            let (key, value) = try editor.first("requests")
            try editor.put("requests", key, value.dropLast() + [value[7] == 1 ? 2 : 1])
        },
        Damage("a URL that is gone", [.responseMissing]) { try $0.removeFirst("urls") },
        Damage("a URL too many", [.responseExtra]) { try $0.put("urls", Array(repeating: 65, count: 20), []) },
        Damage("a member of a response that is gone", [.responseMissing]) { try $0.removeFirst("members") },
        Damage("a member of no response", [.responseExtra]) {
            try $0.put("members", [0, 1, 21, 1] + Array(repeating: 0, count: 8), [])
        },
        Damage("a byte of a response", [.responseForm]) { editor in
            let (key, value) = try editor.first("responses")
            try editor.put("responses", key, value.dropLast() + [value[value.count - 1] ^ 1])
        },
        Damage("a chunk of a body that is gone", [.responseMissing]) { try $0.removeFirst("bodies") },
        Damage("a flipped bit of a body", [.responseForm, .responseMissing]) {
            try $0.flip("bodies", $0.first("bodies").key)
        },
        Damage("a flipped bit of a change", [.changeForm]) { try $0.flip("changes", $0.first("changes").key) },
        Damage("a flipped bit of a scan", [.scan]) { try $0.flip("scans", $0.first("scans").key) },
        Damage("a flipped bit of an element of a long list", [.list, .indexExtra]) {
            try $0.flip("edges", $0.first("edges").key)
        },
        Damage("a flipped bit of a request", [.responseForm]) { try $0.flip("requests", $0.first("requests").key) },
        Damage("a cache that counts wrong", [.counter]) {
            try $0.put("meta", Array("cache bytes".utf8), [0, 0, 0, 0, 0, 0, 0, 9])
        },
        Damage("a body of no response", [.responseExtra]) { try $0.put("bodies", Array(repeating: 1, count: 12), [1]) },
        Damage("a change that is gone", [.changeMissing]) { try $0.removeFirst("changes") },
        Damage("a change that cannot be read", [.changeForm]) {
            try $0.put("changes", $0.first("changes").key, [9, 9])
        },
        Damage("a change of a record that never was", [.changeExtra]) { editor in
            try editor.put("changes", [0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0], [1, 1, 0] + editor.key(99))
        },
        Damage("a change too late", [.changeExtra, .counter]) { editor in
            try editor.put("changes", [0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 0, 0], [3, 1, 0] + editor.key(99))
        },
        Damage("a counter of responses that lags", [.counter]) {
            try $0.put("meta", Array("next response".utf8), [0, 0, 0, 0, 0, 0, 0, 1])
        },
        Damage("a counter of lists that lags", [.counter]) { try $0.remove("meta", Array("next list".utf8)) },
        Damage("a counter of dictionaries that lags", [.counter]) {
            try $0.remove("meta", Array("next dictionary".utf8))
        },
        Damage("no incarnation", [.setting]) { try $0.remove("meta", Array("incarnation".utf8)) },
        Damage("a mark of no index", [.setting]) {
            try $0.put("meta", Array("index 999".utf8), Array(repeating: 1, count: 10))
        },
        Damage("a catalog that is no JSON", [.catalog]) { try $0.put("meta", Array("catalog".utf8), [1, 2, 3]) },
        Damage("a letter of the catalog", [.catalog]) { editor in
            let key = Array("catalog".utf8), text = String(decoding: try editor.value("meta", key), as: UTF8.self)
            try editor.put("meta", key, Array(text.replacingOccurrences(of: "\"login\"", with: "\"logon\"").utf8))
        },
        Damage("no format", [.noStore]) { try $0.remove("meta", Array("format".utf8)) },
        Damage("a newer format", [.newerFormat]) { try $0.put("meta", Array("format".utf8), Array("99".utf8)) },
        Damage("a table of nobody", [.tableUnknown]) { try $0.put("r/999", [1], [1]) },
        Damage("a byte of a checkpoint", [.checkpoint]) { editor in
            let (key, value) = try editor.first("checkpoints")
            try editor.put("checkpoints", key, value.dropLast() + [value[value.count - 1] ^ 1])
        },
        Damage("a scan that cannot be read", [.scan]) { try $0.put("scans", $0.first("scans").key, [1]) },
        Damage("a mark that cannot be read", [.localMark]) {
            try $0.put("local", $0.first("local").key, Array(repeating: 1, count: 30))
        },
        Damage("an operation that cannot be read", [.outboxForm]) {
            try $0.put("outbox", OutboxEntryKey.operation(1), Array(repeating: 1, count: 30))
        },
        Damage("an operation that is not found by its record", [.outboxMissing]) { editor in
            try editor.remove("outbox", OutboxEntryKey.record(.own, user(4, editor), 1))
        },
        Damage("an operation that does not exist", [.outboxExtra]) { editor in
            try editor.put("outbox", OutboxEntryKey.record(.own, user(4, editor), 77), [])
        },
    ]

    private static func user(_ key: Int64, _ editor: Editor) throws -> ListedRecord {
        ListedRecord(entity: try #require(editor.catalog.entity("User")).root, storageKey: editor.key(key))
    }

    @Test("what is wrong in tables is found, with its own code and nothing else", arguments: damages)
    func damagedTables(_ damage: Damage) throws {
        let store = try RichStore()
        try store.damage(damage)
        let report = try verify(store.path)
        #expect(Set(report.counts.keys) == damage.codes, "\(report.findings.prefix(5))")
        #expect(!report.isSound && report.isHeld)
        for finding in report.findings { #expect(!finding.place.isEmpty && finding.detail.count > 5) }
    }

    @Test(
        "a change log that is compared part by part has the same findings",
        arguments: damages.filter { !$0.codes.isDisjoint(with: [.changeMissing, .changeExtra]) })
    func comparedInParts(_ damage: Damage) throws {
        let store = try RichStore()
        try store.damage(damage)
        let whole = try verify(store.path)
        let parts = try StoreInspector(at: store.path).open { file in
            let check = StoreCheck(file)
            check.comparedNames = 7
            try check.run()
            return file.findings.counts
        }
        #expect(parts == whole.counts)
    }

    @Test("every code of a fault in tables has a damage that leads to it")
    func everyCodeIsTried() {
        let tried = VerificationTests.damages.reduce(into: Codes()) { $0.formUnion($1.codes) }
        let missing = Finding.Code.allCases.filter { !$0.isOfPages && !tried.contains($0) }
        #expect(missing == [])
    }

    @Test("of many findings of one kind a hundred are named, and all are counted")
    func findingsAreLimited() throws {
        let store = try RichStore()
        try store.damage { transaction, catalog in
            let entity = try #require(catalog.entity("Issue")), index = try #require(entity.field("author")?.index)
            try transaction.raw.removeAll(try transaction.table("i/\(index)"))
        }
        let report = try verify(store.path)
        #expect(report.counts == [.indexMissing: 60])
        try store.damage { transaction, catalog in
            let entity = try #require(catalog.entity("Issue")), index = try #require(entity.field("parts")?.index)
            try transaction.raw.removeAll(try transaction.table("i/\(index)"))
        }
        let second = try verify(store.path)
        #expect(second.findings.count == 100 && second.counts[.indexMissing, default: 0] > 1200)
    }
}

/// Changes tables inside of a transaction.
struct Editor {
    let transaction: RawTransaction
    let catalog: Catalog
    let tables: [String: LMDB.Table]

    func table(_ name: String) throws -> LMDB.Table { try #require(tables[name]) }
    func key(_ number: Int64) -> [UInt8] { RecordKey(number).storageKey }
    func records(_ entity: String) throws -> String { "r/\(try #require(catalog.entity(entity)).root)" }
    func members(_ entity: String) throws -> String { "i/\(try #require(catalog.entity(entity)?.members))" }
    func index(_ entity: String, _ name: String) throws -> String {
        let entity = try #require(catalog.entity(entity))
        return "i/\(try #require(entity.field(name)?.index ?? entity.index(name)?.id))"
    }

    private static let checksummed: [String: StaticString] = [
        "meta": "meta", "requests": "requests", "changes": "changes", "edges": "edges", "scans": "scans",
        "bodies": "bodies",
    ]

    private func checksummed(_ name: String) throws -> ChecksummedTable {
        ChecksummedTable(
            try table(name), Editor.checksummed[name] ?? "", format: Editor.checksummed[name] == nil ? 1 : Store.format)
    }

    /// The first entry; without the checksum behind its value.
    func first(_ name: String) throws -> (key: [UInt8], value: [UInt8]) {
        let cursor = try transaction.cursor(checksummed(name))
        defer { cursor.close() }
        let (key, value) = try #require(try cursor.first())
        return (Array(key), Array(value))
    }

    func value(_ name: String, _ key: [UInt8]) throws -> [UInt8] {
        let table = try checksummed(name)
        return Array(try #require(try key.withUnsafeBytes { try transaction.get(table, $0) }))
    }

    /// Puts a value; with a checksum that is right where values have one.
    func put(_ name: String, _ key: [UInt8], _ value: [UInt8]) throws {
        let table = try checksummed(name)
        try key.withUnsafeBytes { key in try value.withUnsafeBytes { try transaction.put(table, key, $0) } }
    }

    /// Flips a bit of a value as it is stored.
    func flip(_ name: String, _ key: [UInt8]) throws {
        let table = try table(name)
        var value = Array(try #require(try key.withUnsafeBytes { try transaction.get(table, $0) }))
        value[0] ^= 1
        try key.withUnsafeBytes { key in try value.withUnsafeBytes { try transaction.put(table, key, $0) } }
    }

    /// A row with a checksum that is right.
    func put(_ name: String, _ key: [UInt8], _ row: [UInt8], of entity: String) throws {
        var row = row
        let root = try #require(catalog.entity(entity)).root
        let checksum = row.withUnsafeBytes { row in
            key.withUnsafeBytes { EncodedRow.checksum(of: row, table: UInt32(root), key: $0) }
        }
        for index in 0..<4 { row[8 + index] = UInt8(truncatingIfNeeded: checksum >> (8 * UInt32(index))) }
        try put(name, key, row)
    }

    func remove(_ name: String, _ key: [UInt8]) throws {
        let table = try table(name)
        #expect(try key.withUnsafeBytes { try transaction.delete(table, $0) })
    }

    func removeFirst(_ name: String) throws { try remove(name, first(name).key) }

    func change(_ name: String, _ key: [UInt8], _ body: (inout [UInt8]) throws -> Void) throws {
        var value = try value(name, key)
        try body(&value)
        try put(name, key, value)
    }

    func changeRow(_ entity: String, _ number: Int64, _ body: (inout [UInt8]) throws -> Void) throws {
        var row = try value(records(entity), key(number))
        try body(&row)
        try put(records(entity), key(number), row, of: entity)
    }
}
