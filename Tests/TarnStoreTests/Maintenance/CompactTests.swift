// Compacting: alone, in one step, and whole whenever it is cut off.

import Foundation
import Glibc
import LMDB
import TestSupport
import Testing

@testable import TarnStore

@Suite("Compact")
struct CompactTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("the file is as small as what it holds, and the store is the same one")
    func compacts() throws {
        let before: (String, UInt64, [Record]) = try {
            let store = try Forge.open(folder("s"))
            try store.write { writer in
                for key: Int64 in 0..<4000 {
                    try writer.put("User", RecordKey(key), [.init("login", .string("user \(key)"))])
                }
            }
            try store.write { writer in for key: Int64 in 0..<3900 { _ = try writer.delete("User", RecordKey(key)) } }
            return try contents(store)
        }()
        let report = try Store.compact(at: folder("s"))
        #expect(report.bytesAfter * 2 < report.bytesBefore)
        let store = try Forge.open(folder("s"))
        let after = try contents(store)
        #expect(after.0 == before.0 && after.1 == before.1 && after.2 == before.2 && after.2.count == 100)
        #expect(try store.environment.information().freePages == 0)
        try store.put("User", RecordKey(1))
        #expect(try store.count("User") == 101)
    }

    @Test("an empty file is no store, and stays as it is")
    func emptyFile() throws {
        try FileManager.default.createDirectory(atPath: folder("s"), withIntermediateDirectories: true)
        #expect(FileManager.default.createFile(atPath: folder("s") + "/data.mdb", contents: Data()))
        #expect(throws: StoreOpenError.self) { try Store.compact(at: folder("s")) }
        #expect(FileManager.default.contents(atPath: folder("s") + "/data.mdb") == Data())
    }

    @Test("pages that random insertion has left half full are filled, those of records and of indexes")
    func packs() throws {
        func leaves() throws -> (records: Int, index: Int) {
            let store = try Forge.open(folder("s"))
            let entity = try #require(store.catalog.entities.first { $0.name == "User" })
            let index = try #require(entity.field("login")?.index)
            return try store.read { reader in
                let raw = reader.access.raw, state = reader.access.state
                return (
                    try raw.statistics(state.records(of: entity.root)).leafPages,
                    try raw.statistics(state.index(index)).leafPages
                )
            }
        }
        var random = SeededRandom(seed: 5)
        do {
            let store = try Forge.open(folder("s"))
            for batch in 0..<10 {
                try store.write { writer in
                    for _ in 0..<600 {
                        let key = RecordKey(Int64.random(in: 0...1 << 40, using: &random))
                        try writer.put("User", key, [.init("login", .string("\(random.next()) \(batch)"))])
                    }
                }
            }
        }
        let before = try leaves(), users = try contents(Forge.open(folder("s"))).2
        try Store.compact(at: folder("s"))
        let after = try leaves()
        #expect(
            after.records * 100 < before.records * 80 && after.index * 100 < before.index * 80, "\(before) \(after)")
        let isEqual = try contents(Forge.open(folder("s"))).2 == users
        #expect(isEqual && users.count == 6000)
    }

    @Test("a file with more tables than a store may have is compacted, with all of them")
    func foreignTables() throws {
        try Forge.open(folder("s")).put("User", RecordKey(1))
        let options = Environment.Options(durability: .volatile, maximumTables: TableName.limit + 100)
        let before = try {
            let environment = try Environment.open(at: folder("s"), options: options)
            try environment.writeOpeningTables { transaction in
                for number in 0..<TableName.limit { _ = try transaction.table("foreign \(number)") }
            }
            return try environment.tableNames()
        }()
        #expect(before.count > TableName.limit)
        try Store.compact(at: folder("s"))
        #expect(try Environment.open(at: folder("s"), options: options).tableNames() == before)
        #expect(try Forge.open(folder("s")).count("User") == 1)
    }

    private func contents(_ store: Store) throws -> (String, UInt64, [Record]) {
        try store.read { reader in
            var records: [Record] = []
            try reader.forEach("User") {
                records.append($0)
                return true
            }
            return (try reader.incarnation, try reader.sequence, records)
        }
    }

    @Test("a store that this process has open is in use, and stays as it is")
    func inUseHere() throws {
        let store = try Forge.open(folder("s"))
        guard case StoreOpenError.storeInUse(_, let users)? = storeError({ try Store.compact(at: folder("s")) }) else {
            Issue.record("it was compacted")
            return
        }
        #expect(users.count == 1 && users[0].hasSuffix("(\(getpid()))"), "\(users)")
        try store.put("User", RecordKey(1))
    }

    @Test("whoever has the store open is named, with its process id")
    func inUseElsewhere() async throws {
        let path = folder("s")
        try await onThread {
            _ = try WorkerProcess(["script", path, "3"]).lines()
            let reader = try WorkerProcess(["read", path])
            _ = try reader.line()
            guard case StoreOpenError.storeInUse(_, let users)? = storeError({ try Store.compact(at: path) }) else {
                throw WorkerProcess.Failure(description: "it was compacted")
            }
            #expect(users == ["StoreWorker (\(reader.processID))"])
            reader.closeInput()
            #expect(try reader.line() == "again 3" && reader.end() == 0)
            try Store.compact(at: path)
        }
    }

    @Test("a program that has the file open without Tarn is named as well")
    func inUseByLMDB() async throws {
        let path = folder("s")
        try await onThread {
            _ = try WorkerProcess(["script", path, "3"]).lines()
            // Its lock reports no user of Tarn; that of LMDB does.
            let reader = try WorkerProcess(["read", path])
            _ = try reader.line()
            try FileManager.default.removeItem(atPath: path + "/store.lock")
            guard case StoreOpenError.storeInUse(_, let users)? = storeError({ try Store.compact(at: path) }) else {
                throw WorkerProcess.Failure(description: "it was compacted")
            }
            #expect(users == ["StoreWorker (\(reader.processID))"])
        }
    }

    @Test("what is no store is an error, and nothing is made")
    func noStore() throws {
        #expect(
            storeError { try Store.compact(at: folder("none")) } == StoreOpenError.noSuchStore(path: folder("none")))
        #expect(!FileManager.default.fileExists(atPath: folder("none")))
        do {
            let environment = try Environment.open(at: folder("plain"), options: .init(durability: .volatile))
            _ = try environment.writeOpeningTables { try $0.table("t") }
        }
        guard case StoreOpenError.notAStore? = storeError({ try Store.compact(at: folder("plain")) }) else {
            Issue.record("it was compacted")
            return
        }
    }

    @Test(
        "killed, torn or failed at any call, the store is whole, and the next compaction succeeds",
        arguments: ["kill", "tear", "ENOSPC", "EIO"])
    func cutOff(kind: String) async throws {
        let folder = folder
        try await onThread {
            let path = folder("s"), transactions = 30
            _ = try WorkerProcess(["script", path, "\(transactions)"]).lines()
            let original = try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb"))
            let log = folder("log")
            let counted = try WorkerProcess(
                ["compact", path], environment: try FaultLibrary.environment(path, ["FAULT_LOG": log]))
            #expect(try counted.lines() == ["compacted"] && counted.end() == 0)
            let calls = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
            #expect(calls.count >= 3)
            // Sanitized code takes several times as long: every third then.
            for number in stride(from: 1, through: calls.count, by: isSanitized ? 3 : 1) {
                try original.write(to: URL(fileURLWithPath: path + "/data.mdb"))
                try? FileManager.default.removeItem(atPath: path + "/lock.mdb")
                let worker = try WorkerProcess(
                    ["compact", path],
                    environment: try FaultLibrary.environment(path, ["FAULT_AT": "\(number)", "FAULT_KIND": kind]))
                let lines = try worker.lines(), status = worker.end()
                #expect(
                    ["kill", "tear"].contains(kind) ? status == -SIGKILL || status == 0 : status <= 1,
                    "\(calls[number - 1]): \(status) \(lines)")
                // The caller that gets the error has nothing to clean up.
                if status == 1 {
                    #expect(
                        !FileManager.default.fileExists(atPath: path + "/data.mdb.compacting"), "\(calls[number - 1])")
                }
                var progress = Progress(streams: [0])
                for count in 1...transactions { _ = progress.take("ack 0 \(count)") }
                if let problem = try progress.problem(at: path, open: 0) {
                    throw WorkerProcess.Failure(description: "\(calls[number - 1]): \(problem)")
                }
                try Store.compact(at: path)
                #expect(!FileManager.default.fileExists(atPath: path + "/data.mdb.compacting"))
                if let problem = try progress.problem(at: path, open: 0) {
                    throw WorkerProcess.Failure(description: "\(calls[number - 1]), compacted: \(problem)")
                }
            }
        }
    }

    /// The file calls of a process below a folder, in order: `fsync data.mdb`.
    private static func calls(_ arguments: [String], _ folder: TemporaryFolder) throws -> [String] {
        let log = folder("log")
        let worker = try WorkerProcess(
            arguments, environment: try FaultLibrary.environment(folder.path, ["FAULT_LOG": log]))
        let lines = try worker.lines()
        guard worker.end() == 0 else { throw WorkerProcess.Failure(description: "\(lines)") }
        // Number, name, bytes, path.
        return try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map { line in
            let words = line.split(separator: " ")
            return "\(words[1]) \(words[3].split(separator: "/").last ?? "")"
        }
    }

    // Without the order a loss of power, which no kill shows, could leave the new name without the
    // new file, or the old file after a success.

    @Test(
        "the new file is on the disk before it takes the old one's place, and its name before compaction says that it is done"
    )
    func orderOfFlushes() async throws {
        let folder = folder
        let calls = try await onThread {
            _ = try WorkerProcess(["script", folder("s"), "5"]).lines()
            return try CompactTests.calls(["compact", folder("s")], folder)
        }
        // The lock file has the number of the last commit.
        let last = ["fsync data.mdb.compacting", "pwrite lock.mdb", "rename data.mdb", "fsync s"]
        #expect(Array(calls.suffix(4)) == last, "\(calls)")
        #expect(calls.dropLast(4).last?.hasSuffix("write data.mdb.compacting") == true, "\(calls)")
    }

    @Test(
        "a backup's files and their names are on the disk before it gets its own name, and that before backup says that it is done"
    )
    func orderOfFlushesOfABackup() async throws {
        let folder = folder
        let calls = try await onThread {
            _ = try WorkerProcess(["script", folder("s"), "5"]).lines()
            try FileManager.default.createDirectory(atPath: folder("copies"), withIntermediateDirectories: false)
            return try CompactTests.calls(["backup", folder("s"), folder("copies/b")], folder)
        }
        #expect(
            calls.suffix(2) == ["rename b", "fsync copies"]
                && calls.dropLast(2).last?.hasPrefix("fsync b.unfinished-") == true, "\(calls)")
        #expect(calls.contains("fsync data.mdb"), "\(calls)")
    }
}
