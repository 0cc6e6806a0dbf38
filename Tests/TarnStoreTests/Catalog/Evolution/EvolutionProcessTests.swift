// Several processes with program versions of different ages on one store: an outdated one continues
// to read and fails when it writes; random changes of schema and data in two processes damage
// nothing.

import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite("Evolution in several processes", .timeLimit(.minutes(5)))
struct EvolutionProcessTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A process that serves commands (`StoreWorker serve`), and the round of its schema.
    private final class Server {
        let worker: WorkerProcess
        let round: Int

        init(_ path: String, round: Int) throws {
            worker = try WorkerProcess(["serve", path, "\(round)"])
            self.round = round
            guard let line = try worker.line(), line == "open" else {
                throw WorkerProcess.Failure(description: "round \(round) does not open")
            }
        }

        func ask(_ line: String) throws -> String {
            worker.say(line)
            guard let answer = try worker.line() else {
                throw WorkerProcess.Failure(description: "it ended at \(line)")
            }
            return answer
        }

        func end() {
            worker.closeInput()
            worker.end()
        }
    }

    @Test(
        "a process whose schema another one has left behind reads, and gets schemaChanged for every write, also for those of a group"
    )
    func oldProcess() async throws {
        let path = folder("s")
        let answers = try await onThread { () -> [String] in
            let old = try Server(path, round: 1)
            var answers = [try old.ask("write 1"), try old.ask("burst 2")]
            let new = try Server(path, round: 2)
            answers += [
                try old.ask("read"), try old.ask("write 3"), try old.ask("burst 4"), try new.ask("write 5"),
                try old.ask("read"),
            ]
            old.end()
            // The program is updated.
            let updated = try Server(path, round: 2)
            answers += [try updated.ask("write 6"), try updated.ask("burst 7"), try new.ask("write 8")]
            return answers
        }
        #expect(answers[0] == "ok" && answers[1] == "ok")
        #expect(answers[2].hasPrefix("ok "))
        for refused in [answers[3], answers[4]] {
            #expect(
                refused.hasPrefix("failed \(path): another process has changed the schema of the store ("), "\(refused)"
            )
            #expect(
                refused.hasSuffix("so this process can only read it. Update this program, and open the store again"))
        }
        // All eight writes of the burst fail alike.
        #expect(!answers[4].contains(" | "))
        #expect(answers[5] == "ok" && answers[6].hasPrefix("ok "))
        #expect(answers[7...] == ["ok", "ok", "ok"])
        let store = try Store.open(at: path, options: Forge.quick)
        #expect(try IndexVerification.problem(in: store) == nil)
    }

    @Test("a process that uses a name of before is told the new one, while it runs and when it starts")
    func renamedElsewhere() async throws {
        let path = folder("s")
        let (write, read, status, said) = try await onThread { () -> (String, String, Int32, [String]) in
            let old = try Server(path, round: 3)
            _ = try old.ask("write 1")
            let new = try Server(path, round: 10)
            let write = try old.ask("write 2"), read = try old.ask("read")
            let again = try WorkerProcess(["evolve", path, "3", "100"])
            let said = try again.lines()
            new.end()
            return (write, read, again.end(), said)
        }
        #expect(
            write.contains("Item.note0: another program has renamed it to note1; use that name"), "\(write)")
        #expect(read.hasPrefix("ok "))
        #expect(status == 1)
        #expect(said.last?.contains("Item.note0: another program has renamed it to note1") == true, "\(said)")
    }

    @Test(
        "what one process removes is missed by the schema of another: it reads on, and a new start makes it anew, and empty"
    )
    func removedElsewhere() async throws {
        let path = folder("s")
        let answers = try await onThread { () -> [String] in
            let first = try Server(path, round: 5)
            for seed in 0..<5 { _ = try first.ask("burst \(seed)") }
            let second = try Server(path, round: 5)
            var answers = [try second.ask("field Item extra1"), try first.ask("write 1"), try first.ask("read")]
            first.end()
            second.end()
            let third = try Server(path, round: 5)
            answers += [try third.ask("write 2"), try third.ask("index Item first"), try third.ask("write 3")]
            return answers
        }
        #expect(answers[0].hasPrefix("ok "))
        #expect(
            answers[1].contains("no longer has everything that the schema of this process declares"), "\(answers[1])")
        #expect(answers[2].hasPrefix("ok "))
        #expect(answers[3] == "ok" && answers[4] == "ok")
        #expect(answers[5].contains("no longer has everything"))
        let store = try Store.open(at: path, options: Forge.quick)
        #expect(try IndexVerification.problem(in: store) == nil)
        let values = try store.read { reader in
            var values = 0
            try reader.forEach("Item") {
                if $0["extra1"] != nil { values += 1 }
                return true
            }
            return values
        }
        #expect(values <= 6)
    }

    @Test("a removal that is killed in between leaves nothing wrong, and goes on when it is called again")
    func removalIsKilled() async throws {
        let path = folder("s")
        let seed = UInt64.random(in: 0..<1_000_000)
        let (killed, left) = try await onThread { () -> (Int, Int) in
            var random = SeededRandom(seed: seed), killed = 0
            try Server(path, round: 5).end()
            do {
                let store = try Store.open(at: path, options: Forge.quick)
                try store.write { writer in
                    for id in 0..<Int64(3000) {
                        try writer.put(
                            "Item", RecordKey(id),
                            [.init("name", .string("n")), .init("extra0", .int(id)), .init("next", .reference(1))])
                    }
                }
            }
            func reading<Result>(_ body: (Store) throws -> Result) throws -> Result {
                try body(try Store.open(at: path, options: .init(durability: .volatile, isReadOnly: true)))
            }
            for (number, what) in (0..<12).map({ ($0, $0 % 2 == 0 ? "field Item extra0" : "field Item next") }) {
                // The schema of the process has both: the removed one exists again, empty.
                let server = try Server(path, round: 5)
                server.worker.say(what)
                // Soon for some: on a busy machine a removal is over before a later kill.
                usleep(UInt32.random(in: 0...(number < 6 ? 3_000 : 60_000), using: &random))
                server.worker.kill()
                if try server.worker.line() == nil { killed += 1 }
                server.worker.end()
                if let problem = try reading({ try IndexVerification.problem(in: $0) }) {
                    throw WorkerProcess.Failure(description: "seed \(seed), kill \(number): \(problem)")
                }
            }
            // The last removal may have come to its end before the kill.
            try Server(path, round: 5).end()
            let store = try Store.open(at: path, options: Forge.quick)
            try store.remove(field: "extra0", of: "Item", step: 500)
            try store.remove(field: "next", of: "Item", step: 500)
            if let problem = try IndexVerification.problem(in: store) {
                throw WorkerProcess.Failure(description: problem)
            }
            var left = 0
            try store.read { reader in
                try reader.forEach("Item") {
                    left += $0.fields.count { $0.name != "id" && $0.name != "name" }
                    return true
                }
            }
            return (killed, left)
        }
        #expect(left == 0)
        #expect(killed > 0, "seed \(seed)")
    }

    // MARK: Random sequences

    /// Two servers, their expected replies, and the expected rows.
    private struct Model {
        let path: String
        var random: SeededRandom
        var servers: [Server]
        var newest = 1
        /// Since the newest round was applied, something that its schema names was removed.
        var lacks = false
        var evolutions = 0, refusals = 0, writes = 0
        var log: [String] = []

        init(_ path: String, seed: UInt64) throws {
            self.path = path
            random = SeededRandom(seed: seed)
            servers = try [Server(path, round: 1), Server(path, round: 1)]
        }

        mutating func step() throws {
            let which = Int.random(in: 0..<2, using: &random), seed = UInt64.random(in: 0..<1_000_000, using: &random)
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<7: try write(which, "write \(seed)")
            case 7..<11: try write(which, "burst \(seed)")
            case 11..<13:
                log.append("\(which) read")
                let answer = try servers[which].ask("read")
                guard answer.hasPrefix("ok ") else { throw WorkerProcess.Failure(description: "reading: \(answer)") }
            case 13..<17: try evolve(which, to: newest + Int.random(in: 1...2, using: &random))
            case 17..<19: try evolve(which, to: newest)
            default: try remove(which)
            }
        }

        private func fits(_ which: Int) -> Bool { servers[which].round == newest && !lacks }

        private mutating func write(_ which: Int, _ line: String) throws {
            log.append("\(which) \(line)")
            let answer = try servers[which].ask(line)
            if fits(which) {
                guard answer == "ok" else { throw WorkerProcess.Failure(description: "\(line): \(answer)") }
                writes += 1
            } else {
                guard answer.contains("another process has changed the schema of the store"), !answer.contains(" | ")
                else {
                    throw WorkerProcess.Failure(
                        description: "\(line) of round \(servers[which].round) in \(newest): \(answer)")
                }
                refusals += 1
            }
        }

        /// One process is replaced by one of another round. No row changes by that.
        private mutating func evolve(_ which: Int, to round: Int) throws {
            log.append("\(which) to round \(round)")
            let before = try digest()
            servers[which].end()
            servers[which] = try Server(path, round: round)
            (newest, lacks) = (round, false)
            evolutions += 1
            guard try digest() == before else { throw WorkerProcess.Failure(description: "rows have changed") }
        }

        private mutating func remove(_ which: Int) throws {
            guard fits(which) else { return }
            let what = ["index Item first", "index Item some", "field Item extra0"][
                Int.random(in: 0..<3, using: &random)]
            guard what != "field Item extra0" || newest % 6 > 0 else { return }
            log.append("\(which) \(what)")
            let answer = try servers[which].ask(what)
            guard answer.hasPrefix("ok") else { throw WorkerProcess.Failure(description: "\(what): \(answer)") }
            lacks = true
        }

        private func digest() throws -> Int {
            try reading { store in
                try store.read { reader in
                    var hasher = Hasher()
                    for root in reader.catalog.entities where root.root == root.id {
                        hasher.combine(root.id)
                        try reader.access.records.scan(root) { key, row in
                            hasher.combine(bytes: key)
                            hasher.combine(bytes: row.bytes)
                            return true
                        }
                    }
                    return hasher.finalize()
                }
            }
        }

        func check() throws {
            let problem = try reading { try IndexVerification.problem(in: $0) }
            if let problem { throw WorkerProcess.Failure(description: problem) }
        }

        private func reading<Result>(_ body: (Store) throws -> Result) throws -> Result {
            try body(try Store.open(at: path, options: .init(durability: .volatile, isReadOnly: true)))
        }
    }

    @Test(
        "random changes of schema and data in two processes: indexes and inverses are right after each, no row is lost, and only who fits writes"
    )
    func model() async throws {
        let path = folder("s")
        let seed =
            ProcessInfo.processInfo.environment["TARN_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0..<1_000_000)
        let steps = ProcessInfo.processInfo.environment["TARN_STEPS"].flatMap { Int($0) } ?? 150
        let counts = try await onThread { () -> [Int] in
            var model = try Model(path, seed: seed)
            do {
                for _ in 0..<steps {
                    try model.step()
                    try model.check()
                }
            } catch {
                throw WorkerProcess.Failure(description: "seed \(seed): \(error), after \(model.log.suffix(12))")
            }
            print(
                "evolution model, seed \(seed): \(model.evolutions) changes, \(model.writes) writes, \(model.refusals) refused"
            )
            return [model.evolutions, model.writes, model.refusals]
        }
        // Or nothing was proved.
        #expect(counts.allSatisfy { $0 > steps / 15 }, "seed \(seed): \(counts)")
    }
}
