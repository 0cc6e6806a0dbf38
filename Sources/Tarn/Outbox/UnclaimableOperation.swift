import TarnStore

/// An operation that the store refuses to claim, and the reason, which is in its data.
struct UnclaimableOperation: Error {
    var operation: OutboxOperation
    var reason: any Error
}
