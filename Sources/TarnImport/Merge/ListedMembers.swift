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
        fileprivate(set) var added: [[UInt8]] = []
        fileprivate(set) var removed: Set<[UInt8]> = []
    }

    private struct Place: Hashable {
        let owner: Int, field: UInt16, member: [UInt8]
    }

    /// The changes in the order of their first references.
    private(set) var changes: [Change] = []
    private var positions: [Place: Int] = [:]

    /// Adds a reference, which counts even if another list has taken it away.
    mutating func add(_ target: [UInt8], to member: [UInt8], _ relationship: DerivedRelationship) {
        let position = position(of: member, relationship)
        changes[position].added.append(target)
        changes[position].removed.remove(target)
    }

    mutating func remove(_ target: [UInt8], from member: [UInt8], _ relationship: DerivedRelationship) {
        changes[position(of: member, relationship)].removed.insert(target)
    }

    private mutating func position(of member: [UInt8], _ relationship: DerivedRelationship) -> Int {
        let place = Place(owner: relationship.ownerPlan, field: relationship.field.id, member: member)
        if let known = positions[place] { return known }
        positions[place] = changes.count
        changes.append(Change(relationship: relationship, member: member))
        return changes.count - 1
    }
}
