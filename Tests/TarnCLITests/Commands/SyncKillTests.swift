// Syncs that are killed repeatedly at random points: each resumes after the last committed page,
// and the final store equals that of an undisturbed sync.

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Killed syncs", .timeLimit(.minutes(ProcessInfo.processInfo.environment["TARN_KILLS"] == nil ? 10 : 240)))
struct SyncKillTests {
    /// 15 % of all kills; the others hit writers without a server.
    static let kills =
        (ProcessInfo.processInfo.environment["TARN_KILLS"].flatMap { Int($0) } ?? (Forge.isSanitized ? 40 : 200)) * 15
        / 100
    static let seed =
        ProcessInfo.processInfo.environment["TARN_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0..<1_000_000)

    @Test(
        "however often a sync is killed, the store verifies after each kill, and the resumed sync ends with the same records, byte for byte"
    )
    func killLoop() async throws {
        let folder = try TemporaryFolder(), reference = try await Forge.dump(Forge.store)
        var dice = SeededRandom(seed: SyncKillTests.seed), kills = 0, rounds = 0, resumed = 0
        while kills < SyncKillTests.kills {
            rounds += 1
            let store = "\(folder.path)/\(rounds)", server = try LocalServer(directory: Repository.forge)
            // A few kills in each sync, so that all of its parts are met.
            for _ in 0..<Int.random(in: 1...6, using: &dice) {
                let asked = server.requests.count, wanted = asked + Int.random(in: 0...14, using: &dice)
                let process = try TarnProcess(Forge.arguments(store, server.base, ["--quiet"]))
                // It may end earlier; its process id is not reused until it is reaped.
                while server.requests.count < wanted, !SyncKillTests.hasEnded(process.processID) {
                    try await Task.sleep(for: .milliseconds(1))
                }
                try await Task.sleep(for: .microseconds(Int.random(in: 0...20_000, using: &dice)))
                process.send(SIGKILL)
                let status = await process.end().status
                #expect(status == -SIGKILL || status == 0, "seed \(SyncKillTests.seed), kill \(kills): \(status)")
                guard status == -SIGKILL else { break }
                kills += 1
                guard FileManager.default.fileExists(atPath: store + "/data.mdb") else { continue }
                let check = try await tarn("inspect", "verify", store)
                // A store that was not made yet is none: 0 bytes, or meta pages without tables.
                let isEmpty = check.output.contains("store.none") || check.output.contains("file.noMeta")
                #expect(check.status == 0 || isEmpty, "seed \(SyncKillTests.seed), kill \(kills): \(check.output)")
            }
            let last = try await Forge.sync(store, server)
            #expect(last.status == 0, "seed \(SyncKillTests.seed), kill \(kills): \(last.error)")
            if last.output.contains("(resumed)") { resumed += 1 }
            let found = try await Forge.dump(store)
            #expect(
                found == reference,
                "seed \(SyncKillTests.seed), kill \(kills): \(zip(found, reference).first { $0 != $1 }.map { "\($0)" } ?? "")"
            )
            try await expectSuccess(tarn("inspect", "verify", store))
        }
        print(
            "\(kills) kills of a sync in \(rounds) stores, \(resumed) of the last syncs went on in the middle of an endpoint, seed \(SyncKillTests.seed)"
        )
    }

    /// Whether a child has ended and was not yet reaped.
    private static func hasEnded(_ processID: pid_t) -> Bool {
        guard let text = try? String(contentsOfFile: "/proc/\(processID)/stat", encoding: .utf8) else { return true }
        return text.contains(") Z ")
    }
}
