internal import LMDB

/// How large a cache may get. What is nil is not limited.
public struct CacheLimits: Sendable, Hashable {
    /// How many responses.
    public var entries: Int?
    /// As ``CacheTotals/bytes`` counts.
    public var bytes: Int?
    /// Of an entry since it was confirmed last, in seconds.
    public var age: Int?

    /// Limits; none for what is nil.
    public init(entries: Int? = nil, bytes: Int? = nil, age: Int? = nil) {
        self.entries = entries
        self.bytes = bytes
        self.age = age
    }

    func allow(_ totals: CacheTotals) -> Bool {
        totals.entries <= entries ?? .max && totals.bytes <= bytes ?? .max
    }
}
