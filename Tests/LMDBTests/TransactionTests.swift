// Transactions: atomicity, snapshots, nesting, and many threads at once.

import Foundation
import LMDB
import Synchronization
import TestSupport
import Testing

@Suite("Transactions", .timeLimit(.minutes(3)))
struct TransactionTests {
    struct Stop: Error {}

    let folder: TemporaryFolder
    let environment: Environment
    let table: Table

    init() throws {
        folder = try TemporaryFolder()
        environment = try Environment.open(at: folder("e"), options: .init(durability: .volatile))
        table = try environment.makeTable("t")
    }

    @Test("a write that throws leaves nothing, and the next one works")
    func throwingWriteLeavesNothing() throws {
        try environment.put(table, [("a", "1")])
        #expect(throws: Stop.self) {
            try environment.write { transaction in
                try transaction.set(table, bytes("a"), bytes("2"))
                try transaction.set(table, bytes("b"), bytes("2"))
                throw Stop()
            }
        }
        #expect(try environment.value(table, "a") == "1")
        #expect(try environment.value(table, "b") == nil)
        try environment.put(table, [("c", "3")])
        #expect(try environment.value(table, "c") == "3")
    }

    @Test("a write returns what its closure returns, after the commit")
    func writeReturnsAfterTheCommit() throws {
        let before = try environment.read { $0.id }
        let id = try environment.write { transaction in
            try transaction.set(table, bytes("a"), bytes("1"))
            return transaction.id
        }
        #expect(id == before + 1)
        #expect(try environment.read { $0.id } == id)
    }

    @Test("a write inside a write is refused at once, and the outer one commits")
    func writeInsideWriteIsRefused() async throws {
        let path = folder("other")
        await #expect(processExitsWith: .success) { [path = path as String] in
            alarm(30)  // one that waited for itself would hang for ever
            let environment = try Environment.open(at: path)
            let table = try environment.makeTable("t")
            try environment.write { transaction in
                try transaction.set(table, bytes("a"), bytes("1"))
                #expect(kindOfError { try environment.write { _ in mustNotRun() } } == .nestedWrite)
            }
            #expect(try environment.value(table, "a") == "1")
        }
    }

    @Test("a write inside a read is refused at once, also inside the inner of two reads")
    func writeInsideReadIsRefused() async throws {
        let path = folder("other")
        await #expect(processExitsWith: .success) { [path = path as String] in
            alarm(30)
            let environment = try Environment.open(at: path)
            let table = try environment.makeTable("t")
            try environment.read { _ in
                #expect(kindOfError { try environment.write { _ in mustNotRun() } } == .nestedWrite)
                try environment.read { _ in
                    #expect(kindOfError { try environment.write { _ in mustNotRun() } } == .nestedWrite)
                }
                #expect(kindOfError { try environment.write { _ in mustNotRun() } } == .nestedWrite)
            }
            try environment.put(table, [("a", "1")])
        }
    }

    @Test("a write that opens tables, inside one that does, is refused at once")
    func openingTablesInsideOpeningTablesIsRefused() async throws {
        let path = folder("other")
        await #expect(processExitsWith: .success) { [path = path as String] in
            alarm(30)  // a lock taken twice would hang for ever
            let environment = try Environment.open(at: path)
            try environment.writeOpeningTables { transaction in
                _ = try transaction.table("t")
                #expect(kindOfError { try environment.writeOpeningTables { _ in } } == .nestedWrite)
                #expect(kindOfError { _ = try environment.existingTables(["t"]) } == .nestedWrite)
                #expect(kindOfError { _ = try environment.tableNames() } == .nestedWrite)
            }
            try environment.write { _ in
                #expect(kindOfError { _ = try environment.tableNames() } == .nestedWrite)
            }
            try environment.read { _ in
                let names = try environment.tableNames()
                #expect(names == ["t"])
                #expect(kindOfError { try environment.writeOpeningTables { _ in } } == .nestedWrite)
            }
        }
    }

    @Test("a write of another environment inside a write is allowed")
    func writeOfAnotherEnvironmentIsAllowed() throws {
        let other = try Environment.open(at: folder("other"), options: .init(durability: .volatile))
        let otherTable = try other.makeTable("t")
        try environment.write { transaction in
            try transaction.set(table, bytes("a"), bytes("1"))
            try other.write { try $0.set(otherTable, bytes("a"), bytes("2")) }
            #expect(try other.value(otherTable, "a") == "2")
        }
        #expect(try environment.value(table, "a") == "1")
    }

    @Test("a read during a write sees the old snapshot, on the same thread and on another")
    func readDuringWriteSeesTheOldSnapshot() throws {
        try environment.put(table, [("a", "old")])
        let (environment, table) = (environment, table)
        try environment.write { transaction in
            try transaction.set(table, bytes("a"), bytes("new"))
            #expect(try environment.value(table, "a") == "old")
            let seen = Mutex<String?>(nil)
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                let value = try? environment.value(table, "a")
                seen.withLock { $0 = value }
                done.signal()
            }
            done.wait()
            #expect(seen.withLock { $0 } == "old")
        }
        #expect(try environment.value(table, "a") == "new")
    }

    @Test("a snapshot does not change while others write")
    func snapshotDoesNotChange() throws {
        try environment.put(table, [("a", "old")])
        let (environment, table) = (environment, table)
        try environment.read { transaction in
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                do {
                    for round in 0..<50 {
                        try environment.put(table, [("a", "new"), ("b\(round)", String(repeating: "x", count: 3000))])
                    }
                } catch { Issue.record(error) }
                done.signal()
            }
            done.wait()
            let seen = try transaction.copy(table, bytes("a"))
            let count = try transaction.statistics(table).entries
            #expect(seen == bytes("old"))
            #expect(count == 1)
            let newest = try environment.value(table, "a")
            #expect(newest == "new")
        }
    }

    @Test("40 threads read at once, each a whole snapshot, while one writes")
    func fortyThreadsReadAtOnce() throws {
        let (environment, table) = (environment, table)
        func fill(_ round: Int) throws {
            try environment.put(table, (0..<20).map { ("key \($0)", "\(round)") })
        }
        try fill(0)
        let all = DispatchGroup()
        let inside = DispatchSemaphore(value: 0)
        let go = DispatchSemaphore(value: 0)
        for _ in 0..<40 {
            all.enter()
            Thread.detachNewThread {
                defer { all.leave() }
                do {
                    // All forty are inside a read at the same moment.
                    try environment.read { _ in
                        inside.signal()
                        go.wait()
                    }
                    for _ in 0..<30 {
                        try environment.read { transaction in
                            let first = try transaction.copy(table, bytes("key 0"))
                            for number in 1..<20 {
                                #expect(try transaction.copy(table, bytes("key \(number)")) == first)
                            }
                        }
                    }
                } catch { Issue.record(error) }
            }
        }
        for _ in 0..<40 { inside.wait() }
        for _ in 0..<40 { go.signal() }
        for round in 1...30 { try fill(round) }
        all.wait()
        #expect(try environment.value(table, "key 19") == "30")
    }

    @Test("writers of many threads take turns, and no change is lost")
    func writersTakeTurns() throws {
        let (environment, table) = (environment, table)
        try environment.put(table, [("count", "0")])
        let all = DispatchGroup()
        for _ in 0..<8 {
            all.enter()
            Thread.detachNewThread {
                defer { all.leave() }
                do {
                    for _ in 0..<25 {
                        try environment.write { transaction in
                            let text = try transaction.copy(table, bytes("count")).map {
                                String(decoding: $0, as: UTF8.self)
                            }
                            try transaction.set(table, bytes("count"), bytes(String((Int(text ?? "") ?? -1000) + 1)))
                        }
                    }
                } catch { Issue.record(error) }
            }
        }
        all.wait()
        #expect(try environment.value(table, "count") == "200")
    }

    @Test("readers beyond the limit are refused, and welcome again when others have ended")
    func tooManyReadersAreRefused() throws {
        let small = try Environment.open(at: folder("small"), options: .init(durability: .volatile, maximumReaders: 3))
        try small.read { _ in
            try small.read { _ in
                try small.read { _ in
                    #expect(kindOfError { try small.read { _ in mustNotRun() } } == .readersFull)
                }
            }
        }
        try small.read { _ in try small.read { _ in try small.read { _ in } } }
    }

    @Test("a full map is an error, nothing is kept, and the next write works")
    func fullMapIsAnError() throws {
        let small = try Environment.open(at: folder("small"), options: .init(durability: .volatile, mapSize: 1 << 20))
        let table = try small.makeTable("t")
        try small.put(table, [("a", "1")])
        let kind = kindOfError {
            try small.write { transaction in
                try transaction.set(table, bytes("a"), bytes("2"))
                for number in 0..<2000 {
                    try transaction.set(table, bytes("\(number)"), Array(repeating: 1, count: 3000))
                }
            }
        }
        #expect(kind == .mapFull)
        #expect(try small.value(table, "a") == "1")
        #expect(try small.entryCount(table) == 1)
        try small.put(table, [("b", "3")])
        #expect(try small.value(table, "b") == "3")
    }

    @Test("a closure that swallows a full map still commits nothing, and is told so")
    func swallowedFullMapCommitsNothing() throws {
        let small = try Environment.open(at: folder("small"), options: .init(durability: .volatile, mapSize: 1 << 20))
        let table = try small.makeTable("t")
        let kind = kindOfError {
            try small.write { transaction in
                try transaction.set(table, bytes("a"), bytes("1"))
                #expect(throws: LMDBError.self) {
                    try transaction.set(table, bytes("b"), Array(repeating: 1, count: 2 << 20))
                }
            }
        }
        #expect(kind == .transactionFailed)
        #expect(try small.entryCount(table) == 0)
    }
}

private func mustNotRun() { Issue.record("the closure ran") }
