internal import LMDB

/// A record that an import could not store, because another one has the values that have to be unique.
package struct DroppedRecord: Sendable {
    package var entity: UInt16
    package var storageKey: [UInt8]
    package var index: String
    /// A record that has the values.
    package var holder: [UInt8]
    /// What had become of the record before it was undone.
    package var outcome: StoreWriter.Outcome
}
