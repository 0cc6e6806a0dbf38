/// A named reference to records of another entity, or of the same one.
///
/// One side of a pair is stored: the to-one side, else the declared one. The other is derived from
/// an index. A relationship joined by attributes is stored on neither side.
public struct RelationshipDefinition: Sendable, Hashable {
    /// The name, unique among the fields of the entity.
    package var name: String
    /// The name of the entity of the targets.
    package var destination: String
    /// Whether a record may have several targets.
    package var isToMany: Bool
    /// Whether the order of a to-many relationship is significant.
    package var isOrdered: Bool
    /// The name of the relationship as seen from the destination.
    ///
    /// It need not be declared there. If it is, both declarations have to name each other.
    package var inverse: String?
    /// The effect on the targets when the record that has the relationship is deleted.
    package var deleteRule: DeleteRule
    /// The attributes that join the relationship; nil if it is not joined.
    package var join: Join?
    /// The former name of a renamed relationship. Stored references stay, under the new name.
    ///
    /// It is ignored once the relationship is renamed.
    package var renamedFrom: String?

    /// The effect of a deletion at the other end of a relationship.
    public enum DeleteRule: String, Sendable, Hashable, Codable, CaseIterable {
        /// No effect: references to the record stay, and their target is missing.
        case none
        /// References to the record are removed.
        case nullify
        /// The targets of the relationship are deleted as well, by their own rules.
        case cascade
        /// The deletion fails while there is a target that is not deleted along with the record.
        case deny
    }

    /// A join: the targets are the records whose attribute equals an attribute of the owner.
    ///
    /// It is a foreign key in the payload. The attributes are the only truth; both are indexed, and
    /// of one type.
    public struct Join: Sendable, Hashable {
        /// The attribute of the entity that has the relationship.
        var own: String
        /// The attribute of the destination. For a to-one relationship it is unique, or the key.
        var theirs: String

        /// Creates a join of an attribute with one of the destination.
        public init(_ own: String, equals theirs: String) {
            self.own = own
            self.theirs = theirs
        }
    }

    /// Creates a relationship.
    public init(
        _ name: String, to destination: String, many: Bool = false, ordered: Bool = false, inverse: String? = nil,
        onDelete deleteRule: DeleteRule = .none, joinedBy join: Join? = nil, renamedFrom: String? = nil
    ) {
        self.name = name
        self.renamedFrom = renamedFrom
        self.deleteRule = deleteRule
        self.join = join
        self.destination = destination
        self.isToMany = many
        self.isOrdered = ordered
        self.inverse = inverse
    }
}
