// The made API, mirrored by a `tarn sync` that is killed ten times: the end state equals that of an
// undisturbed one. TARN_MADE sets the number of resources; tools/made-api runs the full size.

import Foundation
import Glibc
import Locking
import TestSupport
import Testing

@Suite("Killed syncs of the made API", .timeLimit(.minutes(30)))
struct MadeAPIKillTests {
    private static let seed =
        ProcessInfo.processInfo.environment["TARN_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0..<1_000_000)
    /// The resources of all kinds.
    private static let count = ProcessInfo.processInfo.environment["TARN_MADE"].flatMap { Int($0) } ?? 500
    private static let kills = 10

    @Test("ten kills of the first sync change nothing: every detail, all references, and then only 304s")
    func kills() async throws {
        let made = MadeAPI(size: Self.count / MadeAPI.kinds.count), all = made.detailCount + made.pageCount
        let folder = try TemporaryFolder(), file = try folder.write("made.yaml", MadeAPI.yaml)
        func arguments(_ store: String, _ server: ScriptedServer) -> [String] {
            ["sync", "--file", file, "--store", folder(store), "--base", server.base + "/api/v2", "--quiet"]
        }
        let calm = try ScriptedServer(made.answer), started = ContinuousClock.now
        try await expectSuccess(tarn(arguments("calm", calm)))
        let took = ContinuousClock.now - started
        #expect(calm.requests.count == all && Set(calm.targets).count == all)
        let before = calm.requests.count
        try await expectSuccess(tarn(arguments("calm", calm)))
        #expect(calm.requests.count - before == all)
        #expect(calm.requests.dropFirst(before).allSatisfy { $0.field("If-None-Match") != nil })

        // A sync gets a number of answers, and waits for the next one until it is killed: a fast one does
        // not end before.
        let asked = Guarded(0), answered = Guarded(0)
        let server = try ScriptedServer { request in
            let position = asked.withLock { count in
                count += 1
                return count
            }
            while answered.withLock({ $0 < position }) { usleep(1000) }
            return made.answer(request)
        }
        var dice = SeededRandom(seed: Self.seed), kills = 0
        while kills < Self.kills {
            let process = try TarnProcess(arguments("killed", server))
            let wanted = 1 + dice.roll(0..<max(2, all / (Self.kills + 4))), before = asked.withLock(\.self)
            answered.withLock { $0 = before + wanted - 1 }
            try await eventually { asked.withLock(\.self) >= before + wanted }
            process.send(SIGKILL)
            let status = await process.end().status
            #expect(status == -SIGKILL, "seed \(Self.seed), kill \(kills): \(status)")
            guard status == -SIGKILL else { break }
            kills += 1
        }
        answered.withLock { $0 = .max }
        try await expectSuccess(tarn(arguments("killed", server)))
        let (first, second) = (try await Forge.dump(folder("calm")), try await Forge.dump(folder("killed")))
        #expect(first == second, "seed \(Self.seed): \(zip(first, second).first { $0 != $1 }.map { "\($0)" } ?? "")")
        try await expectSuccess(tarn("inspect", "verify", folder("killed")))
        let extra = server.requests.count - all
        print(
            "made API: \(made.detailCount) details and \(made.pageCount) pages in \(took); \(kills) kills: \(extra) more requests, seed \(Self.seed)"
        )
    }
}
