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
