// The quota: writes stop there without loss, deletes continue, and it applies to every process.

import Foundation
import Glibc
import LMDB
import TestSupport
import Testing

@testable import TarnStore

@Suite("Quota", .timeLimit(.minutes(5)))
struct QuotaTests {
    static let quota = 2 << 20
    static let text = Value.string(String(repeating: "x", count: 900))

    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    static func open(_ path: String, quota: Int? = quota) throws -> Store {
        try Store.open(at: path, schema: Forge.schema, options: .init(durability: .volatile, quota: quota))
    }

    /// Puts issues one by one until the store stays full: pages that earlier commits freed make
    /// room for a few after the first refusal. Returns how many are there.
    static func fill(_ store: Store, from first: Int = 0) throws -> Int {
        var number = first, refusals = 0
        while refusals < 20, number < 20_000 {
            do {
                try store.put(
                    "Issue", RecordKey(Int64(number)),
                    ["title": text, "author": .reference(RecordKey(Int64(number % 10)))])
                number += 1
                refusals = 0
            } catch {
                guard case StoreWriteError.storeFull = error else { throw error }
                refusals += 1
            }
        }
        #expect(number < 20_000, "there was no limit")
        return number
    }

    /// More than fits into a few free pages.
    static func putMuch(_ store: Store) throws {
        try store.write { writer in
            for number in 0..<400 {
                try writer.put("Issue", RecordKey(Int64(100_000 + number)), [.init("title", text)])
            }
        }
    }

    static func size(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path + "/data.mdb")
        return (attributes[.size] as? NSNumber)?.intValue ?? 0
    }

    @Test("a full store says so, with its quota, and has everything that was acknowledged")
    func fullStoreKeepsEverything() throws {
        let store = try QuotaTests.open(folder("s"))
        let count = try QuotaTests.fill(store)
        #expect(count > 500)
        #expect(
            storeError { try QuotaTests.putMuch(store) }
                == StoreWriteError.storeFull(path: folder("s"), quota: QuotaTests.quota))
        #expect(try store.count("Issue") == count)
        #expect(try store.sequence == UInt64(count))
        #expect(try store.record("Issue", RecordKey(Int64(count - 1)))?["title"] == QuotaTests.text)
        #expect(try (0..<10).map { try store.related("User", RecordKey($0), "issues").count }.reduce(0, +) == count)
        #expect(try QuotaTests.size(folder("s")) <= QuotaTests.quota + Quota.reserve(of: QuotaTests.quota))
    }

    @Test("from a full store can be deleted, and then it takes as much again without a larger file")
    func deletesMakeRoom() throws {
        let store = try QuotaTests.open(folder("s"))
        let count = try QuotaTests.fill(store)
        for number in 0..<count { try store.write { _ = try $0.delete("Issue", RecordKey(Int64(number))) } }
        #expect(try store.count("Issue") == 0)
        #expect(try store.related("User", RecordKey(1), "issues").isEmpty)
        #expect(try QuotaTests.size(folder("s")) <= QuotaTests.quota + Quota.reserve(of: QuotaTests.quota))
        // The change log has grown by the deletes: not all comes back.
        #expect(try QuotaTests.fill(store) > count / 2)
        #expect(try QuotaTests.size(folder("s")) <= QuotaTests.quota + Quota.reserve(of: QuotaTests.quota))
    }

    @Test("a reader of another process that was killed does not keep the room that deletes make")
    func killedReaderKeepsNoRoom() async throws {
        let path = folder("s"), store = try QuotaTests.open(path)
        let count = try QuotaTests.fill(store)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            try QuotaTests.open(path).read { _ in _ = kill(getpid(), SIGKILL) }
        }
        for number in 0..<count { try delete(store, number) }
        #expect(try QuotaTests.fill(store) > count / 2)
    }

    /// Not async: a write there is the suspending one. A delete that finds no room is tried once
    /// more.
    private func delete(_ store: Store, _ number: Int) throws {
        for attempt in 0...1 {
            do {
                return try store.write { _ = try $0.delete("Issue", RecordKey(Int64(number))) }
            } catch StoreWriteError.storeFull where attempt == 0 {
            }
        }
    }

    @Test("one large delete makes room for the next write, at once or at the second attempt")
    func largeDeleteMakesRoom() throws {
        let store = try QuotaTests.open(folder("s"))
        let count = try QuotaTests.fill(store)
        try store.write { writer in
            for number in 0..<count / 10 { try writer.delete("Issue", RecordKey(Int64(number))) }
        }
        try store.put("Issue", RecordKey(-1), ["title": QuotaTests.text])
        let unit = {
            try store.write(alone: true) { writer in
                for number in 0..<count / 20 {
                    try writer.put("Issue", RecordKey(Int64(number)), [.init("title", QuotaTests.text)])
                }
            }
        }
        do { try unit() } catch { try unit() }
        #expect(try store.count("Issue") == count - count / 10 + count / 20 + 1)
    }

    @Test("a unit past the quota leaves nothing, and the store works on")
    func largeUnitLeavesNothing() throws {
        let store = try QuotaTests.open(folder("s"))
        try store.put("User", RecordKey(1))
        let failure = storeError {
            try store.write(alone: true) { writer in
                for number in 0..<5000 {
                    try writer.put("Issue", RecordKey(Int64(number)), [.init("title", QuotaTests.text)])
                }
            }
        }
        #expect(failure == StoreWriteError.storeFull(path: folder("s"), quota: QuotaTests.quota))
        #expect(try store.count("Issue") == 0)
        #expect(try store.sequence == 1)
        try store.put("User", RecordKey(2))
        #expect(try QuotaTests.size(folder("s")) <= QuotaTests.quota)
    }

    @Test("in a group only the write that finds no room fails")
    func onlyOneOfAGroupFails() async throws {
        let store = try QuotaTests.open(folder("s"))
        let held = try await HeldWrite(store)
        let tasks = (0..<5).map { number in
            Task {
                try await store.write { writer in
                    for row in 0..<(number == 2 ? 5000 : 2) {
                        try writer.put(
                            "Issue", RecordKey(Int64(number * 10_000 + row)), [.init("title", QuotaTests.text)])
                    }
                }
            }
        }
        try await held.end(store, when: 5)
        for (number, task) in tasks.enumerated() {
            let result = await task.result
            let failure = storeError { try result.get() }
            if number == 2 {
                #expect(failure == StoreWriteError.storeFull(path: folder("s"), quota: QuotaTests.quota))
            } else {
                #expect(failure == nil)
            }
        }
        #expect(try store.count("Issue") == 8)
    }

    @Test("in a group without children only the last write fails, for which the index has no room")
    func onlyTheLastOfAGroupFails() async throws {
        let store = try QuotaTests.open(folder("s"))
        let held = try await HeldWrite(store)
        var tasks: [Task<Void, any Error>] = []
        for number in 0..<4 {
            tasks.append(
                Task {
                    try await store.writeRepeatably { writer in
                        // The rows alone have room.
                        for row in 0..<(number == 3 ? 4000 : 2) {
                            let login = "\(100_000 + number * 10_000 + row)" + String(repeating: "x", count: 240)
                            try writer.put(
                                "User", RecordKey(Int64(number * 10_000 + row)), [.init("login", .string(login))])
                        }
                    }
                })
            try await eventually { store.queue.count > number }
        }
        try await held.end(store, when: 4)
        for (number, task) in tasks.enumerated() {
            let result = await task.result
            let failure = storeError { try result.get() }
            #expect((failure == nil) == (number < 3), "\(number): \(String(describing: failure))")
        }
        #expect(try store.count("User") == 6)
    }

    @Test("the quota stands in the store: reopening does not change it, setting it does")
    func quotaStandsInTheStore() throws {
        do { #expect(try QuotaTests.open(folder("s")).quota == QuotaTests.quota) }
        let store = try QuotaTests.open(folder("s"), quota: 64 << 20)
        #expect(try store.quota == QuotaTests.quota)
        let count = try QuotaTests.fill(store)
        try store.setQuota(QuotaTests.quota * 2)
        #expect(try store.quota == QuotaTests.quota * 2)
        #expect(try QuotaTests.fill(store, from: count) > count + count / 2)
        try store.setQuota(nil)
        #expect(try store.quota == nil)
        try store.put("Issue", RecordKey(-1), ["title": QuotaTests.text])
    }

    @Test("a quota below the size stops growth and deletes nothing")
    func quotaBelowTheSize() throws {
        let store = try QuotaTests.open(folder("s"))
        let count = try QuotaTests.fill(store)
        try store.setQuota(1 << 20)
        #expect(try store.count("Issue") == count)
        #expect(
            storeError { try QuotaTests.putMuch(store) } == StoreWriteError.storeFull(path: folder("s"), quota: 1 << 20)
        )
        for number in 0..<count / 2 { try store.write { _ = try $0.delete("Issue", RecordKey(Int64(number))) } }
        try store.put("Issue", RecordKey(-1), ["title": QuotaTests.text])
        #expect(try QuotaTests.size(folder("s")) <= QuotaTests.quota + Quota.reserve(of: QuotaTests.quota))
    }

    @Test(
        "a quota that is too small, or leaves no room in the map, is refused with what is possible",
        arguments: [0, -1, 4096, 1 << 40, Int.max])
    func impossibleQuota(_ quota: Int) throws {
        let refusal = storeError { _ = try QuotaTests.open(folder("s"), quota: quota) }
        guard case StoreOpenError.quotaOutOfRange(quota, 1 << 20, let largest)? = refusal else {
            Issue.record("it was taken")
            return
        }
        #expect(!FileManager.default.fileExists(atPath: folder("s")))
        let store = try QuotaTests.open(folder("t"))
        guard
            case StoreOpenError.quotaOutOfRange(quota, 1 << 20, let possible)? = storeError({
                try store.setQuota(quota)
            })
        else {
            Issue.record("it was set")
            return
        }
        // The size of this process's map.
        #expect(possible <= largest && possible > 1 << 30)
        #expect(try store.quota == QuotaTests.quota)
    }

    @Test(
        "impossible numbers in the settings of a store are errors: the quota when it is opened, ids when one is needed")
    func impossibleSettings() throws {
        let path = folder("s")
        do {
            let store = try Forge.open(path)
            func set(_ key: StaticString) throws {
                try store.write { try $0.access.raw.put($0.access.state.meta, key: key, number: .max) }
            }
            let labels = (0..<800).map { RecordKey("label \($0)") }
            try set(MetaKey.nextList)
            let failure = storeError { try store.put("Issue", 1, ["labels": .references(labels)]) }
            guard case StoreError.lmdb(let error)? = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(error.kind == .corrupted && error.operation.contains("`next list`"))
            try store.put("Issue", 1)
            try set(MetaKey.quota)
        }
        let failure = storeError { _ = try Forge.open(path) }
        guard case StoreOpenError.addressSpace(path, let needed, let granted)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(needed > granted)
    }

    @Test("an impossible size from which a quota's reserve begins is no overflow")
    func impossibleBase() throws {
        let path = folder("s")
        do {
            let store = try Forge.open(path)
            try store.write { writer in
                for (key, number) in [(MetaKey.quota, 1), (MetaKey.quotaBase, .max)] as [(StaticString, UInt64)] {
                    try writer.access.raw.put(writer.access.state.meta, key: key, number: number)
                }
            }
        }
        let failure = storeError {
            let store = try Forge.open(path)
            try store.put("Issue", 1)
        }
        #expect(failure != nil)
    }

    @Test("a quota that another process sets is this one's as well")
    func otherProcessSetsTheQuota() async throws {
        let path = folder("s"), store = try QuotaTests.open(path)
        let count = try QuotaTests.fill(store)
        await #expect(processExitsWith: .success) { [path = path as String, count = count as Int] in
            // Opened with another quota: that of the store counts.
            let other = try QuotaTests.open(path, quota: 64 << 20)
            #expect(
                storeError { try QuotaTests.putMuch(other) }
                    == StoreWriteError.storeFull(path: path, quota: QuotaTests.quota))
            try other.setQuota(QuotaTests.quota * 2)
            #expect(try QuotaTests.fill(other, from: count) > count)
        }
        let now = try store.count("Issue")
        #expect(now > count)
        #expect(
            storeError { try QuotaTests.putMuch(store) }
                == StoreWriteError.storeFull(path: path, quota: QuotaTests.quota * 2))
        try store.setQuota(QuotaTests.quota * 3)
        try store.put("Issue", RecordKey(-1), ["title": QuotaTests.text])
    }

    @Test(
        "a process with little address space opens a store whose quota fits, and is refused where it does not",
        .disabled(if: isSanitized))
    func littleAddressSpace() async throws {
        let small = folder("small"), large = folder("large")
        do {
            try QuotaTests.open(small).put("User", RecordKey(1))
            try QuotaTests.open(large, quota: 512 << 30).put("User", RecordKey(1))
        }
        await #expect(processExitsWith: .success) { [small = small as String, large = large as String] in
            var limit = rlimit(rlim_cur: 64 << 30, rlim_max: 64 << 30)
            #expect(setrlimit(__rlimit_resource_t(9), &limit) == 0)  // RLIMIT_AS
            let store = try QuotaTests.open(small)
            #expect(try store.environment.information().mapSize < 64 << 30)
            #expect(try store.count("User") == 1)
            #expect(try QuotaTests.fill(store) > 500)
            guard
                case StoreOpenError.addressSpace(large, let needed, let granted)? = storeError({
                    _ = try QuotaTests.open(large)
                })
            else {
                Issue.record("it was opened")
                return
            }
            #expect(needed > 512 << 30 && granted < 64 << 30)
        }
    }
}
