// Rewrites that are killed between and inside of their steps.

import Foundation
import Glibc
import Testing

@testable import TarnStore

@Suite("Killed rewrites")
struct RewriteKillTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("of a store whose rewrite is killed again and again everything is there, and the last one ends it")
    func killedRewrites() async throws {
        let path = folder("s")
        try await onThread {
            var random = SeededRandom(seed: 7), progress = Progress(streams: [0])
            for line in try WorkerProcess(["script", path, "150"]).lines() { _ = progress.take(line) }
            var cutOff = 0
            for _ in 0..<12 {
                let worker = try WorkerProcess(["rewrite", path])
                for _ in 0..<Int.random(in: 0..<6, using: &random) { _ = try worker.line() }
                usleep(UInt32.random(in: 0..<3000, using: &random))
                worker.kill()
                if worker.end() == -SIGKILL { cutOff += 1 }
                if let problem = try progress.problem(at: path, open: 0) { throw WorkerProcess.Failure(description: problem) }
            }
            #expect(cutOff > 3)
            let last = try WorkerProcess(["rewrite", path])
            #expect(try last.lines().isEmpty == false && last.end() == 0)
            if let problem = try progress.problem(at: path, open: 0) { throw WorkerProcess.Failure(description: problem) }
        }
    }
}
