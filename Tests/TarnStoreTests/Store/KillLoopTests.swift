// Writers that are killed repeatedly at random points on one store: acknowledged writes are there,
// none is there in part, and the next process that opens the store needs no help.

import Foundation
import Glibc
import TestSupport
import Testing

@testable import TarnStore

@Suite("Killed writers", .timeLimit(.minutes(Kills.minutes)))
struct KillLoopTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A store with its writers: streams 0 to 3 are those of the process that is always there, 4
    /// and 5 those of the other.
    private struct Victim {
        let path: String
        var random: SeededRandom
        var progress = Progress(streams: 0..<6)
        var kills = 0

        /// Reads lines of a writer that has opened the store, until it has acknowledged that many
        /// transactions.
        mutating func take(_ count: Int, from writer: WorkerProcess) throws {
            for _ in 0..<count {
                guard let line = try writer.line() else {
                    throw WorkerProcess.Failure(description: "a writer has ended")
                }
                guard progress.take(line) else { throw WorkerProcess.Failure(description: line) }
            }
        }

        func writer(_ streams: String) throws -> WorkerProcess { try WorkerProcess(["write", path, streams]) }

        mutating func open(_ streams: String) throws -> WorkerProcess {
            let writer = try writer(streams)
            guard let line = try writer.line(), line == "open" else {
                throw WorkerProcess.Failure(description: "it does not open")
            }
            return writer
        }

        /// Kills a writer, and reads its output.
        mutating func kill(_ writer: WorkerProcess) throws {
            writer.kill()
            kills += 1
            for line in try writer.lines() where line != "open" {
                guard progress.take(line) else { throw WorkerProcess.Failure(description: line) }
            }
            guard writer.end() == -SIGKILL else {
                throw WorkerProcess.Failure(description: "it ended with \(writer.end())")
            }
        }

        /// Some microseconds, so that no kill falls into the same place of a transaction as
        /// another.
        mutating func waitABit(upTo microseconds: UInt32) {
            usleep(UInt32.random(in: 0...microseconds, using: &random))
        }

        mutating func killOnce() throws {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<3:
                // At any time: while it starts, opens the store, or writes.
                let writer = try writer("0,1,2,3")
                waitABit(upTo: 200_000)
                try kill(writer)
            case 3..<7:
                let writer = try open("0,1,2,3")
                try take(Int.random(in: 1...50, using: &random), from: writer)
                waitABit(upTo: 5000)
                try kill(writer)
            case 7..<9:
                // The other process waits for the lock of the killed one, and then continues.
                let writer = try open("0,1,2,3"), other = try open("4,5")
                try take(Int.random(in: 1...30, using: &random), from: writer)
                waitABit(upTo: 5000)
                try kill(writer)
                try take(20, from: other)
                try kill(other)
                kills -= 1
            default:
                let writer = try open("0,1,2,3"), other = try open("4,5")
                try take(10, from: other)
                waitABit(upTo: 5000)
                writer.kill()
                try kill(other)
                try kill(writer)
                kills -= 1
            }
        }
    }

    @Test(
        "of a store whose writers are killed again and again every acknowledged commit is there, none by half, and it opens by itself"
    )
    func killLoop() async throws {
        let path = folder("s"), seed = Kills.seed, kills = Kills.writes
        try await onThread {
            var victim = Victim(path: path, random: SeededRandom(seed: seed))
            do {
                while victim.kills < kills {
                    try victim.killOnce()
                    if let problem = try victim.progress.problem(at: path) {
                        throw WorkerProcess.Failure(description: problem)
                    }
                }
                let store = try Store.open(at: path), commits = try store.environment.information().lastTransaction
                print("\(victim.kills) kills, seed \(seed): \(try store.sequence) transactions in \(commits) commits")
                guard try store.sequence > UInt64(commits) else {
                    throw WorkerProcess.Failure(description: "no group was committed")
                }
            } catch {
                throw WorkerProcess.Failure(description: "seed \(seed), kill \(victim.kills): \(error)")
            }
            let progress = victim.progress.counts
            // Or nothing was proved.
            guard progress.values.reduce(0, +) > 10 * kills, (0..<6).allSatisfy({ progress[$0, default: 0] > 0 }) else {
                throw WorkerProcess.Failure(description: "seed \(seed): hardly anything was written: \(progress)")
            }
        }
    }

    @Test(
        "the check of a store finds every damage that was done on purpose",
        arguments: [
            ("row", "is missing, and 0 more"), ("byte", "is damaged"), ("index", "the index Line.amount"),
            ("extra", "the index Line.amount"), ("inverse", "the index Line.order"),
            ("entry", "commit 2 is of the streams []"),
            ("tail", "shared counter"), ("pages", "of tables"),
        ])
    func checkFindsDamage(_ kind: String, _ finding: String) async throws {
        let path = folder("s")
        let problem: String? = try await onThread {
            var progress = try KillLoopTests.written(path, 30)
            guard try WorkerProcess(["damage", path, kind]).end() == 0 else { return "it was not damaged" }
            return try progress.problem(at: path, open: 0)
        }
        #expect(problem?.contains(finding) == true, "\(problem ?? "nothing was found")")
    }

    /// A store with this number of transactions of stream 0.
    private static func written(_ path: String, _ count: Int) throws -> Progress {
        var progress = Progress(streams: [0])
        let script = try WorkerProcess(["script", path, "\(count)"])
        for line in try script.lines() where !progress.take(line) { throw WorkerProcess.Failure(description: line) }
        guard script.end() == 0 else {
            throw WorkerProcess.Failure(description: "the script ended with \(script.end())")
        }
        return progress
    }

    @Test("the check of a store finds a transaction that is missing, one too many, and one of nobody")
    func checkFindsWrongCounts() async throws {
        let path = folder("s")
        let problems: [String?] = try await onThread {
            var right = try KillLoopTests.written(path, 14), later = right, earlier = Progress(streams: [0])
            _ = later.take("ack 0 15")
            for number in 1...12 { _ = earlier.take("ack 0 \(number)") }
            var nobody = Progress(streams: [1])
            return [
                try right.problem(at: path, open: 0), try later.problem(at: path), try earlier.problem(at: path),
                try nobody.problem(at: path),
            ]
        }
        #expect(problems[0] == nil)
        #expect(problems[1]?.contains("stream 0 has come to 14, and it must be 15...16") == true)
        #expect(problems[2]?.contains("stream 0 has come to 14, and it must be 12...13") == true)
        #expect(problems[3]?.contains("the shared counter is at 14, the streams together at 0") == true)
    }
}
