// The operations that the deletions of a query have queued, and their effects on others.

import TarnStore

/// The result of queueing the deletions of all records of a query.
package struct QueuedDeletions: Sendable {
    /// The number of records that were found.
    package var matched: Int
    /// The operations that were queued.
    package var operations: [UInt64]
    /// Earlier operations that were never sent, and are withdrawn.
    package var withdrawn: [OutboxOperation]
    /// Earlier operations that have lost references to a deleted record that was never sent.
    package var changed: [OutboxOperation]

    init(matched: Int, _ receipts: [OutboxReceipt]) {
        self.matched = matched
        operations = receipts.compactMap(\.operation)
        var withdrawn: [UInt64: OutboxOperation] = [:], changed: [UInt64: OutboxOperation] = [:]
        for operation in receipts.flatMap(\.withdrawn) { withdrawn[operation.id] = operation }
        for operation in receipts.flatMap(\.changed) where withdrawn[operation.id] == nil {
            changed[operation.id] = operation
        }
        self.withdrawn = withdrawn.values.sorted { $0.id < $1.id }
        self.changed = changed.values.sorted { $0.id < $1.id }
    }
}
