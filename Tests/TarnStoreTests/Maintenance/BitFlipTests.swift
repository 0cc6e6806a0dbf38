// Some of the bits of a small store, each flipped: `tools/torture flips` flips all of them.

import TestSupport
import Testing

@Suite("Bit flips", .serialized, .timeLimit(.minutes(10)), .disabled(if: isSanitized))
struct BitFlipTests {
    @Test(
        "a small store with every table and every form of rows and one flipped bit never passes for whole with other content",
        arguments: try GoldenStores.all().filter { $0.hasPrefix("format-3/") })
    func flips(_ golden: String) async throws {
        let folder = try TemporaryFolder(), store = folder("s")
        try GoldenStores.unpack(golden, to: store)
        let lines = try await onThread {
            let shrink = try WorkerProcess(["shrink", store])
            guard try shrink.lines() == ["shrunk"], shrink.end() == 0 else {
                throw WorkerProcess.Failure(description: "not shrunk")
            }
            let flips = try WorkerProcess(["bits", store, "7", "2000"])
            let lines = try flips.lines()
            return flips.end() == 0 ? lines : lines + ["failed"]
        }
        print(lines.last ?? "")
        #expect(lines.count == 1 && lines[0].contains(" 0 finds: "), "\(lines.joined(separator: "\n"))")
        // Or nothing was damaged.
        #expect(lines.last?.contains("verify 6") == true && lines.last?.contains("salvage 0") == true)
    }
}
