/// The result of discarding an operation.
package struct OutboxDiscard: Sendable, Hashable {
    /// The discarded operation, and after it those that depended on it, in the order of ids.
    package var operations: [OutboxOperation] = []
    /// The records whose visible values have changed.
    package var records: [OutboxRecord] = []
}
