internal import TarnStore

/// What a response says about the other end of a relationship that is stored there: applied when the unit is merged.
struct DerivedList {
    /// Of the record that has the relationship, and the relationship among its slots.
    var plan: Int32
    var slot: Int32
    /// The record that has the relationship.
    var target: KeptBytes
    /// The records that it leads to, among the members of all lists; those that came as objects are in the drafts.
    var members = 0..<0
    /// Whether members that are not listed stay.
    var keepsOthers: Bool
    /// Whether references have to be set when the drafts are stored.
    var hasUnset = false
    /// The path of the listed record that it stands in, and how that leads to it; only where somebody may ask.
    var record = KeptBytes()
    var path = KeptBytes()
    /// Of the record and the relationship.
    var hash: UInt64 = 0
}
