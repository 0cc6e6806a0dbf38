/// The result of completing an operation.
package struct OutboxCompletion: Sendable, Hashable {
    /// The completed operation, with its key before the adoption.
    package var operation: OutboxOperation
    /// The key of the record after the adoption.
    package var key: RecordKey
    /// Whether another record had the adopted key, and both became one.
    package var isMerged: Bool { knownVersion != nil }
    /// Whether the store had a record with the adopted key, or has queued its deletion.
    package var wasKnown = false
    /// The version of the record that had the adopted key; nil if none was stored.
    package var knownVersion: UInt64?
    /// Whether another creation has got the adopted key since the operation was sent.
    package var isShared = false
    /// Whether the record with the adopted key was deleted since the operation was queued.
    package var isDeleted = false
}
