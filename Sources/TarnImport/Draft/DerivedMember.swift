internal import TarnStore

/// A record that a derived list leads to.
struct DerivedMember {
    var key: KeptBytes
    /// Whether its reference has to be set when the drafts are stored: it came as a bare key, or its reference stands in a list, to which a
    /// draft cannot add.
    var isUnset: Bool
    /// Of the relationship and the record.
    var hash: UInt64
    var list: Int32
}
