import TarnStore

/// An operation of the outbox, with what it waits for.
package struct InspectedOperation: Sendable {
    /// The operation, the earlier ones that must end first, and the end of its back-off.
    package var entry: OutboxQueueEntry
    /// Whether every operation that it may wait for was looked for, and is readable.
    package var areWaitsWhole: Bool

    package var operation: OutboxOperation { entry.operation }
}
