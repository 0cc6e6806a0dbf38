/// A record that an import dropped because another record has the same values in a unique index.
package struct DroppedRecord: Sendable {
    package var entity: UInt16
    package var storageKey: [UInt8]
    package var index: String
    /// The storage key of a record that has the values.
    package var holder: [UInt8]
    /// The outcome of writing the record, before it was undone.
    package var outcome: StoreWriter.Outcome
}
