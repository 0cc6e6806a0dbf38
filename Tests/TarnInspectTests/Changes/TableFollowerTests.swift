// The tables of other programs' files that commits change.

import Foundation
import TestSupport
import Testing

@testable import TarnInspect

@Suite("Inspect: commits of other programs")
struct TableFollowerTests {
    private let folder: TemporaryFolder
    private var path: String { folder("file") }

    init() throws {
        folder = try TemporaryFolder()
        try ForeignFile.make(at: path)
    }

    /// The changes since the last step: table, kind, entries and difference.
    private func changes(_ follower: inout TableFollower, isReplaced: Bool = false) throws -> [String] {
        var found: [String] = [], replacements = 0
        try follower.step(replaced: { replacements += 1 }) { change in
            found.append("\(change.table ?? "-") \(change.kind) \(change.entries) \(change.difference)")
        }
        #expect(replacements == (isReplaced ? 1 : 0))
        return found
    }

    @Test("tables that are created, changed and removed are told, and the one without a name for its own entries only")
    func kinds() throws {
        var follower = try TableFollower(StoreInspector(at: path), of: [])
        #expect(try changes(&follower) == [])
        try ForeignFile.edit(at: path, "t.put(b'a', b'b', db=env.open_db(b'new', txn=t))")
        #expect(try changes(&follower) == ["new created 1 1"])
        try ForeignFile.edit(
            at: path, "t.drop(env.open_db(b'new', txn=t)); t.put(b'x', b'y', db=env.open_db(b'names', txn=t))")
        #expect(try changes(&follower) == ["names changed 302 1", "new removed 0 -1"])
        try ForeignFile.edit(at: path, "t.put(b'beside', b'changed')")
        #expect(try changes(&follower) == ["- changed 1 0"])
        try ForeignFile.edit(at: path, "t.put(b'more', b'beside')")
        #expect(try changes(&follower) == ["- changed 2 1"])
        #expect(try changes(&follower) == [])
    }

    @Test("only the tables that are asked for are told")
    func wanted() throws {
        var follower = try TableFollower(StoreInspector(at: path), of: ["names", "(main)"])
        let numbers = "n = env.open_db(b'numbers', txn=t, integerkey=True); t.put(struct.pack('=Q', 8), b'x', db=n)"
        try ForeignFile.edit(at: path, numbers, "t.delete(b'key007', db=env.open_db(b'names', txn=t))")
        #expect(try changes(&follower) == ["names changed 300 -1"])
        try ForeignFile.edit(at: path, "t.delete(b'beside')")
        #expect(try changes(&follower) == ["- changed 0 -1"])
    }

    @Test("another file in the place of the first one is told, also if it has as many transactions")
    func replaced() throws {
        var follower = try TableFollower(StoreInspector(at: path), of: [])
        try ForeignFile.make(at: folder("other"))
        #expect(rename(folder("other/data.mdb"), path + "/data.mdb") == 0)
        #expect(try changes(&follower, isReplaced: true) == [])
        #expect(try changes(&follower) == [])
    }
}
