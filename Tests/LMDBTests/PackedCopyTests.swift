// Copies whose pages are full: the same entries in fewer pages, and no copy of what is damaged.

import CLMDB
import Foundation
import TestSupport
import Testing

@testable import LMDB

@Suite("Packed copies")
struct PackedCopyTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func copy(_ environment: Environment, to name: String) throws -> Bool {
        try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
        return try environment.copyPacked(to: folder(name + "/data.mdb"))
    }

    private func entries(_ environment: Environment, _ name: String) throws -> [[[UInt8]]] {
        guard let table = try environment.existingTables([name])[0] else { return [] }
        return try environment.read { transaction in
            let cursor = try transaction.raw.cursor(table)
            defer { cursor.close() }
            var all: [[[UInt8]]] = [], entry = try cursor.first()
            while let (key, value) = entry {
                all.append([Array(key), Array(value)])
                entry = try cursor.next()
            }
            return all
        }
    }

    @Test(
        "entries in random order, large values and empty tables are copied into full pages", arguments: [true, false])
    func packed(readsPages: Bool) throws {
        let environment = try Environment.open(
            at: folder("e"), options: .init(durability: .volatile, readsPagesDirectly: readsPages))
        let rows = try environment.makeTable("rows"), large = try environment.makeTable("large")
        _ = try environment.makeTable("empty")
        var random = SeededRandom(seed: 7)
        for _ in 0..<4 {
            try environment.write { transaction in
                for _ in 0..<5000 {
                    let key = withUnsafeBytes(of: UInt64.random(in: 0...UInt64.max, using: &random)) { Array($0) }
                    try transaction.set(rows, key, Array(repeating: key[0], count: Int(key[1]) % 60))
                }
            }
        }
        // Several transactions of the copy.
        try environment.write { transaction in
            for number in 0..<50 {
                try transaction.set(large, bytes("large \(number)"), Array(repeating: UInt8(number), count: 1_500_000))
            }
        }
        #expect(try copy(environment, to: "packed"))
        let packed = try Environment.open(at: folder("packed"))
        #expect(try packed.tableNames() == ["empty", "large", "rows"])
        for name in ["empty", "large", "rows"] {
            let isEqual = try entries(environment, name) == entries(packed, name)
            #expect(isEqual, "\(name)")
        }
        let before = try environment.read { try $0.statistics(rows) }
        let copiedRows = try #require(try packed.existingTables(["rows"])[0])
        let after = try packed.read { try $0.statistics(copiedRows) }
        #expect(before.entries == 20_000 && after.entries == 20_000)
        // At most one entry fits no more into each page; an entry has ten bytes beside key and value.
        let size = try entries(packed, "rows").reduce(0) { $0 + ($1[0].count + $1[1].count + 11) & ~1 }
        let most = size / (after.pageSize - 16 - 80) + 1
        #expect(after.leafPages <= most && after.leafPages * 5 < before.leafPages * 4, "\(size) \(after) \(before)")
        #expect(try packed.information().freePages < 20)
    }

    @Test("keys out of order and damaged pages are errors, not copies", arguments: [true, false])
    func damaged(readsPages: Bool) throws {
        do {
            let environment = try Environment.open(at: folder("e"), options: .init(durability: .volatile))
            let table = try environment.makeTable("rows")
            try environment.put(table, (100..<400).map { ("key \($0)", "value \($0)") })
        }
        var data = try Data(contentsOf: URL(fileURLWithPath: folder("e/data.mdb")))
        let place = try #require(data.range(of: Data("key 250".utf8)))
        data.replaceSubrange(place, with: Data("key 150".utf8))
        try data.write(to: URL(fileURLWithPath: folder("e/data.mdb")))
        let environment = try Environment.open(
            at: folder("e"), options: .init(durability: .volatile, readsPagesDirectly: readsPages))
        #expect(kindOfError { _ = try copy(environment, to: "packed") } == .corrupted)
    }

    @Test("tables of other kinds, and entries outside of tables, are left to liblmdb's own copy")
    func otherKinds() throws {
        for (name, isDuplicate) in [("dup", true), ("plain", false)] {
            try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
            var env: OpaquePointer?, transaction: OpaquePointer?, table = MDB_dbi()
            #expect(mdb_env_create(&env) == 0 && mdb_env_set_maxdbs(env, 4) == 0)
            #expect(mdb_env_open(env, folder(name), 0, 0o600) == 0 && mdb_txn_begin(env, nil, 0, &transaction) == 0)
            let flags = isDuplicate ? MDB_CREATE | MDB_DUPSORT : 0
            #expect(mdb_dbi_open(transaction, isDuplicate ? "t" : nil, UInt32(flags), &table) == 0)
            for text in ["one", "two"] {
                var text = text
                text.withUTF8 { text in
                    var key = MDB_val(UnsafeRawBufferPointer(text)), value = key
                    #expect(mdb_put(transaction, table, &key, &value, 0) == 0)
                }
            }
            #expect(mdb_txn_commit(transaction) == 0)
            mdb_env_close(env)
            let environment = try Environment.open(at: folder(name))
            #expect(try !copy(environment, to: name + "-packed"))
        }
    }
}
