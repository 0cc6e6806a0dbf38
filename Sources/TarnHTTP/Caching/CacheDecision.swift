/// The decision about a request, and its reason.
public struct CacheDecision: Sendable, Hashable {
    /// The treatment of a request.
    public enum Outcome: Sendable, Hashable {
        /// The stored response is fresh and is used.
        case fresh
        /// The stored response is stale and is used.
        ///
        /// If `revalidates` is true, it is revalidated in the background.
        case stale(revalidates: Bool)
        /// The request is forwarded with the validators of the stored response.
        case revalidate
        /// The request is forwarded.
        case miss
        /// The stored response must not be used, and the server must not or cannot be reached: 504.
        case unanswerable
    }

    /// A rule that was evaluated, and its result.
    package struct Step: Sendable, Hashable {
        /// The rule.
        package var rule: CacheRule
        /// The values of the case, in words.
        package var detail: String

        /// Creates a step.
        package init(_ rule: CacheRule, _ detail: String = "") {
            self.rule = rule
            self.detail = detail
        }
    }

    /// The treatment of the request.
    public var outcome: Outcome
    /// The rule that decided.
    package var rule: CacheRule
    /// The freshness of the stored response; nil if no stored response could be used.
    package var freshness: Freshness?
    /// The rules that were evaluated, in order; the last one decided. Empty unless requested.
    package var steps: [Step]

    /// Creates a decision with the rule that made it.
    package init(_ outcome: Outcome, _ rule: CacheRule, freshness: Freshness? = nil, steps: [Step] = []) {
        self.outcome = outcome
        self.rule = rule
        self.freshness = freshness
        self.steps = steps
    }

    /// The rule that decided, and its paragraph in the standard.
    public var reason: String { "\(rule.meaning) (\(rule.paragraph))" }

    /// Whether the stored response is used.
    public var isHit: Bool {
        switch outcome {
        case .fresh, .stale: true
        case .revalidate, .miss, .unanswerable: false
        }
    }
}
