// Files that are nearly a store: thousands of small changes where they lead somewhere, each looked
// at by all of the inspector.

import Foundation
import TestSupport
import Testing

@Suite("Mutated files", .timeLimit(.minutes(30)))
struct MutationTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let seed = ProcessInfo.processInfo.environment["TARN_SEED"].flatMap { UInt64($0) } ?? 20_261_122
    /// `TARN_MUTANTS` for more than continuous integration has time for. Sanitized code takes
    /// several times as long.
    private static let count =
        ProcessInfo.processInfo.environment["TARN_MUTANTS"].flatMap { Int($0) } ?? (isSanitized ? 30 : 150)

    @Test("whatever small change is made to a file, everything that looks at it ends with a report or a typed error")
    func mutants() async throws {
        let path = folder("s")
        let (lines, status) = try await onThread { () -> ([String], Int32) in
            _ = try WorkerProcess(["script", path, "40"]).lines()
            // Without free pages, in which changes mean nothing.
            _ = try WorkerProcess(["backup", path, path + "2"]).lines()
            let worker = try WorkerProcess(
                ["mutate", path + "2", "\(MutationTests.seed)", "\(MutationTests.count)"],
                environment: ["SWIFT_BACKTRACE": "enable=no"])
            let lines = try worker.lines()
            return (lines, worker.end())
        }
        #expect(status == 0, "seed \(MutationTests.seed), \(lines.last ?? ""): \(status)")
        let sound = lines.last?.split(separator: " ").last.flatMap { Int($0) } ?? 0
        print("mutated files: \(MutationTests.count), seed \(MutationTests.seed): \(sound) of them sound")
        // Or nothing was mutated, or nothing can be read.
        #expect(sound < MutationTests.count / 2 && lines.count == MutationTests.count + 1)
    }
}
