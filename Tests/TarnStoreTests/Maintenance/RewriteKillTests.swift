// Rewrites and compactions that are killed between and inside of their steps.

import Foundation
import Glibc
import TestSupport
import Testing

@testable import TarnStore

@Suite("Killed rewrites and compactions", .timeLimit(.minutes(Kills.minutes)))
struct RewriteKillTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("of a store whose rewrite is killed again and again everything is there, and the last one ends it")
    func killedRewrites() async throws {
        let path = folder("s")
        try await onThread {
            var random = SeededRandom(seed: Kills.seed), progress = Progress(streams: [0])
            for line in try WorkerProcess(["script", path, "150"]).lines() { _ = progress.take(line) }
            var cutOff = 0
            let kills = Kills.rewrites
            for _ in 0..<kills {
                let worker = try WorkerProcess(["rewrite", path])
                for _ in 0..<Int.random(in: 0..<6, using: &random) { _ = try worker.line() }
                usleep(UInt32.random(in: 0..<3000, using: &random))
                worker.kill()
                if worker.end() == -SIGKILL { cutOff += 1 }
                if let problem = try progress.problem(at: path, open: 0) {
                    throw WorkerProcess.Failure(description: problem)
                }
            }
            print("\(kills) kills of a rewrite, \(cutOff) of them before its end, seed \(Kills.seed)")
            #expect(cutOff * 4 > kills)
            let last = try WorkerProcess(["rewrite", path])
            #expect(try last.lines().isEmpty == false && last.end() == 0)
            if let problem = try progress.problem(at: path, open: 0) {
                throw WorkerProcess.Failure(description: problem)
            }
        }
    }

    @Test("a store whose compaction is killed again and again is the old one or the compacted one, and takes writes")
    func killedCompactions() async throws {
        let path = folder("s"), kills = Kills.compactions
        try await onThread {
            var random = SeededRandom(seed: Kills.seed), progress = Progress(streams: [0]), transactions = 100
            func write() throws {
                let writer = try WorkerProcess(["script", path, "\(transactions)"])
                for line in try writer.lines() where !progress.take(line) {
                    throw WorkerProcess.Failure(description: line)
                }
                guard writer.end() == 0 else {
                    throw WorkerProcess.Failure(description: "the script ended with \(writer.end())")
                }
                transactions += 1
            }
            try write()
            // The time of one rewrite on this machine, so that kills cover all of it.
            let start = ContinuousClock.now
            try Store.compact(at: path)
            let patience = UInt32((ContinuousClock.now - start) / .microseconds(1)) + 30_000
            var cutOff = 0
            for _ in 0..<kills {
                let worker = try WorkerProcess(["compact", path])
                usleep(UInt32.random(in: 0...patience, using: &random))
                worker.kill()
                if worker.end() == -SIGKILL { cutOff += 1 }
                if let problem = try progress.problem(at: path, open: 0) {
                    throw WorkerProcess.Failure(description: "seed \(Kills.seed): \(problem)")
                }
                try write()
            }
            print("\(kills) kills of a compaction, \(cutOff) of them before its end, seed \(Kills.seed)")
            try Store.compact(at: path)
            #expect(!FileManager.default.fileExists(atPath: path + "/data.mdb.compacting"))
            if let problem = try progress.problem(at: path, open: 0) {
                throw WorkerProcess.Failure(description: problem)
            }
        }
    }
}
