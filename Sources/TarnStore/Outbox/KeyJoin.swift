/// An attribute by which a joined relationship leads to the only key attribute of an entity.
struct KeyJoin: Sendable, Hashable {
    /// The entity with the attribute.
    var entity: UInt16
    /// The attribute.
    var field: UInt16
    /// The root of the entity whose key the attribute contains.
    var target: UInt16

    /// Returns the attributes of a catalog that contain keys.
    static func all(_ catalog: Catalog) -> [KeyJoin] {
        var result: Set<KeyJoin> = []
        for owner in catalog.entities {
            for join in owner.joins {
                guard let destination = catalog.entity(id: join.destination) else { continue }
                if destination.key == [join.theirs] {
                    result.insert(KeyJoin(entity: owner.id, field: join.own, target: destination.root))
                }
                if owner.key == [join.own] {
                    result.insert(KeyJoin(entity: destination.id, field: join.theirs, target: owner.root))
                }
            }
        }
        return Array(result)
    }
}
