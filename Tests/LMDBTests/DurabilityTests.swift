// The flags of liblmdb for each durability level.

import CLMDB
import Foundation
import Glibc
import TestSupport
import Testing

@testable import LMDB

@Suite("Durability", .timeLimit(.minutes(5)))
struct DurabilityTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(
        "each level flushes what it promises: data and meta page, data alone, nothing",
        arguments: [(.full, 0), (.relaxed, MDB_NOMETASYNC), (.volatile, MDB_NOSYNC)]
            as [(Environment.Durability, Int32)])
    func levels(_ durability: Environment.Durability, _ flag: Int32) throws {
        let environment = try Environment.open(at: folder("e"), options: .init(durability: durability))
        var flags: UInt32 = 0
        #expect(mdb_env_get_flags(environment.env, &flags) == 0)
        // Never MDB_WRITEMAP: it has no child transactions, and a stray pointer could write to the
        // file.
        #expect(flags & UInt32(MDB_NOMETASYNC | MDB_NOSYNC | MDB_WRITEMAP | MDB_MAPASYNC) == UInt32(flag))
    }

    @Test("a reader in another process sees a commit of any level at once", arguments: Environment.Durability.allCases)
    func commitsAreVisible(_ durability: Environment.Durability) async throws {
        let path = folder("e")
        let environment = try Environment.open(at: path, options: .init(durability: durability))
        try environment.put(try environment.makeTable("t"), [("a", "1")])
        await #expect(processExitsWith: .success) { [path = path as String] in
            let environment = try Environment.open(at: path, options: .init(isReadOnly: true))
            let table = try #require(try environment.existingTables(["t"])[0])
            #expect(try environment.value(table, "a") == "1")
        }
    }

    @Test("after a meta page could not be written every write says: close and open again; and that helps")
    func failedMetaPageIsPoison() async throws {
        let path = folder("e")
        await #expect(processExitsWith: .success) { [path = path as String] in
            do {
                let environment = try Environment.open(at: path)
                let table = try environment.makeTable("t")
                try environment.put(table, [("a", "1")])
                try replaceMetaDescriptor(of: path)
                #expect(kindOfError { try environment.put(table, [("b", "2")]) } != nil)
                #expect(kindOfError { try environment.put(table, [("c", "3")]) } == .poisoned)
                #expect(LMDBError(.poisoned, operation: "begin").description.contains("open it again"))
            }
            let environment = try Environment.open(at: path)
            let table = try #require(try environment.existingTables(["t"])[0])
            #expect(try environment.value(table, "a") == "1")
            try environment.put(table, [("d", "4")])
            #expect(try environment.entryCount(table) == 2)
        }
    }

    @Test(
        "codes of liblmdb and of the system are kinds with a way out",
        arguments: [
            (MDB_PANIC, .poisoned), (MDB_MAP_FULL, .mapFull), (MDB_MAP_RESIZED, .mapResized),
            (MDB_READERS_FULL, .readersFull),
            (MDB_BAD_TXN, .transactionFailed), (ENOSPC, .diskFull), (EDQUOT, .diskFull), (EIO, .inputOutput),
            (EACCES, .permission),
            (MDB_CORRUPTED, .corrupted), (MDB_INVALID, .notAnEnvironment),
        ] as [(Int32, LMDBError.Kind)])
    func codesAreKinds(_ code: Int32, _ kind: LMDBError.Kind) {
        #expect(LMDBError(code: code, operation: "commit").kind == kind)
    }

    @Test(
        "limits of the system and a read-only file system are named as what they are",
        arguments: [
            (EROFS, "the file system is read-only"), (EFBIG, "ulimit -f"), (EMFILE, "too many open files"),
            (EACCES, "check the owner"),
        ] as [(Int32, String)])
    func codesHaveTexts(_ code: Int32, _ text: String) {
        #expect(LMDBError(code: code, operation: "open", path: "p").description.contains(text))
    }
}

/// Puts a descriptor that cannot be written to in the place of the one that liblmdb writes meta
/// pages with: the one of `data.mdb` that is opened with O_DSYNC (mdb.c, `MDB_O_META`).
func replaceMetaDescriptor(of path: String) throws {
    var replaced = 0
    for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
        guard let descriptor = Int32(name),
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)"),
            target.hasSuffix(path + "/data.mdb"), fcntl(descriptor, F_GETFL) & O_DSYNC != 0
        else { continue }
        let other = open("/dev/null", O_RDONLY | O_CLOEXEC)
        #expect(dup2(other, descriptor) == descriptor)
        close(other)
        replaced += 1
    }
    #expect(replaced == 1)
}
