internal import TarnStore

/// A relationship whose references are stored in its members, with the data for merging its lists.
struct DerivedRelationship {
    let ownerPlan: Int
    /// The entity whose records hold the references, and the field.
    let owner: Catalog.Entity
    let field: Catalog.Field
    /// Whether the references are lists, and whether they are ordered as seen from the other side.
    let isListed: Bool
    let isOrdered: Bool
    /// Whether the reference is part of the key of its record.
    let isKey: Bool
    /// The root of the entity that has the relationship, then the names of both for diagnostics.
    let root: UInt16
    let entity: String
    let name: String

    init(_ derived: SlotDetails.Derived, owner: Catalog.Entity, root: UInt16, entity: String, name: String) {
        ownerPlan = derived.owner
        self.owner = owner
        field = derived.field
        isListed = derived.reference.isToMany
        isOrdered = derived.reference.inverseIsOrdered
        isKey = owner.key.contains(derived.field.id)
        self.root = root
        self.entity = entity
        self.name = name
    }

    /// Returns the diagnostic of a member that is not stored, so that it cannot hold the reference.
    func unstorable(_ member: [UInt8], of target: [UInt8], path: String) -> Diagnostic {
        Diagnostic(
            code: .referenceUnstorable, path: path, entity: entity,
            key: target.withUnsafeBytes { RecordKey(storageKey: $0) }?.description, field: name,
            message:
                "\(owner.name) \(member.withUnsafeBytes { RecordKey(storageKey: $0) }?.description ?? "") does not exist, but stores the reference in its \(field.name); fetch it first"
        )
    }
}
