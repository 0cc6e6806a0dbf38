/// What is to be done about a request, and why.
public struct CacheDecision: Sendable, Hashable {
    /// What becomes of a request.
    public enum Outcome: Sendable, Hashable {
        /// What is stored answers.
        case fresh
        /// What is stored answers though it is stale; whether it is to be revalidated meanwhile.
        case stale(revalidates: Bool)
        /// The server has to be asked, with the validators of what is stored.
        case revalidate
        /// The server has to be asked.
        case miss
        /// What is stored may not answer, and the server may not be asked, or cannot be: 504.
        case unanswerable
    }

    /// One rule, and how it turned out.
    public struct Step: Sendable, Hashable {
        /// Which one.
        public var rule: CacheRule
        /// The figures of the case.
        public var detail: String

        /// A rule with its figures.
        public init(_ rule: CacheRule, _ detail: String = "") {
            self.rule = rule
            self.detail = detail
        }
    }

    /// What is to be done.
    public var outcome: Outcome
    /// The one that decided.
    public var rule: CacheRule
    /// Nil if nothing that could answer is stored.
    public var freshness: Freshness?
    /// The rules that were asked, in order; the one that decided is the last. Empty unless asked for.
    public var steps: [Step]

    /// A decision, with the rule that made it.
    public init(_ outcome: Outcome, _ rule: CacheRule, freshness: Freshness? = nil, steps: [Step] = []) {
        self.outcome = outcome
        self.rule = rule
        self.freshness = freshness
        self.steps = steps
    }

    /// Whether what is stored is the answer.
    public var isHit: Bool {
        switch outcome {
        case .fresh, .stale: true
        case .revalidate, .miss, .unanswerable: false
        }
    }
}
