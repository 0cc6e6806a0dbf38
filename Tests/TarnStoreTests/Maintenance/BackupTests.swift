// Copies of stores that are in use.

import Foundation
import Glibc
import LMDB
import Locking
import TestSupport
import Testing

@testable import TarnStore

@Suite("Backup")
struct BackupTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(
        "a copy is as of one commit while others write, and is another incarnation with the same records",
        arguments: [true, false])
    func copyOfALiveStore(isCompacted: Bool) async throws {
        let store = try Forge.open(folder("s"))
        let path = folder.path
        try await onThread {
            let stop = Guarded(false), ended = DispatchSemaphore(value: 0)
            let writer = Thread {
                var number: Int64 = 0
                while !stop.withLock({ $0 }) {
                    number += 1
                    try? store.write { writer in
                        try writer.put("User", RecordKey(number), [.init("login", .string("user \(number)"))])
                        try writer.put(
                            "Issue", RecordKey(number),
                            [.init("title", .string("t")), .init("author", .reference(RecordKey(number)))])
                    }
                }
                ended.signal()
            }
            writer.start()
            while try store.count("User") < 50 { usleep(1000) }
            let reports = try (0..<5).map { try store.backup(to: path + "/copy \($0)", isCompacted: isCompacted) }
            stop.withLock { $0 = true }
            ended.wait()
            #expect(Set(reports.map(\.incarnation)).count == 5)
            for (number, report) in reports.enumerated() {
                let copy = try Store.open(at: path + "/copy \(number)")
                #expect(try copy.sequence == report.sequence && report.sequence >= 50)
                #expect(try copy.count("User") == Int(report.sequence) && copy.count("Issue") == Int(report.sequence))
                let incarnation = try copy.read { try $0.incarnation }
                #expect(try incarnation == report.incarnation && incarnation != store.read { try $0.incarnation })
                // A store like any other.
                try copy.put("User", RecordKey(-1))
                #expect(try copy.count("User") == Int(report.sequence) + 1)
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: path)
            #expect(names.allSatisfy { !$0.contains(".unfinished") })
        }
    }

    @Test("slashes behind the path of a copy do not count", arguments: ["copy/", "copy//"])
    func trailingSlashes(name: String) throws {
        let store = try Forge.open(folder("s"))
        try store.put("User", RecordKey(1))
        try store.backup(to: folder(name))
        #expect(try Store.open(at: folder("copy")).count("User") == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["copy", "s"])
    }

    @Test("a compacted copy of a file that lacks pages is an error about damage, and leaves nothing")
    func lackingPages() throws {
        do {
            let store = try Forge.open(folder("s"))
            try store.write { writer in
                for number in 0..<3000 {
                    try writer.put("User", RecordKey(Int64(number)), [.init("login", .string("user \(number)"))])
                }
            }
        }
        let file = URL(fileURLWithPath: folder("s/data.mdb"))
        var data = try Data(contentsOf: file)
        // The branch with the most children loses half of them (`mp_lower`).
        func children(_ page: Int) -> Int { (Int(data[page * 4096 + 12]) + Int(data[page * 4096 + 13]) << 8 - 16) / 2 }
        let branches = (2..<data.count / 4096).filter { data[$0 * 4096 + 10] == 1 }
        let page = try #require(branches.max { children($0) < children($1) }), lower = 16 + children(page) / 2 * 2
        try #require(lower > 20)
        (data[page * 4096 + 12], data[page * 4096 + 13]) = (UInt8(lower & 0xFF), UInt8(lower >> 8))
        try data.write(to: file)
        let store = try Store.open(at: folder("s"))
        let error = storeError { _ = try store.backup(to: folder("copy")) }
        guard case StoreError.lmdb(let reason)? = error, reason.kind == .corrupted else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["s"])
    }

    @Test("a compacted copy has no free pages")
    func compactedCopyIsSmall() throws {
        let store = try Forge.open(folder("s"))
        try store.write { writer in
            for key: Int64 in 0..<3000 {
                try writer.put("User", RecordKey(key), [.init("login", .string("user \(key)"))])
            }
        }
        try store.write { writer in for key: Int64 in 0..<2900 { _ = try writer.delete("User", RecordKey(key)) } }
        let small = try store.backup(to: folder("small")),
            whole = try store.backup(to: folder("whole"), isCompacted: false)
        #expect(small.bytes * 2 < whole.bytes)
        #expect(try Store.open(at: folder("small")).count("User") == 100)
        #expect(try Store.open(at: folder("whole")).count("User") == 100)
    }

    @Test("what has the name already stays as it is, and so does what a copy has left that was cut off")
    func destination() throws {
        let store = try Forge.open(folder("s"))
        try FileManager.default.createDirectory(atPath: folder("there"), withIntermediateDirectories: false)
        #expect(
            storeError { try store.backup(to: folder("there")) }
                == StoreMaintenanceError.destinationExists(path: folder("there")))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("there")) == [])
        try FileManager.default.createDirectory(atPath: folder("new.unfinished"), withIntermediateDirectories: false)
        try Data([1]).write(to: URL(fileURLWithPath: folder("new.unfinished/data.mdb")))
        try store.backup(to: folder("new") + "/")
        #expect(try Store.open(at: folder("new")).count("User") == 0)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [
                "new", "new.unfinished", "s", "there",
            ])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("new.unfinished")) == ["data.mdb"])
        guard case StoreError.lmdb(let error)? = storeError({ try store.backup(to: folder("no/such/place")) }) else {
            throw Failure()
        }
        #expect(error.kind == .noSuchFile)
    }

    private struct Failure: Error {}

    @Test("inside of a read or write of the same store a copy fails at once")
    func nested() throws {
        let store = try Forge.open(folder("s"))
        func kind(_ error: (any StoreFailure)?) -> LMDBError.Kind? {
            if case StoreError.lmdb(let error)? = error { error.kind } else { nil }
        }
        try store.read { _ in #expect(kind(storeError { try store.backup(to: folder("a")) }) == .nestedWrite) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["s"])
    }

    @Test("a token of the store is not one of the copy")
    func tokens() throws {
        let store = try Forge.open(folder("s"))
        try store.put("User", RecordKey(1))
        let token = try store.read { try $0.changeToken }
        try store.backup(to: folder("copy"))
        let copy = try Store.open(at: folder("copy"))
        let error = storeError { _ = try copy.read { try $0.changes(since: token) } }
        guard case ChangeLogError.otherIncarnation? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("a disk that is full, or fails, leaves no copy and no remains", arguments: ["ENOSPC", "EIO", "short"])
    func fullDisk(kind: String) async throws {
        let folder = folder
        try await onThread {
            try Forge.open(folder("s")).put("User", RecordKey(1))
            let target = folder("copies")
            try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
            let log = folder("log")
            let counted = try WorkerProcess(
                ["backup", folder("s"), target + "/a"],
                environment: try FaultLibrary.environment(target, ["FAULT_LOG": log]))
            #expect(try counted.lines() == ["copied"] && counted.end() == 0)
            let calls = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").filter {
                kind != "short" || !$0.contains("sync 0")
            }
            #expect(calls.count >= 4)
            for call in calls {
                let number = call.prefix { $0 != " " }
                let worker = try WorkerProcess(
                    ["backup", folder("s"), target + "/b"],
                    environment: try FaultLibrary.environment(
                        target, ["FAULT_AT": "\(number)", "FAULT_KIND": kind, "FAULT_STICKY": "1"]))
                let lines = try worker.lines()
                // The last calls are about names only.
                if worker.end() == 0 {
                    try FileManager.default.removeItem(atPath: target + "/b")
                    continue
                }
                #expect(lines.first?.hasPrefix("error ") == true && lines[0].count > 40, "\(call): \(lines)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: target) == ["a"], "\(call)")
            }
        }
    }

    /// Runs a backup to `copies/b` in which the flush of its directory fails.
    ///
    /// Every other call succeeds. There is another copy beside it.
    private static func output(_ folder: TemporaryFolder, failingFlush kind: String) throws -> [String] {
        try Forge.open(folder("s")).put("User", RecordKey(1))
        let target = folder("copies"), log = folder("log")
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
        let counted = try WorkerProcess(
            ["backup", folder("s"), target + "/a"],
            environment: try FaultLibrary.environment(target, ["FAULT_LOG": log]))
        #expect(try counted.lines() == ["copied"] && counted.end() == 0)
        let flush = try #require(
            try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").last {
                $0.contains(" fsync ") && $0.split(separator: "/").last?.hasPrefix("a.unfinished-") == true
            })
        let worker = try WorkerProcess(
            ["backup", folder("s"), target + "/b"],
            environment: try FaultLibrary.environment(
                target, ["FAULT_AT": "\(flush.prefix { $0 != " " })", "FAULT_KIND": kind]))
        let lines = try worker.lines()
        worker.end()
        return lines
    }

    @Test("a file system that does not flush directories has the copy nevertheless")
    func noFlush() async throws {
        let folder = folder
        let lines = try await onThread { try BackupTests.output(folder, failingFlush: "EINVAL") }
        #expect(lines == ["copied"])
        #expect(try Set(FileManager.default.contentsOfDirectory(atPath: folder("copies"))) == ["a", "b"])
    }

    @Test("a copy whose directory cannot be flushed to the disk is an error, and leaves no remains")
    func failedFlush() async throws {
        let folder = folder
        let lines = try await onThread { try BackupTests.output(folder, failingFlush: "EIO") }
        #expect(lines.first?.hasPrefix("error ") == true, "\(lines)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("copies")) == ["a"])
    }
}
