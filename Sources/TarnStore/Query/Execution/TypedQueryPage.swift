internal import LMDB

/// A part of a query's result as structs, and where the next one begins.
public struct TypedQueryPage<Record: StoredRecord>: Sendable {
    /// In the order of the query.
    public var records: [Record]
    /// To be given as ``Query/after``; nil if there is no more.
    public var next: ContinuationToken?
}
