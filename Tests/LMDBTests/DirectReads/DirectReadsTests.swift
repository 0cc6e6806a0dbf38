// The two ways of reading a snapshot, along its pages and through liblmdb, and the switch between them.

import Foundation
import TestSupport
import Testing

@testable import LMDB

@Suite("The switch of direct reads")
struct DirectReadsTests {
    /// The entries that one way of reading finds in a table.
    private struct Found: Equatable {
        var entries: [[[UInt8]]] = []
        var fromKeys: [[[UInt8]]] = []
        var values: [[UInt8]?] = []
        var counts: [Int] = []
    }

    let folder: TemporaryFolder
    private static let tables = ["deep", "long", "small", "empty", "emptied"]

    init() throws { folder = try TemporaryFolder() }

    private func open(_ readsPagesDirectly: Bool?) throws -> Environment {
        try Environment.open(
            at: folder("e"),
            options: .init(durability: .volatile, maximumTables: 8, readsPagesDirectly: readsPagesDirectly))
    }

    /// Trees of three levels, values in overflow pages, tables without entries.
    private func fill() throws {
        let environment = try open(nil)
        let tables = try DirectReadsTests.tables.map { try environment.makeTable($0) }
        try environment.write { transaction in
            for number in 0..<20_000 {
                try transaction.set(tables[0], bytes("key \(number * 7919 % 20_000)"), bytes("\(number)"))
            }
            for number in 0..<60 {
                let value = [UInt8](repeating: UInt8(number), count: number * number * 20)
                try transaction.set(tables[1], [UInt8(number)], value)
            }
            for key in ["", "a", "a\0", "ab", "b"] { try transaction.set(tables[2], bytes("k" + key), bytes(key)) }
            try transaction.set(tables[4], [1], [2])
        }
        try environment.write { transaction in
            try transaction.raw.removeAll(tables[4])
            for number in 0..<5000 { try transaction.delete(tables[0], bytes("key \(number * 3)").span.bytes) }
        }
    }

    /// Reads a table in every way that can go along pages, and checks that it does so or does not.
    private func read(
        _ name: String, _ keys: [[UInt8]], in environment: Environment, expecting isDirect: Bool
    ) throws -> Found {
        let table = try #require(try environment.existingTables([name])[0])
        return try environment.read { transaction in
            var found = Found(), scan = try ForwardScan(transaction.raw, table, name: name)
            var lookup = try PageLookup(transaction.raw, table, name: name), cursor = try transaction.raw.cursor(table)
            defer { cursor.close() }
            let ways = [scan.isAlongPages, lookup.isAlongPages, cursor.readsPages]
            #expect(ways == [isDirect, isDirect, isDirect])
            func entries(_ key: [UInt8], atMost: Int) throws -> [[UInt8]] {
                try key.withUnsafeBytes { try scan.seek($0) }
                var read: [[UInt8]] = []
                try withUnsafeTemporaryAllocation(of: RawCursor.Entry.self, capacity: 16) { batch in
                    while read.count < atMost {
                        let count = try scan.fill(batch)
                        guard count > 0 else { return }
                        for (key, value) in batch[..<count] { read += [Array(key), Array(value)] }
                    }
                }
                return read
            }
            found.entries = [try entries([], atMost: .max)]
            for (number, key) in keys.enumerated() {
                found.fromKeys.append(try entries(key, atMost: 20))
                try key.withUnsafeBytes { key in
                    var values: [UnsafeRawBufferPointer?] = [nil]
                    try [key].withUnsafeBufferPointer { key in
                        try values.withUnsafeMutableBufferPointer { try lookup.find(key, $0) }
                    }
                    found.values.append(values[0].map { Array($0) })
                    // Through liblmdb every entry is a step.
                    guard number % 16 == 0 else { return }
                    found.counts.append(try cursor.count(from: key, to: nil))
                    found.counts.append(try cursor.count(from: UnsafeRawBufferPointer(start: nil, count: 0), to: key))
                }
            }
            return found
        }
    }

    @Test("both ways find the same in deep trees, values in overflow pages and empty tables")
    func sameResults() throws {
        try fill()
        let keys =
            (0..<300).map { bytes("key \($0 * 71)") } + (0..<62).map { [UInt8($0)] } + [bytes("k"), bytes("z"), [0xFF]]
        for name in DirectReadsTests.tables {
            let direct = try read(name, keys, in: open(true), expecting: true)
            let stepwise = try read(name, keys, in: open(false), expecting: false)
            let isSame = direct == stepwise
            #expect(isSame, "\(name)")
            #expect(direct.entries[0].isEmpty == ["empty", "emptied"].contains(name))
        }
    }

    @Test("without an option the environment variable decides, and an option decides over it")
    func defaults() throws {
        let isOn = ProcessInfo.processInfo.environment["TARN_DIRECT_READS"] != "0"
        #expect(Environment.Options().readsPagesDirectly == isOn)
        #expect(Environment.Options(readsPagesDirectly: true).readsPagesDirectly)
        #expect(!Environment.Options(readsPagesDirectly: false).readsPagesDirectly)
    }

    @Test("a second opening gets the environment that is open, with its way of reading")
    func secondOpening() throws {
        let environment = try open(false)
        #expect(try open(true) === environment)
        #expect(!environment.options.readsPagesDirectly)
    }
}
