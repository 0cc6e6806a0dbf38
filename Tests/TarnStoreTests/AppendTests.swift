// Records that come in the order of their keys are appended, without being looked for: nothing else may be taken for such.

import Foundation
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
