// Values found along the pages of a snapshot: the same as liblmdb finds.

import Foundation
import TestSupport
import Testing

@testable import LMDB

@Suite("Lookups along pages")
struct PageLookupTests {
    let folder: TemporaryFolder
    let environment: Environment
    let table: Table

    init() throws {
        folder = try TemporaryFolder()
        environment = try Environment.open(
            at: folder("e"), options: .init(durability: .volatile, maximumTables: 16, readsPagesDirectly: true))
        table = try environment.makeTable("t")
    }

    private func find(_ keys: [[UInt8]], in transaction: RawTransaction, _ table: Table, _ name: String) throws
        -> [[UInt8]?]
    {
        var lookup = try PageLookup(transaction, table, name: name)
        var found: [[UInt8]?] = [], size = 0
        while found.count < keys.count {
            // Any number of keys at a time.
            size = size % PageLookup.most + 1
            let some = Array(keys[found.count..<min(found.count + size, keys.count)])
            let places = some.map { key in
                let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: key.count, alignment: 1)
                copy.copyBytes(from: key)
                return UnsafeRawBufferPointer(copy)
            }
            defer { for place in places { place.deallocate() } }
            var values = [UnsafeRawBufferPointer?](repeating: nil, count: some.count)
            try places.withUnsafeBufferPointer { places in
                try values.withUnsafeMutableBufferPointer { try lookup.find(places, $0) }
            }
            found += values.map { value in value.map { Array($0) } }
        }
        return found
    }

    @Test(
        "keys of all lengths that begin with each other, with zeros at their ends, and values in pages of their own",
        arguments: [(1, 12, 60), (2, 3, 900), (3, 12, 9000), (4, 200, 4)])
    func sameAsLiblmdb(_ seed: UInt64, _ longestKey: Int, _ longest: Int) throws {
        var random = SeededRandom(seed: seed)
        func key(_ random: inout SeededRandom) -> [UInt8] {
            (0..<Int.random(in: 1...longestKey, using: &random)).map { _ in
                [0, 0, 1, 0x80, 0xFF].randomElement(using: &random) ?? 0
            }
        }
        var expected: [[UInt8]: [UInt8]] = [:]
        for _ in 0..<4 {
            try environment.change(
                table, &expected, deleting: 600, longestValue: longest, using: &random, key: key)
            let keys = Array(expected.keys) + (0..<2000).map { _ in key(&random) }
            try environment.read { transaction in
                let found = try find(keys, in: transaction.raw, table, "t")
                #expect(found == keys.map { expected[$0] })
            }
            try environment.write { transaction in
                let found = try find(keys, in: transaction.raw, table, "t")
                #expect(found == keys.map { expected[$0] })
            }
        }
    }

    @Test(
        "keys beside each other, up and down, with gaps, across leaves and branches",
        arguments: [(8, 40), (6, 700), (300, 30), (11, 5000)])
    func adjacent(_ keyLength: Int, _ valueLength: Int) throws {
        // The numbers that three divides are missing. Long keys begin alike.
        func key(_ number: Int) -> [UInt8] {
            [UInt8](repeating: 7, count: keyLength - 4)
                + withUnsafeBytes(of: UInt32(number).bigEndian) { Array($0) }
        }
        func value(_ number: Int) -> [UInt8] {
            [UInt8](repeating: UInt8(number & 0xFF), count: valueLength - number % 30) + key(number)
        }
        let most = 6000
        try environment.write { transaction in
            for number in 0..<most where number % 3 != 0 { try transaction.set(table, key(number), value(number)) }
        }
        let depth = try environment.read { try $0.raw.statistics(table).depth }
        #expect(depth >= 2)
        try environment.read { transaction in
            for step in [1, 2, 3, 4, 5, 7, 30, 333] {
                for first in [0, 1, most / 2, most - 40] {
                    let up = Array(stride(from: first, to: most + 5, by: step).prefix(600))
                    for numbers in [up, up.reversed(), up.flatMap { [$0, $0 + 1, $0] }] {
                        let found = try find(numbers.map(key), in: transaction.raw, table, "t")
                        #expect(found == numbers.map { $0 % 3 == 0 || $0 >= most ? nil : value($0) })
                    }
                }
            }
        }
    }

    @Test("single look-ups of a snapshot: the first ones, those along pages, and those of the next snapshot")
    func single() throws {
        func key(_ number: Int) -> [UInt8] { Array("key \(number)".utf8) }
        var stored = 3000
        try environment.write { transaction in
            for number in 0..<stored { try transaction.set(table, key(number), key(number * 7)) }
        }
        let other = try environment.makeTable("other")
        for round in 0..<4 {
            try environment.read { transaction in
                let raw = transaction.raw
                for count in 0..<200 {
                    let number = (count * 37 + round) % (stored + 10)
                    let found = try key(number).withUnsafeBytes { try raw.get(table, $0, name: "t").map { Array($0) } }
                    #expect(found == (number < stored ? key(number * 7) : nil))
                    // Another table by turns.
                    let nothing = try key(1).withUnsafeBytes { try raw.get(other, $0, name: "other") }
                    #expect(nothing == nil)
                }
                #expect(raw.trees?.pointee[table] != nil)
            }
            try environment.write { transaction in
                try transaction.set(table, key(stored), key(stored * 7))
                // The writer sees it at once, the next snapshot at another root.
                let raw = transaction.raw
                let last = try key(stored).withUnsafeBytes { try raw.get(table, $0, name: "t").map { Array($0) } }
                #expect(last == key(stored * 7))
            }
            stored += 1
        }
    }

    @Test("an empty table has nothing; a snapshot does not see with what an earlier one knew")
    func snapshots() throws {
        for round in 0..<40 {
            let before = try environment.read { try find([[1], [UInt8(round)]], in: $0.raw, table, "t") }
            #expect(before == [round < 2 ? nil : [1], nil])
            try environment.write { try $0.put(table, [UInt8(round)].span.bytes, [UInt8(round)].span.bytes) }
            let after = try environment.read { try find([[UInt8(round)]], in: $0.raw, table, "t") }
            #expect(after == [[UInt8(round)]])
        }
    }

    @Test("more tables in one snapshot than are kept in mind")
    func tables() throws {
        let tables = try (0..<12).map { try environment.makeTable("t\($0)") }
        for (number, table) in tables.enumerated() {
            try environment.put(table, [("key", "\(number)"), ("of \(number)", "own")])
        }
        try environment.read { transaction in
            for round in 0..<3 {
                for number in tables.indices {
                    let place = (number * (round + 5)) % tables.count
                    let found = try find(
                        [Array("key".utf8), Array("of \(place)".utf8)], in: transaction.raw, tables[place], "t\(place)")
                    #expect(found == [Array("\(place)".utf8), Array("own".utf8)])
                }
            }
        }
    }

    @Test(
        "damaged pages are errors or other entries, never the end of the process",
        arguments: [0, 8, 10, 12, 16, 17, 18, 60, 4080, 4090])
    func damage(_ offset: Int) throws {
        let entries = (0..<3000).map { ("key \(10000 + $0)", String(repeating: "v", count: 100)) }
        try environment.put(table, entries)
        let keys = entries.map { Array($0.0.utf8) }
        // liblmdb itself crashes if the pages of the table directory are damaged.
        let errors = try Environment.damagedCopies(
            of: folder("e") + "/data.mdb", in: folder("d"), at: offset, step: 2, having: "key 1"
        ) { copy, table in
            _ = try copy.read { try find(keys, in: $0.raw, table, "t") }
        }
        // A page must have the expected number and kind. Other damage may look like fewer entries.
        #expect(![0, 10].contains(offset) || errors > 0)
    }
}
