public import TarnHTTP

/// An explanation of a cache's decision about a request.
public struct CacheExplanation: Sendable, CustomStringConvertible {
    /// The URL of the request, without secrets.
    package var url: String
    /// The decision, with every rule that was applied.
    public var decision: CacheDecision
    /// The status of the stored response; nil if there is none.
    package var status: Int?
    /// The number of listed records; nil if no list of records is stored.
    package var records: Int?
    /// The validators that a conditional request would send; nil if there is no stored response.
    package var validators: Validators?

    /// The URL, the outcome, and one line for each rule.
    public var description: String {
        let outcome =
            switch decision.outcome {
            case .fresh: "fresh: answered from the store"
            case .stale(let revalidates): "stale: may be used" + (revalidates ? " during revalidation" : "")
            case .revalidate:
                "revalidate: request to the server"
                    + (validators.map { $0.isEmpty ? ", without a condition" : " with a condition" } ?? "")
            case .miss: "miss: request to the server"
            case .unanswerable: "unanswerable: a request is not allowed"
            }
        let lines = decision.steps.map { step in
            "  \(step.rule.meaning)" + (step.detail.isEmpty ? "" : ": \(step.detail)") + " (\(step.rule.paragraph))"
        }
        return ([url, outcome] + lines).joined(separator: "\n")
    }
}
