// The readers of a store, and the slots of killed readers.

import Foundation
import Glibc
import LMDB
import TestSupport
import Testing

@testable import TarnStore

@Suite("Readers of a store")
struct ReadersTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(
        "a reader of another process is named with how far its snapshot lies back; killed it is stale, and its place is freed"
    )
    func readers() async throws {
        let path = folder("s")
        try await onThread {
            _ = try WorkerProcess(["script", path, "3"]).lines()
            // While no process has the store open, LMDB resets its table of readers.
            let store = try Store.open(at: path)
            #expect(try Store.readers(ofStoreAt: path) == [])
            let reader = try WorkerProcess(["read", path])
            _ = try reader.line()
            _ = try WorkerProcess(["script", path, "7"]).lines()
            let reading = try #require(try Store.readers(ofStoreAt: path).first)
            #expect(
                reading.processID == Int(reader.processID) && reading.processName == "StoreWorker" && !reading.isStale)
            #expect(reading.lag.map { $0 >= 4 } == true && reading.transaction != nil)
            reader.kill()
            _ = reader.end()
            let stale = try Store.readers(ofStoreAt: path)
            #expect(stale.map(\.isStale) == [true] && stale[0].processName == nil)
            #expect(try Store.readers(ofStoreAt: path, clearing: true).count == 1)
            #expect(try Store.readers(ofStoreAt: path) == [])
            withExtendedLifetime(store) {}
        }
    }

    @Test("a process that has a store's file open is told from one that has not")
    func openFile() throws {
        let path = folder("s"), store = try Forge.open(path)
        #expect(ProcessTable.hasOpen(path + "/data.mdb", getpid()) == true)
        #expect(ProcessTable.hasOpen(path + "/data.mdb", getppid()) != true)
        #expect(ProcessTable.hasOpen(path + "/none", getpid()) == nil)
        withExtendedLifetime(store) {}
    }

    @Test("a store that is opened while its file is pinned by the same process has all of its tables")
    func openedWhilePinned() throws {
        let path = folder("s")
        do { _ = try Forge.open(path) }
        let counted = try PinnedFile.withState(ofStoreAt: path) { _ in
            let store = try Store.open(at: path, options: Store.Options(isReadOnly: true))
            return try store.read { try $0.count("Issue") }
        }
        #expect(counted == 0)
    }

    @Test("a table of readers that is full is listed and cleared, too")
    func fullTable() throws {
        let path = folder("s")
        do { _ = try Forge.open(path) }
        // The next one that opens it makes a table of the size that it wants.
        for name in ["store.lock", "turn.lock", "lock.mdb"] { unlink(path + "/" + name) }
        let options = Environment.Options(
            isReadOnly: true, minimumMapSize: 1 << 20, maximumTables: 4, maximumReaders: 8)
        let environment = try Environment.open(at: path, options: options)
        func inside(_ body: () throws -> Void) throws {
            do {
                try environment.read { _ in try inside(body) }
            } catch let error as LMDBError {
                guard error.kind == .readersFull else { throw error }
                try body()
            }
        }
        var lists = 0
        try inside {
            lists += 1
            // The slots of this process are not listed.
            let readers = try Store.readers(ofStoreAt: path, clearing: true)
            #expect(readers.isEmpty)
        }
        #expect(lists == 1)
    }

    @Test("the place of a reader that was killed is freed by whoever opens the store next")
    func openingFrees() async throws {
        let path = folder("s")
        try await onThread {
            _ = try WorkerProcess(["script", path, "3"]).lines()
            let store = try Store.open(at: path)
            let reader = try WorkerProcess(["read", path])
            _ = try reader.line()
            reader.kill()
            _ = reader.end()
            #expect(try Store.readers(ofStoreAt: path).count == 1)
            _ = try WorkerProcess(["script", path, "4"]).lines()
            #expect(try store.read { try $0.sequence } == 4)
            #expect(try Store.readers(ofStoreAt: path) == [])
        }
    }

    @Test("a pinned snapshot makes the file grow, and without one ten thousand changes of the same records do not")
    func growth() throws {
        let store = try Forge.open(folder("s"))
        func churn(_ rounds: Int) throws -> Int {
            for round in 0..<rounds {
                try store.write { writer in
                    for key: Int64 in 0..<20 {
                        try writer.put("User", RecordKey(key), [.init("login", .string("\(round) \(key)"))])
                    }
                    _ = try writer.delete("User", RecordKey(Int64(round % 20)))
                }
            }
            return try store.environment.information().lastPage
        }
        try store.setChangeRetention(.nothing)
        let start = try churn(1000), plateau = try churn(9000), began = ContinuousClock.now
        // A page that is lost in each hundredth commit would show.
        #expect(try churn(1000) <= plateau + 8)
        let alone = ContinuousClock.now - began, beganPinned = ContinuousClock.now
        #expect(plateau <= start + 8, "from \(start) to \(plateau) pages")
        let pinned = try store.read { _ in
            // A write on this thread would be nested.
            try onOtherThread { try churn(1000) }
        }
        // Some pages for each commit, none of which is used again.
        #expect(pinned > plateau + 5000, "from \(plateau) to \(pinned) pages")
        let cost = (ContinuousClock.now - beganPinned) / alone
        #expect(try churn(1000) <= pinned + 64)
        print(
            "growth: \(start) pages after 1,000 commits, \(plateau) after 10,000, \(pinned) after 1,000 more beside a pinned snapshot, which took \((cost * 10).rounded() / 10) times as long"
        )
    }

    @Test(
        "ten thousand updates and deletes of rows of all lengths, with indexes, relationships and a change log, take no more room after the first part",
        .disabled(if: isSanitized))
    func growthOfAllLengths() throws {
        let store = try Forge.open(folder("s")), cycles = 10_000
        try store.setChangeRetention(ChangeRetention(age: nil, share: 0.001))
        var random = SeededRandom(seed: 5), pages: [Int] = []
        for cycle in 0..<cycles {
            try store.write { writer in
                let number = Int.random(in: 0..<200, using: &random), key = RecordKey(Int64(number))
                // Most of them short, some with pages of their own.
                let length =
                    cycle % 17 == 0
                    ? Int.random(in: 3000...20_000, using: &random) : Int.random(in: 0...400, using: &random)
                try writer.put(
                    "Issue", key,
                    [
                        .init("title", .string(String(repeating: "x", count: length))),
                        .init("number", .int(Int64(cycle))),
                        .init("author", .reference(RecordKey(Int64(number % 7)))),
                    ])
                _ = try writer.delete("Issue", RecordKey(Int64(Int.random(in: 0..<200, using: &random))))
            }
            if (cycle + 1) % (cycles / 5) == 0 { pages.append(try store.environment.information().lastPage) }
        }
        print("growth: rows of all lengths, pages after each fifth of \(cycles) cycles: \(pages)")
        // The combination of lengths is random: a page or two more now and then.
        #expect(pages[4] <= pages[2] + 16, "\(pages)")
    }

    private func onOtherThread<Result: Sendable>(_ body: @escaping () throws -> Result) throws -> Result {
        let done = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var result: Swift.Result<Result, any Error>?
        nonisolated(unsafe) let body = body
        let thread = Thread {
            result = Swift.Result { try body() }
            done.signal()
        }
        thread.start()
        done.wait()
        return try result!.get()
    }
}
