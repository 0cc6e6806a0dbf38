public import TarnHTTP

/// What a cache would do about a request, and why.
public struct CacheExplanation: Sendable, CustomStringConvertible {
    /// The request, without secrets.
    public var url: String
    /// What would be done, with every rule that was asked.
    public var decision: CacheDecision
    /// Of what is stored; nil if nothing is.
    public var status: Int?
    /// How many records it lists; nil if it is no list of records.
    public var records: Int?
    /// With which the server would be asked.
    public var validators: Validators?

    /// One line for the outcome, and one for each rule.
    public var description: String {
        let outcome =
            switch decision.outcome {
            case .fresh: "fresh: answered from the store"
            case .stale(let revalidates): "stale, and may be used" + (revalidates ? " while it is revalidated" : "")
            case .revalidate: "revalidate: the server is asked" + (validators.map { $0.isEmpty ? ", without a condition" : " with a condition" } ?? "")
            case .miss: "miss: the server is asked"
            case .unanswerable: "unanswerable: the server may not be asked"
            }
        let lines = decision.steps.map { step in
            "  \(step.rule.meaning)" + (step.detail.isEmpty ? "" : ": \(step.detail)") + " (\(step.rule.paragraph))"
        }
        return ([url, outcome] + lines).joined(separator: "\n")
    }
}
