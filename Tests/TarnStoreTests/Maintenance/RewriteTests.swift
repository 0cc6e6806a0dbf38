// Writing all rows again: another form, the same records.

import Foundation
import Glibc
import LMDB
import TestSupport
import Testing

@testable import TarnStore

/// Pages of a wiki in a store: rows that compress well.
private enum Wiki {
    static func schema(_ compression: EntityDefinition.Compression = .zstd) -> Schema {
        Schema([
            EntityDefinition(
                "Page", key: ["id"],
                attributes: [
                    .init("id", .int), .init("title", .string, indexed: true), .init("text", .string),
                    .init("note", .string, optional: true),
                ],
                relationships: [.init("next", to: "Page", inverse: "previous")], compression: compression),
            EntityDefinition("Tag", key: ["name"], attributes: [.init("name", .string)]),
        ])
    }

    static func text(_ number: Int) -> String {
        "The page with the number \(number) has an address, https://wiki.example/pages/\(number), and a paragraph that all of them share: "
            + String(repeating: "what repeats itself compresses well, ", count: 12)
            + "and number \(number &* 7919 % 1009) ends it."
    }

    static func fill(_ store: Store, _ numbers: some Sequence<Int>) throws {
        try store.write { writer in
            for number in numbers {
                try writer.put(
                    "Page", RecordKey(Int64(number)),
                    [
                        .init("title", .string("Page \(number)")), .init("text", .string(text(number))),
                        .init("next", .reference(RecordKey(Int64(number + 1)))),
                    ])
            }
        }
    }

    /// A store with 1,200 plain rows, and 1,800 that are compressed.
    static func mixed(_ path: String) throws -> Store {
        let store = try Store.open(at: path, schema: schema())
        try fill(store, 0..<1200)
        try store.trainDictionaries()
        try fill(store, 1200..<3000)
        return store
    }
}

extension Store {
    fileprivate func pages() throws -> [Record] {
        try read { reader in
            var records: [Record] = []
            try reader.forEach("Page") {
                records.append($0)
                return true
            }
            return records
        }
    }

    /// The number of rows of `Page` for each dictionary; 0 is none.
    fileprivate func rowsByDictionary() throws -> [UInt16: Int] {
        try read { reader in
            let access = reader.access, entity = try access.state.entity("Page")
            var result: [UInt16: Int] = [:]
            try access.records.scan(entity) { key, row in
                result[EncodedRow.dictionary(of: row.bytes) ?? 0, default: 0] += 1
                #expect(row.hasValidChecksum(table: UInt32(entity.id), key: key))
                return true
            }
            return result
        }
    }

    fileprivate func dictionaries() throws -> [UInt16] {
        try read { try RowDictionary.ids($0.access.raw, $0.access.state.meta, of: $0.access.state.entity("Page").id) }
    }

    fileprivate func statistics() throws -> TableStatistics {
        try read { try $0.access.raw.statistics($0.access.state.records(of: $0.access.state.entity("Page").id)) }
    }
}

@Suite("Rewriting", .timeLimit(.minutes(5)))
struct RewriteTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("a rewrite changes no record, no version and no entry of the change log, and leaves one dictionary")
    func sameRecords() throws {
        let store = try Wiki.mixed(folder("s"))
        let records = try store.pages(), changes = try store.changes(), sequence = try store.sequence
        #expect(try store.rowsByDictionary() == [0: 1200, 1: 1800])
        let report = try store.rewrite("Page", batch: 100)
        #expect(report.rows == 3000 && report.rewritten == 3000 && report.dictionariesDropped == 1)
        #expect(report.bytesAfter * 2 < report.bytesBefore)
        #expect(try store.rowsByDictionary() == [2: 3000])
        #expect(try store.dictionaries() == [2])
        #expect(try store.pages() == records)
        #expect(try store.changes() == changes)
        #expect(try store.sequence == sequence)
        #expect(try store.related("Page", RecordKey(7), "previous") == [RecordKey(6)])
    }

    @Test(
        "a schema is applied to the store as it is now: a new index has rows of a dictionary that this process missed")
    func dictionaryOfOthers() throws {
        let path = folder("s")
        let first = try Store.open(at: path, schema: Wiki.schema()), stale = first.state
        let store = try Wiki.mixed(path)
        #expect(store === first)
        #expect(try store.rowsByDictionary()[1] == 1800)
        var schema = Wiki.schema()
        schema.entities[0].attributes.append(.init("rank", .int, optional: true, indexed: true))
        // As in a process that was idle while another one trained the dictionary.
        let state = try Store.apply(schema, to: stale, store.environment, IndexBuildOptions())
        #expect(!state.hasIndexWork)
        #expect(try store.indexEntries("Page", "rank").count == 3000)
        #expect(try Store.apply(schema, to: stale, store.environment, IndexBuildOptions()).catalog == state.catalog)
    }

    @Test("all entities are rewritten if none is named, and one that is not there is an error")
    func whichEntities() throws {
        let store = try Wiki.mixed(folder("s"))
        try store.put("Tag", RecordKey("a"))
        #expect(try store.rewrite().rows == 3001)
        #expect(
            storeError { try store.rewrite("Pages") }
                == StoreError.unknownEntity(name: "Pages", known: ["Page", "Tag"]))
    }

    @Test(
        "after a rewrite pages are seven tenths full at least, whether rows were compressed before, and in whatever order they came",
        arguments: [false, true], [UInt64(3)])
    func fullPages(_ isCompressed: Bool, _ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let store = try Store.open(at: folder("random"), schema: Wiki.schema())
        for part in (0..<20_000).shuffled(using: &random).chunks(of: 1000) {
            try Wiki.fill(store, part)
            if try isCompressed && store.dictionaries().isEmpty { try store.trainDictionaries() }
        }
        let before = try store.statistics()
        try store.rewrite("Page", batch: 500)
        let after = try store.statistics()
        let bytes = try store.read { reader in
            var bytes = 0
            // A node's header, its offset in the page, its key and its value, at even addresses
            // (mdb.c).
            try reader.access.records.scan(reader.access.state.entity("Page")) { key, row in
                bytes += 2 + (8 + key.count + row.bytes.count + 1) & ~1
                return true
            }
            return bytes
        }
        let fill = Double(bytes) / Double(after.leafPages * (after.pageSize - 16))
        #expect(fill > 0.7, "\(before.leafPages) leaf pages became \(after.leafPages), filled to \(fill)")
        #expect(after.entries == 20_000 && after.overflowPages == 0)
    }

    @Test(
        "an interrupted rewrite goes on where it was, with its dictionary; rows of three kinds stand side by side until then"
    )
    func resumes() throws {
        let store = try Wiki.mixed(folder("s"))
        let records = try store.pages()
        var steps = 0
        #expect(throws: CancellationError.self) {
            try store.rewrite("Page", batch: 100) {
                steps += 1
                return steps > 6
            }
        }
        let rows = try store.rowsByDictionary()
        #expect(rows[0] ?? 0 > 0 && rows[1] == 1800 && rows[2] ?? 0 >= 500, "\(rows)")
        #expect(try store.pages() == records)
        #expect(try store.dictionaries() == [1, 2])
        let report = try store.rewrite("Page")
        #expect(report.rows == 3000 - (rows[2] ?? 0) && report.dictionariesDropped == 1)
        #expect(try store.rowsByDictionary() == [2: 3000])
        #expect(try store.pages() == records)
        // A complete rewrite is not continued.
        #expect(try store.rewrite("Page").rows == 3000)
        #expect(try store.dictionaries() == [3])
    }

    @Test("a rewrite whose process is killed goes on in another one")
    func killed() async throws {
        let path = folder("s")
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let store = try Wiki.mixed(path)
            var steps = 0
            _ = try store.rewrite("Page", batch: 100) {
                steps += 1
                if steps > 9 { kill(getpid(), SIGKILL) }
                return false
            }
        }
        let store = try Store.open(at: path, schema: Wiki.schema())
        let records = try store.pages(), rewritten = try store.rowsByDictionary()[2] ?? 0
        #expect(records.count == 3000 && rewritten > 700)
        let report = try store.rewrite("Page", batch: 100)
        #expect(report.rows == 3000 - rewritten)
        #expect(try store.pages() == records)
        #expect(try store.dictionaries() == [2])
    }

    @Test("what is written between two steps is kept, before and behind the place that the rewrite has reached")
    func writersInBetween() throws {
        let store = try Wiki.mixed(folder("s"))
        var steps = 0
        _ = try store.rewrite("Page", batch: 200) {
            steps += 1
            do {
                for key in [Int64(steps), 2900 - Int64(steps)] {
                    try store.put("Page", RecordKey(key), ["note": .string("step \(steps)")])
                }
                try Wiki.fill(store, [-steps, 10_000 + steps])
                try store.write { writer in
                    for key in [100 + Int64(steps), 2500 - Int64(steps)] { try writer.delete("Page", RecordKey(key)) }
                }
            } catch {
                Issue.record(error)
            }
            return false
        }
        #expect(steps > 10)
        for step in 1...steps {
            for key in [Int64(step), 2900 - Int64(step)] {
                #expect(try store.record("Page", RecordKey(key))?["note"] == .string("step \(step)"))
            }
            for key in [100 + Int64(step), 2500 - Int64(step)] {
                #expect(try store.record("Page", RecordKey(key)) == nil)
            }
            for key in [-step, 10_000 + step] {
                #expect(try store.record("Page", RecordKey(Int64(key)))?["text"] == .string(Wiki.text(key)))
            }
        }
        #expect(try store.rowsByDictionary() == [2: 3000])
        #expect(try store.indexEntries("Page", "title").count == 3000)
    }

    @Test("a read that goes on during a rewrite sees its rows to the end, also through a dictionary that was dropped")
    func readersGoOn() throws {
        let store = try Wiki.mixed(folder("s"))
        try store.read { reader in
            var rest = try #require(try reader.record("Page", RecordKey(1300)))
            let done = DispatchSemaphore(value: 0)
            Thread {
                do { try store.rewrite("Page") } catch { Issue.record(error) }
                done.signal()
            }.start()
            done.wait()
            for key in 1300..<3000 {
                rest = try #require(try reader.record("Page", RecordKey(Int64(key))))
                #expect(rest["text"] == .string(Wiki.text(key)))
            }
        }
        #expect(try store.dictionaries() == [2])
    }

    @Test("rows of an entity whose compression is none are stored plain, and its dictionaries are dropped")
    func toNone() throws {
        do { _ = try Wiki.mixed(folder("s")) }
        let store = try Store.open(at: folder("s"), schema: Wiki.schema(.none))
        let records = try store.pages()
        let report = try store.rewrite()
        #expect(report.rewritten == 1800 && report.dictionariesDropped == 1 && report.bytesAfter > report.bytesBefore)
        #expect(try store.rowsByDictionary() == [0: 3000])
        #expect(try store.dictionaries() == [])
        #expect(try store.pages() == records)
        #expect(try store.rewrite().rewritten == 0)
    }

    @Test("an open store in another process reads and writes on with the new dictionary")
    func otherProcess() async throws {
        let store = try Wiki.mixed(folder("s"))
        let records = try store.pages(), path = folder("s")
        await #expect(processExitsWith: .success) { [path = path as String] in
            _ = try Store.open(at: path).rewrite("Page")
        }
        #expect(try store.pages() == records)
        try store.put("Page", RecordKey(5), ["note": .string("again")])
        #expect(try store.rowsByDictionary() == [2: 3000])
        try store.trainDictionaries()
        #expect(try store.dictionaries() == [2])
    }

    @Test("a row whose dictionary is missing ends the rewrite with its name, and nothing is lost")
    func missingDictionary() throws {
        do { _ = try Wiki.mixed(folder("s")) }
        do {
            let environment = try Environment.open(at: folder("s"))
            let meta = try #require(try environment.existingTables([TableName.meta])[0])
            try environment.write { transaction in
                let key = RowDictionary.key(1)
                let isDeleted = try transaction.delete(meta, key.span.bytes)
                #expect(isDeleted)
            }
        }
        let store = try Store.open(at: folder("s"))
        // Training reads compressed rows too: without a mark it fails before anything is written.
        #expect(throws: StoreError.damagedDictionary(entity: "Page", key: "1200", dictionary: 1)) {
            try store.rewrite("Page", batch: 100)
        }
        #expect(try store.count("Page") == 3000)
        #expect(try store.record("Page", RecordKey(7))?["text"] == .string(Wiki.text(7)))
    }

    @Test("a damaged row ends the rewrite with its name, and is left as it is")
    func damagedRow() throws {
        let store = try Wiki.mixed(folder("s"))
        let table = try store.state.records(of: store.state.entity("Page").id), key = RecordKey(2000).storageKey
        var row: [UInt8] = []
        try store.environment.write { transaction in
            row = try key.withUnsafeBytes { try transaction.raw.get(table, $0).map { Array($0) } ?? [] }
            // The version, which no decoder can object to.
            row[12] ^= 1
            try transaction.put(table, key.span.bytes, row.span.bytes)
        }
        #expect(throws: StoreError.damagedRow(entity: "Page", key: "2000")) { try store.rewrite("Page", batch: 100) }
        #expect(try store.count("Page") == 3000)
        #expect(try store.rowsByDictionaryUnchecked(2) > 1800)
        let left = try store.read { reader in
            try key.withUnsafeBytes { key in try reader.access.raw.get(table, key).map { Array($0) } }
        }
        #expect(left == row)
    }
}

extension Store {
    fileprivate func rowsByDictionaryUnchecked(_ id: UInt16) throws -> Int {
        try read { reader in
            var count = 0
            let state = reader.access.state,
                cursor = try reader.access.raw.cursor(state.records(of: state.entity("Page").root))
            defer { cursor.close() }
            var entry = try cursor.first()
            while let row = entry?.value {
                if EncodedRow.dictionary(of: row) == id { count += 1 }
                entry = try cursor.next()
            }
            return count
        }
    }
}

extension Array {
    fileprivate func chunks(of count: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: self.count, by: count).map { self[$0..<Swift.min($0 + count, self.count)] }
    }
}
