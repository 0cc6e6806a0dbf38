/// A record in a derived list.
struct DerivedMember {
    var key: KeptBytes
    /// Whether its reference must be set after the drafts are stored.
    ///
    /// This applies to a bare key, to a reference in a list, to which a draft cannot add, and to a
    /// list of which only the merge knows whether it counts.
    var isUnset: Bool
    /// Whether it is a nested object, whose own draft brings the record.
    var isNested: Bool
    /// The hash of the relationship and the record.
    var hash: UInt64
    var list: Int32
}
