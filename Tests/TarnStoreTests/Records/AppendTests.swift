// Records that come in the order of their keys are appended, without being looked for: nothing else
// may be taken for such.

import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite("Appending")
struct AppendTests {
    private let folder: TemporaryFolder
    private let store: Store

    init() throws {
        folder = try TemporaryFolder()
        store = try Forge.open(folder("s"))
    }

    private func keys() throws -> [Int64] {
        try store.read { reader in
            var keys: [Int64] = []
            try reader.forEach("User") { record in
                if case .int(let id)? = record.key.components.first { keys.append(id) }
                return true
            }
            return keys
        }
    }

    private func write(_ ids: some Sequence<Int64>, _ login: String = "x") throws {
        try store.write { writer in
            for id in ids { try writer.put("User", RecordKey(id), [Record.Field("login", .string(login))]) }
        }
    }

    @Test("ascending, descending and mixed keys in one write, and again, leave each record once, with its last value")
    func orders() throws {
        try write(1...50)
        try write((51...100).reversed())
        try write([200, 201, 202, 150, 203, 151, 204, 204, 203, 205], "y")
        try write(1...210, "z")
        #expect(try keys() == Array(1...210))
        #expect(try store.record("User", 151)?["login"] == .string("z"))
        #expect(try store.changes().filter { $0.operation == 1 }.count == 210)
    }

    @Test("what is deleted at the end may come again in the same write; another table in between does not matter")
    func deletedEnd() throws {
        try store.write { writer in
            for id in 1...10 { try writer.put("User", RecordKey(Int64(id)), []) }
            for id in 8...10 { try writer.delete("User", RecordKey(Int64(id))) }
            try writer.put("User", 9, [])
            try writer.put("Label", "b", [])
            try writer.put("Label", "c", [])
            try writer.put("User", 20, [])
            try writer.put("User", 15, [])
            try writer.put("User", 21, [])
            try writer.put("Label", "a", [])
            try writer.put("User", 20, [Record.Field("login", .string("again"))])
        }
        #expect(try keys() == [1, 2, 3, 4, 5, 6, 7, 9, 15, 20, 21])
        #expect(try store.record("User", 20)?["login"] == .string("again"))
        #expect(try store.count("Label") == 3)
    }

    @Test("long keys with one beginning, which are stored under digests, come in any order")
    func digests() throws {
        let keys = (0..<20).map { RecordKey(String(repeating: "k", count: 300) + "\($0)") }
        try store.write { writer in
            for key in keys { try writer.put("Label", key, []) }
            for key in keys.reversed() { try writer.put("Label", key, []) }
        }
        #expect(try store.count("Label") == 20)
        #expect(try store.sequence == 1)
        #expect(try store.changes().count == 20)
    }
}

@Suite("Many records at once")
struct BulkTests {
    struct User: StoredRecord, Equatable {
        static let entity = "User"
        typealias Key = Int64
        enum Field: Int, RecordField { case id, login }
        var id: Int64
        var login: String

        init(_ id: Int64, _ login: String) { (self.id, self.login) = (id, login) }

        init(_ row: Row<User>) throws(StoreError) {
            id = try row.get(.id)
            login = try row.get(.login)
        }

        func encode(into row: inout RowEncoder<User>) {
            row.set(.id, id)
            row.set(.login, login)
        }
    }

    private let folder: TemporaryFolder
    private let store: Store

    init() throws {
        folder = try TemporaryFolder()
        store = try Forge.open(folder("s"))
    }

    @Test("records in any order are stored once each in the order of their keys; of those with one key the last counts")
    func sortedAndDeduplicated() throws {
        var random = SeededRandom(seed: 5)
        let users = (0..<5000).map { User(Int64.random(in: -1000...1000, using: &random), "u\($0)") }
        let changed = try store.write { writer in try writer.put(contentsOf: users) }
        var expected: [Int64: User] = [:]
        for user in users { expected[user.id] = user }
        // The first ones were stored before it was seen that they do not ascend.
        #expect(changed >= expected.count)
        #expect(try store.read { reader in try reader.fetch(User.self) } == expected.values.sorted { $0.id < $1.id })
        #expect(Set(try store.changes().map(\.key)).count == expected.count)
    }

    @Test(
        "records that come behind the last one are stored as they come, until one does not; whoever comes later counts")
    func streamed() throws {
        try store.write { writer in _ = try writer.put(contentsOf: [User(5, "first")]) }
        let users = [6, 7, 9, 9, 8, 7, 10, 5, 11, 12, 9].enumerated().map { User(Int64($1), "u\($0)") }
        let changed = try store.write { writer in
            let changed = try writer.put(contentsOf: users)
            // The end that was remembered is still the end, for another sequence and for one
            // record.
            _ = try writer.put(contentsOf: [User(13, "x"), User(14, "x"), User(3, "x")])
            try writer.put(User(15, "y"))
            try writer.put(User(2, "y"))
            return changed
        }
        var expected: [Int64: String] = [13: "x", 14: "x", 3: "x", 15: "y", 2: "y"]
        for user in users { expected[user.id] = user.login }
        let found = try store.read { reader in try reader.fetch(User.self) }
        #expect(found == expected.sorted { $0.key < $1.key }.map { User($0.key, $0.value) })
        // 7 and 9 were stored before they came again.
        #expect(changed == 10)
        let log = try store.changes().map(\.key)
        #expect(log.filter { $0 == log[0] }.count == 2, "5 was changed by the second write")
        #expect(
            try store.read { try $0.fetch(User.self, index: "login", equalTo: [.string("x")]).map(\.id) } == [
                3, 13, 14,
            ])
    }

    @Test("records that are there and the same are not written; others are merged and counted")
    func mergedWithStored() throws {
        try store.write { writer in _ = try writer.put(contentsOf: (1...100).map { User(Int64($0), "a") }) }
        let sequence = try store.sequence
        let none = try store.write { writer in
            try writer.put(contentsOf: (1...100).reversed().map { User(Int64($0), "a") })
        }
        #expect(none == 0)
        #expect(try store.sequence == sequence)
        let some = try store.write { writer in
            try writer.put(contentsOf: (51...150).shuffled().map { User(Int64($0), $0 <= 60 ? "b" : "a") })
        }
        #expect(some == 10 + 50)
        #expect(try store.count("User") == 150)
        #expect(
            try store.read { reader in try reader.fetch(User.self, index: "login", equalTo: [.string("b")]).count }
                == 10)
    }

    @Test("nothing at all is nothing; a record that cannot be stored fails the write as a whole")
    func edges() throws {
        #expect(try store.write { writer in try writer.put(contentsOf: [User]()) } == 0)
        #expect(try store.sequence == 0)
        struct Wrong: StoredRecord {
            static let entity = "User"
            typealias Key = Int64
            enum Field: Int, RecordField { case id, login }
            var id: Int64
            init(_ id: Int64) { self.id = id }
            init(_ row: Row<Wrong>) throws(StoreError) { id = try row.get(.id) }
            func encode(into row: inout RowEncoder<Wrong>) {
                row.set(.id, id)
                if id == 7 { row.set(.login, 7) } else { row.set(.login, "x") }
            }
        }
        #expect(
            storeError {
                try store.write { writer in _ = try writer.put(contentsOf: (1...10).map { Wrong(Int64($0)) }) }
            } != nil)
        #expect(try store.count("User") == 0)
    }
}
