// The page reader agrees with liblmdb about files that are whole: with `mdb_stat` and `mdb_dump` of
// lmdb-utils, to the last byte.

import Foundation
import LMDB
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Inspect: the page reader")
struct PageReaderTests {
    /// Tables of all sizes: empty, with three levels, with values of one page and of many, with
    /// keys of all lengths, and pages that were freed and used again.
    private static func manyTables() throws -> String {
        let path = FileManager.default.temporaryDirectory.path + "/tarn-pages-\(UUID().uuidString)"
        let environment = try Environment.open(
            at: path, options: Environment.Options(durability: .volatile, mapSize: 1 << 30))
        func put(_ transaction: inout WriteTransaction, _ table: LMDB.Table, _ key: [UInt8], _ value: [UInt8]) throws {
            try key.withUnsafeBytes { key in try value.withUnsafeBytes { try transaction.raw.put(table, key, $0) } }
        }
        try environment.writeOpeningTables { transaction in
            _ = try transaction.table("empty")
            let deep = try transaction.table("deep"), long = try transaction.table("long"),
                keys = try transaction.table("keys")
            for number in 0..<30_000 {
                try put(&transaction, deep, Array("key \(number * 7919 % 30_000)".utf8), Array("\(number)".utf8))
            }
            for number in 0..<60 {
                try put(
                    &transaction, long, [UInt8(number)], Array(repeating: UInt8(number), count: number * number * 20))
            }
            for length in 1...511 {
                try put(&transaction, keys, Array(repeating: UInt8(length % 251), count: length), [1, 2, 3])
            }
        }
        for round in 0..<5 {
            try environment.writeOpeningTables { transaction in
                let deep = try transaction.table("deep"), long = try transaction.table("long")
                for number in 0..<3000 where number % 5 == round {
                    _ = try Array("key \(number)".utf8).withUnsafeBytes { try transaction.raw.delete(deep, $0) }
                }
                // Shorter than before: its pages are kept.
                try put(&transaction, long, [59], Array(repeating: 1, count: 60_000 - round * 9000))
            }
        }
        return path
    }

    private static func withEachStore(_ body: (String) throws -> Void) throws {
        let many = try manyTables(), rich = try RichStore()
        defer { try? FileManager.default.removeItem(atPath: many) }
        try body(many)
        try body(rich.path)
    }

    @Test("what it counts of every table, and of free pages, is what mdb_stat says")
    func agreesWithStat() throws {
        try PageReaderTests.withEachStore { path in
            var tables: [String: [Int]] = [:], name = "", environment: [String: Int] = [:]
            for line in try run("/usr/bin/mdb_stat", "-afe", path).split(separator: "\n") {
                if line.hasPrefix("Status of ") { name = String(line.dropFirst("Status of ".count)) }
                if line.hasPrefix("Freelist Status") { name = "free" }
                let words = line.split(separator: ":")
                guard let number = words.last.flatMap({ Int($0.drop { $0 == " " }) }) else { continue }
                if words[0].contains("Number of pages") || words[0].contains("Last transaction")
                    || words[0].contains("Free pages")
                {
                    environment[String(words[0]).trimmingCharacters(in: .whitespaces)] = number
                } else if !name.isEmpty {
                    tables[name, default: []].append(number)
                }
            }
            try StoreFile.open(at: path) { file in
                for name in file.snapshot.names where file.counts[name] == nil { file.forEach(in: name) { _, _ in } }
                #expect(file.snapshot.names.count == tables.count - 2)
                for name in file.snapshot.names {
                    guard let counts = file.counts[name] else { continue }
                    let depth = file.snapshot.tables[name]?.depth ?? -1
                    let found =
                        [depth]
                        + [counts.branchPages, counts.leafPages, counts.overflowPages, counts.entries].map { Int($0) }
                    #expect(tables[name] == found, "\(name)")
                    #expect(counts.isWhole)
                }
                #expect(environment["Number of pages used"] == Int(file.snapshot.meta.lastPage) + 1)
                #expect(environment["Last transaction ID"] == Int(file.snapshot.meta.transaction))
                #expect(environment["Free pages"] == file.freePageCount)
                let free = file.checkFreePages()
                #expect(free.free == environment["Free pages"] && free.lost == 0)
                #expect(file.findings.list == [] && file.aloneBecause == nil)
            }
        }
    }

    @Test("its dump of all tables is, byte for byte, that of mdb_dump -a")
    func agreesWithDump() throws {
        try PageReaderTests.withEachStore { path in
            var lines: [String] = []
            try StoreInspector(at: path).dumpTables(line: { lines.append($0) }, damaged: { Issue.record("\($0)") })
            let expected = try run("/usr/bin/mdb_dump", "-a", path).split(
                separator: "\n", omittingEmptySubsequences: true
            ).map(String.init)
            #expect(lines.count == expected.count && lines.count > 100)
            if let place = zip(lines, expected).enumerated().first(where: { $1.0 != $1.1 }) {
                Issue.record("line \(place)")
            }
        }
    }

    @Test("a file by itself, without its directory and lock, is read as well, and the report says that nobody held it")
    func fileAlone() throws {
        let path = try PageReaderTests.manyTables(), alone = path + ".mdb"
        defer { for path in [path, alone] { try? FileManager.default.removeItem(atPath: path) } }
        try FileManager.default.copyItem(atPath: path + "/data.mdb", toPath: alone)
        try StoreFile.open(at: alone) { file in
            #expect(file.aloneBecause != nil)
            #expect(file.snapshot.names == ["deep", "empty", "keys", "long"])
            var entries = 0
            #expect(file.forEach(in: "deep") { _, _ in entries += 1 })
            #expect(entries == 27_000)
        }
    }

    @Test("every key of a table is found by itself, and none that is not there")
    func lookUps() throws {
        let path = try PageReaderTests.manyTables()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try StoreFile.open(at: path) { file in
            for table in ["deep", "long", "keys"] {
                var wrong = 0
                file.again(table) { key, value in
                    if file.value(key, in: table).map({ $0.elementsEqual(value) }) != true { wrong += 1 }
                    if (Array(key) + [0]).withUnsafeBytes({ file.value($0, in: table) }) != nil { wrong += 1 }
                }
                #expect(wrong == 0, "\(table)")
            }
            #expect([UInt8](repeating: 255, count: 9).withUnsafeBytes { file.value($0, in: "deep") } == nil)
            #expect([UInt8]().withUnsafeBytes { file.value($0, in: "deep") } == nil)
            #expect([UInt8](repeating: 1, count: 1).withUnsafeBytes { file.value($0, in: "empty") } == nil)
        }
    }
}
