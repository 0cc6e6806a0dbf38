// Streams of the changes that other processes commit: each once, also if writers are killed.

import Foundation
import Glibc
import TestSupport
import Testing

@testable import TarnStore

@Suite("Streams of changes of other processes", .timeLimit(.minutes(5)))
struct ChangeStreamProcessTests {
    /// As in the schema of the worker.
    struct Counter: StoredRecord {
        static let entity = "Counter"
        typealias Key = Int64
        enum Field: Int, RecordField { case stream, count }

        var stream: Int64
        var count: Int64

        init(_ row: Row<Counter>) throws(StoreError) {
            stream = try row.get(.stream)
            count = try row.get(.count)
        }

        func encode(into row: inout RowEncoder<Counter>) {
            row.set(.stream, stream)
            row.set(.count, count)
        }
    }

    let folder: TemporaryFolder
    let store: Store

    init() throws {
        folder = try TemporaryFolder()
        let counter = EntityDefinition(
            "Counter", key: ["stream"],
            attributes: [AttributeDefinition("stream", .int), AttributeDefinition("count", .int, indexed: true)])
        store = try Store.open(at: folder("s"), schema: Schema([counter]))
        try store.setChangeValues(.all)
    }

    private func count(_ event: ChangeEvent<Int64>) -> Int64 {
        if case .int(let count)? = event.fields?.first(where: { $0.name == "count" })?.value { count } else { -1 }
    }

    private func run(_ arguments: [String]) async throws -> Int32 {
        try await onThread {
            let worker = try WorkerProcess(arguments)
            _ = try worker.lines()
            return worker.end()
        }
    }

    @Test("every commit of another process is delivered once, in order, while it writes")
    func nothingMissed() async throws {
        let stream = store.changes(of: Counter.self), path = folder("s")
        async let status = run(["count", path, "1", "300"])
        var counts: [Int64] = []
        for try await event in stream {
            #expect(event.key == 7)
            counts.append(count(event))
            if counts.count == 300 { break }
        }
        #expect(try await status == 0)
        #expect(counts == Array(1...300))
    }

    @Test("a commit whose writer was killed before it could notify is delivered by the slow check")
    func killedBeforeTouch() async throws {
        var iterator = store.changes(of: Counter.self).makeAsyncIterator()
        async let event = iterator.next()
        try await eventually("it waits") { store.observers.count == 1 }
        #expect(try await run(["count", folder("s"), "1", "1", "killed"]) == -SIGKILL)
        #expect(try await event.map(count) == 1)
    }

    @Test("consumers that stop anywhere and resume by token see every change once, whatever happens to the writers")
    func resumed() async throws {
        var random = SeededRandom(seed: 20_261_123), token = try store.read { try $0.changeToken }, seen: [Int64] = []
        var next: Int64 = 1
        for _ in 0..<8 {
            let first = next, path = folder("s"), kills = Int64.random(in: 5...40, using: &random)
            async let last = onThread {
                let worker = try WorkerProcess(["count", path, "\(first)", "\(first + 10_000)"])
                while let line = try worker.line(), (Int64(line) ?? 0) < first + kills {}
                worker.kill()
                worker.end()
            }
            let wanted = Int.random(in: 1...5, using: &random)
            for try await event in store.changes(since: token, of: Counter.self).prefix(wanted) {
                seen.append(count(event))
                token = try #require(ChangeToken(event.token.description))
            }
            try await last
            next = try store.read { try $0.get(Counter.self, 7)?.count ?? 0 } + 1
        }
        for try await page in store.changes(since: token, of: Counter.self).pages(limit: 7) {
            seen += page.changes.map { change in
                if case .int(let count)? = change.fields?.first(where: { $0.name == "count" })?.value {
                    count
                } else {
                    -1
                }
            }
            if !page.hasMore { break }
        }
        #expect(seen == Array(1..<next))
    }
}
