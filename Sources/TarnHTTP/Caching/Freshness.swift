/// The age and the lifetime of a response in seconds (RFC 9111 §4.2).
public struct Freshness: Sendable, Hashable {
    /// The time since the server generated or validated the response (§4.2.3).
    public var age: Int
    /// The freshness lifetime (§4.2.1).
    public var lifetime: Int
    /// The rule that determines the lifetime.
    public var rule: CacheRule

    /// Whether the response is fresh.
    public var isFresh: Bool { lifetime > age }

    /// The remaining lifetime; negative for a stale response.
    public var remaining: Int { lifetime - age }

    /// Creates a value from an age and a lifetime in seconds.
    public init(age: Int, lifetime: Int, rule: CacheRule) {
        self.age = age
        self.lifetime = lifetime
        self.rule = rule
    }
}
