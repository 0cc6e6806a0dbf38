import TarnHTTP
import TarnStore

/// The cache section of a description, for a ``RecordCache`` and `tarn fetch`.
public struct CacheDescription: Sendable, Hashable {
    /// The policy of requests that have none of their own.
    package var policy: CachePolicy
    /// The rules of HTTP, as configured.
    package var rules: CacheRules
    /// The limits of the cache.
    package var limits: CacheLimits

    /// Creates the description of a private cache; by default of a million entries or a gibibyte.
    public init(
        policy: CachePolicy = .cacheFirst, rules: CacheRules = CacheRules(),
        limits: CacheLimits = CacheLimits(entries: 1_000_000, bytes: 1 << 30)
    ) {
        self.policy = policy
        self.rules = rules
        self.limits = limits
    }
}
