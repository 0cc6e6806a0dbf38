// Imports that are killed repeatedly at random points on one store: each resumes after the last
// committed unit, and the final store equals that of an undisturbed import.

import Foundation
import Glibc
import TestSupport
import Testing

@testable import TarnStore

@Suite("Killed imports", .timeLimit(.minutes(Kills.minutes)))
struct ImportKillTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The order of dictionaries decides the order of changes in a commit.
    private static let environment = ["SWIFT_DETERMINISTIC_HASHING": "1"]
    private static let endless = 1_000_000

    /// All tables but `meta`, which has the store's UUID and times in it, as `mdb_dump` writes
    /// them.
    private static func dump(_ path: String) throws -> [String] {
        let worker = try WorkerProcess(["dump", path]), lines = try worker.lines()
        guard worker.end() == 0, lines.count > 100 else {
            throw WorkerProcess.Failure(description: "no dump: \(lines.suffix(2))")
        }
        return lines
    }

    private static func importUnits(_ path: String, to count: Int) throws {
        let worker = try WorkerProcess(["import", path, "\(count)"], environment: environment),
            lines = try worker.lines()
        guard worker.end() == 0 else {
            throw WorkerProcess.Failure(description: "the import ended: \(lines.suffix(2))")
        }
    }

    /// The way of importing the units, and the number of units that may be committed without an
    /// acknowledgement.
    enum Way: String {
        case import_ = "import", ahead

        var open: Int { self == .ahead ? 4 : 1 }
    }

    @Test(
        "an import that is killed again and again, one unit at a time or several ahead, has every acknowledged unit, none by half, and ends with the same tables, byte for byte",
        arguments: [Way.import_, .ahead])
    func killLoop(_ way: Way) async throws {
        let path = folder("s"), reference = folder("reference"), seed = Kills.seed
        let kills = way == .ahead ? Kills.imports / 2 : Kills.imports
        try await onThread {
            var random = SeededRandom(seed: seed), progress = Progress(streams: [0]), cutOff = 0
            for kill in 0..<kills {
                let worker = try WorkerProcess(
                    [way.rawValue, path, "\(ImportKillTests.endless)"], environment: ImportKillTests.environment)
                // Now and then while it starts or opens the store.
                let count = kill % 5 == 0 ? 0 : Int.random(in: 1...8, using: &random)
                for _ in 0..<count {
                    guard let line = try worker.line(), progress.take(line) else {
                        throw WorkerProcess.Failure(description: "it stopped")
                    }
                }
                usleep(UInt32.random(in: 0...(count == 0 ? 100_000 : 5000), using: &random))
                worker.kill()
                for line in try worker.lines() where !progress.take(line) {
                    throw WorkerProcess.Failure(description: line)
                }
                guard worker.end() == -SIGKILL else {
                    throw WorkerProcess.Failure(description: "it ended with \(worker.end())")
                }
                let acknowledged = progress.counts[0, default: 0]
                if let problem = try progress.problem(at: path, open: way.open, ofImport: true) {
                    throw WorkerProcess.Failure(description: "seed \(seed), kill \(kill): \(problem)")
                }
                if progress.counts[0, default: 0] > acknowledged { cutOff += 1 }
            }
            let units = progress.counts[0, default: 0] + 1
            try ImportKillTests.importUnits(path, to: units)
            try ImportKillTests.importUnits(reference, to: units)
            let (found, wanted) = (try ImportKillTests.dump(path), try ImportKillTests.dump(reference))
            print(
                "\(kills) kills of an import (\(way.rawValue)), seed \(seed): \(units) units, \(cutOff) of them committed and not acknowledged"
            )
            guard found == wanted else {
                let first = zip(found, wanted).enumerated().first { $1.0 != $1.1 }
                throw WorkerProcess.Failure(
                    description: "seed \(seed): \(found.count) and \(wanted.count) lines, \(String(describing: first))")
            }
            // Sanitized code may be killed before it has done more.
            #expect(units > (isSanitized ? 1 : kills), "seed \(seed)")
        }
    }
}
