// Small writes that wait at the same time are committed together: each is atomic, runs once, and
// has its own result.

import Foundation
import Glibc
import LMDB
import TestSupport
import Testing

@testable import TarnStore

/// A write that stays in its closure until it is let go, so that others pile up behind it.
final class HeldWrite: Sendable {
    private let release = Shared(false)
    private let task: Task<Void, any Error>

    /// Returns when the store's writer thread is inside the closure.
    init(_ store: Store) async throws {
        let isInside = Shared(false)
        task = Task { [release] in
            try await store.write { _ in
                isInside.value = true
                while !release.value { usleep(500) }
            }
        }
        try await eventually { isInside.value }
    }

    /// Lets the closure return once this number of writes waits.
    func end(_ store: Store, when count: Int) async throws {
        try await eventually { store.queue.count >= count }
        release.value = true
        try await task.value
    }
}

/// A value that several threads use.
final class Shared<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var stored: Value

    init(_ value: Value) { stored = value }

    var value: Value {
        get { lock.withLock { stored } }
        set { lock.withLock { stored = newValue } }
    }

    func change(_ body: (inout Value) -> Void) { lock.withLock { body(&stored) } }
}

extension StoreWriter {
    /// The id of the transaction that this is in: children have their parent's.
    var transaction: Int { access.raw.id }

    mutating func putUser(_ id: Int) throws {
        try put("User", RecordKey(Int64(id)), [.init("login", .string("u\(id)"))])
    }
}

@Suite("Group commit", .timeLimit(.minutes(5)))
struct GroupCommitTests {
    struct Refusal: Error {}

    let folder: TemporaryFolder
    let store: Store

    init() throws {
        folder = try TemporaryFolder()
        store = try Forge.open(folder("s"))
    }

    /// Waiting writes, each with its number; returns their results or errors in the order of the
    /// queue.
    ///
    /// - Parameter repeatable: the numbers of the writes that may run again.
    private func together(
        _ count: Int, repeatable: Set<Int> = [], _ body: @escaping @Sendable (Int, inout StoreWriter) throws -> Int
    ) async throws -> [Result<Int, any Error>] {
        let held = try await HeldWrite(store)
        var tasks: [Task<Int, any Error>] = []
        for number in 0..<count {
            tasks.append(
                Task { [store] in
                    if repeatable.contains(number) {
                        return try await store.writeRepeatably { writer in try body(number, &writer) }
                    }
                    return try await store.write { writer in try body(number, &writer) }
                })
            try await eventually { store.queue.count > number }
        }
        try await held.end(store, when: count)
        var results: [Result<Int, any Error>] = []
        for task in tasks { results.append(await task.result) }
        return results
    }

    private func value(_ result: Result<Int, any Error>) -> Int? { try? result.get() }

    @Test("writes that wait together are one transaction of the file")
    func oneTransaction() async throws {
        // A group ends after ten milliseconds, which a loaded machine may take from it.
        for round in 1...50 {
            let results = try await together(10) { number, writer in
                try writer.putUser(round * 10 + number)
                return writer.transaction
            }
            #expect(try store.count("User") == round * 10)
            let transactions = Set(results.map(value)).count
            // Sanitized, some fit into that time.
            if transactions == 1 || isSanitized && transactions < 10 { return }
        }
        Issue.record("never one transaction")
    }

    @Test("each closure that changes something has its own sequence, in order; one that changes nothing has none")
    func sequences() async throws {
        let results = try await together(6) { number, writer in
            if number != 3 { try writer.putUser(number) }
            return Int(writer.sequence)
        }
        #expect(results.map(value) == [1, 2, 3, 4, 4, 5])
        #expect(try store.changes().map(\.sequence) == [1, 2, 3, 4, 5])
        #expect(try store.sequence == 5)
    }

    @Test("a closure that throws is undone alone, and only its caller is told")
    func failingClosureIsUndoneAlone() async throws {
        let results = try await together(5) { number, writer in
            try writer.putUser(number)
            if number == 2 { throw Refusal() }
            return number
        }
        #expect(results.map(value) == [0, 1, nil, 3, 4])
        #expect(throws: Refusal.self) { try results[2].get() }
        #expect(try store.count("User") == 4)
        #expect(try store.record("User", RecordKey(2)) == nil)
        #expect(try store.indexEntries("User", "login").count == 4)
        #expect(try store.sequence == 4)
    }

    @Test("writes that may run again are undone with a failing one and run again; others run once")
    func repeatableWrites() async throws {
        let runs = Shared<[Int: Int]>([:]), sequences = Shared<[Int]>([])
        let results = try await together(6, repeatable: [0, 1, 2, 5]) { number, writer in
            runs.change { $0[number, default: 0] += 1 }
            try writer.putUser(number)
            if number == 2 || number == 4 { throw Refusal() }
            sequences.change { $0.append(Int(writer.sequence)) }
            return number
        }
        #expect(results.map(value) == [0, 1, nil, 3, nil, 5])
        #expect(throws: Refusal.self) { try results[2].get() }
        #expect(throws: Refusal.self) { try results[4].get() }
        #expect(try store.count("User") == 4 && store.record("User", 2) == nil && store.record("User", 4) == nil)
        #expect(try store.indexEntries("User", "login").count == 4)
        #expect(try store.changes().map(\.sequence) == [1, 2, 3, 4] && store.sequence == 4)
        let counts = runs.value
        #expect(counts[3] == 1 && counts[4] == 1 && counts[5] == 1, "behind a write that runs once")
        #expect(counts.values.allSatisfy { $0 <= 2 })
        // They ran again unless the group was cut in front of them.
        #expect(sequences.value.suffix(4) == [1, 2, 3, 4])
    }

    @Test("writes that may run again share a transaction without children, and see those before them")
    func repeatableWithoutFailure() async throws {
        let runs = Shared(0)
        let results = try await together(8, repeatable: Set(0..<8)) { number, writer in
            runs.change { $0 += 1 }
            let known = try writer.reader().count("User")
            try writer.putUser(number)
            return known
        }
        #expect(results.map(value) == Array(0..<8) && runs.value == 8)
        #expect(try store.count("User") == 8 && store.sequence == 8)
    }

    @Test("a closure sees the indexes of those before it")
    func indexesOfEarlierClosures() async throws {
        let results = try await together(4) { number, writer in
            let index = try #require(try writer.access.state.entity("User").field("login")?.index)
            let entries = try writer.access.keys(of: writer.access.state.index(index)).count
            try writer.putUser(number)
            return entries
        }
        #expect(results.map(value) == [0, 1, 2, 3])
    }

    @Test("when one result is delivered, everything of its group is committed")
    func deliveredAfterTheCommit() async throws {
        let held = try await HeldWrite(store)
        let seen = await withTaskGroup(of: (transaction: Int, count: Int)?.self) { [store] group in
            for number in 0..<10 {
                group.addTask {
                    let transaction = try? await store.write { writer in
                        try writer.putUser(number)
                        return writer.transaction
                    }
                    return try? (transaction ?? 0, store.count("User"))
                }
            }
            try? await held.end(store, when: 10)
            return await group.reduce(into: []) { $0.append($1) }
        }.compactMap { $0 }
        #expect(seen.count == 10)
        for (transaction, count) in seen {
            #expect(count >= seen.count { $0.transaction <= transaction })
        }
    }

    @Test("every closure runs once, all on one thread")
    func onceOnOneThread() async throws {
        let runs = Shared<[Int: Int]>([:]), threads = Shared<Set<UInt>>([])
        await withTaskGroup(of: Void.self) { [store] group in
            for number in 0..<200 {
                group.addTask {
                    try? await store.write { writer in
                        runs.change { $0[number, default: 0] += 1 }
                        threads.change { $0.insert(UInt(pthread_self())) }
                        try writer.putUser(number)
                        if number % 7 == 0 { throw Refusal() }
                    }
                }
            }
        }
        #expect(runs.value.count == 200)
        #expect(runs.value.values.allSatisfy { $0 == 1 })
        #expect(threads.value.count == 1)
        #expect(try store.count("User") == 200 - 29)
    }

    @Test("a write that is to be alone has a transaction of its own, and keeps its place in the queue")
    func aloneIsAlone() async throws {
        let held = try await HeldWrite(store)
        var tasks: [Task<[Int], any Error>] = []
        for number in 0..<5 {
            tasks.append(
                Task { [store] in
                    try await store.write(alone: number == 2) { writer in
                        try writer.putUser(number)
                        return [writer.transaction, Int(writer.sequence)]
                    }
                })
            try await eventually { store.queue.count > number }
        }
        try await held.end(store, when: 5)
        var results: [[Int]] = []
        for task in tasks { results.append(try await task.value) }
        #expect(results.map { $0[1] } == [1, 2, 3, 4, 5])
        let transactions = results.map { $0[0] }
        #expect(transactions == transactions.sorted())
        #expect(transactions[1] < transactions[2] && transactions[2] < transactions[3])
    }

    @Test("no group has more than 256 closures")
    func groupsAreBounded() async throws {
        let results = try await together(300) { number, writer in
            try writer.putUser(number)
            return writer.transaction
        }
        let sizes = Dictionary(grouping: results.compactMap(value)) { $0 }.mapValues(\.count)
        #expect(sizes.values.reduce(0, +) == 300)
        #expect(sizes.count >= 2)
        #expect(sizes.values.allSatisfy { $0 <= 256 })
    }

    @Test("a group takes no more members after ten milliseconds")
    func groupsAreShort() async throws {
        let results = try await together(6) { number, writer in
            try writer.putUser(number)
            usleep(6000)
            return writer.transaction
        }
        let sizes = Dictionary(grouping: results.compactMap(value)) { $0 }.mapValues(\.count)
        #expect(sizes.values.reduce(0, +) == 6)
        #expect(sizes.values.allSatisfy { $0 <= 2 })
    }

    @Test("blocking writes of many threads are committed together, and each returns its own result")
    func manyThreads() throws {
        let before = try store.environment.information().lastTransaction
        let wrong = Shared(0)
        DispatchQueue.concurrentPerform(iterations: 32) { thread in
            for round in 0..<20 {
                let id = thread * 100 + round
                let result = try? store.write { writer in
                    try writer.putUser(id)
                    return id
                }
                if result != id { wrong.change { $0 += 1 } }
            }
        }
        #expect(wrong.value == 0)
        #expect(try store.count("User") == 640)
        #expect(try store.changes().map(\.sequence) == Array(1...640))
        #expect(try store.environment.information().lastTransaction - before <= 640)
    }

    @Test("64 tasks that write in a loop need far fewer commits than writes")
    func manyTasks() async throws {
        let before = try store.environment.information().lastTransaction
        try await withThrowingTaskGroup(of: Void.self) { [store] group in
            for task in 0..<64 {
                group.addTask {
                    for round in 0..<20 { try await store.write { try $0.putUser(task * 100 + round) } }
                }
            }
            try await group.waitForAll()
        }
        #expect(try store.count("User") == 1280)
        #expect(try store.sequence == 1280)
        #expect(try store.environment.information().lastTransaction - before < 640)
    }

    @Test("a write inside a write is refused at once, also in a group")
    func nestedWriteIsRefused() async throws {
        let results = try await together(3) { [store] number, writer in
            guard case StoreError.lmdb(let error)? = storeError({ try store.write { _ in } }) else { return 0 }
            return error.kind == .nestedWrite ? 1 : 2
        }
        #expect(results.map(value) == [1, 1, 1])
        let nested = LMDBError(.nestedWrite, operation: "write", path: folder("s"))
        #expect(storeError { try store.read { _ in try store.write { _ in } } } == StoreError.lmdb(nested))
    }

    @Test("a commit that fails fails every member of the group, and nothing of them is kept")
    func failedCommitFailsAll() async throws {
        let path = folder("f")
        await #expect(processExitsWith: .success) { [path = path as String] in
            let count = 5
            do {
                let store = try Store.open(at: path, schema: Forge.schema)
                try await store.write { try $0.putUser(100) }
                let held = try await HeldWrite(store)
                let tasks = (0..<count).map { number in Task { try await store.write { try $0.putUser(number) } } }
                try await eventually { store.queue.count >= count }
                try breakMetaPages(of: path)
                try await held.end(store, when: count)
                for task in tasks {
                    let result = await task.result
                    #expect(throws: StoreError.self) { try result.get() }
                }
                let next = storeError { try store.put("User", RecordKey(200)) }
                guard case StoreError.lmdb(let error)? = next else {
                    Issue.record("\(String(describing: next))")
                    return
                }
                #expect(error.kind == .poisoned)
            }
            let store = try Store.open(at: path)
            #expect(try store.count("User") == 1)
            try store.put("User", RecordKey(1))
        }
    }

    @Test("after a write has returned, the last reference closes the store")
    func lastReferenceCloses() throws {
        for round in 0..<100 {
            let options = Store.Options(durability: round % 2 == 0 ? .volatile : .relaxed)
            let store = try Store.open(at: folder("c"), schema: Forge.schema, options: options)
            try store.put("User", RecordKey(Int64(round)))
        }
        #expect(try Store.open(at: folder("c")).count("User") == 100)
    }
}

/// Makes the next commit fail: puts a descriptor that cannot be written to in the place of the one
/// that liblmdb writes meta pages with (mdb.c, `MDB_O_META`: the one of `data.mdb` with O_DSYNC).
func breakMetaPages(of path: String) throws {
    var replaced = 0
    for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
        guard let descriptor = Int32(name),
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)"),
            target.hasSuffix(path + "/data.mdb"), fcntl(descriptor, F_GETFL) & O_DSYNC != 0
        else { continue }
        let other = open("/dev/null", O_RDONLY | O_CLOEXEC)
        #expect(dup2(other, descriptor) == descriptor)
        close(other)
        replaced += 1
    }
    #expect(replaced == 1)
}
