internal import TarnStore

/// What one attribute or relationship of an entity takes from JSON. A plain value: one is looked at for every value of
/// every object, and nothing of it is counted.
struct Slot {
    enum Kind {
        /// The type is in the slot's details.
        case attribute
        /// A reference that is stored in this entity.
        case toOne(destination: Int)
        case toMany(destination: Int)
        /// A relationship whose references are stored in the records that it leads to; more is in the slot's details.
        case derived(Derived)
    }

    /// Of a derived relationship what is needed for every object.
    struct Derived {
        /// The plan of the entity whose records hold the references, and the field.
        var owner: Int32
        var field: UInt16
        /// Seen from here.
        var isToMany: Bool
        /// Whether the references are lists, and whether they have an order as seen from here.
        var isListed: Bool
        var isOrdered: Bool

        /// What it adds to hashes.
        var seed: UInt64 { UInt64(UInt32(bitPattern: owner)) << 16 | UInt64(field) }
    }

    /// The stored field; 0 for a derived relationship.
    var field: UInt16
    var kind: Kind
    var isOptional: Bool
    var isKey = false
    /// A record without the attribute has the schema's default.
    var hasDefault = false
    /// Null says nothing.
    var ignoresNull = false
    /// What is absent in a listed record is null.
    var clearsAbsent = false
    /// What it is then instead, among the plan's values of the document; -1 for null.
    var absentValue: Int32 = -1
    /// Of a to-many relationship.
    var toMany = ToManyPolicy.replace
    /// Of a reference in a one-to-one relationship, the plan of the topmost entity that has it; -1 for what leads to nothing exclusively.
    var claims: Int32 = -1
}
