import Foundation
import Locking
import TarnStore

extension Store {
    /// The number of entries that one commit removes: deletes in small steps fit into the reserve.
    private static let step = 32
    /// The maximum number of attempts to make room for one response.
    private static let attempts = 3

    /// Runs a write that adds a response. If the store is full, entries of its caches make room,
    /// the least recently used ones first, and the write runs again.
    ///
    /// The pages of removed entries cannot be used while a reader sees them. Once this has made an
    /// eviction useless, nothing more is removed until that reader has ended.
    ///
    /// - Parameters:
    ///   - size: the size of the response in bytes. One that is larger than all entries together,
    ///     and than 64 KiB, removes none.
    ///   - uses: the uses of entries that are not stored.
    ///   - pinned: the snapshot of a reader that has made an eviction useless; nil for none.
    func makingRoom<Value: Sendable>(
        for size: Int, _ options: CachedTransport.Options, uses: [UInt64: Timestamp], pinned: Guarded<Int?>,
        _ write: () async throws -> Value
    ) async throws -> Value {
        // The last commit before the entries of this write were removed.
        var last: Int?
        for attempt in 0..<Store.attempts {
            do { return try await write() } catch let error as StoreWriteError {
                guard case .storeFull = error else { throw error }
                let oldest = oldestSnapshot
                if let oldest, let known = last ?? pinned.withLock(\.self), oldest <= known {
                    pinned.withLock { $0 = oldest }
                    throw error
                }
                pinned.withLock { $0 = nil }
                last = last ?? lastTransaction
                guard try await evict(size << attempt, options, uses) else { throw error }
            }
        }
        return try await write()
    }

    /// Removes entries of caches of a size in bytes; false if there are too few.
    private func evict(
        _ size: Int, _ options: CachedTransport.Options, _ uses: [UInt64: Timestamp]
    ) async throws -> Bool {
        let totals = try read { try $0.cacheTotals }
        guard totals.entries > 0, size <= max(totals.bytes, 64 << 10) else { return false }
        // With a margin: otherwise, each response would find the store full.
        let limits = CacheLimits(bytes: max(0, totals.bytes - size - totals.bytes / 32), age: options.limits.age)
        let now = Timestamp(options.time.now()), random = options.time.random
        var count = 0
        while true {
            let removed = try await self.write {
                try $0.responses.evict(limits, uses: uses, atMost: Store.step, now: now, random: random).count
            }
            count += removed
            if removed < Store.step { return count > 0 }
        }
    }
}
