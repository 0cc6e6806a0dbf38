// Walks along the pages of a table: the same entries as through a cursor of liblmdb.

import Foundation
import Synchronization
import TestSupport
import Testing

@testable import LMDB

@Suite("Walks along pages")
struct ForwardScanTests {
    let folder: TemporaryFolder
    let environment: Environment
    let table: Table

    init() throws {
        folder = try TemporaryFolder()
        environment = try Environment.open(
            at: folder("e"), options: .init(durability: .volatile, maximumTables: 8, readsPagesDirectly: true))
        table = try environment.makeTable("t")
    }

    private func onAnotherThread(_ body: @escaping @Sendable () throws -> Void) throws {
        let result = Mutex<Result<Void, any Error>?>(nil), done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let outcome = Result { try body() }
            result.withLock { $0 = outcome }
            done.signal()
        }
        done.wait()
        try #require(result.withLock { $0 }).get()
    }

    private func entries(_ scan: inout ForwardScan, batch size: Int, atMost: Int = .max) throws -> [([UInt8], [UInt8])]
    {
        var found: [([UInt8], [UInt8])] = []
        try withUnsafeTemporaryAllocation(of: RawCursor.Entry.self, capacity: size) { batch in
            while found.count < atMost {
                let count = try scan.fill(batch)
                guard count > 0 else { break }
                for (key, value) in batch[..<count] { found.append((Array(key), Array(value))) }
            }
        }
        return found
    }

    private func isSame(_ a: [([UInt8], [UInt8])], _ b: some Sequence<([UInt8], [UInt8])>) -> Bool {
        a.elementsEqual(b) { $0.0 == $1.0 && $0.1 == $1.1 }
    }

    @Test(
        "every entry comes once, in order, from any key on: small ones, long ones and those in pages of their own",
        arguments: [(1, 60), (2, 900), (3, 9000), (4, 4)])
    func sameAsCursor(_ seed: UInt64, _ longest: Int) throws {
        var random = SeededRandom(seed: seed)
        func key(_ random: inout SeededRandom) -> [UInt8] {
            // Many begin with each other.
            (0..<Int.random(in: 1...12, using: &random)).map { _ in UInt8.random(in: 0...3, using: &random) * 85 }
        }
        var expected: [[UInt8]: [UInt8]] = [:]
        for _ in 0..<6 {
            try environment.change(
                table, &expected, deleting: 700, longestValue: longest, using: &random, key: key)
            let sorted = expected.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { ($0.key, $0.value) }
            try environment.read { transaction in
                var scan = try ForwardScan(transaction.raw, table, name: "t")
                let isAlongPages = scan.isAlongPages
                #expect(isAlongPages)
                for size in [1, 7, 64] {
                    try [UInt8]().withUnsafeBytes { try scan.seek($0) }
                    #expect(try isSame(entries(&scan, batch: size), sorted))
                }
                for _ in 0..<60 {
                    let start = key(&random)
                    try start.withUnsafeBytes { try scan.seek($0) }
                    let rest = sorted.drop { $0.0.lexicographicallyPrecedes(start) }
                    #expect(try isSame(entries(&scan, batch: 20, atMost: 20), rest.prefix(20)))
                }
            }
        }
    }

    @Test("an empty table has no entries; a table that was emptied has none either")
    func empty() throws {
        func found() throws -> Int {
            try environment.read { transaction in
                var scan = try ForwardScan(transaction.raw, table, name: "t")
                let isAlongPages = scan.isAlongPages
                #expect(isAlongPages)
                try [UInt8](arrayLiteral: 1).withUnsafeBytes { try scan.seek($0) }
                return try entries(&scan, batch: 4).count
            }
        }
        #expect(try found() == 0)
        try environment.put(table, [("a", "1"), ("\u{1}b", "2")])
        #expect(try found() == 2)
        try environment.write { try $0.raw.removeAll(table) }
        #expect(try found() == 0)
    }

    @Test("in a write transaction entries come from a cursor, with what was changed before")
    func writing() throws {
        try environment.put(table, [("a", "1"), ("b", "2")])
        try environment.write { transaction in
            try Array("aa".utf8).withUnsafeBytes { try transaction.raw.put(table, $0, $0) }
            var scan = try ForwardScan(transaction.raw, table, name: "t")
            let isAlongPages = scan.isAlongPages
            #expect(!isAlongPages)
            try Array("aa".utf8).withUnsafeBytes { try scan.seek($0) }
            #expect(try entries(&scan, batch: 1).map { String(decoding: $0.0, as: UTF8.self) } == ["aa", "b"])
        }
    }

    @Test(
        "a snapshot is walked as it was, while others write; what is damaged is an error",
        arguments: [8, 10, 12, 16, 17, 4090])
    func snapshotAndDamage(_ offset: Int) throws {
        try environment.put(table, (0..<3000).map { ("key \(10000 + $0)", String(repeating: "v", count: 100)) })
        try environment.read { transaction in
            for round in 0..<3 {
                try onAnotherThread { [environment, table] in
                    try environment.write { transaction in
                        for number in 0..<1000 {
                            let key = Array("key \(10000 + number * 3 + round)".utf8)
                            _ = try key.withUnsafeBytes { try transaction.raw.delete(table, $0) }
                        }
                    }
                }
                var scan = try ForwardScan(transaction.raw, table, name: "t")
                try [UInt8]().withUnsafeBytes { try scan.seek($0) }
                #expect(try entries(&scan, batch: 32).count == 3000)
            }
        }
        // Pages of a copy of the file, damaged one after the other.
        try environment.put(table, (0..<3000).map { ("key \(10000 + $0)", String(repeating: "v", count: 100)) })
        let errors = try Environment.damagedCopies(
            of: folder("e") + "/data.mdb", in: folder("d"), at: offset, step: 5
        ) { copy, table in
            try copy.read { transaction in
                var scan = try ForwardScan(transaction.raw, table, name: "t")
                try [UInt8]().withUnsafeBytes { try scan.seek($0) }
                _ = try entries(&scan, batch: 32)
            }
        }
        print("\(errors) errors")
    }

    @Test("a root that has the number of another page is an error, also where a value is behind its own pages")
    func damagedRoot() throws {
        try environment.put(table, [("the only key", String(repeating: "v", count: 10_000))])
        let errors = try Environment.damagedCopies(
            of: folder("e") + "/data.mdb", in: folder("d"), at: 6, step: 1, having: "the only key"
        ) { copy, table in
            try copy.read { transaction in
                var scan = try ForwardScan(transaction.raw, table, name: "t")
                try [UInt8]().withUnsafeBytes { try scan.seek($0) }
                _ = try entries(&scan, batch: 32)
            }
        }
        #expect(errors == 1)
    }
}
