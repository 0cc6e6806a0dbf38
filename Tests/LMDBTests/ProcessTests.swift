// Several processes on one file: writers that are killed, writers that take turns, and forks.

import Foundation
import Glibc
import LMDB
import TestSupport
import Testing

@Suite("Processes", .timeLimit(.minutes(5)))
struct ProcessTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("of a writer that is killed before its commit nothing is found, and the next writer does not wait for it")
    func killedWriterLeavesNothing() async throws {
        let path = folder("e")
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let environment = try Environment.open(at: path)
            let table = try environment.makeTable("t")
            try environment.put(table, [("a", "1")])
            try environment.write { transaction in
                try transaction.set(table, bytes("a"), bytes("2"))
                // Enough that pages of the transaction could have reached the file.
                for number in 0..<5000 {
                    try transaction.set(table, bytes("\(number)"), Array(repeating: 1, count: 1000))
                }
                kill(getpid(), SIGKILL)
            }
        }
        let environment = try Environment.open(at: path)
        let table = try #require(try environment.existingTables(["t"])[0])
        #expect(try environment.value(table, "a") == "1")
        #expect(try environment.entryCount(table) == 1)
        try environment.put(table, [("b", "3")])
        #expect(try environment.value(table, "b") == "3")
    }

    @Test("a reader that was killed does not keep its slot for ever")
    func killedReaderFreesItsSlot() async throws {
        let path = folder("e")
        let environment = try Environment.open(at: path, options: .init(maximumReaders: 2))
        for _ in 0..<3 {
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
                let environment = try Environment.open(at: path, options: .init(maximumReaders: 2))
                try environment.read { _ in _ = kill(getpid(), SIGKILL) }
            }
        }
        try environment.read { _ in try environment.read { _ in } }
    }

    @Test("writers of two processes take turns, and no change is lost")
    func twoProcessesWrite() async throws {
        let path = folder("e")
        let environment = try Environment.open(at: path, options: .init(durability: .relaxed))
        let table = try environment.makeTable("t")
        try environment.put(table, [("count", "0")])
        async let first: Void = countInAnotherProcess(path)
        async let second: Void = countInAnotherProcess(path)
        _ = await (first, second)
        #expect(try environment.value(table, "count") == "400")
        #expect(try environment.entryCount(table) == 1)
    }

    private func countInAnotherProcess(_ path: String) async {
        await #expect(processExitsWith: .success) { [path = path as String] in
            let environment = try Environment.open(at: path, options: .init(durability: .relaxed))
            let table = try #require(try environment.existingTables(["t"])[0])
            for _ in 0..<200 {
                try environment.write { transaction in
                    let text = try transaction.copy(table, bytes("count")).map { String(decoding: $0, as: UTF8.self) }
                    try transaction.set(table, bytes("count"), bytes(String((Int(text ?? "") ?? -100_000) + 1)))
                }
            }
        }
    }

    @Test("opening a file while another process makes it grow never finds it damaged")
    func openingWhileAnotherProcessWrites() async throws {
        let path = folder("e")
        do { _ = try Environment.open(at: path, options: .init(durability: .volatile)).makeTable("t") }
        let stop = path + "/stop"
        async let writer: Void = growInAnotherProcess(path, until: stop)
        var openings = 0
        while !FileManager.default.fileExists(atPath: path + "/started") { await Task.yield() }
        while openings < 3000 {
            do {
                let environment = try Environment.open(at: path, options: .init(durability: .volatile))
                #expect(try environment.tableNames() == ["t"])
                openings += 1
            } catch {
                Issue.record("after \(openings) openings: \(error)")
                break
            }
        }
        try Data().write(to: URL(fileURLWithPath: stop))
        await writer
    }

    private func growInAnotherProcess(_ path: String, until stop: String) async {
        await #expect(processExitsWith: .success) { [path = path as String, stop = stop as String] in
            let environment = try Environment.open(at: path, options: .init(durability: .volatile))
            let table = try #require(try environment.existingTables(["t"])[0])
            try Data().write(to: URL(fileURLWithPath: path + "/started"))
            var number = 0
            while !FileManager.default.fileExists(atPath: stop) {
                // Grows for a while, then frees and takes again, so that the free list is in motion
                // as well.
                try environment.write { transaction in
                    try transaction.set(
                        table, bytes("\(number % 3000)"), Array(repeating: 1, count: 5000 + number % 7 * 4096))
                    if number % 3 == 0 { try transaction.delete(table, bytes("\((number / 2) % 3000)").span.bytes) }
                }
                number += 1
            }
        }
    }

    @Test("two processes that make the same environment at once both get it, time after time")
    func twoProcessesMakeTheSameEnvironment() async throws {
        let path = folder("e"), rounds = 40
        // The processes begin each round at the same moment.
        let start = Date().timeIntervalSince1970 + 1
        async let first: Void = putFromAnotherProcess(path, "first", rounds, from: start)
        async let second: Void = putFromAnotherProcess(path, "second", rounds, from: start)
        _ = await (first, second)
        for round in 0..<rounds {
            let environment = try Environment.open(at: "\(path)\(round)")
            let table = try #require(try environment.existingTables(["t"])[0])
            #expect(try environment.value(table, "first") == "1")
            #expect(try environment.value(table, "second") == "1")
        }
    }

    @Test("an environment can be made while another program locks its lock file for moments, as liblmdb does")
    func lockedForMoments() async throws {
        let path = folder("e"), count = 12
        let thread = Thread { [path] in ProcessTests.lockForMoments(path, count) }
        thread.start()
        await #expect(processExitsWith: .success) { [path = path as String, count = count as Int] in
            for number in 0..<count {
                let environment = try Environment.open(at: "\(path)\(number)")
                try environment.put(try environment.makeTable("t"), [("key", "1")])
                try Data().write(to: URL(fileURLWithPath: "\(path)\(number)/opened"))
            }
        }
        thread.cancel()
        while !thread.isFinished { usleep(1000) }
    }

    /// Locks the lock file of the environment that is being made, again and again, until all are.
    private static func lockForMoments(_ path: String, _ count: Int) {
        var number = 0
        while !Thread.current.isCancelled, number < count {
            let descriptor = open("\(path)\(number)/lock.mdb", O_RDWR | O_CLOEXEC)
            guard descriptor >= 0 else {
                usleep(20)
                continue
            }
            var range = flock()
            range.l_type = Int16(F_WRLCK)
            range.l_whence = Int16(SEEK_SET)
            range.l_len = 1
            if fcntl(descriptor, F_SETLK, &range) == 0 { usleep(UInt32.random(in: 10...300)) }
            close(descriptor)
            usleep(UInt32.random(in: 10...300))
            if access("\(path)\(number)/opened", F_OK) == 0 { number += 1 }
        }
    }

    private func putFromAnotherProcess(_ path: String, _ key: String, _ rounds: Int, from start: Double) async {
        await #expect(processExitsWith: .success) {
            [path = path as String, key = key as String, rounds = rounds as Int, start = start as Double] in
            for round in 0..<rounds {
                while Date().timeIntervalSince1970 < start + Double(round) / 100 {}
                let environment = try Environment.open(at: "\(path)\(round)")
                try environment.put(try environment.makeTable("t"), [(key, "1")])
            }
        }
    }

    @Test("a forked child is refused, and the parent goes on")
    func forkedChildIsRefused() async throws {
        let path = folder("e")
        await #expect(processExitsWith: .success) { [path = path as String] in
            let environment = try Environment.open(at: path)
            let table = try environment.makeTable("t")
            try environment.put(table, [("a", "1")])
            // Swift does not import `fork`; the child only queries, and exits without cleanup.
            let fork = unsafeBitCast(
                try #require(dlsym(UnsafeMutableRawPointer(bitPattern: 0), "fork")),
                to: (@convention(c) () -> Int32).self)
            let child = fork()
            if child == 0 {
                let answers = [
                    kindOfError { try environment.read { _ in } },
                    kindOfError { try environment.write { _ in } },
                    kindOfError { _ = try environment.tableNames() },
                ]
                _exit(answers == [.forked, .forked, .forked] ? 7 : 1)
            }
            var status: Int32 = 0
            #expect(waitpid(child, &status, 0) == child)
            #expect(status >> 8 & 0xFF == 7)
            try environment.put(table, [("b", "2")])
            #expect(try environment.value(table, "a") == "1")
        }
    }
}
