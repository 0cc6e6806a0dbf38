// Observing the writes of other processes: nothing is missed, even if writers are killed.

import Foundation
import Glibc
import TestSupport
import Testing

@testable import TarnStore

@Suite("Observing other processes", .timeLimit(.minutes(5)))
struct ObservationProcessTests {
    let folder: TemporaryFolder
    let store: Store

    init() throws {
        folder = try TemporaryFolder()
        store = try Store.open(at: folder("s"), schema: Schema([counter]))
    }

    /// As in the schema of the worker.
    private let counter = EntityDefinition(
        "Counter", key: ["stream"],
        attributes: [AttributeDefinition("stream", .int), AttributeDefinition("count", .int, indexed: true)])

    private func count(_ reader: StoreReader) throws -> Int64 {
        if case .int(let count)? = try reader.record("Counter", 7)?["count"] { count } else { 0 }
    }

    private var counts: StoreObservation<Int64> { store.observe(entities: ["Counter"]) { try count($0) } }

    private func run(_ arguments: [String]) async throws -> (lines: [String], status: Int32) {
        try await onThread {
            let worker = try WorkerProcess(arguments)
            let lines = try worker.lines()
            return (lines, worker.end())
        }
    }

    @Test("what is seen of another process's commits is in their order, and ends with the last")
    func nothingMissed() async throws {
        let found = Collected(counts), record = Collected(store.observe("Counter", 7))
        try await eventually("they wait") { found.values == [0] && record.values.count == 1 }
        let (lines, status) = try await run(["count", folder("s"), "1", "300"])
        #expect(status == 0 && lines.count == 300)
        try await eventually("the last state was seen") {
            found.values.last == 300 && record.values.last??["count"] == .int(300)
        }
        #expect(zip(found.values, found.values.dropFirst()).allSatisfy { $0 < $1 })
        #expect(found.results.dropFirst().allSatisfy { $0.sequence == UInt64($0.value) })
        #expect(store.observers.counters.withLock { $0.touches } > 0)
    }

    @Test("the commit of a writer that is killed before it could tell anybody is found by the slow check")
    func killedBeforeTouch() async throws {
        let found = Collected(counts)
        try await eventually("it waits") { found.values == [0] }
        let (lines, status) = try await run(["count", folder("s"), "1", "1", "killed"])
        #expect(lines == ["1"] && status == -SIGKILL)
        try await eventually("it was seen") { found.values.last == 1 }
        #expect(store.observers.counters.withLock { $0.slowChecks } > 0)
    }

    @Test("whenever a writer is killed, the last state is seen in the end")
    func killedAnywhere() async throws {
        let found = Collected(counts), path = folder("s")
        var next: Int64 = 1
        for round in 0..<12 {
            let first = next
            let last = try await onThread {
                let worker = try WorkerProcess(["count", path, "\(first)", "\(first + 10_000)"])
                var last = first - 1
                while let line = try worker.line() {
                    last = Int64(line) ?? last
                    if last >= first + Int64(round * 3) { break }
                }
                worker.kill()
                worker.end()
                return last
            }
            // An unacknowledged commit may exist.
            let committed = try store.read { try count($0) }
            #expect(committed >= last)
            try await eventually("the last state was seen") { found.values.last == committed }
            next = committed + 1
        }
        #expect(zip(found.values, found.values.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test("a schema that another process changed is met by evaluating again")
    func otherSchema() async throws {
        let names = Collected(store.observe { $0.catalog.entities.map(\.name) })
        try await eventually("it waits") { names.values == [["Counter"]] }
        let (_, status) = try await run(["count", folder("s"), "1", "1"])
        #expect(status == 0)
        try await eventually("the new entities were seen") { names.values.last?.contains("Order") ?? false }
    }
}
