/// An operation with the operations that it waits for.
package struct OutboxQueueEntry: Sendable, Hashable {
    package var operation: OutboxOperation
    /// The earlier operations that must end first, in the order of ids. Empty for a ready one.
    package var waitsFor: [Wait]
    /// The end of the back-off, if it lies in the future.
    package var notBefore: Timestamp?

    /// Whether the operation can be sent now: it is not dead, waits for nothing, and its back-off
    /// has ended.
    package var isReady: Bool { operation.state != .dead && waitsFor.isEmpty && notBefore == nil }

    /// An earlier operation that must end first.
    package struct Wait: Sendable, Hashable {
        package var operation: UInt64
        /// Whether that operation is dead, so that only a retry or a discard ends the wait.
        package var isDead: Bool
        package var reason: Reason
    }

    /// The reason of a wait.
    package enum Reason: String, Sendable, Hashable {
        /// The other operation is of the same record.
        case sameRecord
        /// The other operation creates a record that this one refers to.
        case creation
        /// This operation deletes a record that the other one refers to.
        case deletion
    }
}
