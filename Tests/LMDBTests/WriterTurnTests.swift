// Writers of several processes take turns; a writer that is killed in the queue blocks no other.

import Foundation
import Glibc
import LMDB
import TestSupport
import Testing

@Suite("Turns of writers", .timeLimit(.minutes(5)))
struct WriterTurnTests {
    struct NobodyWaits: Error {}

    struct Overtaken: Error {
        var writes: Int
        var round: Int
    }

    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Waits, inside a write of this process, until another process holds the turn: it then waits
    /// for this write to end.
    private static func waitForOther(_ path: String) throws {
        let descriptor = open(path + "/turn.lock", O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        let end = ContinuousClock.now + .seconds(60)
        while flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
            flock(descriptor, LOCK_UN)
            // Thrown, not recorded: this is a thread that belongs to no test.
            guard ContinuousClock.now < end else { throw NobodyWaits() }
            usleep(1000)
        }
        guard errno == EWOULDBLOCK else { throw LMDBError(.other, operation: "flock", code: errno) }
    }

    @Test("a writer that waits is next: one that comes again at once does not overtake it")
    func waitingWriterIsNext() async throws {
        let path = folder("e")
        let environment = try Environment.open(at: path, options: .init(durability: .volatile))
        let table = try environment.makeTable("t")
        async let other: Void = writeInAnotherProcess(path)
        try await onThread {
            for round in 0..<30 {
                try environment.write { transaction in
                    // One write of the other for each that it waited for during one of ours.
                    let entries = try transaction.statistics(table).entries
                    guard entries >= round else { throw Overtaken(writes: entries, round: round) }
                    // It may have written more while this process was not yet waiting, but not
                    // less.
                    if entries < 30 { try WriterTurnTests.waitForOther(path) }
                }
            }
        }
        await other
        #expect(try environment.entryCount(table) == 30)
    }

    private func writeInAnotherProcess(_ path: String) async {
        await #expect(processExitsWith: .success) { [path = path as String] in
            let environment = try Environment.open(at: path, options: .init(durability: .volatile))
            let table = try #require(try environment.existingTables(["t"])[0])
            for number in 0..<30 { try environment.put(table, [("\(number)", "1")]) }
        }
    }

    @Test("a long wait is reported although a write of another environment begins and ends meanwhile")
    func longWait() throws {
        let path = folder("e") as String, other = try Environment.open(at: folder("other"))
        let environment = try Environment.open(at: path), table = try environment.makeTable("t")
        let isReported = DispatchSemaphore(value: 0), isWritten = DispatchSemaphore(value: 0)
        // As another process that writes.
        let descriptor = open(path + "/turn.lock", O_RDWR | O_CLOEXEC)
        try #require(descriptor >= 0 && flock(descriptor, LOCK_EX) == 0)
        defer { close(descriptor) }
        WriterWait.report(after: 0.5) { directory, _ in if directory == path { isReported.signal() } }
        Thread.detachNewThread {
            try? environment.put(table, [("a", "1")])
            isWritten.signal()
        }
        usleep(100_000)
        try other.write { _ in }
        #expect(isReported.wait(timeout: .now() + .seconds(60)) == .success)
        flock(descriptor, LOCK_UN)
        isWritten.wait()
    }

    @Test("a process that is killed while it holds the turn holds up nobody")
    func killedHolderFreesTheTurn() async throws {
        let path = folder("e"), pidFile = folder("pid")
        let environment = try Environment.open(at: path)
        let table = try environment.makeTable("t")
        async let waiting: Void = waitForTurnInAnotherProcess(path, pidFile)
        try await onThread {
            try environment.write { transaction in
                // The other process holds the turn while it waits for this transaction to end.
                try WriterTurnTests.waitForOther(path)
                guard let pid = Int32(try String(contentsOfFile: pidFile, encoding: .utf8)), kill(pid, SIGKILL) == 0
                else {
                    throw NobodyWaits()
                }
                try transaction.set(table, bytes("a"), bytes("1"))
            }
        }
        await waiting
        try environment.put(table, [("b", "2")])
        #expect(try environment.entryCount(table) == 2)
    }

    private func waitForTurnInAnotherProcess(_ path: String, _ pidFile: String) async {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, pidFile = pidFile as String] in
            let environment = try Environment.open(at: path)
            try Data("\(getpid())".utf8).write(to: URL(fileURLWithPath: pidFile), options: .atomic)
            try environment.write { _ in }
        }
    }

    @Test("a process that is killed while it holds the turn holds up nobody, even if its forked child lives on")
    func killedHolderHasAChild() async throws {
        let path = folder("e"), pidFile = folder("pids")
        let environment = try Environment.open(at: path)
        let table = try environment.makeTable("t")
        async let waiting: Void = forkAndWaitForTurn(path, pidFile)
        try await onThread {
            try environment.write { transaction in
                try WriterTurnTests.waitForOther(path)
                guard let pid = try WriterTurnTests.pids(pidFile).first, kill(pid, SIGKILL) == 0 else {
                    throw NobodyWaits()
                }
                try transaction.set(table, bytes("a"), bytes("1"))
            }
        }
        try environment.put(table, [("b", "2")])
        let child = try #require(try WriterTurnTests.pids(pidFile).last)
        // It has the pipes of the killed process, whose end is awaited.
        #expect(kill(child, SIGKILL) == 0)
        await waiting
        #expect(try environment.entryCount(table) == 2)
    }

    private static func pids(_ file: String) throws -> [Int32] {
        try String(contentsOfFile: file, encoding: .utf8).split(separator: " ").compactMap { Int32($0) }
    }

    private func forkAndWaitForTurn(_ path: String, _ pidFile: String) async {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, pidFile = pidFile as String] in
            let environment = try Environment.open(at: path)
            let child = try forkProcess()
            if child == 0 {
                sleep(120)
                _exit(0)
            }
            try Data("\(getpid()) \(child)".utf8).write(to: URL(fileURLWithPath: pidFile), options: .atomic)
            try environment.write { _ in }
        }
    }

    @Test("a read-only environment makes no file of its own")
    func readOnlyMakesNoTurnLock() throws {
        do { _ = try Environment.open(at: folder("e")).makeTable("t") }
        try FileManager.default.removeItem(atPath: folder("e") + "/turn.lock")
        let environment = try Environment.open(at: folder("e"), options: .init(isReadOnly: true))
        try environment.read { _ in }
        #expect(!FileManager.default.fileExists(atPath: folder("e") + "/turn.lock"))
    }
}
