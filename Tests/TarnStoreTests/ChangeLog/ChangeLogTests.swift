// Reading the change log: tokens, pages, the net change of each record, and refusals.

import Foundation
import LMDB
import TestSupport
import Testing

@testable import TarnStore

@Suite("The change log")
struct ChangeLogTests {
    let folder: TemporaryFolder
    let store: Store

    init() throws {
        folder = try TemporaryFolder()
        store = try Forge.open(folder("s"))
    }

    /// `created Issue 1` and the like.
    private func texts(_ changes: [Change]) -> [String] {
        changes.map { "\($0.sequence) \($0.operation.rawValue) \($0.entity) \($0.key)" }
    }

    private func since(_ token: ChangeToken, of entities: [String]? = nil, limit: Int = 1000) throws -> ChangePage {
        try store.read { try $0.changes(since: token, of: entities, limit: limit) }
    }

    private func token() throws -> ChangeToken { try store.read { try $0.changeToken } }

    @Test("what happened since a token is told in its order, with the keys of what was deleted")
    func since() throws {
        let start = try token()
        try store.put("User", 1, ["login": .string("ada")])
        try store.write { writer in
            try writer.put("Issue", 7, [.init("title", .string("x")), .init("author", .reference(1))])
            try writer.put("User", 1, [.init("login", .string("eve"))])
            try writer.delete("Issue", 7)
        }
        try store.put("User", 1, ["login": .string("eve")])
        let page = try since(start)
        #expect(
            texts(page.changes) == ["1 created User 1", "2 created Issue 7", "2 updated User 1", "2 deleted Issue 7"])
        #expect(page.changes.map(\.ordinal) == [0, 0, 1, 2])
        #expect(page.changes.allSatisfy { $0.fields == nil })
        #expect(!page.hasMore)
        #expect(try page.token == token())
        #expect(try since(page.token) == ChangePage(changes: [], token: page.token, hasMore: false))
        #expect(try since(store.read { try $0.oldestChangeToken }) == page)
    }

    @Test("the key of a deleted record is told also if it is too long to be stored under itself")
    func longKeys() throws {
        let key = RecordKey([.string(String(repeating: "o", count: 300)), .string("n")])
        let start = try token()
        try store.put("Board", key)
        try store.write { _ = try $0.delete("Board", key) }
        #expect(try since(start).changes.map(\.key) == [key, key])
    }

    @Test("a token is a text that survives the store's end, and is read as what it was")
    func tokens() throws {
        try store.put("User", 1)
        let token = try token()
        #expect(ChangeToken(token.description) == token)
        #expect(try JSONDecoder().decode(ChangeToken.self, from: JSONEncoder().encode(token)) == token)
        let inside = ChangeToken(incarnation: token.incarnation, sequence: 7, ordinal: 3)
        #expect(ChangeToken(inside.description) == inside)
        for text in ["", "x", ":1", "a:", "a:-1", "a:1.", "a:1.2.3", "a:1.4294967295", "a:99999999999999999999"] {
            #expect(ChangeToken(text) == nil, "\(text)")
        }
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(ChangeToken.self, from: Data("\"x\"".utf8)) }
    }

    @Test(
        "a page ends with a whole commit, and one that is larger than a page is given in parts",
        arguments: [1, 2, 3, 4, 5, 100])
    func pages(_ limit: Int) throws {
        var next = try token()
        for size in [2, 1, 5, 3] {
            try store.write { writer in
                for id in 0..<size {
                    try writer.put("Issue", RecordKey(Int64(id)), [.init("number", .int(Int64(writer.sequence)))])
                }
            }
        }
        let all = try since(next).changes
        var found: [Change] = []
        while true {
            let page = try since(next, limit: limit)
            #expect(page.changes.count <= limit && !page.changes.isEmpty)
            found += page.changes
            next = try #require(ChangeToken(page.token.description))
            guard page.hasMore else { break }
            let last = try #require(page.changes.last)
            let isEnd = all.last { $0.sequence == last.sequence } == last
            let first = try #require(page.changes.first)
            #expect(isEnd || first.sequence == last.sequence)
            #expect(isEnd == next.isWhole)
        }
        #expect(found == all)
        #expect(all.count == 11)
    }

    @Test("a walk ends where it is told to, and goes on from there")
    func walk() throws {
        let start = try token()
        try store.write { writer in for id in 0..<4 { try writer.put("User", RecordKey(Int64(id)), []) } }
        var keys: [RecordKey] = []
        let inside = try store.read { reader in
            try reader.forEachChange(since: start) { change in
                keys.append(change.key)
                return keys.count < 3
            }
        }
        #expect(keys == [0, 1, 2])
        #expect(try since(inside).changes.map(\.key) == [3])
        #expect(try store.read { try $0.forEachChange(since: inside) { _ in true } } == token())
    }

    @Test("changes of some entities are those of their records, and of what descends from them")
    func entities() throws {
        let start = try token()
        try store.put("User", 1)
        try store.put("Issue", 1)
        try store.put("Label", "x")
        #expect(try texts(since(start, of: ["User", "Label"]).changes) == ["1 created User 1", "3 created Label x"])
        #expect(try since(start, of: ["Board"]).changes == [])
        #expect(try since(start, of: ["Board"]).token == token())
        #expect(
            storeError { _ = try since(start, of: ["Nothing"]) }
                == StoreError.unknownEntity(name: "Nothing", known: store.catalog.entities.map(\.name)))
    }

    @Test("what changes come to is each record once: what came and went is left out")
    func net() throws {
        try store.put("User", 1, ["login": .string("a")])
        try store.put("User", 2)
        try store.put("User", 3)
        let start = try token()
        try store.put("User", 1, ["login": .string("b")])
        try store.put("User", 1, ["login": .string("c")])
        try store.write { _ = try $0.delete("User", 2) }
        try store.write { _ = try $0.delete("User", 3) }
        try store.put("User", 3)
        try store.put("User", 4)
        try store.put("User", 4, ["login": .string("d")])
        try store.put("User", 5)
        try store.write { _ = try $0.delete("User", 5) }
        let page = try store.read { try $0.netChanges(since: start) }
        #expect(
            texts(page.changes) == ["5 updated User 1", "6 deleted User 2", "8 updated User 3", "10 created User 4"])
        #expect(try page.token == token())
    }

    @Test(
        "tokens of another store, of a commit that was lost, and from before what was trimmed are refused, each by its name"
    )
    func refused() throws {
        try store.put("User", 1)
        let token = try token()
        let other = ChangeToken(incarnation: "x", sequence: 0)
        #expect(
            storeError { _ = try since(other) }
                == ChangeLogError.otherIncarnation(expected: "x", found: token.incarnation))
        let ahead = ChangeToken(incarnation: token.incarnation, sequence: 2)
        #expect(storeError { _ = try since(ahead) } == ChangeLogError.changesAhead(sequence: 2, newest: 1))
        try store.write { try $0.access.raw.put($0.access.state.meta, key: MetaKey.trimmedChanges, number: 1) }
        let old = ChangeToken(incarnation: token.incarnation, sequence: 0)
        #expect(storeError { _ = try since(old) } == ChangeLogError.changesTrimmed(oldest: token))
        let inside = ChangeToken(incarnation: token.incarnation, sequence: 1, ordinal: 0)
        #expect(storeError { _ = try since(inside) } == ChangeLogError.changesTrimmed(oldest: token))
        #expect(try since(token).changes == [])
        #expect(try store.read { try $0.oldestChangeToken } == token)
    }

    @Test(
        "a store whose file an older one has replaced is another incarnation: its new commits are not those of before",
        arguments: [false, true])
    func olderFile(isReadFirst: Bool) throws {
        let path = folder("older") as String, copy = URL(fileURLWithPath: folder("copy"))
        func commit(_ key: RecordKey) throws -> ChangeToken {
            let store = try Forge.open(path)
            try store.put("User", key)
            return try store.read { try $0.changeToken }
        }
        let before = try commit(1)
        try FileManager.default.copyItem(atPath: path + "/data.mdb", toPath: copy.path)
        let lost = try commit(2)
        #expect(lost.incarnation == before.incarnation)
        try Data(contentsOf: copy).write(to: URL(fileURLWithPath: path + "/data.mdb"))
        if isReadFirst { _ = try Store.open(at: path, options: .init(isReadOnly: true)) }
        let after = try commit(3)
        #expect(after.sequence == lost.sequence)
        let again = try commit(4), store = try Forge.open(path)
        #expect(
            storeError { _ = try store.read { try $0.changes(since: lost) } }
                == ChangeLogError.otherIncarnation(expected: lost.incarnation, found: after.incarnation))
        // Once is enough.
        #expect(again.incarnation == after.incarnation)
    }

    @Test("an entry that makes no sense is an error that names it")
    func damaged() throws {
        let start = try token()
        try store.put("User", 1)
        for value in [
            "", "01 01", "04 01 00 15 01", "11 01 00 02 15 01", "21 01 00 02 15 01", "21 01 00 02 15 01 00 09 00",
            "01 63 00 15 01", "41", "41 01 00", "41 01 00 00", "41 01 00 03 15 01", "41 01 00 02 15 01 05",
            "44 01 00 02 15 01",
            "61 01 00 02 15 01", "41 01 00 02 15 01 00",
        ] {
            let bytes = hex(value)
            try store.write { writer in
                let raw = writer.access.raw, table = writer.access.state.changes
                try ChangeEntry.withKey(1, 0) { key in try bytes.withUnsafeBytes { try raw.put(table, key, $0) } }
            }
            #expect(
                storeError { _ = try since(start) } == ChangeLogError.damagedChange(sequence: 1, ordinal: 0), "\(value)"
            )
        }
    }

    @Test("a write of which nothing is left adds nothing, and takes no number")
    func nothing() throws {
        try store.put("User", 1, ["login": .string("a")])
        let start = try token()
        try store.put("User", 1, ["login": .string("a")])
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try store.write { writer in
                try writer.put("User", 2, [])
                throw Stop()
            }
        }
        #expect(try token() == start)
        #expect(try since(start).changes == [])
    }
}
