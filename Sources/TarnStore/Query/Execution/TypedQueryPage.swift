/// A page of a query's result as structs, and the token of the next one.
public struct TypedQueryPage<Record: StoredRecord>: Sendable {
    /// The records, in the order of the query.
    public var records: [Record]
    /// The value of ``Query/after`` for the next page; nil if there is none.
    public var next: ContinuationToken?
}
