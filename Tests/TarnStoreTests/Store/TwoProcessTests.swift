// Two processes on one store: they write in turn, one reads while the other writes and is killed,
// one is older than the store.

import Foundation
import Glibc
import LMDB
import TestSupport
import Testing

@testable import TarnStore

@Suite("Two processes on one store", .timeLimit(.minutes(5)))
struct TwoProcessTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("two processes that write back to back both get on, and the result is exact")
    func writeInTurn() async throws {
        let path = folder("s")
        let (first, second, problem) = try await onThread {
            var progress = Progress(streams: [0, 1])
            let writers = try [0, 1].map { stream in try WorkerProcess(["write", path, "\(stream)"]) }
            for writer in writers {
                guard try writer.line() == "open" else { throw WorkerProcess.Failure(description: "not open") }
            }
            // While the first writes these, the other one writes as well, without waiting for the
            // end of the first.
            func take(_ count: Int, _ writer: WorkerProcess) throws {
                for _ in 0..<count {
                    guard let line = try writer.line(), progress.take(line) else {
                        throw WorkerProcess.Failure(description: "no ack")
                    }
                }
            }
            try take(200, writers[0])
            writers.forEach { $0.kill() }
            for writer in writers {
                for line in try writer.lines() where !progress.take(line) {
                    throw WorkerProcess.Failure(description: line)
                }
            }
            let counts = progress.counts
            return (counts[0, default: 0], counts[1, default: 0], try progress.problem(at: path))
        }
        #expect(problem == nil)
        #expect(first >= 200)
        // One that starved would have written hardly anything.
        #expect(second >= first / 5 && first >= second / 5, "\(first) and \(second)")
    }

    @Test("four processes that write back to back take turns: none waits until the others have ended")
    func fairness() async throws {
        let path = folder("s"), streams = 4, wanted = 50
        let (progress, problem) = try await onThread { () -> (Progress, String?) in
            var progress = Progress(streams: 0..<streams)
            let writers = try (0..<streams).map { try WorkerProcess(["write", path, "\($0)"]) }
            for writer in writers {
                guard try writer.line() == "open" else { throw WorkerProcess.Failure(description: "not open") }
            }
            // Each has this number, while all of them continue to write.
            for writer in writers {
                for _ in 0..<wanted {
                    guard let line = try writer.line(), progress.take(line) else {
                        throw WorkerProcess.Failure(description: "no ack")
                    }
                }
            }
            writers.forEach { $0.kill() }
            for writer in writers {
                for line in try writer.lines() where !progress.take(line) {
                    throw WorkerProcess.Failure(description: line)
                }
                writer.end()
            }
            return (progress, try progress.problem(at: path))
        }
        #expect(problem == nil)
        #expect((0..<streams).allSatisfy { progress.counts[$0, default: 0] >= wanted })
        let turns = try TwoProcessTests.turns(path)
        // From where all of them write to where the first has ended.
        let first = (0..<streams).compactMap { turns.firstIndex(of: $0) }.max() ?? 0
        let last = (0..<streams).compactMap { turns.lastIndex(of: $0) }.min() ?? 0
        #expect(last - first >= wanted, "they have hardly written side by side: \(first) to \(last)")
        let together = turns[first...max(first, last)]
        let counts = (0..<streams).map { stream in together.filter { $0 == stream }.count }
        let longest =
            (0..<streams).map { stream in together.split(separator: stream).map(\.count).max() ?? 0 }.max() ?? 0
        print(
            "fairness: \(counts) of \(together.count) transactions of four processes, the longest wait was \(longest) transactions of others"
        )
    }

    /// The streams of a store's commits, in order.
    private static func turns(_ path: String) throws -> [Int] {
        try Store.open(at: path).read { reader in
            var turns: [Int] = []
            try reader.forEachChange(since: ChangeToken(incarnation: reader.incarnation, sequence: 0), of: ["Counter"])
            { change in
                if case .int(let stream)? = change.key.components.first, stream >= 0 { turns.append(Int(stream)) }
                return true
            }
            return turns
        }
    }

    @Test("a snapshot does not change while another process writes, and a reader that is killed in one leaves no trace")
    func readerIsKilled() async throws {
        let path = folder("s")
        let (snapshots, again, status) = try await onThread {
            var progress = try TwoProcessTests.write(path, upTo: 20, Progress(streams: [0]))
            let readers = try (0..<2).map { _ in try WorkerProcess(["read", path]) }
            let snapshots = try readers.map { try $0.line() }
            progress = try TwoProcessTests.write(path, upTo: 120, progress)
            readers[0].kill()
            let status = readers[0].end()
            progress = try TwoProcessTests.write(path, upTo: 160, progress)
            readers[1].closeInput()
            let again = try readers[1].line()
            readers[1].end()
            if let problem = try progress.problem(at: path, open: 0) {
                throw WorkerProcess.Failure(description: problem)
            }
            return (snapshots, again, status)
        }
        #expect(status == -SIGKILL)
        #expect(snapshots == ["snapshot 20", "snapshot 20"])
        #expect(again == "again 20")
    }

    private static func write(_ path: String, upTo count: Int, _ progress: Progress) throws -> Progress {
        var progress = progress
        let script = try WorkerProcess(["script", path, "\(count)"])
        for line in try script.lines() where !progress.take(line) { throw WorkerProcess.Failure(description: line) }
        guard script.end() == 0 else { throw WorkerProcess.Failure(description: "\(script.end())") }
        return progress
    }

    @Test("a process whose schema another one has left behind reads on, and is told what is wrong when it writes")
    func newerProgramChangesTheCatalog() async throws {
        let path = folder("s"), store = try Forge.open(path)
        try store.put("User", RecordKey(1), ["login": .string("ada")])
        await #expect(processExitsWith: .success) { [path = path as String] in
            // A possible change of a newer version: the field is renamed.
            let store = try Forge.open(path)
            var catalog = store.catalog
            let user = try #require(catalog.entities.firstIndex { $0.name == "User" })
            let login = try #require(catalog.entities[user].fields.firstIndex { $0.name == "login" })
            catalog.entities[user].fields[login].name = "handle"
            let text = String(decoding: try JSONEncoder().encode(CatalogJSON(catalog)), as: UTF8.self)
            try store.environment.write { transaction in
                let meta = store.state.meta, generation = try transaction.raw.number(meta, key: MetaKey.generation)
                try transaction.raw.put(meta, key: MetaKey.catalog, text: text)
                try transaction.raw.put(meta, key: MetaKey.generation, number: generation + 1)
            }
        }
        #expect(try store.record("User", RecordKey(1))?["handle"] == .string("ada"))
        let blocking = storeError { try store.put("User", RecordKey(2)) }
        await #expect(throws: try #require(blocking as? StoreWriteError)) {
            try await store.write { try $0.put("User", RecordKey(2), []) }
        }
        guard case StoreWriteError.schemaChanged(path, _)? = blocking else {
            Issue.record("\(String(describing: blocking))")
            return
        }
        // Nothing was written, and reads continue.
        #expect(try store.count("User") == 1)
        #expect(try store.sequence == 1)
    }

    @Test(
        "a process that sees compression, defaults, delete rules or what may be absent otherwise does not lock another one out"
    )
    func harmlessDifferences() async throws {
        let path = folder("s"), store = try Forge.open(path)
        try store.put("User", 1, ["login": .string("ada")])
        await #expect(processExitsWith: .success) { [path = path as String] in
            var other = Forge.schema
            other.entities[0].compression = .none
            other.entities[0].attributes[1].isOptional = true
            other.entities[0].attributes[1].defaultValue = .string("nobody")
            other.entities[2].relationships[0].deleteRule = .deny
            let store = try Forge.open(path, other)
            try store.put("User", 2, ["login": .string("bob")])
        }
        try store.put("User", 3, ["login": .string("cyd")])
        #expect(try store.count("User") == 3)
    }
}
