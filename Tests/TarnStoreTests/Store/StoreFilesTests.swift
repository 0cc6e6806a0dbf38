// The files of a store that are deleted, replaced, restored or cannot be locked: nothing is written
// that would be lost.

import Foundation
import Glibc
import LMDB
import TestSupport
import Testing

@testable import TarnStore

@Suite("Files of a store", .timeLimit(.minutes(5)))
struct StoreFilesTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func kind(_ body: () throws -> Void) -> LMDBError.Kind? {
        if case StoreError.lmdb(let error)? = storeError(body) { error.kind } else { nil }
    }

    @Test("a file that compaction has replaced between mapping and locking is opened again, and no update is lost")
    func compactionDuringOpening() throws {
        let path = folder("s")
        do { try Forge.open(path).put("User", RecordKey(1)) }
        // A restored copy: its locks are still to be made.
        for name in ["store.lock", "turn.lock", "lock.mdb"] { unlink(path + "/" + name) }
        try FileManager.default.copyItem(atPath: path + "/data.mdb", toPath: path + "/data.mdb.compacting")
        var mappings = 0
        do {
            let store = try Store.openStore(
                path, Forge.schema, Forge.quick, IndexBuildOptions(), nil,
                mapped: {
                    mappings += 1
                    // The last step of a compaction that found no user a moment before.
                    if mappings == 1 { #expect(rename(path + "/data.mdb.compacting", path + "/data.mdb") == 0) }
                })
            try store.put("User", RecordKey(2))
        }
        #expect(mappings == 2)
        #expect(try Forge.open(path).count("User") == 2)
    }

    @Test("with lock.mdb deleted under an open store nobody else gets in, and the store itself writes nothing more")
    func lockFileDeleted() async throws {
        let path = folder("s")
        try await onThread {
            do {
                let store = try Store.open(at: path, schema: Forge.schema)
                try store.put("User", RecordKey(1))
                try FileManager.default.removeItem(atPath: path + "/lock.mdb")
                let other = try WorkerProcess(["rewrite", path])
                let lines = try other.lines()
                #expect(
                    other.end() == 1 && lines.first?.contains("was deleted or replaced while it was open") == true,
                    "\(lines)")
                #expect(!FileManager.default.fileExists(atPath: path + "/lock.mdb"))
                // Nor with another one in its place.
                try Data().write(to: URL(fileURLWithPath: path + "/lock.mdb"))
                let third = try WorkerProcess(["read", path])
                #expect(try third.lines().first?.contains("was deleted or replaced") == true)
                guard case StoreError.lmdb(let error)? = storeError({ try store.put("User", RecordKey(2)) }) else {
                    throw WorkerProcess.Failure(description: "it was written")
                }
                #expect(error.kind == .fileReplaced && error.path == path + "/lock.mdb")
                #expect(try store.count("User") == 1)
            }
            // When all have closed it, all is well.
            let store = try Store.open(at: path, schema: Forge.schema)
            try store.put("User", RecordKey(2))
            #expect(try store.count("User") == 2)
            let record = try String(contentsOfFile: path + "/store.lock", encoding: .utf8)
            #expect(try record.hasPrefix("lock file \(#require(FileIdentity(path: path + "/lock.mdb")).text)\n"))
        }
    }

    @Test("two processes with lock files of their own do not both write, also if store.lock is deleted as well")
    func bothLocksDeleted() async throws {
        let path = folder("s")
        try await onThread {
            _ = try WorkerProcess(["script", path, "3"]).lines()
            let store = try Store.open(at: path)
            for name in ["lock.mdb", "store.lock"] { try FileManager.default.removeItem(atPath: path + "/" + name) }
            let other = try WorkerProcess(["script", path, "6"])
            #expect(try other.lines() == ["ack 0 4", "ack 0 5", "ack 0 6"] && other.end() == 0)
            #expect(kind { try store.write { try $0.put("Counter", RecordKey(99), []) } } == .fileReplaced)
            var progress = Progress(streams: [0])
            for count in 1...6 { _ = progress.take("ack 0 \(count)") }
            #expect(try progress.problem(at: path, open: 0) == nil)
        }
    }

    @Test("of many backups to one name one gets it and is sound, the others are told so, and nothing is left behind")
    func backupsToOneName() throws {
        let store = try Forge.open(folder("s")), folder = folder
        try store.write { writer in
            for key: Int64 in 0..<2000 {
                try writer.put("User", RecordKey(key), [.init("login", .string("user \(key)"))])
            }
        }
        try FileManager.default.createDirectory(atPath: folder("copies"), withIntermediateDirectories: false)
        for round in 0..<3 {
            let name = folder("copies/\(round)"), outcomes = Shared<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 6) { number in
                do {
                    try store.backup(to: name, isCompacted: number % 2 == 0)
                    outcomes.change { $0.append("done") }
                } catch {
                    outcomes.change {
                        $0.append(
                            error as? StoreMaintenanceError == .destinationExists(path: name) ? "exists" : "\(error)")
                    }
                }
            }
            #expect(outcomes.value.sorted() == ["done"] + Array(repeating: "exists", count: 5))
            let copy = try Forge.open(name, nil)
            #expect(try copy.count("User") == 2000)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("copies")).sorted() == ["0", "1", "2"])
    }

    @Test("a directory of another one with the name of an unfinished copy stays as it is")
    func unrelatedDirectory() throws {
        let store = try Forge.open(folder("s")), other = folder("new.unfinished")
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
        try Data("thesis".utf8).write(to: URL(fileURLWithPath: other + "/thesis.txt"))
        try store.backup(to: folder("new"))
        #expect(try String(contentsOfFile: other + "/thesis.txt", encoding: .utf8) == "thesis")
        // Nor is it removed when a copy fails.
        #expect(throws: StoreMaintenanceError.destinationExists(path: folder("new"))) {
            try store.backup(to: folder("new"))
        }
        #expect(FileManager.default.fileExists(atPath: other + "/thesis.txt"))
    }

    @Test(
        "a pipe, a device or a directory as data.mdb is no store, at once", arguments: ["pipe", "device", "directory"])
    func noRegularFile(_ kind: String) throws {
        let path = folder("s")
        do { _ = try Forge.open(path) }
        try FileManager.default.removeItem(atPath: path + "/data.mdb")
        switch kind {
        case "pipe": #expect(mkfifo(path + "/data.mdb", 0o600) == 0)
        case "device":
            try FileManager.default.createSymbolicLink(atPath: path + "/data.mdb", withDestinationPath: "/dev/zero")
        default: try FileManager.default.createDirectory(atPath: path + "/data.mdb", withIntermediateDirectories: false)
        }
        for options in [Forge.quick, Store.Options(isReadOnly: true), Store.Options(isImmutable: true)] {
            guard case StoreOpenError.notAStore? = storeError({ _ = try Store.open(at: path, options: options) }) else {
                Issue.record("\(kind) was opened")
                continue
            }
        }
        #expect(storeError { try Store.compact(at: path) } != nil)
    }

    @Test(
        "a data.mdb that is a link to another store's is read, and neither written to nor compacted",
        arguments: ["symbolic", "hard"])
    func linkedFile(_ kind: String) throws {
        let path = folder("s"), other = folder("other")
        do { try Forge.open(path).put("User", RecordKey(1)) }
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
        let code =
            kind == "hard"
            ? link(path + "/data.mdb", other + "/data.mdb") : symlink(path + "/data.mdb", other + "/data.mdb")
        #expect(code == 0)
        #expect(self.kind { _ = try Forge.open(other) } == .severalNames)
        #expect(self.kind { try Store.compact(at: other) } == .severalNames)
        // By a hard link, the first name is one of several as well.
        #expect(self.kind { try Store.compact(at: path) } == (kind == "hard" ? .severalNames : nil))
        let readOnly = Store.Options(isReadOnly: true)
        #expect(try Store.open(at: other, options: readOnly).count("User") == 1)
        unlink(other + "/data.mdb")
        #expect(try Forge.open(path).count("User") == 1)
    }

    @Test("a directory that may not be entered is no missing store", .enabled(if: getuid() != 0))
    func closedDirectory() throws {
        let path = folder("s")
        do { _ = try Forge.open(path) }
        #expect(chmod(path, 0) == 0)
        defer { chmod(path, 0o700) }
        #expect(kind { _ = try Store.open(at: path, options: Store.Options(isReadOnly: true)) } == .permission)
        #expect(kind { try Store.compact(at: path) } == .permission)
    }

    @Test("an empty data.mdb is no store for a reader, which cannot fill it")
    func emptyFile() throws {
        let path = folder("s")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try Data().write(to: URL(fileURLWithPath: path + "/data.mdb"))
        let error = storeError { _ = try Store.open(at: path, options: Store.Options(isReadOnly: true)) }
        guard case StoreOpenError.notAStore? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("a pipe as wake or store.lock holds up neither opening nor writing")
    func pipesAsLocks() throws {
        let path = folder("s")
        do { _ = try Forge.open(path) }
        for name in ["wake", "store.lock"] {
            unlink(path + "/" + name)
            #expect(mkfifo(path + "/" + name, 0o600) == 0)
            do {
                let store = try Forge.open(path)
                try store.put("User", RecordKey(1))
            } catch {
                #expect(name == "store.lock", "\(error)")
            }
            unlink(path + "/" + name)
        }
    }

    @Test(
        "a directory or a socket in the place of a lock file is named",
        arguments: ["store.lock", "turn.lock", "lock.mdb"],
        [S_IFDIR, S_IFSOCK])
    func directoryAsLock(name: String, type: mode_t) throws {
        let path = folder("s"), lock = path + "/" + name
        do { _ = try Forge.open(path) }
        unlink(lock)
        #expect((type == S_IFDIR ? mkdir(lock, 0o700) : mknod(lock, type | 0o600, 0)) == 0)
        #expect {
            try Forge.open(path).put("User", RecordKey(1))
        } throws: { error in
            "\(error)".contains("\(name): not a regular file, but a directory, a pipe, a socket or a device")
        }
    }

    @Test("an immutable store is read where nothing can be locked, and says so when it is written to nevertheless")
    func immutable() async throws {
        let path = folder("s")
        try await onThread {
            _ = try WorkerProcess(["script", path, "3"]).lines()
            for name in ["lock.mdb", "store.lock", "turn.lock", "wake"] { unlink(path + "/" + name) }
            let store = try Store.open(at: path, options: Store.Options(isImmutable: true))
            #expect(kind { try store.write { _ in } } == .readOnly)
            #expect(try store.read { try $0.count("Counter") } > 0)
            #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["data.mdb"])
            let failure = kind {
                try store.read { reader in
                    _ = try reader.count("Counter")
                    _ = try WorkerProcess(["script", path, "8"]).lines()
                }
            }
            #expect(failure == .notImmutable)
        }
    }
}
