// Random use of the library by a service in one process, against a model of the server.
//
// It runs if TARN_LIBRARY_RUNS says for how many seeds: the steps follow from the seed, but the
// moments at which those meet that run side by side do not, and a finding may be one of the model.
// TARN_LIBRARY_STEPS=200 runs other numbers of steps, TARN_LIBRARY_SEED=7 begins with another seed.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Suite("Model of a service", .timeLimit(.minutes(60)))
struct LibraryModelTests {
    private static func setting(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment["TARN_LIBRARY_" + name].flatMap { Int($0) }
    }

    private func run(_ run: LibraryRun, steps: Int) async throws {
        let folder = try TemporaryFolder(), path = folder("library.tarn")
        let copy = try Store.open(
            at: folder("copy.tarn"), schema: Schema(records: LibraryBed.records), options: LibraryBed.storeOptions)
        var start: ChangeToken?, before: [LibraryNote]?, taken = 0
        while taken < steps {
            let bed = try await LibraryBed(run.server, run.rules, at: path)
            if let before, try bed.notes() != before {
                throw LibraryFinding("the store is another after opening it again")
            }
            if start == nil { try bed.store.setChangeValues(.all) }
            let from = try start ?? bed.store.read { try $0.changeToken }
            let watch = await LibraryWatch(bed, copy: copy, from: from)
            // Each part has a store of its own: it is closed, and opened again.
            for _ in 0..<(15 + run.roll(10)) where taken < steps {
                taken += 1
                try await run.step(bed)
            }
            try await run.rest(bed, watch)
            before = try bed.notes()
            start = try await watch.stop() ?? from
            run.note("close and open")
        }
    }

    @Test(
        "random operations of a service, one by one and several at once, end with the server's state",
        .enabled(if: setting("RUNS") != nil))
    func model() async throws {
        let first = Self.setting("SEED") ?? 1, steps = Self.setting("STEPS") ?? 60
        for seed in first..<(first + (Self.setting("RUNS") ?? 4)) {
            let run = LibraryRun(seed: UInt64(seed))
            do {
                try await self.run(run, steps: steps)
            } catch {
                let list = run.known.withLock(\.steps).suffix(40).joined(separator: "\n  ")
                let requests = run.server.with { $0.requests.suffix(30).joined(separator: "\n  ") }
                Testing.Issue.record("seed \(seed) (\(run.rules)):\n  \(list)\n  \(requests)\n\(error)")
            }
        }
    }
}
