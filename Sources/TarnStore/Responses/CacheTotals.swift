internal import LMDB

/// How much a cache has in a store.
public struct CacheTotals: Sendable, Hashable {
    /// How many responses.
    public var entries: Int
    /// About what they take up in the store, their bodies included.
    public var bytes: Int

    /// Counts of a cache.
    public init(entries: Int = 0, bytes: Int = 0) {
        self.entries = entries
        self.bytes = bytes
    }
}
