/// A named reference to records of another entity (or the same one).
///
/// One side of a pair is stored: the to-one side, else the side that is declared. The other is derived from an index. A
/// relationship that is joined by attributes is stored on neither side.
public struct RelationshipDefinition: Sendable, Hashable {
    public var name: String
    /// The name of the entity that it points to.
    public var destination: String
    public var isToMany: Bool
    /// Whether the order of a to-many relationship is part of it.
    public var isOrdered: Bool
    /// The name of the same relationship seen from the destination. It need not be declared there; if it is, both
    /// declarations must name each other.
    public var inverse: String?
    /// What happens to the records that it leads to when the record that has it is deleted.
    public var deleteRule: DeleteRule
    /// If the relationship is joined by attributes, and not stored: which.
    public var join: Join?
    /// The name that it had before, if it was renamed: what is stored stays, under the new name. Ignored once that is done.
    public var renamedFrom: String?

    /// What happens at the other end when a record is deleted.
    public enum DeleteRule: String, Sendable, Hashable, Codable, CaseIterable {
        /// Nothing: references to the record stay, and their target is missing.
        case none
        /// References to the record are taken out.
        case nullify
        /// The records that the relationship leads to are deleted as well, by their rules.
        case cascade
        /// The record is not deleted as long as the relationship leads to one that is there, and is not deleted with it.
        case deny
    }

    /// A foreign key in the payload: the relationship leads to the records whose attribute has the value of one's own.
    /// The attributes are the only truth; both are indexed, and of one type.
    public struct Join: Sendable, Hashable {
        /// The attribute of the entity that has the relationship.
        public var own: String
        /// The attribute at the destination: unique, or the key, for a to-one relationship.
        public var theirs: String

        public init(_ own: String, equals theirs: String) {
            self.own = own
            self.theirs = theirs
        }
    }

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
