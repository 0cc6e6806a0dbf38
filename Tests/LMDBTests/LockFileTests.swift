// The lock file: allocated before it is mapped, shared by all writers, and skipped only on request.

import Foundation
import Glibc
import TestSupport
import Testing

@testable import LMDB

@Suite("Lock file", .timeLimit(.minutes(5)))
struct LockFileTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func status(_ path: String) -> stat {
        var status = stat()
        #expect(stat(path, &status) == 0, "\(path)")
        return status
    }

    @Test("all of it is allocated when the environment is open, also if it had holes")
    func isAllocated() throws {
        let path = folder("e"), lock = path + "/lock.mdb"
        for _ in 0..<2 {
            let environment = try Environment.open(at: path)
            let table = try environment.makeTable("t")
            #expect(try environment.value(table, "a") == nil)
            let found = status(lock)
            #expect(found.st_size >= 65_536 && found.st_blocks * 512 >= found.st_size)
            withExtendedLifetime(environment) {}
            // The next round finds one that is nothing but a hole.
            try FileManager.default.removeItem(atPath: lock)
            #expect(FileManager.default.createFile(atPath: lock, contents: nil))
            #expect(truncate(lock, 65_664) == 0 && status(lock).st_blocks == 0)
        }
    }

    @Test("asking again and again for the writer of a lock file keeps one descriptor of it")
    func writerIsAskedFor() throws {
        let path = folder("e"), environment = try Environment.open(at: path)
        /// The descriptors of this process that are open on the lock file.
        func descriptors() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
                FileIdentity(path: "/proc/self/fd/" + $0) == FileIdentity(path: path + "/lock.mdb")
            }
        }
        let before = try descriptors()
        for _ in 0..<5 { #expect(LockFile.writer(in: path) == 0) }
        #expect(try descriptors() == before + 1)
        withExtendedLifetime(environment) {}
    }

    @Test("a smaller table that another process has mapped does not grow under it")
    func tableInUseKeepsItsSize() async throws {
        let path = folder("e"), stop = folder("stop"), ready = folder("ready")
        async let other: Void = hold(path, ready, stop)
        while !FileManager.default.fileExists(atPath: ready) { try await Task.sleep(for: .milliseconds(1)) }
        let size = status(path + "/lock.mdb").st_size
        do {
            let environment = try Environment.open(at: path)
            let table = try #require(try environment.existingTables(["t"])[0])
            #expect(try environment.value(table, "a") == "1")
            #expect(size < 10_000 && status(path + "/lock.mdb").st_size == size)
            try Data().write(to: URL(fileURLWithPath: stop))
        }
        _ = await other
        let environment = try Environment.open(at: path)
        let table = try #require(try environment.existingTables(["t"])[0])
        #expect(try environment.value(table, "b") == "2")
    }

    /// Has the environment open with a small table, in another process.
    private func hold(_ path: String, _ ready: String, _ stop: String) async {
        await #expect(processExitsWith: .success) {
            [path = path as String, ready = ready as String, stop = stop as String] in
            let environment = try Environment.open(at: path, options: .init(maximumReaders: 126))
            let table = try environment.makeTable("t")
            try environment.put(table, [("a", "1")])
            try Data().write(to: URL(fileURLWithPath: ready))
            while !FileManager.default.fileExists(atPath: stop) { usleep(1000) }
            try environment.put(table, [("b", "2")])
        }
    }

    /// Commits in another process, as soon as a file is there.
    private func commit(_ path: String, _ commits: Int, after go: String, _ done: String) async {
        await #expect(processExitsWith: .success) {
            [path = path as String, go = go as String, done = done as String, commits = commits as Int] in
            let environment = try Environment.open(at: path)
            let table = try #require(try environment.existingTables(["t"])[0])
            while !FileManager.default.fileExists(atPath: go) { usleep(1000) }
            for number in 0..<commits { try environment.put(table, [("a", "\(number)")]) }
            try Data().write(to: URL(fileURLWithPath: done))
        }
    }

    @Test(
        "once it is deleted or replaced nothing is written, reads go on, and opening again makes all well",
        arguments: ["lock.mdb", "data.mdb"])
    func deletedWhileOpen(_ name: String) throws {
        let path = folder("e")
        do {
            let environment = try Environment.open(at: path)
            let table = try environment.makeTable("t")
            try environment.put(table, [("a", "1")])
            let file = path + "/" + name
            // Under a transaction that has begun: it does not commit.
            let failure = kindOfError {
                try environment.write { transaction in
                    try transaction.set(table, bytes("b"), bytes("2"))
                    if name == "lock.mdb" { try FileManager.default.removeItem(atPath: file) }
                }
            }
            #expect(failure == (name == "lock.mdb" ? .fileReplaced : nil))
            if name == "data.mdb" {
                try FileManager.default.copyItem(atPath: file, toPath: file + ".new")
                #expect(rename(file + ".new", file) == 0)
            }
            #expect(kindOfError { try environment.put(table, [("c", "3")]) } == .fileReplaced)
            #expect(kindOfError { _ = try environment.makeTable("u") } == .fileReplaced)
            #expect(try environment.value(table, "a") == "1")
            #expect(try environment.value(table, "c") == nil)
        }
        let environment = try Environment.open(at: path)
        let table = try #require(try environment.existingTables(["t"])[0])
        #expect(try environment.value(table, "a") == "1" && environment.value(table, "c") == nil)
        #expect(try environment.value(table, "b") == (name == "lock.mdb" ? nil : "2"))
        try environment.put(table, [("c", "3")])
    }

    @Test("a data file in the place of one that is open here is not opened beside it, which would drop its locks")
    func replacedWhileOpen() throws {
        let path = folder("e")
        let environment = try Environment.open(at: path)
        let table = try environment.makeTable("t")
        try FileManager.default.copyItem(atPath: path + "/data.mdb", toPath: folder("copy"))
        #expect(rename(folder("copy"), path + "/data.mdb") == 0)
        #expect(kindOfError { _ = try Environment.open(at: path) } == .fileReplaced)
        #expect(try environment.value(table, "a") == nil)
    }

    enum Kind: String, CaseIterable { case pipe, socket, directory, device }

    private func make(_ kind: Kind, _ path: String) throws {
        switch kind {
        case .pipe: #expect(mkfifo(path, 0o600) == 0)
        case .directory: #expect(mkdir(path, 0o700) == 0)
        case .device: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/zero")
        case .socket:
            let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(socket) }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            // Its path is short: the working directory may be anything. Test cases run side by side: a name for each.
            let short = "/tmp/tarn-\(UUID().uuidString).s"
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: short.utf8) }
            let bound = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            #expect(bound == 0)
            try FileManager.default.moveItem(atPath: short, toPath: path)
        }
    }

    @Test(
        "what is no regular file is an error at once, in the place of either file", arguments: Kind.allCases,
        ["data.mdb", "lock.mdb"])
    func noRegularFile(_ kind: Kind, _ name: String) throws {
        let path = folder("e")
        do { _ = try Environment.open(at: path).makeTable("t") }
        try FileManager.default.removeItem(atPath: path + "/" + name)
        try make(kind, path + "/" + name)
        for options in [Environment.Options(), .init(isReadOnly: true), .init(isReadOnly: true, isImmutable: true)] {
            if options.isImmutable, name == "lock.mdb" { continue }
            let found = kindOfError { _ = try Environment.open(at: path, options: options) }
            #expect(
                found == .notAFile || (kind != .pipe && name == "lock.mdb" && found != nil),
                "\(String(describing: found))")
        }
    }

    @Test(
        "an immutable environment is read without a lock file, writes nothing, and is none that can be shared with locks"
    )
    func immutable() throws {
        let path = folder("e")
        do {
            let environment = try Environment.open(at: path)
            try environment.put(try environment.makeTable("t"), [("a", "1")])
        }
        for name in ["lock.mdb", "turn.lock"] { try FileManager.default.removeItem(atPath: path + "/" + name) }
        var options = Environment.Options()
        options.isImmutable = true
        let environment = try Environment.open(at: path, options: options)
        let table = try #require(try environment.existingTables(["t"])[0])
        #expect(try environment.value(table, "a") == "1")
        #expect(environment.options.isReadOnly)
        #expect(kindOfError { try environment.put(table, [("b", "1")]) } == .readOnly)
        #expect(
            kindOfError { _ = try Environment.open(at: path, options: .init(isReadOnly: true)) } == .optionsConflict)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["data.mdb"])
    }

    @Test(
        "a read without locks that commits have overtaken ends with an error; one commit disturbs nothing",
        arguments: [1, 2, 3])
    func immutableIsOvertaken(_ commits: Int) async throws {
        let path = folder("e"), go = folder("go"), done = folder("done")
        do {
            let environment = try Environment.open(at: path)
            try environment.put(try environment.makeTable("t"), [("a", "1")])
        }
        async let other: Void = commit(path, commits, after: go, done)
        let failure = try await Task.detached { [folder] in
            let environment = try Environment.open(at: folder("e"), options: .init(isImmutable: true))
            let table = try #require(try environment.existingTables(["t"])[0])
            return kindOfError {
                try environment.read { transaction in
                    #expect(try transaction.copy(table, bytes("a")) == bytes("1"))
                    try Data().write(to: URL(fileURLWithPath: folder("go")))
                    while !FileManager.default.fileExists(atPath: folder("done")) { usleep(1000) }
                }
            }
        }.value
        _ = await other
        #expect(failure == (commits > 1 ? .notImmutable : nil))
    }

    @Test(
        "a copy that is made without locks, and that commits have overtaken, is an error; one commit disturbs nothing",
        arguments: [1, 2], [false, true])
    func copyIsOvertaken(_ commits: Int, _ isCompacted: Bool) async throws {
        let path = folder("e"), go = folder("go"), done = folder("done")
        do {
            let environment = try Environment.open(at: path)
            // More than a pipe holds.
            try environment.put(try environment.makeTable("t"), [("b", String(repeating: "b", count: 1 << 20))])
        }
        async let other: Void = commit(path, commits, after: go, done)
        let failure = try await Task.detached { [folder] in
            let environment = try Environment.open(at: folder("e"), options: .init(isImmutable: true))
            let pipe = Pipe()
            let reader = Thread {
                // The copy has begun.
                _ = pipe.fileHandleForReading.readData(ofLength: 1)
                _ = FileManager.default.createFile(atPath: folder("go"), contents: nil)
                while !FileManager.default.fileExists(atPath: folder("done")) { usleep(1000) }
                _ = pipe.fileHandleForReading.readDataToEndOfFile()
            }
            reader.start()
            defer { try? pipe.fileHandleForWriting.close() }
            return kindOfError {
                try environment.copy(to: pipe.fileHandleForWriting.fileDescriptor, isCompacted: isCompacted)
            }
        }.value
        _ = await other
        // A complete copy in a pipe cannot be flushed.
        #expect(failure == (commits > 1 ? .notImmutable : .other))
    }

    @Test(
        "a reader that may not write to the lock file is told so and how to read without it; with permission for that file alone it reads"
    )
    func unprivilegedReader() async throws {
        let path = folder("e")
        do {
            let environment = try Environment.open(at: path)
            try environment.put(try environment.makeTable("t"), [("a", "1")])
        }
        #expect(chmod(folder.path, 0o755) == 0 && chmod(path, 0o755) == 0 && chmod(path + "/data.mdb", 0o644) == 0)
        for mode: mode_t in [0o444, 0o666] {
            #expect(chmod(path + "/lock.mdb", mode) == 0)
            await #expect(processExitsWith: .success) { [path = path as String, mode = mode as UInt32] in
                // A real user without rights, where this one has all of them.
                if getuid() == 0 { #expect(setgid(65534) == 0 && setuid(65534) == 0) }
                let options = Environment.Options(isReadOnly: true)
                if mode == 0o666 {
                    let environment = try Environment.open(at: path, options: options)
                    let table = try #require(try environment.existingTables(["t"])[0])
                    #expect(try environment.value(table, "a") == "1")
                    return
                }
                do {
                    _ = try Environment.open(at: path, options: options)
                    Issue.record("it was opened without a lock")
                } catch let error as LMDBError {
                    #expect(
                        error.kind == .cannotLock && error.path == path + "/lock.mdb"
                            && "\(error)".contains("--immutable"), "\(error)")
                }
                let environment = try Environment.open(at: path, options: .init(isImmutable: true))
                let table = try #require(try environment.existingTables(["t"])[0])
                #expect(try environment.value(table, "a") == "1")
            }
        }
    }

    /// An environment with two commits, which no process has open.
    ///
    /// - Returns: the path of its data file after the first commit.
    private func makeClosed(_ path: String) throws -> String {
        let earlier = folder("earlier")
        for value in ["1", "2"] {
            let environment = try Environment.open(at: path, options: .init(durability: .volatile))
            try environment.put(try environment.makeTable("t"), [("a", value)])
            withExtendedLifetime(environment) {}
            if value == "1" { try FileManager.default.copyItem(atPath: path + "/data.mdb", toPath: earlier) }
        }
        return earlier
    }

    private func readOnce(_ path: String) throws -> String? {
        let environment = try Environment.open(at: path, options: .init(isReadOnly: true))
        let table = try #require(try environment.existingTables(["t"])[0])
        return try environment.value(table, "a")
    }

    @Test(
        "a data file that an older one has replaced is noted beside it, but not in the directory of another program",
        arguments: [true, false])
    func olderDataFile(isOfTarn: Bool) throws {
        let path = folder("e"), earlier = try makeClosed(path)
        try FileManager.default.removeItem(atPath: path + "/data.mdb")
        try FileManager.default.moveItem(atPath: earlier, toPath: path + "/data.mdb")
        // Only writers of Tarn make it.
        if !isOfTarn { try FileManager.default.removeItem(atPath: path + "/turn.lock") }
        #expect(try readOnce(path) == "1")
        #expect(FileManager.default.fileExists(atPath: path + "/data.older") == isOfTarn)
    }

    @Test("a file of other bytes in the place of the lock file does not make the data file an older one")
    func otherBytes() throws {
        let path = folder("e")
        _ = try makeClosed(path)
        try Data(repeating: 1, count: 65_664).write(to: URL(fileURLWithPath: path + "/lock.mdb"))
        #expect(try readOnce(path) == "2")
        #expect(!FileManager.default.fileExists(atPath: path + "/data.older"))
    }
}
