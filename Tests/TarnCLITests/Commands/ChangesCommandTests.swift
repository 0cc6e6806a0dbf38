// `tarn changes` and `tarn watch`, as a user runs them beside a process that writes.

import Foundation
import Glibc
import TarnStore
import TestSupport
import Testing

@Suite("tarn changes and tarn watch", .timeLimit(.minutes(5)))
struct ChangesCommandTests {
    let folder: TemporaryFolder
    let store: Store

    init() throws {
        folder = try TemporaryFolder()
        store = try Store.open(
            at: folder.path + "/s",
            schema: Schema([
                EntityDefinition(
                    "Item", key: ["id"],
                    attributes: [AttributeDefinition("id", .int), AttributeDefinition("name", .string)]),
                EntityDefinition("Note", key: ["id"], attributes: [AttributeDefinition("id", .string)]),
            ]), options: Store.Options(durability: .volatile))
    }

    private var path: String { store.path }

    private func put(_ id: Int64, _ name: String) throws {
        try store.write { try $0.put("Item", RecordKey(id), [.init("name", .string(name))]) }
    }

    private func token(_ line: String) throws -> String { try #require(try json(line)["token"] as? String, "\(line)") }

    @Test(
        "changes are JSON lines in a pipe, the token to go on with is the last, and going on with it tells what came since"
    )
    func lines() async throws {
        try put(1, "a")
        try await store.write { writer in
            try writer.put("Note", RecordKey("x \"y\""), [])
            _ = try writer.delete("Item", RecordKey(1))
        }
        let first = try await tarn("changes", "--store", path)
        #expect(first.status == 0, "\(first.error)")
        #expect(
            first.lines.dropLast() == [
                #"{"sequence":1,"ordinal":0,"operation":"created","entity":"Item","key":1}"#,
                #"{"sequence":2,"ordinal":0,"operation":"created","entity":"Note","key":"x \"y\""}"#,
                #"{"sequence":2,"ordinal":1,"operation":"deleted","entity":"Item","key":1}"#,
            ])
        let next = try token(first.line(3))
        try store.setChangeValues(.all)
        try put(2, "b")
        let second = try await tarn("changes", "--store", path, "--since", next)
        #expect(
            second.lines.first
                == #"{"sequence":3,"ordinal":0,"operation":"created","entity":"Item","key":2,"fields":{"id":2,"name":"b"}}"#
        )
        #expect(second.lines.count == 2)
        let notes = try await tarn("changes", "--store", path, "--entity", "Note")
        #expect(notes.lines.count == 2)
        let limited = try await tarn("changes", "--store", path, "--limit", "2")
        // Also where that is in the middle of a commit.
        #expect(limited.lines.dropLast() == first.lines.prefix(2))
        let rest = try await tarn("changes", "--store", path, "--since", token(limited.line(2)))
        #expect(rest.lines == [first.lines[2]] + second.lines)
    }

    @Test("for people changes are a table, and the token stands on standard error")
    func table() async throws {
        try put(1, "a")
        let result = try await tarn("changes", "--store", path, "--format", "table")
        #expect(result.lines.count == 2)
        #expect(try result.line(1).split(separator: " ") == ["1.0", "created", "Item", "1"])
        #expect(try store.read { try "token: \($0.changeToken)" } == result.errorLines.last)
    }

    @Test("following goes on with every commit until it is interrupted, and says then where it stands")
    func follow() async throws {
        try put(1, "a")
        let process = try TarnProcess(["changes", "--store", path, "--follow"])
        func lines() -> Int { process.output.split(separator: "\n").count }
        try await eventually { lines() == 1 }
        try put(2, "b")
        try await eventually { lines() == 2 }
        try put(3, "c")
        try put(1, "d")
        try await eventually { lines() == 4 }
        process.send(SIGINT)
        let result = await process.end()
        #expect(result.status == 130, "\(result.error)")
        #expect(try token(result.line(4)) == store.read { try $0.changeToken.description })
        let limited = try await tarn("changes", "--store", path, "--follow", "--limit", "2")
        #expect(limited.status == 0 && limited.lines.count == 3)
    }

    @Test("a record is watched: as it is, as it becomes, and null when it has gone")
    func watch() async throws {
        try put(7, "a")
        let process = try TarnProcess(["watch", "Item", "7", "--store", path])
        func lines() -> Int { process.output.split(separator: "\n").count }
        try await eventually { lines() == 1 }
        try put(8, "other")
        try put(7, "b")
        try await eventually { lines() == 2 }
        try await store.write { _ = try $0.delete("Item", RecordKey(7)) }
        try await eventually { lines() == 3 }
        process.send(SIGTERM)
        let result = await process.end()
        #expect(result.status == 143, "\(result.error)")
        #expect(
            result.lines == [
                #"{"sequence":1,"record":{"id":7,"name":"a"}}"#, #"{"sequence":3,"record":{"id":7,"name":"b"}}"#,
                #"{"sequence":4,"record":null}"#,
            ])
        let count = try await tarn("watch", "Item", "--limit", "1", "--store", path)
        #expect(count.status == 0 && count.lines == [#"{"sequence":4,"count":1}"#])
    }

    @Test("how many records meet a condition is watched; what changes nothing of that says nothing")
    func watchedCondition() async throws {
        try put(7, "a")
        let process = try TarnProcess(["watch", "Item", "--where", "name = a", "--limit", "3", "--store", path])
        func lines() -> Int { process.output.split(separator: "\n").count }
        try await eventually { lines() == 1 }
        try put(8, "b")
        try put(9, "a")
        try await eventually { lines() == 2 }
        try put(7, "b")
        let result = await process.end()
        #expect(result.status == 0, "\(result.error)")
        #expect(
            result.lines == [
                #"{"sequence":1,"count":1}"#, #"{"sequence":3,"count":2}"#, #"{"sequence":4,"count":1}"#,
            ])
        let both = try await tarn("watch", "Item", "7", "--where", "name = a", "--store", path)
        #expect(both.status == 2 && both.error.contains("a key and --where exclude each other"))
        #expect(try await tarn("watch", "Item", "--where", "nme = a", "--store", path).error.contains("name"))
    }

    @Test(
        "tokens that are none, entities that are not there and tokens of another store are refused with the code that is theirs"
    )
    func refused() async throws {
        #expect(try await tarn("changes", "--store", path, "--since", "x").status == 2)
        #expect(try await tarn("changes", "--store", path, "--limit", "0").status == 2)
        #expect(try await tarn("changes", "--store", path, "--entity", "Nothing").status == 2)
        #expect(try await tarn("watch", "Nothing", "--store", path).status == 2)
        #expect(try await tarn("watch", "Item", "x", "--store", path).status == 2)
        let other = try await tarn("changes", "--store", path, "--since", "other:0")
        #expect(other.status == 6 && other.error.contains("read all records again"))
    }
}
