// The answer of a cache: records, their source and their age.

public import TarnHTTP
public import TarnImport
public import TarnStore

/// An answer to a request: the listed records, with their source and age.
public struct CachedAnswer: Sendable {
    /// The source of an answer.
    public enum Source: Sendable, Hashable {
        /// The store, with a fresh response.
        case stored
        /// The store, with a stale response; ``CachedAnswer/decision`` has the rule that allows it.
        case stale
        /// The store, confirmed by the server with a 304: nothing was parsed.
        case revalidated
        /// The server, whose response was imported.
        case fetched
    }

    /// The source of the answer.
    public var source: Source
    /// The decision of the cache, with its reasons.
    public var decision: CacheDecision
    /// The age in seconds, since the server generated or confirmed the response.
    public var age: Int
    /// The keys of the records that the response lists, in its order.
    public var listed: [ListedRecord]
    /// The records, copied from one snapshot, in the same order.
    ///
    /// If only keys are requested, they are empty, unless the response must not be stored.
    public var records: [Record]
    /// The metadata that the endpoint declares, as JSON, by name.
    public var metadata: [String: String]
    /// The report of the import; nil if nothing was imported.
    public var report: ImportReport?
    /// Whether the response was stored.
    ///
    /// If a response must not be stored, neither its entry nor its records are written. Records
    /// that were stored before stay. Of a response that states an error beside its records, only
    /// the records are stored.
    public var isStored = true
    /// Whether another request for the same resource has fetched it.
    var isShared = false
    /// The time before the request was sent that the server has answered; nil if it is unknown.
    var requestedAt: Timestamp?
    /// The reason why the server did not answer; nil if it did or was not needed.
    ///
    /// If the answer was fetched, the error that the server has stated beside the records: some of
    /// them, or parts of them, are missing.
    public var failure: CacheError?
    /// The request for the next page; nil after the last page.
    ///
    /// It knows the position in the list. If the next page must not be requested (a link to another
    /// server, a page loop, a limit), its ``CacheRequest/failure`` has the reason, and fetching it
    /// throws that error.
    public var next: CacheRequest?
    /// The facts from which the pages before and after this one are found.
    var end: PageEnd?
    /// The status of the response, or of the stored one; nil if it is unknown.
    var status: Int?
    /// The number of elements whose records are unknown.
    package internal(set) var skipped = 0
    /// The numbers of imported records with a list that the server has cut off, by its flag.
    package internal(set) var cutLists: [String: Int] = [:]
    /// Whether the list ends here because of a limit, or may go on behind its end.
    package internal(set) var isCutOff = false
    /// The reason why the list may go on behind its end; nil if the responses do not show one.
    var doubt: EndDoubt?
    /// The body of the response, if the request's options ask for it.
    var body: [UInt8]?
    /// The records, if the request's options read them.
    var read: ResponseReading.Records?
}
