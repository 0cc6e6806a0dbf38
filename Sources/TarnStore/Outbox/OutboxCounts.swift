/// The numbers of operations by state.
public struct OutboxCounts: Sendable, Hashable {
    /// Operations that wait, including the failed ones.
    public var pending = 0
    /// Operations that a sender has claimed.
    public var sending = 0
    /// Pending operations whose last attempt failed, and which are sent again.
    public var failed = 0
    /// Operations that the server refused for good.
    public var dead = 0

    /// Creates counts of an empty outbox.
    package init() {}

    /// The number of all operations.
    public var total: Int { pending &+ sending &+ dead }
    /// Whether no operation is queued.
    public var isEmpty: Bool { total == 0 }
}
