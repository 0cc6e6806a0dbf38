public import TarnHTTP

/// The reason why a cache has no answer.
public indirect enum CacheError: Error, Sendable, CustomStringConvertible {
    /// The request failed or was refused, and no stored response may be used instead.
    ///
    /// An unusable response is a failure, too.
    case request(MirrorError, CacheDecision?)
    /// No stored response may be used, and the policy forbids a request.
    case unanswerable(url: String, CacheDecision)

    /// The failure, and the reason why no stored response could be used instead.
    public var description: String {
        switch self {
        case .request(.cancelled, _): "the request was cancelled; what its earlier pages have brought is kept"
        case .request(let error, let decision):
            error.description
                + (decision.map { decision in
                    decision.rule == .nothingStored
                        ? ""
                        : "; the stored response is not used: \(decision.rule.meaning) (\(decision.rule.paragraph))"
                } ?? "")
        case .unanswerable(let url, let decision):
            "\(url): not answered from the store: \(decision.steps.last(where: { $0.rule != .onlyIfCached })?.rule.meaning ?? decision.rule.meaning)"
        }
    }

    /// Whether an answer only lacks the network.
    public var isUnreachable: Bool {
        switch self {
        case .request(let error, _): error.isUnreachable
        case .unanswerable: true
        }
    }

    /// Whether the task or the domain of the call was cancelled.
    public var isCancelled: Bool { if case .request(.cancelled, _) = self { true } else { false } }

    init(_ error: any Error, url: String, place: String) {
        self = (error as? CacheError) ?? .request(MirrorError(error, url: Redaction.url(url), place: place), nil)
    }
}
