// The number of kills: in all tests together, and in each.

import Foundation
import TestSupport

enum Kills {
    /// In all: `TARN_KILLS` for more than continuous integration has time for. Sanitized code takes
    /// several times as long.
    private static let total =
        ProcessInfo.processInfo.environment["TARN_KILLS"].flatMap { Int($0) } ?? (isSanitized ? 40 : 200)

    /// Kills of writers, index builds, imports, rewrites and compactions. Syncs, 15 % of all kills,
    /// are tested with the command line.
    static let writes = share(25), builds = share(25), imports = share(15), rewrites = share(10),
        compactions = share(10)

    private static func share(_ percent: Int) -> Int { max(1, total * percent / 100) }

    /// `TARN_SEED` repeats the choices of an earlier run, though not the scheduler's.
    static let seed =
        ProcessInfo.processInfo.environment["TARN_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0..<1_000_000)

    /// The time limit of such a suite.
    static let minutes = ProcessInfo.processInfo.environment["TARN_KILLS"] == nil ? 10 : 240
}
