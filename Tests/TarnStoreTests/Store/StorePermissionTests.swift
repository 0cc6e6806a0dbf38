// The permissions of a store's files: its owner only, unless more is requested.

import Foundation
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

    /// Without changing it, which would change it for all threads (proc(5)).
    private static func umask() throws -> Int {
        let lines = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("Umask:") })
        return try #require(Int(line.dropFirst("Umask:".count).trimmingCharacters(in: .whitespaces), radix: 8))
    }
}
