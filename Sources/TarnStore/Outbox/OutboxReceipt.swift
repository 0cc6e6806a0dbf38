/// The result of queueing an operation.
package struct OutboxReceipt: Sendable, Hashable {
    /// The operation that has the change; nil if there is nothing to send.
    package var operation: UInt64?
    /// The key of the record.
    package var key: RecordKey
    /// Whether an earlier, unsent operation has taken the change in.
    package var isFolded = false
    /// Earlier operations that were never sent, and are withdrawn because of this one.
    package var withdrawn: [OutboxOperation] = []
    /// Earlier operations that have lost references to a record that will never exist.
    package var changed: [OutboxOperation] = []
}
