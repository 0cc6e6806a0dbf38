/// A relationship of a proposed entity.
struct ProposedRelationship {
    var name: String
    var target: String
    var isToMany = false
    /// The keys that lead to the object, the list or the bare id, as alternates.
    var from: [[String]]?
    /// The text of `from` if it is no key path, such as `[1]`.
    var source: String?
    var inverse: String?
    /// Whether a list has a part of the references, which are stored at the inverse.
    var isExcerpt = false
    /// Whether a list keeps the order of its records.
    var isOrdered = true
    var comment = ""
}
