// The whole of a sync against a server that sends anything: no process ends, none takes more than
// its memory and time.

import Foundation
import Testing

@Suite("Hostile server", .timeLimit(.minutes(30)))
struct HostileServerTests {
    @Test("a sync of anything that a server may send ends within 1 GB and 20 seconds, and leaves a sound store")
    func sync() async throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["TARN_HOSTILE"] ?? "40",
            seed = environment["TARN_SEED"] ?? "\(UInt64.random(in: 0..<1_000_000))"
        let program = URL(fileURLWithPath: TarnProcess.executable).deletingLastPathComponent().path + "/HostileSync"
        let result = try await TarnProcess([count, seed], program: program).end()
        // The figures, for tools/torture.
        print(result.lines.last ?? "")
        #expect(result.status == 0, "seed \(seed):\n\(result.output)\n\(result.error)")
        #expect(result.lines.last?.hasPrefix("HostileSync: \(count) inputs of seed \(seed), 0 finds") == true)
    }
}
