import TarnHTTP
import TarnStore

/// How a ``RecordCache`` and `tarn fetch` answer, as a description says it.
public struct CacheDescription: Sendable, Hashable {
    /// Where answers come from, if a request does not say it.
    public var policy: CachePolicy
    /// HTTP's rules, as configured.
    public var rules: CacheRules
    /// How much is kept.
    public var limits: CacheLimits

    /// Answers from the store first, for one user, with a million entries or a gibibyte.
    public init(
        policy: CachePolicy = .cacheFirst, rules: CacheRules = CacheRules(), limits: CacheLimits = CacheLimits(entries: 1_000_000, bytes: 1 << 30)
    ) {
        self.policy = policy
        self.rules = rules
        self.limits = limits
    }
}
