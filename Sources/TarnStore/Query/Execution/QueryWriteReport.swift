internal import LMDB

/// What a write by query did.
public struct QueryWriteReport: Sendable, Hashable {
    /// How many records were in the query's result when they were looked for.
    public var matched = 0
    /// How many records were changed, or deleted: those among them that delete rules took with others. A record that has the values
    /// already is not changed.
    public var changed = 0
    /// How many writes were committed.
    public var steps = 0
}
