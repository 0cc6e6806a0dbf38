/// The limits of a cache. A limit that is nil does not apply.
public struct CacheLimits: Sendable, Hashable {
    /// The maximum number of responses.
    package var entries: Int?
    /// The maximum size in bytes, as in ``CacheTotals/bytes``.
    package var bytes: Int?
    /// The maximum age of an entry since its last confirmation, in seconds.
    package var age: Int?

    /// Creates limits; by default there are none.
    public init(entries: Int? = nil, bytes: Int? = nil, age: Int? = nil) {
        self.entries = entries
        self.bytes = bytes
        self.age = age
    }

    func allow(_ totals: CacheTotals) -> Bool {
        totals.entries <= entries ?? .max && totals.bytes <= bytes ?? .max
    }
}
