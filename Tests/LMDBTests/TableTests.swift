// Tables: names, keys and values at their limits, and scans in key order.

import Foundation
import LMDB
import TestSupport
import Testing

@Suite("Tables")
struct TableTests {
    let folder: TemporaryFolder
    let environment: Environment
    let table: Table

    init() throws {
        folder = try TemporaryFolder()
        environment = try Environment.open(at: folder("e"), options: .init(durability: .volatile, maximumTables: 8))
        table = try environment.makeTable("t")
    }

    /// Keys forwards through a cursor, from the first one not less than `start`.
    private func keys(from start: [UInt8]? = nil) throws -> [[UInt8]] {
        try environment.read { transaction in
            let cursor = try transaction.cursor(table)
            var keys: [[UInt8]] = []
            if let start {
                guard let entry = try cursor.seek(start.span.bytes) else { return keys }
                keys.append(copied(entry.key))
            } else {
                guard let entry = try cursor.first() else { return keys }
                keys.append(copied(entry.key))
            }
            while let entry = try cursor.next() { keys.append(copied(entry.key)) }
            return keys
        }
    }

    @Test("tables are listed in byte order, and a missing one is nil")
    func tablesAreListed() throws {
        for name in ["b", "a", "Z"] { _ = try environment.makeTable(name) }
        #expect(try environment.tableNames() == ["Z", "a", "b", "t"])
        let tables = try environment.existingTables(["a", "nowhere", "t"])
        #expect(tables[0] != nil)
        #expect(tables[1] == nil)
        #expect(tables[2] == table)
    }

    @Test("making a table that is there returns the same handle and keeps its content")
    func makingAnExistingTableKeepsIt() throws {
        try environment.put(table, [("a", "1")])
        #expect(try environment.makeTable("t") == table)
        #expect(try environment.value(table, "a") == "1")
    }

    @Test("more tables than the limit is an error, and the others stay usable")
    func tooManyTablesIsAnError() throws {
        #expect(kindOfError { for number in 0..<9 { _ = try environment.makeTable("n\(number)") } } == .tablesFull)
        try environment.put(table, [("a", "1")])
        #expect(try environment.value(table, "a") == "1")
    }

    @Test("a table made by a closure that throws is not there, and can be made later")
    func tableOfAFailedTransactionIsGone() throws {
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try environment.writeOpeningTables { transaction in
                let new = try transaction.table("new")
                try transaction.set(new, bytes("a"), bytes("1"))
                throw Stop()
            }
        }
        #expect(try environment.tableNames() == ["t"])
        #expect(try environment.existingTables(["new"])[0] == nil)
        let new = try environment.makeTable("new")
        #expect(try environment.entryCount(new) == 0)
    }

    @Test("what is put is got, replaced and deleted")
    func putGetDelete() throws {
        try environment.write { transaction in
            try transaction.set(table, bytes("a"), bytes("1"))
            #expect(try transaction.copy(table, bytes("a")) == bytes("1"))
            try transaction.set(table, bytes("a"), bytes("longer than before"))
            try transaction.set(table, bytes("empty"), [])
            #expect(try transaction.copy(table, bytes("b")) == nil)
        }
        #expect(try environment.value(table, "a") == "longer than before")
        #expect(try environment.value(table, "empty") == "")
        try environment.write { transaction in
            let first = try transaction.delete(table, bytes("a").span.bytes)
            let again = try transaction.delete(table, bytes("a").span.bytes)
            #expect(first)
            #expect(!again)
        }
        #expect(try environment.value(table, "a") == nil)
        #expect(try environment.entryCount(table) == 1)
    }

    @Test(
        "keys have 1 to 511 bytes; another length is an error, and the transaction goes on", arguments: [0, 512, 5000])
    func keysBeyondTheLimitsAreErrors(_ count: Int) throws {
        try environment.write { transaction in
            #expect(throws: LMDBError.self) { try transaction.set(table, Array(repeating: 1, count: count), [1]) }
            try transaction.set(table, bytes("good"), [1])
        }
        #expect(try keys() == [bytes("good")])
        #expect(
            kindOfError {
                try environment.write { try $0.set(table, Array(repeating: 1, count: count), [1]) }
            } == .badValueSize)
    }

    @Test("a key of 511 bytes is found among its prefixes")
    func longestKeyIsFound() throws {
        let longest = [UInt8](repeating: 0xFF, count: 511)
        try environment.write { transaction in
            for count in [1, 2, 510, 511] {
                try transaction.set(table, Array(longest.prefix(count)), [UInt8(count & 0xFF)])
            }
        }
        #expect(try environment.read { try $0.copy(table, longest) } == [0xFF])
        #expect(try environment.read { try $0.copy(table, Array(longest.dropLast())) } == [0xFE])
        #expect(try environment.read { try $0.copy(table, longest + [0xFF]) } == nil)
    }

    @Test("a value of many pages comes back whole")
    func largeValueComesBackWhole() throws {
        let value = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try environment.write { try $0.set(table, bytes("large"), value) }
        // Compared outside of `#expect`: its description of long arrays needs too much memory.
        let isWhole = try environment.read { try $0.copy(table, bytes("large")) } == value
        #expect(isWhole)
    }

    @Test("a cursor walks in byte order, forwards and backwards, and stops at the ends")
    func cursorWalksInByteOrder() throws {
        let sorted: [[UInt8]] = [[0], [0, 0], [0, 1], [1], [0x7F], [0x80], [0xFF], [0xFF, 0], [0xFF, 0xFF]]
        try environment.write { transaction in
            for key in sorted.shuffled() { try transaction.set(table, key, key) }
        }
        #expect(try keys() == sorted)
        try environment.read { transaction in
            let cursor = try transaction.cursor(table)
            var backwards: [[UInt8]] = []
            if let entry = try cursor.last() {
                backwards.append(copied(entry.key))
                #expect(copied(entry.value) == copied(entry.key))
            }
            while let entry = try cursor.previous() { backwards.append(copied(entry.key)) }
            #expect(backwards == sorted.reversed())
        }
    }

    @Test("a seek finds the key itself, else the next one, else nothing")
    func seekFindsTheNextKey() throws {
        try environment.put(table, [("b", ""), ("d", ""), ("dd", "")])
        #expect(try keys(from: bytes("a")) == [bytes("b"), bytes("d"), bytes("dd")])
        #expect(try keys(from: bytes("d")) == [bytes("d"), bytes("dd")])
        #expect(try keys(from: bytes("da")) == [bytes("dd")])
        #expect(try keys(from: bytes("de")) == [])
        #expect(kindOfError { _ = try keys(from: []) } == .badValueSize)
    }

    @Test("an empty table has no entries in any direction")
    func emptyTableHasNoEntries() throws {
        try environment.read { transaction in
            let cursor = try transaction.cursor(table)
            if try cursor.first() != nil { Issue.record("first") }
            if try cursor.last() != nil { Issue.record("last") }
            if try cursor.seek(bytes("a").span.bytes) != nil { Issue.record("seek") }
            #expect(try transaction.statistics(table).entries == 0)
        }
    }

    @Test("a cursor in a write transaction sees its own changes")
    func cursorSeesOwnChanges() throws {
        try environment.put(table, [("a", "1"), ("b", "2")])
        try environment.write { transaction in
            try transaction.set(table, bytes("c"), bytes("3"))
            try transaction.delete(table, bytes("a").span.bytes)
            let cursor = try transaction.cursor(table)
            var seen: [[UInt8]] = []
            if let entry = try cursor.first() { seen.append(copied(entry.key)) }
            while let entry = try cursor.next() { seen.append(copied(entry.key)) }
            #expect(seen == [bytes("b"), bytes("c")])
        }
    }

    @Test("random puts and deletes leave what a dictionary says", arguments: [UInt64(1), 2, 3])
    func randomChangesMatchADictionary(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var model: [[UInt8]: [UInt8]] = [:]
        for _ in 0..<30 {
            try environment.write { transaction in
                for _ in 0..<40 {
                    let key = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                        UInt8.random(in: 0...3, using: &random)
                    }
                    if Bool.random(using: &random) {
                        let value = [UInt8](
                            repeating: UInt8.random(in: 0...255, using: &random),
                            count: Int.random(in: 0...6000, using: &random))
                        try transaction.set(table, key, value)
                        model[key] = value
                    } else {
                        let deleted = try transaction.delete(table, key.span.bytes)
                        #expect(deleted == (model.removeValue(forKey: key) != nil), "seed \(seed)")
                    }
                }
            }
        }
        #expect(try keys() == model.keys.sorted { $0.lexicographicallyPrecedes($1) }, "seed \(seed)")
        for (key, value) in model { #expect(try environment.read { try $0.copy(table, key) } == value, "seed \(seed)") }
    }
}
