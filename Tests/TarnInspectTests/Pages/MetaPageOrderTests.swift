// The transaction numbers of the two meta pages: a wrong one is found, and no sound file has one.

import Foundation
import Glibc
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Inspect: order of the meta pages")
struct MetaPageOrderTests {
    private let folder = FileManager.default.temporaryDirectory.path + "/tarn-meta-\(UUID().uuidString)"
    private static let schema = Schema([
        EntityDefinition("A", key: ["id"], attributes: [.init("id", .int), .init("text", .string)])
    ])

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false) }

    private static func findings(_ path: String) throws -> [Finding] {
        let held = try FileState.hold(at: path) { $0.findings }
        // Without a transaction.
        let copy = path + "-copy-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: copy) }
        try FileManager.default.copyItem(atPath: path + "/data.mdb", toPath: copy)
        let alone = try FileState.hold(at: copy) { $0.findings }
        #expect(held == alone, "\(held) \(alone)")
        return held
    }

    private func store(commits: Int) throws -> String {
        let path = folder + "/s"
        let store = try Store.open(at: path, schema: Self.schema)
        for number in 0..<commits { try Self.put(store, number) }
        return path
    }

    private static func put(_ store: Store, _ number: Int) throws {
        try store.write { try $0.put("A", RecordKey(Int64(number)), [.init("text", .string("\(number)"))]) }
    }

    @Test(
        "each flipped bit in the transaction number of a meta page is found, unless an interrupted commit leaves the same bytes",
        arguments: [5, 6, 7, 8])
    func everyBit(commits: Int) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = try store(commits: commits), file = URL(fileURLWithPath: path + "/data.mdb")
        for _ in 0..<2 {
            let original = try Data(contentsOf: file)
            #expect(try Self.findings(path) == [])
            let numbers = [0, 1].map { page in
                original.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: page * 4096 + 144, as: UInt64.self) }
            }
            let newer = numbers[0] > numbers[1] ? 0 : 1
            for page in 0..<2 {
                for bit in 0..<64 {
                    var bytes = original
                    bytes[page * 4096 + 144 + bit / 8] ^= 1 << UInt8(bit % 8)
                    try bytes.write(to: file)
                    let found = try Self.findings(path)
                    let isInterrupted = page == newer && numbers[page] ^ (1 << UInt64(bit)) == numbers[page] - 2
                    #expect(found.map(\.code) == (isInterrupted ? [] : [.meta]), "bit \(bit) of \(page): \(found)")
                }
            }
            try original.write(to: file)
            try Self.put(try Store.open(at: path), 100)
        }
    }

    @Test("the meta pages of a sound file follow each other: new, after each commit, copied, compacted")
    func soundFiles() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/s"
        do {
            let store = try Store.open(at: path, schema: Self.schema)
            #expect(try Self.findings(path) == [])
            for number in 0..<40 {
                try Self.put(store, number)
                #expect(try Self.findings(path) == [], "after commit \(number)")
            }
            _ = try store.backup(to: folder + "/compact")
            _ = try store.backup(to: folder + "/same", isCompacted: false)
        }
        for copy in ["compact", "same"] {
            let path = folder + "/" + copy
            #expect(try Self.findings(path) == [], "\(copy)")
            try Self.put(try Store.open(at: path), 1000)
            #expect(try Self.findings(path) == [], "\(copy), after a commit")
        }
        _ = try Store.compact(at: path)
        #expect(try Self.findings(path) == [])
        let plain = folder + "/plain", packed = folder + "/packed"
        for copy in [plain, packed] {
            try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
        }
        _ = try run("/usr/bin/mdb_copy", path, plain)
        _ = try run("/usr/bin/mdb_copy", "-c", path, packed)
        for copy in [plain, packed] { #expect(try Self.findings(copy) == [], "\(copy)") }
    }

    @Test("files of liblmdb without any table are sound, and so are compact copies of them")
    func emptyFiles() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let text = "VERSION=3\nformat=bytevalue\ntype=btree\nmapsize=1048576\nHEADER=END\nDATA=END\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/text"))
        for name in ["empty", "empty-copy"] {
            try FileManager.default.createDirectory(atPath: folder + "/" + name, withIntermediateDirectories: false)
        }
        _ = try run("/usr/bin/mdb_load", "-f", folder + "/text", folder + "/empty")
        _ = try run("/usr/bin/mdb_copy", "-c", folder + "/empty", folder + "/empty-copy")
        for name in ["empty", "empty-copy"] { #expect(try Self.findings(folder + "/" + name) == [], "\(name)") }
    }

    @Test("a writer that is killed before its commit leaves meta pages that follow each other")
    func killedWriter() async throws {
        let path = try store(commits: 5)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for _ in 0..<2 {
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
                let store = try Store.open(at: path)
                try MetaPageOrderTests.put(store, 7)
                try await store.write { writer in
                    for number in 0..<3000 {
                        try writer.put("A", RecordKey(Int64(number)), [.init("text", .string("lost"))])
                    }
                    try writer.applyIndexChanges()
                    kill(getpid(), SIGKILL)
                }
            }
            #expect(try Self.findings(path) == [])
        }
    }

    @Test("while another thread commits all the time, the meta pages still follow each other")
    func busyWriter() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = try store(commits: 2)
        let store = try Store.open(at: path, options: Store.Options(durability: .volatile))
        let writer = Task.detached {
            var number = 0
            while !Task.isCancelled {
                try await store.write { [number] in
                    try $0.put("A", RecordKey(Int64(number % 50)), [.init("text", .string("\(number)"))])
                }
                number += 1
            }
            return number
        }
        for _ in 0..<2000 {
            let file = try PageFile(opening: path + "/data.mdb")
            #expect(FileSnapshot.orderFinding(of: file) == [])
            await Task.yield()
        }
        writer.cancel()
        #expect(try await writer.value > 20)
    }
}
