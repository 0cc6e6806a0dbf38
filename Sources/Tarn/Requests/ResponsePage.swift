public import TarnHTTP
public import TarnImport
import TarnStore

/// One page of a request's answer: its records, and where they come from.
public struct ResponsePage<Value: MappedRecord>: Sendable {
    /// The records that the page lists, in its order.
    public var records: [Value]
    /// The source of the answer.
    public var source: CachedAnswer.Source
    /// The decision of the cache, with its reasons; nil for a request that is not cached.
    public var decision: CacheDecision?
    /// The age in seconds, since the server generated or confirmed the response.
    public var age: Int
    /// The values that the request declares as metadata, as JSON, by name.
    public var metadata: [String: String]
    /// The report of the import; nil if nothing was imported.
    public var report: ImportReport?
    /// The reason why the server did not answer; nil if it did or was not needed.
    public var failure: CacheError?
    /// The following page; nil after the last one.
    public var next: NextPage?
    /// The status of the response, or of the stored one; nil if it is unknown.
    var status: Int?

    /// A page that follows another one, for ``RecordClient/page(_:at:)``.
    public struct NextPage: Sendable {
        enum Place: Sendable {
            case cached(CacheRequest)
            case sequence(PageSequence)
        }

        var place: Place
    }
}
