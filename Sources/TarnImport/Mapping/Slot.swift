/// The compiled mapping of one attribute or relationship.
///
/// A trivial value: a slot is read for every value of every object, without reference counting.
struct Slot {
    enum Kind {
        /// The type is in the slot's details.
        case attribute
        /// A reference, or a list of them, that is stored in this entity.
        case toOne(destination: Int)
        case toMany(destination: Int)
        /// A relationship whose references are stored in its targets; see the slot's details.
        case derived(Derived)
    }

    /// The parts of a derived relationship that every object needs.
    struct Derived {
        /// The plan of the entity whose records hold the references, and the field.
        var owner: Int32
        var field: UInt16
        /// Whether it is to-many, seen from this side.
        var isToMany: Bool
        /// Whether the references are lists, and whether they are ordered as seen from this side.
        var isListed: Bool
        var isOrdered: Bool

        /// The relationship's contribution to hashes.
        var seed: UInt64 { UInt64(UInt32(bitPattern: owner)) << 16 | UInt64(field) }
    }

    /// The stored field; 0 for a derived relationship.
    var field: UInt16
    var kind: Kind
    var isOptional: Bool
    var isKey = false
    /// Whether the mapping's description declares the field. Another one has no source here.
    var isDeclared = true
    /// A record without the attribute has the schema's default.
    var hasDefault = false
    /// Whether null counts as absent.
    var ignoresNull = false
    /// Whether an absent value counts as null in a listed record.
    var clearsAbsent = false
    /// The value of an absent attribute then: an index into the plan's document sources.
    ///
    /// -1 stands for null.
    var absentValue: Int32 = -1
    /// The policy of a to-many relationship.
    var toMany = ToManyPolicy.replace
    /// For a one-to-one reference, the plan of the topmost entity that declares it; otherwise -1.
    var claims: Int32 = -1

    /// Marks a field of another description: a record's own JSON does not change it.
    mutating func setUndeclared() {
        isDeclared = false
        (clearsAbsent, absentValue, toMany) = (false, -1, .replace)
    }
}
