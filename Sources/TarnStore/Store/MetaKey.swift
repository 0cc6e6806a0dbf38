internal import LMDB

/// The keys of the table `meta`.
package enum MetaKey {
    /// Decimal text (`Store.format`).
    package static let format: StaticString = "format"
    /// Text: names of what a reader must know beside the format, divided by spaces. Missing if there is nothing.
    package static let features: StaticString = "features"
    /// A UUID as text: another one after a restore, so that tokens of the old store are not taken for the new one's.
    package static let incarnation: StaticString = "incarnation"
    /// u64, big-endian: changes with every change of the catalog or the tables.
    package static let generation: StaticString = "generation"
    /// u64, big-endian: counts the commits that changed something.
    package static let sequence: StaticString = "sequence"
    /// JSON.
    package static let catalog: StaticString = "catalog"
    /// JSON: what servers have said of their rate limits, for the layer that sends requests.
    package static let requestBudgets: StaticString = "request budgets"
    /// u64, big-endian: bytes that the file may have; 0 or missing for no quota.
    package static let quota: StaticString = "quota"
    /// u64, big-endian: bytes that the file had when the quota was set, if that was more.
    package static let quotaBase: StaticString = "quota base"
    /// Followed by a space and the id of a dictionary in decimal: u16 entity id, then the dictionary.
    package static let dictionaryPrefix = "dictionary "
    /// Followed by a space and an entity id in decimal: how far a rewrite has come (`RewriteMark`).
    package static let rewritePrefix = "rewrite "
    /// u64, big-endian: ids of dictionaries are never reused.
    package static let nextDictionary: StaticString = "next dictionary"
    /// Followed by a space and the id of an index in decimal: what is still to be done for it (`IndexMark`).
    package static let indexPrefix = "index "
    /// u64, big-endian: response ids are never reused.
    package static let nextResponse: StaticString = "next response"
    /// u64, big-endian: how many entries caches have, and what they count for.
    package static let cacheEntries: StaticString = "cache entries"
    package static let cacheBytes: StaticString = "cache bytes"
    /// u64, big-endian: ids of long lists are never reused.
    package static let nextList: StaticString = "next list"
    /// Text: how long changes are kept (`ChangeRetention`); missing for the default.
    package static let changeRetention: StaticString = "change retention"
    /// Text: of which entities the change log keeps values (`ChangeValues`); missing for none.
    package static let changeValues: StaticString = "change values"
    /// u64, big-endian: the newest commit of which entries were trimmed from the change log.
    package static let trimmedChanges: StaticString = "trimmed changes"
    /// When commits were made, here and there: for each u64 sequence, i64 microseconds since 1970, big-endian.
    package static let changeTimes: StaticString = "change times"
    /// Followed by a space and the storage key of a name: the text of a token, how far changes of another store were applied.
    package static let positionPrefix = "position "

    /// The numbers that every store of format 3 has.
    package static let counters: [StaticString] = [
        generation, sequence, quota, quotaBase, nextDictionary, nextResponse, cacheEntries, cacheBytes, nextList, trimmedChanges,
    ]
}
