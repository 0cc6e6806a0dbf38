/// A relationship of a proposed entity.
struct ProposedRelationship {
    var name: String
    var target: String
    var isToMany = false
    /// The keys that lead to the object, the list or the bare id, as alternates.
    var from: [[String]]?
    var inverse: String?
    var comment = ""
}
