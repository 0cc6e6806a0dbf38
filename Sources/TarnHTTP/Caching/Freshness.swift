/// How old a response is, and how long it is fresh, in seconds (RFC 9111 §4.2).
public struct Freshness: Sendable, Hashable {
    /// Since the server made or confirmed it (§4.2.3).
    public var age: Int
    /// For how long it may be used without asking (§4.2.1).
    public var lifetime: Int
    /// Where the lifetime comes from.
    public var rule: CacheRule

    /// Whether it may be used without asking.
    public var isFresh: Bool { lifetime > age }

    /// How long it will be fresh, or, below 0, since when it is not.
    public var remaining: Int { lifetime - age }

    /// An age and a lifetime, in seconds.
    public init(age: Int, lifetime: Int, rule: CacheRule) {
        self.age = age
        self.lifetime = lifetime
        self.rule = rule
    }
}
