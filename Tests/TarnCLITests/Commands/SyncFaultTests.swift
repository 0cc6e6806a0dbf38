// Every call of a sync that writes to the store's files fails once, or from then on, or ends the
// process: the sync reports the problem, and the next one reaches the same state as without a
// fault.

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Faults of the system: sync", .serialized, .timeLimit(.minutes(240)), .disabled(if: Forge.isSanitized))
struct SyncFaultTests {
    /// `TARN_FAULTS=all` for every call; otherwise a few of each kind, others for each.
    private static let isComplete = ProcessInfo.processInfo.environment["TARN_FAULTS"] == "all"
    private static let samples = 2
    /// Kinds of `tools/faults/fault.c`; with a `+`: every call from the n-th on.
    private static let kinds = ["ENOSPC", "ENOSPC+", "EIO", "EIO+", "short", "short+", "late", "late+", "kill", "tear"]
    private static let endpoints = ["labels", "milestones", "checklist", "users"]

    /// Built once for all tests.
    private static let library = Result { () throws -> (path: String, folder: TemporaryFolder) in
        let folder = try TemporaryFolder(), build = Process()
        build.executableURL = URL(fileURLWithPath: Repository.root + "/tools/faults/build")
        build.arguments = [folder.path + "/fault.so"]
        try build.run()
        build.waitUntilExit()
        guard build.terminationStatus == 0 else { throw LocalServer.Failure(description: "tools/faults/build failed") }
        return (folder.path + "/fault.so", folder)
    }

    private static func sync(_ store: String, _ server: LocalServer, _ faults: [String: String]) async throws
        -> TarnProcess.Result
    {
        // The order of dictionaries, and that of responses, decides which pages a transaction takes.
        let environment = [
            "LD_PRELOAD": try library.get().path, "FAULT_DIRECTORY": store, "SWIFT_BACKTRACE": "enable=no",
            "SWIFT_DETERMINISTIC_HASHING": "1",
        ].merging(faults) { $1 }
        return try await tarn(
            Forge.arguments(store, server.base, ["--quiet", "--concurrent", "1"] + endpoints), environment: environment)
    }

    @Test(
        "whichever call of a sync fails, it says so, and the next sync ends with the same records, byte for byte",
        arguments: kinds)
    func everyCall(_ kind: String) async throws {
        let folder = try TemporaryFolder(), server = try LocalServer(directory: Repository.forge)
        let whole = folder.path + "/whole", log = folder.path + "/log"
        #expect(try await SyncFaultTests.sync(whole, server, ["FAULT_LOG": log]).status == 0)
        let reference = try await Forge.dump(whole)
        // A line for each call: its number, its name, the bytes that it writes.
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n"), calls = lines.count
        #expect(calls > 40 && reference.count > 70)
        let isOfWrites = kind.hasPrefix("short")
        let candidates = (1...calls).filter { !isOfWrites || lines[$0 - 1].split(separator: " ")[2] != "0" }
        let position = try #require(SyncFaultTests.kinds.firstIndex(of: kind)),
            distance = max(1, candidates.count / SyncFaultTests.samples)
        let first = position * distance / SyncFaultTests.kinds.count
        let numbers =
            SyncFaultTests.isComplete
            ? Array(1...calls) : stride(from: first, to: candidates.count, by: distance).map { candidates[$0] }
        var failed = 0
        for number in numbers {
            let store = "\(folder.path)/\(number)"
            var faults = ["FAULT_AT": "\(number)", "FAULT_KIND": kind.replacingOccurrences(of: "+", with: "")]
            if kind.hasSuffix("+") { faults["FAULT_STICKY"] = "1" }
            let broken = try await SyncFaultTests.sync(store, server, faults)
            if ["kill", "tear"].contains(kind) {
                // A call that writes nothing cannot be torn; how many there are is not exactly the
                // same each time.
                #expect(
                    broken.status == -SIGKILL || broken.status == 0, "call \(number): \(broken.status) \(broken.error)")
            } else {
                #expect((0...6).contains(broken.status), "call \(number): \(broken.status) \(broken.error)")
                #expect(
                    broken.status == 0 || broken.error.count > 40, "call \(number): \(broken.status) without a word")
            }
            if broken.status != 0 { failed += 1 }
            let next = try await tarn(Forge.arguments(store, server.base, ["--quiet"] + SyncFaultTests.endpoints))
            #expect(next.status == 0, "call \(number): \(next.error)")
            #expect(try await Forge.dump(store) == reference, "call \(number)")
            let check = try await tarn("inspect", "verify", store)
            #expect(check.status == 0, "call \(number): \(check.output)")
            try? FileManager.default.removeItem(atPath: store)
        }
        #expect(failed > 0)
        print("sync, \(kind): \(numbers.count) of \(calls) calls failed in turn, \(failed) of them failed the sync")
    }
}
