internal import TarnStore

/// The rest of what is known about a slot.
struct SlotDetails {
    var name: String
    /// For an attribute.
    var rule = SlotDetails.text
    /// For a derived relationship.
    var derived: Derived?

    /// Stands in for what is no attribute.
    private static let text = ValueRule(.string)

    struct Derived {
        /// The entity whose records hold the references, and the field.
        var owner: Int
        var field: Catalog.Field
        var reference: Catalog.Reference
        /// Seen from here.
        var isToMany: Bool
    }
}
