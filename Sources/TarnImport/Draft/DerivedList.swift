/// A list of a derived relationship in a response. The merge applies it to the members.
struct DerivedList {
    /// The plan of the record that has the relationship, and the slot of the relationship.
    var plan: Int32
    var slot: Int32
    /// The record that has the relationship.
    var target: KeptBytes
    /// The range of the listed records in the members of all lists.
    ///
    /// Members that are objects have drafts, too.
    var members = 0..<0
    /// Whether stored members that the list lacks are kept.
    var keepsOthers: Bool
    /// Whether another occurrence of the record in the unit takes precedence, by its version or by
    /// the duplicate policy.
    var loses = false
    /// Whether references must be set after the drafts are stored.
    var hasUnset = false
    /// The path of the listed record, and the rest of the path to the list.
    ///
    /// Both are empty if no diagnostic can need them.
    var record = KeptBytes()
    var path = KeptBytes()
    /// The hash of the record and the relationship.
    var hash: UInt64 = 0
}
