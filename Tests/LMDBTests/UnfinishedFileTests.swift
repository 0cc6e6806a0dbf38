// An interrupted creation of a data file is repeated; any other short file stays as it is.

import Foundation
import Glibc
import LMDB
import TestSupport
import Testing

@Suite("Unfinished files")
struct UnfinishedFileTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The data file of an environment, cut. Commits of an environment go to the two meta pages in
    /// turn.
    private func cut(_ path: String, to size: Int, commits: Int) throws {
        do {
            let environment = try Environment.open(at: path)
            for number in 0..<commits { _ = try environment.makeTable("t\(number)") }
        }
        #expect(truncate(path + "/data.mdb", size) == 0)
    }

    private func size(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path + "/data.mdb")[.size] as? Int)
    }

    @Test(
        "a file that ends within its meta pages, before any transaction, is made again",
        arguments: [4096, 4097, 6144, 8191, 152])
    func unfinished(_ size: Int) throws {
        try cut(folder("e"), to: size, commits: 0)
        let environment = try Environment.open(at: folder("e"))
        try environment.put(try environment.makeTable("t"), [("a", "1")])
        #expect(try environment.tableNames() == ["t"])
    }

    // Found by tools/torture: of the two meta pages, which are written in one call, a loss of power
    // may keep either, or none.
    @Test(
        "a file of which a loss of power has kept one of its first meta pages, or none, is made again",
        arguments: [[true, false], [false, true], [false, false]])
    func tornMetaPages(_ kept: [Bool]) throws {
        try cut(folder("e"), to: 8192, commits: 0)
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder("e") + "/data.mdb")))
        for page in 0..<2 where !kept[page] {
            bytes.replaceSubrange(page * 4096..<(page + 1) * 4096, with: repeatElement(0, count: 4096))
        }
        try Data(bytes).write(to: URL(fileURLWithPath: folder("e") + "/data.mdb"))
        let environment = try Environment.open(at: folder("e"))
        try environment.put(try environment.makeTable("t"), [("a", "1")])
        #expect(try environment.tableNames() == ["t"])
    }

    @Test("zeros where meta pages were, with pages behind them, are refused, and not touched")
    func lostMetaPages() throws {
        try cut(folder("e"), to: 12288, commits: 2)
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder("e") + "/data.mdb")))
        bytes.replaceSubrange(0..<8192, with: repeatElement(0, count: 8192))
        try Data(bytes).write(to: URL(fileURLWithPath: folder("e") + "/data.mdb"))
        #expect(kindOfError { _ = try Environment.open(at: folder("e")) } == .notAnEnvironment)
        #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: folder("e") + "/data.mdb"))) == bytes)
    }

    @Test("a file that held transactions and was cut is refused, and not touched", arguments: [4096, 8191])
    func cutFile(_ size: Int) throws {
        try cut(folder("e"), to: size, commits: 2)
        let before = try Data(contentsOf: URL(fileURLWithPath: folder("e") + "/data.mdb"))
        #expect(kindOfError { _ = try Environment.open(at: folder("e")) } == .truncated)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder("e") + "/data.mdb")) == before)
    }

    @Test("a short file of something else is refused, and not touched")
    func otherFile() throws {
        let path = folder("e"), bytes = Data(repeating: 0x61, count: 4096)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try bytes.write(to: URL(fileURLWithPath: path + "/data.mdb"))
        #expect(kindOfError { _ = try Environment.open(at: path) } == .notAnEnvironment)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb")) == bytes)
    }

    @Test("read-only opening changes nothing")
    func readOnly() throws {
        try cut(folder("e"), to: 4096, commits: 0)
        #expect(
            kindOfError { _ = try Environment.open(at: folder("e"), options: .init(isReadOnly: true)) } == .truncated)
        #expect(try size(folder("e")) == 4096)
    }

    @Test("a file that another process is just making is left to it")
    func anotherProcessIsMakingIt() async throws {
        let path = folder("e")
        try cut(path, to: 4096, commits: 0)
        async let other: Void = holdLockInAnotherProcess(path)
        while !FileManager.default.fileExists(atPath: path + "/held") { try await Task.sleep(for: .milliseconds(1)) }
        let kind = kindOfError { _ = try Environment.open(at: path) }
        #expect(kind == .truncated)
        #expect(try size(path) == 4096)
        try Data().write(to: URL(fileURLWithPath: path + "/stop"))
        await other
        // It ended without having made it.
        _ = try Environment.open(at: path).makeTable("t")
    }

    private func holdLockInAnotherProcess(_ path: String) async {
        await #expect(processExitsWith: .success) { [path = path as String] in
            // As liblmdb does while it creates the file.
            let lock = open(path + "/lock.mdb", O_RDWR)
            var range = flock()
            range.l_type = Int16(F_WRLCK)
            range.l_len = 1
            #expect(fcntl(lock, F_SETLK, &range) == 0)
            try Data().write(to: URL(fileURLWithPath: path + "/held"))
            while !FileManager.default.fileExists(atPath: path + "/stop") { usleep(1000) }
        }
    }
}
