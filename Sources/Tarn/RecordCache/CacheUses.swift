// The times when entries last answered a request, in memory until the next commit.

import Locking
import TarnStore

final class CacheUses: Sendable {
    /// The maximum number of uses that one commit writes: each rewrites its entry.
    private static let step = 64
    /// Uses within this time count as one use. In microseconds.
    private static let granularity: Int64 = 60_000_000
    /// The maximum number of uses in memory; beyond it all are forgotten.
    private static let limit = 100_000
    private let pending = Guarded<[UInt64: Timestamp]>([:])

    func note(_ id: UInt64, usedAt known: Timestamp, now: Timestamp) {
        guard now.elapsed(since: known) >= CacheUses.granularity || known.isFarAhead(of: now) else { return }
        pending.withLock { pending in
            if pending.count >= CacheUses.limit { pending.removeAll() }
            pending[id] = now
        }
    }

    /// All uses that are not stored.
    var all: [UInt64: Timestamp] { pending.withLock { $0 } }

    /// Removes some uses, to be stored now. If the transaction fails, losing them does no harm.
    func take() -> [UInt64: Timestamp] {
        pending.withLock { pending in
            var taken: [UInt64: Timestamp] = [:]
            while taken.count < CacheUses.step, let (id, moment) = pending.popFirst() { taken[id] = moment }
            return taken
        }
    }
}
