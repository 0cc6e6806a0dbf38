// When entries have answered last: in memory until something is written anyway.

import Synchronization
import TarnStore

final class CacheUses: Sendable {
    /// Entries whose use a commit notes at most: each is written anew for it.
    private static let step = 64
    /// What is used again within a minute was used just now. In microseconds.
    private static let granularity: Int64 = 60_000_000
    /// Beyond it, what was used is forgotten rather than remembered for ever.
    private static let limit = 100_000
    private let pending = Mutex<[UInt64: Timestamp]>([:])

    func note(_ id: UInt64, usedAt known: Timestamp, now: Timestamp) {
        guard now.elapsed(since: known) >= CacheUses.granularity else { return }
        pending.withLock { pending in
            if pending.count >= CacheUses.limit { pending.removeAll() }
            pending[id] = now
        }
    }

    /// All that is not in the store.
    var all: [UInt64: Timestamp] { pending.withLock { $0 } }

    /// Some of it, to be written now. What a transaction that fails takes with it is no loss.
    func take() -> [UInt64: Timestamp] {
        pending.withLock { pending in
            var taken: [UInt64: Timestamp] = [:]
            while taken.count < CacheUses.step, let (id, moment) = pending.popFirst() { taken[id] = moment }
            return taken
        }
    }
}
