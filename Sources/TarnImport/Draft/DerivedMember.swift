internal import TarnStore

/// A record in a derived list.
struct DerivedMember {
    var key: KeptBytes
    /// Whether its reference must be set after the drafts are stored.
    ///
    /// This applies to a bare key, and to a reference in a list, to which a draft cannot add.
    var isUnset: Bool
    /// The hash of the relationship and the record.
    var hash: UInt64
    var list: Int32
}
