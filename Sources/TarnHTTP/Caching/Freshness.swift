/// The age and the lifetime of a response in seconds (RFC 9111 §4.2).
package struct Freshness: Sendable, Hashable {
    /// The time since the server generated or validated the response (§4.2.3).
    package var age: Int
    /// The freshness lifetime (§4.2.1).
    package var lifetime: Int
    /// The rule that determines the lifetime.
    package var rule: CacheRule

    /// Whether the response is fresh.
    package var isFresh: Bool { lifetime > age }

    /// The remaining lifetime; negative for a stale response.
    package var remaining: Int { lifetime - age }

    /// Creates a value from an age and a lifetime in seconds.
    package init(age: Int, lifetime: Int, rule: CacheRule) {
        self.age = age
        self.lifetime = lifetime
        self.rule = rule
    }
}
