// Processes that are killed repeatedly while they change a schema and build indexes, on one store
// with another writer: nothing is damaged at any point, and the next process that opens the store
// completes the work.

import Foundation
import Glibc
import TestSupport
import Testing

@testable import TarnStore

@Suite("Killed builders", .timeLimit(.minutes(Kills.minutes)))
struct EvolutionKillTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private struct Victim {
        let path: String
        var random: SeededRandom
        var writer: WorkerProcess
        var round = 0, kills = 0, killedInBuild = 0, writes = 0

        init(_ path: String, _ seed: UInt64) throws {
            self.path = path
            random = SeededRandom(seed: seed)
            let first = try WorkerProcess(["evolve", path, "0", "100"])
            _ = try first.lines()
            guard first.end() == 0 else { throw WorkerProcess.Failure(description: "the store was not made") }
            let store = try Store.open(at: path, options: Forge.quick)
            try store.write { writer in
                for id in 0..<Int64(1500) {
                    try writer.put(
                        "Item", RecordKey(id),
                        [
                            .init("name", .string("n\(id % 31)")), .init("group", .int(id % 11)),
                            .init("code", .string("c\(id)")),
                        ])
                }
            }
            writer = try Victim.churn(path, seed)
        }

        static func churn(_ path: String, _ seed: UInt64) throws -> WorkerProcess {
            let writer = try WorkerProcess(["churn", path, "\(seed)"])
            guard try writer.line() == "open" else {
                throw WorkerProcess.Failure(description: "the writer does not open")
            }
            return writer
        }

        /// The writer has made progress since the last check, without an error.
        mutating func checkWriter() throws {
            guard let line = try writer.line(), line.hasPrefix("ack") else {
                throw WorkerProcess.Failure(description: "the writer stopped")
            }
            writes += 1
        }

        func builder(_ rows: Int) throws -> WorkerProcess {
            try WorkerProcess(["evolve", path, "\(round)", "\(rows)"])
        }

        mutating func killOnce() throws {
            round += 1
            let rows = [20, 50, 100, 400][Int.random(in: 0..<4, using: &random)]
            let builder = try builder(rows)
            // Another one may share the work.
            let other = Int.random(in: 0..<3, using: &random) == 0 ? try self.builder(rows) : nil
            var last = ""
            for _ in 0..<Int.random(in: 0...60, using: &random) {
                guard let line = try builder.line(), line != "open" else { break }
                if line.hasPrefix("error") { throw WorkerProcess.Failure(description: line) }
                last = line
            }
            usleep(UInt32.random(in: 0...3000, using: &random))
            if Int.random(in: 0..<5, using: &random) == 0 {
                writer.kill()
                let said = try writer.lines()
                if let error = said.first(where: { $0.hasPrefix("error") }) {
                    throw WorkerProcess.Failure(description: error)
                }
                writer.end()
                writer = try Victim.churn(path, random.next())
            }
            builder.kill()
            let rest = try builder.lines()
            kills += 1
            if let error = (rest + [last]).first(where: { $0.hasPrefix("error") }) {
                throw WorkerProcess.Failure(description: error)
            }
            if last.hasPrefix("step"), !rest.contains("open") { killedInBuild += 1 }
            builder.end()
            if let other {
                if Bool.random(using: &random) { other.kill() }
                let lines = try other.lines()
                if let error = lines.first(where: { $0.hasPrefix("error") }) {
                    throw WorkerProcess.Failure(description: error)
                }
                other.end()
            }
        }

        /// The store is sound in this state; the next process that opens it completes the work.
        mutating func check() throws {
            do {
                let reading = try Store.open(at: path, options: .init(durability: .volatile, isReadOnly: true))
                if let problem = try IndexVerification.problem(in: reading, completely: false) {
                    throw WorkerProcess.Failure(description: "before the next opener: \(problem)")
                }
            }
            if Bool.random(using: &random) {
                let next = try builder(500), lines = try next.lines()
                guard next.end() == 0, lines.last == "open" else {
                    throw WorkerProcess.Failure(description: "the next opener: \(lines)")
                }
            }
            let store = try Store.open(at: path, options: Forge.quick)
            if let problem = try IndexVerification.problem(in: store) {
                throw WorkerProcess.Failure(description: problem)
            }
            try checkWriter()
        }
    }

    @Test(
        "a store whose builders are killed again and again, while another process writes, is whole every time, and the next opener completes it"
    )
    func killLoop() async throws {
        let path = folder("s"), seed = Kills.seed, kills = Kills.builds
        let (killedInBuild, rounds) = try await onThread { () -> (Int, Int) in
            var victim = try Victim(path, seed)
            do {
                while victim.kills < kills {
                    try victim.killOnce()
                    try victim.check()
                }
                print("\(victim.kills) kills, \(victim.killedInBuild) of them between steps, seed \(seed)")
                return (victim.killedInBuild, victim.round)
            } catch {
                throw WorkerProcess.Failure(
                    description: "seed \(seed), kill \(victim.kills), round \(victim.round): \(error)")
            }
        }
        #expect(rounds == kills)
        // Or nothing was proved.
        #expect(killedInBuild >= kills / 4, "seed \(seed)")
    }
}
