public import TarnHTTP

/// Why a cache has no answer.
public indirect enum CacheError: Error, Sendable, CustomStringConvertible {
    /// The server did not answer, or refused, or its answer cannot be imported; and what is stored may not be used instead.
    case request(MirrorError, CacheDecision?)
    /// Nothing is stored that may answer, and the server must not be asked.
    case unanswerable(url: String, CacheDecision)

    /// The failure, and why nothing stored could be used instead.
    public var description: String {
        switch self {
        case .request(let error, let decision):
            error.description + (decision.map { decision in
                decision.rule == .nothingStored ? "" : "; what is stored is not used: \(decision.rule.meaning) (\(decision.rule.paragraph))"
            } ?? "")
        case .unanswerable(let url, let decision):
            "\(url): not answered from the store: \(decision.steps.last(where: { $0.rule != .onlyIfCached })?.rule.meaning ?? decision.rule.meaning)"
        }
    }

    /// Whether the network is what is missing.
    public var isUnreachable: Bool {
        switch self {
        case .request(let error, _): error.isUnreachable
        case .unanswerable: true
        }
    }

    init(_ error: any Error, url: String, place: String) {
        self = (error as? CacheError) ?? .request(Mirror.mirrorError(error, url: Redaction.url(url), place: place), nil)
    }
}
