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
        // Each page may waste the room of one entry; a node takes 10 bytes beside key and value.
        let size = try entries(packed, "rows").reduce(0) { $0 + ($1[0].count + $1[1].count + 11) & ~1 }
        let most = size / (after.pageSize - 16 - 80) + 1
        #expect(after.leafPages <= most && after.leafPages * 5 < before.leafPages * 4, "\(size) \(after) \(before)")
        #expect(try packed.information().freePages < 20)
    }

    enum Damage: CaseIterable {
        case keyOrder, hiddenEntries, emptyKey, pageNumber, lostTable, lostRoot

        /// Damages the leaf page of a key.
        func apply(to data: inout Data, at place: Int) {
            let page = place / 4096 * 4096
            switch self {
            case .keyOrder: data.replaceSubrange(place..<place + 7, with: Data("key 150".utf8))
            // The length of the list of entries (`mp_lower`), without the last ten.
            case .hiddenEntries: data[page + 12] -= 20
            // The length of the key (`mn_ksize`).
            case .emptyKey: data[place - 2] = 0
            case .pageNumber: data[page] ^= 1
            case .lostTable: loseTable(in: &data, keepsPages: false)
            case .lostRoot: loseTable(in: &data, keepsPages: true)
            }
        }

        /// Makes the records of the table those of an empty one: depth, counts and root.
        private func loseTable(in data: inout Data, keepsPages: Bool) {
            var start = data.startIndex
            while let name = data.range(of: Data("rows".utf8), in: start..<data.endIndex) {
                start = name.upperBound
                data.replaceSubrange(start + 6..<start + 8, with: Data(count: 2))
                if !keepsPages { data.replaceSubrange(start + 8..<start + 32, with: Data(count: 24)) }
                data.replaceSubrange(start + 32..<start + 40, with: Data(count: 8))
                data.replaceSubrange(start + 40..<start + 48, with: Data(repeating: 0xFF, count: 8))
            }
        }
    }

    @Test("damage is an error, and no entry is lost", arguments: Damage.allCases, [true, false])
    func damaged(damage: Damage, readsPages: Bool) throws {
        do {
            let environment = try Environment.open(at: folder("e"), options: .init(durability: .volatile))
            let table = try environment.makeTable("rows")
            try environment.put(table, (100..<400).map { ("key \($0)", "value \($0)") })
        }
        var data = try Data(contentsOf: URL(fileURLWithPath: folder("e/data.mdb")))
        let place = try #require(data.range(of: Data("key 250".utf8)))
        damage.apply(to: &data, at: place.lowerBound)
        try data.write(to: URL(fileURLWithPath: folder("e/data.mdb")))
        let environment = try Environment.open(
            at: folder("e"), options: .init(durability: .volatile, readsPagesDirectly: readsPages))
        let kind = kindOfError { _ = try copy(environment, to: "packed") }
        // liblmdb does not look at page numbers.
        if damage == .pageNumber, kind == nil {
            #expect(try entries(Environment.open(at: folder("packed")), "rows").count == 300)
        } else {
            #expect(kind == .corrupted)
        }
    }

    @Test("more tables than are opened are left to liblmdb's copy")
    func manyTables() throws {
        let names = (0..<400).map { "table \($0)" }
        do {
            let environment = try Environment.open(
                at: folder("e"), options: .init(durability: .volatile, maximumTables: 500))
            for name in names { try environment.put(environment.makeTable(name), [("key", name)]) }
            #expect(try copy(environment, to: "packed"))
        }
        let packed = try Environment.open(at: folder("packed"), options: .init(maximumTables: 500))
        #expect(try packed.tableNames() == names.sorted())
        #expect(try entries(packed, "table 399") == [[bytes("key"), bytes("table 399")]])
        #expect(try !copy(Environment.open(at: folder("e"), options: .init(durability: .volatile)), to: "few"))
    }

    @Test("tables of other kinds, and entries outside of tables, are not copied")
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
