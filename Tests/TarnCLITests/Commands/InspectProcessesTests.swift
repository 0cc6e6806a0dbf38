// `tarn inspect changes`, `readers` and `watch`: what processes do with a store.

import Foundation
import Tarn
import TestSupport
import Testing

@Suite("Command line: inspect changes, readers and watch")
struct InspectProcessesTests {
    private static let schema = Schema([
        EntityDefinition("Note", key: ["id"], attributes: [.init("id", .int), .init("text", .string)]),
        EntityDefinition("Other", key: ["id"], attributes: [.init("id", .int)]),
    ])

    private func open(_ folder: TemporaryFolder) throws -> Store {
        try Store.open(
            at: folder.path + "/notes.tarn", schema: Self.schema, options: Store.Options(durability: .volatile))
    }

    private func put(_ store: Store, _ numbers: ClosedRange<Int64>) throws {
        for number in numbers {
            try store.write { try $0.put("Note", RecordKey(number), [.init("text", .string("n"))]) }
        }
    }

    private func putOther(_ store: Store) throws { try store.write { try $0.put("Other", RecordKey(1), []) } }

    @Test("changes are those of tarn changes, after a commit, of an entity, and up to a limit")
    func changes() async throws {
        let store = try await Forge.store
        let all = try await tarn("inspect", "changes", store), other = try await tarn("changes", "--store", store)
        #expect(all.status == 0 && all.lines == other.lines.dropLast() && all.lines.count > 900, "\(all.error)")
        let folder = try TemporaryFolder(), notes = try open(folder)
        try put(notes, 1...5)
        try putOther(notes)
        let path = folder.path + "/notes.tarn"
        let some = try await tarn("inspect", "changes", path, "--since", "3", "--entity", "Note")
        #expect(try some.lines.map { try json($0)["key"] as? Int } == [4, 5])
        let few = try await tarn("inspect", "changes", path, "--limit", "2")
        #expect(few.lines.count == 2 && few.error.contains("--limit"))
        let none = try await tarn("inspect", "changes", path, "--since", "99")
        #expect(none.status == 0 && none.error.contains("the store has no commit 99"), "\(none.error)")
        #expect(try await tarn("inspect", "changes", path, "--entity", "Nope").status == 2)
    }

    @Test("readers lists a process with a snapshot, its lag and its age")
    func readers() async throws {
        let folder = try TemporaryFolder(), store = try open(folder)
        try put(store, 1...1)
        let path = folder.path + "/notes.tarn"
        let lines = try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<[String], any Error>) in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        try store.read { _ in
                            // The writer is another thread: a transaction inside of another is refused.
                            let done = DispatchSemaphore(value: 0)
                            Thread.detachNewThread {
                                try? self.put(store, 2...4)
                                done.signal()
                            }
                            done.wait()
                            let process = Process(), pipe = Pipe()
                            process.executableURL = URL(fileURLWithPath: TarnProcess.executable)
                            process.arguments = ["inspect", "readers", path]
                            process.standardOutput = pipe
                            try process.run()
                            let data = pipe.fileHandleForReading.readDataToEndOfFile()
                            process.waitUntilExit()
                            return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
                        }
                    })
            }
        }
        let readers = try lines.map { try json($0) }
        let own = try #require(
            readers.first { $0["process"] as? Int == Int(getpid()) && $0["state"] as? String == "reading" }, "\(lines)")
        #expect(own["behind"] as? Int == 3 && (own["seconds"] as? Int ?? -1) >= 0)
    }

    @Test("watch shows the commits of other processes as they come, and ends at an interrupt")
    func watch() async throws {
        let folder = try TemporaryFolder(), store = try open(folder)
        try put(store, 1...2)
        let process = try TarnProcess(["inspect", "watch", folder.path + "/notes.tarn", "--since", "1"])
        await expectOutput(process, lines: 1)
        try put(store, 3...5)
        await expectOutput(process, lines: 4)
        process.send(SIGINT)
        let result = await process.end()
        #expect(result.status == 130 && result.error == "", "\(result.error)")
        #expect(try result.lines.map { try json($0)["key"] as? Int } == [2, 3, 4, 5])
    }

    @Test("watch says that changes were trimmed before it could show them, and stops at a limit")
    func trimmed() async throws {
        let folder = try TemporaryFolder(), store = try open(folder)
        try put(store, 1...3)
        try store.setChangeRetention(.nothing)
        try store.setChangeRetention(.all)
        try put(store, 4...4)
        let result = try await tarn("inspect", "watch", folder.path + "/notes.tarn", "--since", "1", "--limit", "1")
        #expect(result.status == 0 && result.error.contains("were trimmed from the log"), "\(result.error)")
        #expect(try result.lines.map { try json($0)["key"] as? Int } == [4])
    }

    private func expectOutput(_ process: TarnProcess, lines: Int) async {
        for _ in 0..<600 where process.output.split(separator: "\n").count < lines {
            try? await Task.sleep(for: .milliseconds(100))
        }
        #expect(process.output.split(separator: "\n").count == lines, "\(process.output)")
    }
}
