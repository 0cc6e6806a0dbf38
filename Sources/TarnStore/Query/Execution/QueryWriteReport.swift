/// The result of a write by query.
public struct QueryWriteReport: Sendable, Hashable {
    /// The number of records in the query's result when they were looked up.
    public var matched = 0
    /// The number of records changed, or deleted, with those that delete rules removed along.
    ///
    /// A record that already has the values is not changed.
    public var changed = 0
    /// The number of writes committed.
    package var steps = 0
}
