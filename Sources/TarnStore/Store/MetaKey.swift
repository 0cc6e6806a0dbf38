/// The keys of the table `meta`.
package enum MetaKey {
    /// Decimal text (`Store.format`).
    package static let format: StaticString = "format"
    /// Text: the features that a reader must know, separated by spaces (`StoreFeature`).
    /// Missing if there are none.
    package static let features: StaticString = "features"
    /// A UUID as text. A restored store gets a new one, which invalidates tokens of the old store.
    package static let incarnation: StaticString = "incarnation"
    /// The incarnation that the scopes of responses were hashed with, in a store that was restored.
    /// Missing: its own.
    package static let responseOrigin: StaticString = "response origin"
    /// u64, big-endian. Changes with every change of the catalog or the tables.
    package static let generation: StaticString = "generation"
    /// u64, big-endian: the number of commits that changed something.
    package static let sequence: StaticString = "sequence"
    /// The schema catalog as JSON.
    package static let catalog: StaticString = "catalog"
    /// JSON: the rate limits that servers reported, for the layer that sends requests.
    package static let requestBudgets: StaticString = "request budgets"
    /// The newest unsafe requests that may have overtaken transfers (`UnsafeRequests`).
    static let unsafeRequests: StaticString = "unsafe requests"
    /// u64, big-endian: the limit of the file's size in bytes. 0 or missing: no quota.
    package static let quota: StaticString = "quota"
    /// u64, big-endian: the size of the file in bytes when the quota was set.
    static let quotaBase: StaticString = "quota base"
    /// Prefix of the id of a dictionary in decimal. Value: u16 entity id, dictionary.
    package static let dictionaryPrefix = "dictionary "
    /// Prefix of an entity id in decimal. Value: the progress of a rewrite (`RewriteMark`).
    static let rewritePrefix = "rewrite "
    /// u64, big-endian: the id of the newest dictionary. Ids are never reused.
    package static let nextDictionary: StaticString = "next dictionary"
    /// Prefix of the id of an index in decimal. Value: the outstanding work on it (`IndexMark`).
    package static let indexPrefix = "index "
    /// u64, big-endian: the id of the newest response. Ids are never reused.
    package static let nextResponse: StaticString = "next response"
    /// Text: the mappings of the responses (`ResponseMappings`). Missing until a sync notes them.
    static let responseMappings: StaticString = "response mappings"
    /// Text: digests of the sources of fields, by server and field. Missing until they are noted.
    static let fieldSources: StaticString = "field sources"
    /// Text: digests of the lists of endpoints, by description and endpoint. Missing until they are
    /// noted.
    static let requestedLists: StaticString = "requested lists"
    /// u64, big-endian: the number of cache entries, and (below) the bytes they count for.
    package static let cacheEntries: StaticString = "cache entries"
    package static let cacheBytes: StaticString = "cache bytes"
    /// Text: a line for each mapping of record caches' responses, with its digest and their number.
    /// Missing until one is stored.
    static let cacheMappings: StaticString = "cache mappings"
    /// u64, big-endian: the highest response id that `cacheMappings` takes into account. A program
    /// that does not know these numbers stores responses behind it.
    static let countedResponses: StaticString = "counted responses"
    /// u64, big-endian: the id of the newest edge list. Ids are never reused.
    package static let nextList: StaticString = "next list"
    /// Text: the retention of changes (`ChangeRetention`). Missing: the default.
    package static let changeRetention: StaticString = "change retention"
    /// Text: the entities whose values the change log records (`ChangeValues`). Missing: none.
    package static let changeValues: StaticString = "change values"
    /// u64, big-endian: the newest commit that lost entries to trimming of the change log.
    package static let trimmedChanges: StaticString = "trimmed changes"
    /// The times of some commits. For each: u64 sequence, i64 microseconds since 1970, big-endian.
    static let changeTimes: StaticString = "change times"
    /// Prefix of the storage key of a name.
    /// Value: the token, as text, up to which changes of another store were applied.
    package static let positionPrefix = "position "

    /// The numbers that every store of format 3 contains.
    package static let counters: [StaticString] = [
        generation, sequence, quota, quotaBase, nextDictionary, nextResponse, cacheEntries, cacheBytes, nextList,
        trimmedChanges,
    ]
}
