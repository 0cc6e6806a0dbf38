// Several changes in one entry of the change log.

import Foundation
import LMDB
import TestSupport
import Testing

@testable import TarnStore

@Suite("Groups of changes")
struct ChangeGroupTests {
    let folder: TemporaryFolder
    let store: Store

    init() throws {
        folder = try TemporaryFolder()
        store = try Forge.open(folder("s"))
    }

    /// The number of changes in each entry of the log.
    private func sizes(_ store: Store) throws -> [Int] {
        try store.read { reader in
            let cursor = try reader.access.raw.cursor(reader.access.state.changes)
            defer { cursor.close() }
            var sizes: [Int] = [], entry = try cursor.first()
            while let (key, value) = entry {
                #expect(value.count <= ChangeGroup.longest)
                sizes.append(try #require(ChangeGroup(key, value)).count)
                entry = try cursor.next()
            }
            return sizes
        }
    }

    private func texts(_ changes: [Change]) -> [String] {
        changes.map { "\($0.sequence).\($0.ordinal) \($0.operation.rawValue) \($0.entity) \($0.key)" }
    }

    @Test("changes of one kind share entries, and a token within one continues behind it")
    func shares() throws {
        let start = try store.read { try $0.changeToken }
        try store.write { writer in
            for id in 0..<500 { try writer.put("Issue", RecordKey(Int64(id)), [.init("number", .int(Int64(id)))]) }
            try writer.put("User", 1, [])
            for id in 0..<3 { try writer.delete("Issue", RecordKey(Int64(id))) }
        }
        let sizes = try sizes(store)
        #expect(sizes.count < 12 && sizes.suffix(2) == [1, 3] && sizes.reduce(0, +) == 504)
        let all = try store.read { try $0.changes(since: start, limit: 10_000) }.changes
        #expect(
            texts(all) == (0..<500).map { "1.\($0) created Issue \($0)" } + ["1.500 created User 1"]
                + (0..<3).map { "1.\(501 + $0) deleted Issue \($0)" })
        for position in 0..<504 {
            let token = ChangeToken(incarnation: start.incarnation, sequence: 1, ordinal: UInt32(position))
            let rest = try store.read { try $0.changes(since: token, limit: 10_000) }.changes
            #expect(rest == Array(all[(position + 1)...]), "behind \(position)")
        }
    }

    @Test("an undone change leaves its group, and the others keep their positions")
    func undoes() throws {
        let start = try store.read { try $0.changeToken }
        try store.write { writer in
            for id in 0..<10 { try writer.put("Issue", RecordKey(Int64(id)), []) }
            try writer.changes.write(to: writer.access.changes)
            for ordinal: UInt32 in [4, 0, 9, 5] { try writer.access.changes.remove(writer.sequence, ordinal) }
            // There is none any more, and there was never one.
            for ordinal: UInt32 in [4, 10] { try writer.access.changes.remove(writer.sequence, ordinal) }
        }
        #expect(try sizes(store) == [3, 3])
        let changes = try store.read { try $0.changes(since: start) }.changes
        #expect(texts(changes) == [1, 2, 3, 6, 7, 8].map { "1.\($0) created Issue \($0)" })
    }

    @Test("the log of a store of an earlier version gets groups from a rewrite on")
    func earlier() throws {
        try store.write { writer in
            let access = writer.access
            try access.raw.put(access.state.meta, key: MetaKey.features, text: "")
            try access.raw.advanceGeneration(access.state.meta)
        }
        try store.reload()
        func change(_ name: String) throws {
            try store.write { writer in
                for id in 0..<4 { try writer.put("User", RecordKey(Int64(id)), [.init("login", .string(name))]) }
            }
        }
        try change("a")
        #expect(try sizes(store) == [1, 1, 1, 1])
        _ = try store.rewrite("Issue")
        try change("b")
        #expect(try sizes(store) == [1, 1, 1, 1, 4])
    }
}
