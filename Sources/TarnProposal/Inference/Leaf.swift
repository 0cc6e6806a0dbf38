/// A value of a record that becomes an attribute or a relationship.
struct Leaf {
    /// The keys from the record.
    var keys: [String]
    /// The values at all places of the entity.
    var value: ValueShape
    var isOptional: Bool
    /// The position of the cluster of the related records; nil for an attribute.
    var target: Int?
    var isToMany = false
    /// The values of the discriminator for which it is present; empty for all.
    var kinds: Set<String> = []
    var comment = ""

    /// The last key.
    var name: String { keys.last ?? "" }
}
