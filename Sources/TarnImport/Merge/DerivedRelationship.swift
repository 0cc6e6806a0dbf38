internal import TarnStore

/// A relationship whose references stand in the other records, and what merging its lists needs.
struct DerivedRelationship {
    let ownerPlan: Int
    /// The entity whose records hold the references, and the field.
    let owner: Catalog.Entity
    let field: Catalog.Field
    /// Whether the references are lists, and whether they have an order as seen from the other side.
    let isListed: Bool
    let isOrdered: Bool
    /// Whether the reference is part of the key of its record.
    let isKey: Bool
    /// The tree of the entity that has the relationship, and for diagnostics its name and that of the relationship.
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

    func unstorable(_ member: [UInt8], of target: [UInt8], path: String) -> Diagnostic {
        Diagnostic(
            code: .referenceUnstorable, path: path, entity: entity,
            key: target.withUnsafeBytes { RecordKey(storageKey: $0) }?.description, field: name,
            message:
                "\(owner.name) \(member.withUnsafeBytes { RecordKey(storageKey: $0) }?.description ?? "") is not there, and its \(field.name) would stand in it; fetch it first")
    }
}
