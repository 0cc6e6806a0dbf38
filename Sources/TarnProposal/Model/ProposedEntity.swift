/// An entity of a proposal.
struct ProposedEntity {
    var name: String
    var comments: [String] = []
    /// The names of the key attributes.
    var key: [String] = []
    var keyComment = ""
    /// Another key, and the condition for it.
    var keyAlternative: (key: [String], condition: String)?
    /// The reason why records may share the key; nil if it is certain enough.
    var keyDoubt: String?
    /// The form of the records' URLs, as a description writes it.
    var url: String?
    var parent: String?
    var attributes: [ProposedAttribute] = []
    var relationships: [ProposedRelationship] = []
    /// Key paths that are known and not wanted.
    var ignore: [[String]] = []
    var ignoreComment = ""
    /// The `json` attribute that keeps what has no attribute of its own.
    var rest: String?
    /// The path of the discriminator.
    var kindPath: [String] = []
    /// The kinds, each with the value of the discriminator.
    var kinds: [(entity: String, value: String)] = []
    /// The requests that send changes; nil without any.
    var writes: ProposedWrites?
    /// Commented lines at the end.
    var remarks: [String] = []

    /// Whether a name is taken by an attribute or a relationship.
    func has(_ name: String) -> Bool {
        attributes.contains { $0.name == name } || relationships.contains { $0.name == name }
    }
}
