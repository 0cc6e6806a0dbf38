// Files that liblmdb would die of: each must be an error when it is opened, never a signal.

import Foundation
import LMDB
import TestSupport
import Testing

@Suite("Damaged data files")
struct DamagedFileTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The bytes of a healthy file with a tree of some depth, overflow pages and a free list.
    private func healthyFile() throws -> Data {
        do {
            let environment = try Environment.open(at: folder("healthy"), options: .init(durability: .volatile))
            let table = try environment.makeTable("rows")
            let other = try environment.makeTable("other")
            for round in 0..<3 {
                try environment.write { transaction in
                    for number in 0..<400 {
                        try transaction.set(table, bytes("key \(number)"), Array(repeating: UInt8(round), count: 300))
                    }
                    try transaction.set(other, bytes("large"), Array(repeating: 7, count: 50_000))
                }
            }
        }
        return try Data(contentsOf: URL(fileURLWithPath: folder("healthy/data.mdb")))
    }

    private func write(_ data: Data, _ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
        try data.write(to: URL(fileURLWithPath: folder(name + "/data.mdb")))
        return folder(name)
    }

    @Test(
        "a file that is no LMDB file is refused and left as it is", arguments: [1, 100, 151, 152, 4096, 8192, 100_000])
    func foreignFileIsRefused(_ size: Int) throws {
        let data = Data(repeating: UInt8(ascii: "x"), count: size)
        let path = try write(data, "foreign")
        #expect(kindOfError { _ = try Environment.open(at: path) } == .notAnEnvironment)
        let isUnchanged = try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb")) == data
        #expect(isUnchanged)
    }

    @Test("an empty file is initialised")
    func emptyFileIsInitialised() throws {
        let environment = try Environment.open(at: try write(Data(), "empty"))
        #expect(try environment.tableNames() == [])
    }

    @Test("a directory in place of the data file is refused")
    func directoryInPlaceOfTheFileIsRefused() throws {
        try FileManager.default.createDirectory(atPath: folder("d/data.mdb"), withIntermediateDirectories: true)
        #expect(kindOfError { _ = try Environment.open(at: folder("d")) } == .notAFile)
    }

    @Test("a file that was cut off is refused wherever it was cut, or reads completely")
    func truncatedFileIsRefused() throws {
        let data = try healthyFile()
        let pages = data.count / 4096
        #expect(pages > 100)
        var refused = 0
        for keptPages in 0..<pages {
            for extra in [0, 1, 4095] where keptPages + extra > 0 {
                let path = try write(data.prefix(keptPages * 4096 + extra), "cut-\(keptPages)-\(extra)")
                do {
                    // Only pages that are free may be missing: then everything is still there.
                    let environment = try Environment.open(at: path, options: .init(durability: .volatile))
                    let tables = try environment.existingTables(["rows", "other"]).compactMap(\.self)
                    #expect(try environment.entryCount(tables[0]) == 400)
                    for number in 0..<400 {
                        #expect(try environment.value(tables[0], "key \(number)")?.utf8.count == 300)
                    }
                    #expect(try environment.value(tables[1], "large")?.utf8.count == 50_000)
                } catch let error as LMDBError {
                    refused += 1
                    #expect([.truncated, .notAnEnvironment, .corrupted].contains(error.kind), "\(keptPages): \(error)")
                }
                try FileManager.default.removeItem(atPath: path)
            }
        }
        #expect(refused > pages)
    }

    @Test("a healthy file that is shorter than its last page number opens, and nothing is missing")
    func healthyShortFileOpens() throws {
        do {
            let environment = try Environment.open(at: folder("short"), options: .init(durability: .volatile))
            let table = try environment.makeTable("t")
            // Old pages that are free, so that the commit needs none from the end of the file.
            for round in 0..<8 { try environment.put(table, [("a", "\(round)"), ("b", "")]) }
            try environment.write { transaction in
                try transaction.set(table, bytes("a"), bytes("1"))
                // Taken from the end of the file and freed before they were ever written.
                try transaction.set(table, bytes("large"), Array(repeating: 1, count: 2_000_000))
                try transaction.delete(table, bytes("large").span.bytes)
            }
        }
        let data = try Data(contentsOf: URL(fileURLWithPath: folder("short/data.mdb")))
        let lastPage =
            [136, 4096 + 136].map { offset in (0..<8).reduce(0) { $0 | Int(data[offset + $1]) << (8 * $1) } }.max() ?? 0
        try #require(data.count < lastPage * 4096, "the file is not shorter than its last page number")

        let environment = try Environment.open(at: folder("short"), options: .init(durability: .volatile))
        let table = try #require(try environment.existingTables(["t"])[0])
        #expect(try environment.value(table, "a") == "1")
        try environment.put(table, [("b", String(repeating: "2", count: 1_000_000))])
        #expect(try environment.value(table, "b")?.utf8.count == 1_000_000)
    }

    /// liblmdb would write over pages that are in use: no access shows it before the first commit.
    @Test("a free list with options that it cannot have is an error before anything is written", arguments: 0..<15)
    func freeListOptions(bit: Int) throws {
        var data = try healthyFile()
        for page in 0..<2 { data[page * 4096 + 44 + bit / 8] ^= 1 << UInt8(bit % 8) }
        let path = try write(data, "options")
        // Bits 0 and 14 are options of the environment.
        if bit == 0 || bit == 14 {
            let environment = try Environment.open(at: path, options: .init(durability: .volatile))
            let table = try #require(try environment.existingTables(["rows"])[0])
            try environment.put(table, [("key 1", "new")])
            #expect(try environment.value(table, "key 1") == "new")
        } else {
            #expect(kindOfError { _ = try Environment.open(at: path) } == .corrupted)
        }
    }

    @Test("a malformed entry of the free list is an error where free pages are counted, and not where they are not")
    func malformedFreeList() throws {
        var data = [UInt8](try healthyFile())
        func number(_ offset: Int, _ count: Int) -> Int {
            (0..<count).reduce(0) { $0 | Int(data[offset + $1]) << (8 * $1) }
        }
        // The newer meta page: the depth and the root of the free list.
        let meta = number(144, 8) > number(4096 + 144, 8) ? 0 : 4096
        try #require(number(meta + 46, 2) == 1, "the free list has branches")
        let leaf = number(meta + 80, 8) * 4096, node = leaf + number(leaf + 16, 2)
        // The number of pages of its first entry, behind the node's header and the key.
        data[node + 16 + 6] = 0x7F
        let environment = try Environment.open(at: write(Data(data), "counts"), options: .init(durability: .volatile))
        #expect(kindOfError { _ = try environment.information() } == .corrupted)
        #expect(try environment.mapSize > data.count)
    }

    @Test("any flipped bit of a meta page is an error or harmless, never a signal")
    func flippedMetaPageNeverEndsTheProcess() async throws {
        let data = try healthyFile()
        let source = try write(data, "source") + "/data.mdb"
        let target = folder("flipped")
        await #expect(processExitsWith: .success) { [source = source as String, target = target as String] in
            let healthy = try Data(contentsOf: URL(fileURLWithPath: source))
            var opened = 0
            for page in 0..<2 {
                for offset in 0..<152 {
                    for bit in 0..<8 {
                        var data = healthy
                        data[page * 4096 + offset] ^= 1 << bit
                        try? FileManager.default.removeItem(atPath: target)
                        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
                        try data.write(to: URL(fileURLWithPath: target + "/data.mdb"))
                        // If the process dies, this line is the only trace.
                        try Data("page \(page) offset \(offset) bit \(bit)".utf8).write(
                            to: URL(fileURLWithPath: source + ".last"))
                        do {
                            let environment = try Environment.open(
                                at: target, options: .init(isReadOnly: true, mapSize: 1 << 30, minimumMapSize: 1 << 20))
                            opened += 1
                            _ = try environment.tableNames()
                            for table in try environment.existingTables(["rows", "other"]).compactMap(\.self) {
                                _ = try environment.value(table, "key 1")
                            }
                        } catch is LMDBError {
                        }
                    }
                }
            }
            #expect(opened > 0)
        }
        let last = try String(contentsOfFile: source + ".last", encoding: .utf8)
        #expect(last == "page 1 offset 151 bit 7")
    }
}
