import TestSupport
import Testing

@testable import TarnStore

@Suite("Outbox: kills")
struct OutboxKillTests {
    @Test("a process that queues, sends and adopts keys is killed: the store is as after a whole number of steps")
    func killed() throws {
        let folder = try TemporaryFolder(), path = folder("s")
        var random = SeededRandom(seed: 19), acknowledged = 0
        for round in 0..<12 {
            let worker = try WorkerProcess(["outbox", path])
            for _ in 0..<random.roll(1..<40) {
                guard let line = try worker.line(), let number = Int(line.dropFirst(4)) else { break }
                acknowledged = number
            }
            worker.kill()
            worker.end()
            let check = try WorkerProcess(["outboxcheck", path])
            let answer = try check.line() ?? "nothing"
            check.end()
            let number = Int(answer.dropFirst(6)) ?? -1
            #expect(answer.hasPrefix("sound "), "round \(round): \(answer)")
            #expect(number >= acknowledged, "round \(round): an acknowledged step was lost")
            guard answer.hasPrefix("sound ") else { return }
        }
        #expect(acknowledged > 60)
    }
}
