/// The unsent changes of a record.
public struct OutboxRecordStatus: Sendable, Hashable {
    /// The numbers of the record's operations by state.
    public var counts = OutboxCounts()
    /// The ids of the record's operations, ascending.
    public var operations: [UInt64] = []
    /// The failure of the last failed attempt.
    public var failure: OutboxFailure?

    /// Creates the status of a record without unsent changes.
    package init() {}
}
