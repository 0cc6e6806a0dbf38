internal import TarnStore

/// The parts of a slot that are not read for every value.
struct SlotDetails {
    var name: String
    /// The rule of an attribute.
    var rule = SlotDetails.text
    /// The derived relationship, if the slot is one.
    var derived: Derived?

    /// The rule of slots that are no attributes; unused.
    private static let text = ValueRule(.string)

    struct Derived {
        /// The plan of the entity whose records hold the references, and the field.
        var owner: Int
        var field: Catalog.Field
        var reference: Catalog.Reference
        /// Whether it is to-many, seen from this side.
        var isToMany: Bool
    }
}
