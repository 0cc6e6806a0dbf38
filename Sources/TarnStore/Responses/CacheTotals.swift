/// The size of the caches in a store.
public struct CacheTotals: Sendable, Hashable {
    /// The number of responses.
    public var entries: Int
    /// The approximate space of the responses in the store, in bytes, including their bodies.
    public var bytes: Int

    /// Creates the totals of caches.
    package init(entries: Int = 0, bytes: Int = 0) {
        self.entries = entries
        self.bytes = bytes
    }
}
