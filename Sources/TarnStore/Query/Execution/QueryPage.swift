/// A page of a query's result, and the token of the next one.
public struct QueryPage: Sendable {
    /// The records, in the order of the query.
    public var records: [Record]
    /// The value of ``Query/after`` for the next page; nil if there is none.
    public var next: ContinuationToken?
}
