public import TarnStore

/// A record that listed records belong to, as when a list was asked for by its parent.
public struct ParentReference: Sendable, Hashable {
    /// The to-one relationship of the listed entity that leads to the parent.
    public var relationship: String
    public var storageKey: [UInt8]
    /// The whole key, for records whose own key holds it.
    let tuple: [UInt8]

    public init(relationship: String, key: RecordKey) {
        self.relationship = relationship
        storageKey = key.storageKey
        tuple = key.tuple
    }
}
