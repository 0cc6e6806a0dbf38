// The retention of changes: by age, by size, everything, nothing; a few are removed with every
// commit.

import Foundation
import LMDB
import Locking
import TestSupport
import Testing

@testable import TarnStore

@Suite("The retention of changes")
struct ChangeRetentionTests {
    /// A clock that advances only on request.
    private final class Clock: Sendable {
        private let time = Guarded<Int64>(1_000_000_000_000_000)

        func pass(_ duration: Duration) { time.withLock { $0 += Int64(duration / .microseconds(1)) } }
        var now: Timestamp { Timestamp(microseconds: time.withLock { $0 }) }
    }

    let folder: TemporaryFolder
    let store: Store
    private let clock = Clock()

    init() throws {
        folder = try TemporaryFolder()
        store = try Forge.open(folder("s"))
        let clock = clock
        store.changeClock.withLock { $0.now = { clock.now } }
    }

    private var entries: Int {
        get throws { try store.read { try $0.access.raw.statistics($0.access.state.changes).entries } }
    }

    private func token() throws -> ChangeToken { try store.read { try $0.changeToken } }

    /// A commit with one change.
    private func commit() throws {
        let number = Int64(try store.sequence)
        try store.put("User", 1, ["login": .string("\(number)")])
    }

    @Test(
        "a store keeps changes for 7 days or to 10 %; what is set instead holds for every process and after a reopening"
    )
    func settings() async throws {
        #expect(try store.changeRetention == .standard)
        #expect(ChangeRetention.standard == ChangeRetention(age: .seconds(604_800), share: 0.1))
        let set = ChangeRetention(age: .seconds(60), share: 0.25)
        try store.setChangeRetention(set)
        #expect(try store.changeRetention == set)
        try store.setChangeValues(.entities(["Issue"]))
        await #expect(processExitsWith: .success) { [path = folder("s") as String] in
            let other = try Forge.open(path, nil)
            #expect(try other.changeRetention == ChangeRetention(age: .seconds(60), share: 0.25))
            #expect(try other.changeValues == .entities(["Issue"]))
            try other.setChangeRetention(.all)
            try other.setChangeValues(.all)
        }
        #expect(try store.changeRetention == .all)
        #expect(try store.changeValues == .all)
        #expect(storeError { try store.setChangeRetention(ChangeRetention(age: .seconds(-1), share: nil)) } != nil)
        #expect(storeError { try store.setChangeRetention(ChangeRetention(age: nil, share: 1.5)) } != nil)
        #expect(storeError { try store.setChangeRetention(ChangeRetention(age: nil, share: .nan)) } != nil)
        #expect(try store.changeRetention == .all)
    }

    @Test("changes go when they are too old, with a later commit, and not before")
    func age() throws {
        try store.setChangeRetention(ChangeRetention(age: .seconds(6400), share: nil))
        let start = try token()
        for _ in 0..<10 { try commit() }
        clock.pass(.seconds(6399))
        try commit()
        #expect(try entries == 11)
        #expect(try store.read { try $0.changes(since: start).changes.count } == 11)
        clock.pass(.seconds(101))
        // Nothing is removed without a write.
        _ = try store.sequence
        #expect(try entries == 11)
        let before = try token()
        try commit()
        #expect(try entries == 2)
        #expect(try store.read { try $0.oldestChangeToken.sequence } == 10)
        #expect(
            storeError { _ = try store.read { try $0.changes(since: start) } }
                == ChangeLogError.changesTrimmed(oldest: try store.read { try $0.oldestChangeToken }))
        #expect(try store.read { try $0.changes(since: before).changes.count } == 1)
    }

    @Test(
        "whatever is written, a change lives as long as its age and at most a 64th longer",
        arguments: [1, 2, 3] as [UInt64])
    func ages(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed), times: [UInt64: Int64] = [:]
        let age: Int64 = 64_000_000
        try store.setChangeRetention(ChangeRetention(age: .microseconds(age), share: nil))
        for _ in 0..<600 {
            clock.pass(
                .microseconds(
                    Int.random(in: 0...9, using: &random) == 0
                        ? 20_000_000 : Int.random(in: 0...900_000, using: &random)))
            try commit()
            let now = clock.now.microseconds
            times[try store.sequence] = now
            let trimmed = try store.read { try $0.oldestChangeToken.sequence }
            for (sequence, time) in times {
                if sequence <= trimmed {
                    try #require(time <= now - age, "seed \(seed)")
                    times[sequence] = nil
                } else {
                    try #require(time > now - age - 2 * age / 64, "seed \(seed), \(now - time)")
                }
            }
            let marks = try store.read {
                try CommitTimes($0.access.raw.get($0.access.state.meta, key: MetaKey.changeTimes)).marks.count
            }
            #expect(marks <= 70)
        }
    }

    @Test(
        "a commit while the clock was ahead, or behind, does not keep later changes: they live as long as their age",
        arguments: [400, -400])
    func wrongClock(_ days: Int64) throws {
        try store.setChangeRetention(ChangeRetention(age: .seconds(6400), share: nil))
        for wrong in [true, false] {
            if wrong { clock.pass(.seconds(days * 86_400)) }
            for _ in 0..<10 { try commit() }
            if wrong { clock.pass(.seconds(-days * 86_400)) }
        }
        for _ in 0..<1000 {
            clock.pass(.seconds(100))
            try commit()
        }
        #expect(try 64...66 ~= entries)
        let marks = try store.read {
            try CommitTimes($0.access.raw.get($0.access.state.meta, key: MetaKey.changeTimes)).marks.count
        }
        #expect(marks <= 70)
    }

    @Test("changes that were committed while the clock was ahead are removed once those after them are too old")
    func clockAheadAtFirst() throws {
        try store.setChangeRetention(ChangeRetention(age: .seconds(6400), share: nil))
        clock.pass(.seconds(400 * 86_400))
        for _ in 0..<10 { try commit() }
        clock.pass(.seconds(-400 * 86_400))
        try commit()
        clock.pass(.seconds(6399))
        try commit()
        #expect(try entries == 12)
        clock.pass(.seconds(101))
        try commit()
        #expect(try entries == 2)
    }

    @Test(
        "a stored retention that cannot be set, and times that no commit has, are taken for the default and do not end the process",
        arguments: ["9223372036854775807 100000", "-9223372036854775808 -", "1 9223372036854775807", "- 1e400", "x y"])
    func damagedSettings(_ text: String) throws {
        try store.write { writer in
            let raw = writer.access.raw, meta = writer.access.state.meta
            try raw.put(meta, key: MetaKey.changeRetention, text: text)
            // Two marks: a sequence and a time of all bits, and one of none.
            let marks =
                Array(repeating: UInt8(0xFF), count: 8) + [0x80, 0, 0, 0, 0, 0, 0, 0]
                + Array(repeating: UInt8(0), count: 16)
            try marks.withUnsafeBytes { try raw.put(meta, Bytes(MetaKey.changeTimes), $0) }
            try raw.put(meta, key: MetaKey.generation, number: try raw.number(meta, key: MetaKey.generation) + 1)
        }
        for _ in 0..<3 { try commit() }
        #expect(try entries > 0)
    }

    @Test("a log that has too much of the file gets smaller, by a bounded number of changes with every commit")
    func size() throws {
        try store.setChangeRetention(.all)
        try store.write { writer in
            // In turns, so that each change has an entry of its own.
            for id in 0..<20_000 { try writer.put(id % 2 == 0 ? "User" : "Issue", RecordKey(Int64(id)), []) }
        }
        try store.setQuota(1 << 30)
        // A part that nothing fits in, of the smallest file that is counted.
        let tiny = ChangeRetention(age: nil, share: 0.001)
        try store.write { writer in
            let raw = writer.access.raw, meta = writer.access.state.meta
            try raw.put(meta, key: MetaKey.changeRetention, text: ChangeOptions.text(tiny))
            try raw.put(meta, key: MetaKey.generation, number: try raw.number(meta, key: MetaKey.generation) + 1)
        }
        #expect(try entries == 20_000)
        for number in 1...3 {
            try commit()
            #expect(try entries == 20_000 + number - number * 66)
        }
        // A partly removed commit is not shown.
        #expect(try store.read { try $0.oldestChangeToken.sequence } == 1)
        for _ in 0..<400 { try commit() }
        let bytes = try store.read { reader in
            let log = try reader.access.raw.statistics(reader.access.state.changes)
            return (log.leafPages + log.branchPages) * log.pageSize
        }
        #expect(bytes <= (80 << 20) / 1000)
        #expect(try store.read { try $0.changes(since: $0.oldestChangeToken).changes.count } > 0)
    }

    @Test("setting a retention takes out at once what is to go; everything and nothing can be kept")
    func everythingAndNothing() throws {
        for _ in 0..<20 { try commit() }
        let token = try token()
        try store.setChangeRetention(.nothing)
        #expect(try entries == 0)
        #expect(try store.read { try $0.oldestChangeToken } == token)
        try commit()
        #expect(try entries == 0)
        #expect(storeError { _ = try store.read { try $0.changes(since: token) } } != nil)
        #expect(try store.sequence == token.sequence + 1)
        try store.setChangeRetention(.all)
        let later = try self.token()
        clock.pass(.seconds(1 << 34))
        for _ in 0..<10 { try commit() }
        #expect(try store.read { try $0.changes(since: later).changes.count } == 10)
    }

    @Test("writes that are committed together are dated, and trim, as one")
    func groups() async throws {
        try store.setChangeRetention(ChangeRetention(age: .seconds(64), share: nil))
        for _ in 0..<100 { try commit() }
        clock.pass(.seconds(66))
        let store = store
        await withTaskGroup { group in
            for id in 0..<50 {
                group.addTask {
                    try? await store.write { writer in try writer.put("User", RecordKey(Int64(100 + id)), []) }
                }
            }
        }
        #expect(try entries == 50)
        #expect(
            try store.read { try $0.changes(since: $0.oldestChangeToken).changes.map(\.sequence) } == Array(101...150))
    }

    @Test("a walk over the log that is under way sees its snapshot to the end")
    func snapshot() async throws {
        for _ in 0..<30 { try commit() }
        let store = store
        let count = try store.read { reader in
            var count = 0
            try reader.forEachChange(since: reader.oldestChangeToken) { _ in
                if count == 5 {
                    let done = DispatchSemaphore(value: 0)
                    Thread {
                        try? store.setChangeRetention(.nothing)
                        done.signal()
                    }.start()
                    done.wait()
                }
                count += 1
                return true
            }
            return count
        }
        #expect(count == 30)
        #expect(try entries == 0)
    }

    @Test(
        "in a store that is full changes can be thrown away, and what is trimmed with a delete does not keep it from being done"
    )
    func full() throws {
        try store.setChangeRetention(.all)
        try store.setQuota(2 << 20)
        let text = String(repeating: "x", count: 900)
        var id: Int64 = 0, error: (any StoreFailure)?
        while error == nil {
            error = storeError {
                try store.write { writer in
                    for _ in 0..<20 {
                        try writer.put("User", RecordKey(id), [.init("login", .string("\(id)\(text)"))])
                        id += 1
                    }
                }
            }
        }
        guard case StoreWriteError.storeFull? = error else { throw try #require(error) }
        try store.setChangeRetention(.nothing)
        #expect(try entries == 0)
        try store.setChangeRetention(ChangeRetention(age: .seconds(64), share: nil))
        for id in 0..<200 {
            clock.pass(.seconds(10))
            try store.write { writer in _ = try writer.delete("User", RecordKey(Int64(id))) }
        }
        #expect(try entries < 12)
    }
}
