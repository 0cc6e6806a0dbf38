internal import LMDB

/// A part of a query's result, and where the next one begins.
public struct QueryPage: Sendable {
    public var records: [Record]
    /// To be given as ``Query/after``; nil if there is no more.
    public var next: ContinuationToken?
}
