/// The references that the derived lists of a unit add to the lists of their members, and take from
/// them.
///
/// A member may be in as many lists as the response has records: its own list is read and written
/// once for all of them.
struct ListedMembers {
    /// The changes of one member's list.
    struct Change {
        let relationship: DerivedRelationship
        let member: [UInt8]
        /// The references to add, in their order. Those in `removed` were removed afterwards.
        fileprivate(set) var added: [[UInt8]] = []
        fileprivate(set) var removed: Set<[UInt8]> = []
    }

    private struct Place: Hashable {
        let owner: Int, field: UInt16, record: [UInt8]

        init(_ record: [UInt8], _ relationship: DerivedRelationship) {
            (owner, field, self.record) = (relationship.ownerPlan, relationship.field.id, record)
        }
    }

    /// The changes in the order of their first references.
    private(set) var changes: [Change] = []
    private var positions: [Place: Int] = [:]
    /// By record, the members of its lists that keep others. A list that replaces them may follow,
    /// as of another entity.
    private var kept: [Place: [[UInt8]]] = [:]

    /// Whether a reference was added to a member's list.
    func adds(to member: [UInt8], _ relationship: DerivedRelationship) -> Bool {
        positions[Place(member, relationship)].map { !changes[$0].added.isEmpty } ?? false
    }

    /// Returns the members to which lists that keep others have added a reference.
    func members(of target: [UInt8], _ relationship: DerivedRelationship) -> [[UInt8]] {
        kept[Place(target, relationship)] ?? []
    }

    /// Adds a reference.
    ///
    /// - Parameter keepsOthers: whether the record's list keeps other members.
    mutating func add(
        _ target: [UInt8], to member: [UInt8], _ relationship: DerivedRelationship, keepsOthers: Bool
    ) {
        let position = position(of: member, relationship)
        changes[position].added.append(target)
        changes[position].removed.remove(target)
        if keepsOthers { kept[Place(target, relationship), default: []].append(member) }
    }

    /// Removes a reference, also one that was added.
    mutating func remove(_ target: [UInt8], from member: [UInt8], _ relationship: DerivedRelationship) {
        changes[position(of: member, relationship)].removed.insert(target)
    }

    private mutating func position(of member: [UInt8], _ relationship: DerivedRelationship) -> Int {
        let place = Place(member, relationship)
        if let known = positions[place] { return known }
        positions[place] = changes.count
        changes.append(Change(relationship: relationship, member: member))
        return changes.count - 1
    }
}
