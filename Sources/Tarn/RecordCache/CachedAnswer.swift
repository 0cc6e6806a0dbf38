// What a cache answers: records, where they come from, and how old that is.

public import TarnHTTP
public import TarnImport
public import TarnStore

/// An answer to a request.
public struct CachedAnswer: Sendable {
    /// Who gave it.
    public enum Source: Sendable, Hashable {
        /// From the store, fresh.
        case stored
        /// From the store, stale: see ``CachedAnswer/decision`` for why it was allowed.
        case stale
        /// The server has confirmed what is stored: nothing was parsed.
        case revalidated
        /// The server sent it, and it was imported.
        case fetched
    }

    /// Where it comes from.
    public var source: Source
    /// Why.
    public var decision: CacheDecision
    /// In seconds, since the server made or confirmed it.
    public var age: Int
    /// The keys of the records that the response lists, in its order.
    public var listed: [ListedRecord]
    /// The records, copied out of one snapshot, in the same order; empty if only keys were asked for.
    public var records: [Record]
    /// What the endpoint keeps of a response beside its records, as JSON, by name.
    public var metadata: [String: String]
    /// What the import did; nil if there was none.
    public var report: ImportReport?
    /// Whether the response was stored. If it must not be, neither it nor its records are in the store, but for what was there before.
    public var isStored = true
    /// Whether another request for the same brought it.
    public var isShared = false
    /// Why the server was not asked, or how it failed; nil if it answered, or need not.
    public var failure: CacheError?
    /// The request for the next page; nil if this is the last.
    ///
    /// It knows how far the list was walked. A next page that must not be asked for (a link to
    /// another server or in a circle, a limit) is a request whose ``CacheRequest/failure`` says
    /// why, and which throws that when it is fetched.
    public var next: CacheRequest?
}

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
