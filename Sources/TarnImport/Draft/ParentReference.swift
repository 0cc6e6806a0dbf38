public import TarnStore

/// The record that listed records belong to, as when a list is requested by its parent.
public struct ParentReference: Sendable, Hashable {
    /// The to-one relationship of the listed entity that leads to the parent.
    package var relationship: String
    /// The storage key of the parent.
    package var storageKey: [UInt8]
    /// The whole encoding of the key, for records whose own key contains it.
    let tuple: [UInt8]

    /// Creates a reference to a parent record.
    public init(relationship: String, key: RecordKey) {
        self.relationship = relationship
        storageKey = key.storageKey
        tuple = key.tuple
    }
}
