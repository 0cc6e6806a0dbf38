// The permissions of a store's files: its owner only, unless more is requested.

import Foundation
import Glibc
import Testing

@testable import TarnStore

@Suite("Store: modes of files")
struct StorePermissionTests {
    private let folder = FileManager.default.temporaryDirectory.path + "/tarn-modes-" + UUID().uuidString
    private let schema = Schema([EntityDefinition("A", key: ["id"], attributes: [AttributeDefinition("id", .int)])])

    /// The modes of a directory and of all that is in it, in octal.
    private func modes(_ path: String) throws -> Set<String> {
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        #expect(names.contains("data.mdb") && names.contains("lock.mdb"))
        return Set(
            try (["."] + names).map { name in
                let mode =
                    try FileManager.default.attributesOfItem(atPath: path + "/" + name)[.posixPermissions] as? Int
                return (name == "." ? "d" : "") + String(try #require(mode), radix: 8)
            })
    }

    private func use(_ path: String, _ permissions: Store.Permissions = .owner) throws {
        let store = try Store.open(at: path, schema: schema, options: Store.Options(permissions: permissions))
        try store.write { try $0.put("A", RecordKey(1), []) }
    }

    @Test("a new store, its locks, copies and what is compacted are the owner's alone")
    func ownerOnly() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = folder + "/s"
        try use(path)
        #expect(try modes(path) == ["d700", "600"])
        _ = try Store.open(at: path).backup(to: folder + "/copy")
        try use(folder + "/copy")
        #expect(try modes(folder + "/copy") == ["d700", "600"])
        try Store.compact(at: path)
        try use(path)
        #expect(try modes(path) == ["d700", "600"])
    }

    @Test(
        "more is an option, and an existing store keeps what it has, for its copies and for files that are made later",
        arguments: [0o644, 0o660])
    func existing(_ mode: Int) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = folder + "/s", permissions = mode == 0o660 ? Store.Permissions.group : .everyone
        // The process's umask takes rights away.
        let left = mode & ~(try Self.umask()),
            expected = [
                "d" + String((mode | (mode & 0o444) >> 2) & ~(try Self.umask()), radix: 8), String(left, radix: 8),
            ]
        try use(path, permissions)
        #expect(try modes(path) == Set(expected))
        for name in ["lock.mdb", "turn.lock", "store.lock", "wake"] { unlink(path + "/" + name) }
        try use(path)
        #expect(try modes(path) == Set(expected))
        try Store.compact(at: path)
        _ = try Store.open(at: path).backup(to: folder + "/copy")
        try use(path)
        try use(folder + "/copy")
        #expect(try modes(path) == Set(expected))
        #expect(try modes(folder + "/copy") == Set(expected))
    }

    @Test("the umask takes nothing from the files of an existing store, and from copies: users of its group stay in")
    func laterUmask() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = folder + "/s", copy = folder + "/copy"
        try use(path, .group)
        try FileManager.default.setAttributes([.posixPermissions: 0o770], ofItemAtPath: path)
        for name in try FileManager.default.contentsOfDirectory(atPath: path) where name != "data.mdb" {
            unlink(path + "/" + name)
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o660], ofItemAtPath: path + "/data.mdb")
        // A umask is one of a process.
        await #expect(processExitsWith: .success) { [path = path as String, copy = copy as String] in
            _ = Glibc.umask(0o077)
            do {
                let store = try Store.open(at: path)
                try store.write { try $0.put("A", RecordKey(2), []) }
                try store.backup(to: copy)
            }
            try Store.compact(at: path)
        }
        #expect(try modes(path) == ["d770", "660"])
        try use(copy)
        #expect(try modes(copy) == ["d770", "660"])
    }

    @Test(
        "what root makes in the store of another user belongs to that user: lock files, and a compacted data file",
        .enabled(if: geteuid() == 0))
    func otherOwner() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = folder + "/s"
        try use(path)
        for name in try FileManager.default.contentsOfDirectory(atPath: path) where name != "data.mdb" {
            unlink(path + "/" + name)
        }
        for file in [path, path + "/data.mdb"] { try #require(chown(file, 65534, 65533) == 0) }
        try use(path)
        try Store.compact(at: path)
        let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        #expect(Set(names).isSuperset(of: ["data.mdb", "lock.mdb", "store.lock", "turn.lock"]))
        for name in names {
            var status = stat()
            #expect(
                stat(path + "/" + name, &status) == 0 && status.st_uid == 65534 && status.st_gid == 65533, "\(name)")
        }
        #expect(try modes(path) == ["d700", "600"])
    }

    @Test("a copy has the group of the store, or gives no other group any rights", .enabled(if: geteuid() == 0))
    func groupOfCopies() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = folder + "/s", copy = folder + "/copy", other = folder + "/other"
        try use(path, .group)
        try #require(chmod(path, 0o770) == 0 && chmod(path + "/data.mdb", 0o660) == 0 && chown(folder, 65534, 0) == 0)
        for name in try FileManager.default.contentsOfDirectory(atPath: path) + ["."] {
            try #require(chown(path + "/" + name, 65534, 65533) == 0)
        }
        try Store.open(at: path).backup(to: copy)
        // A user who owns the store, and is no member of its group.
        await #expect(processExitsWith: .success) { [path = path as String, other = other as String] in
            guard setgroups(0, nil) == 0, setgid(65531) == 0, setuid(65534) == 0 else {
                print("another user is not permitted here: a copy by one was not made")
                return
            }
            try Store.open(at: path).backup(to: other)
        }
        func status(_ path: String) -> [Int] {
            var status = stat()
            guard stat(path, &status) == 0 else { return [] }
            return [Int(status.st_uid), Int(status.st_gid), Int(status.st_mode & 0o777)]
        }
        #expect(status(copy) == [0, 65533, 0o770] && status(copy + "/data.mdb") == [0, 65533, 0o660])
        guard !status(other).isEmpty else { return }
        #expect(status(other) == [65534, 65531, 0o700] && status(other + "/data.mdb") == [65534, 65531, 0o600])
    }

    /// Without changing it, which would change it for all threads (proc(5)).
    private static func umask() throws -> Int {
        let lines = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("Umask:") })
        return try #require(Int(line.dropFirst("Umask:".count).trimmingCharacters(in: .whitespaces), radix: 8))
    }
}
