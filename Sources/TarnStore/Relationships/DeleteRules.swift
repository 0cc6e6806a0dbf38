/// The relationships of every entity that have a delete rule, by the entity's id.
struct DeleteRules: Sendable {
    private let relationships: [UInt16: [Catalog.Relationship]]

    init(_ catalog: Catalog) {
        var relationships: [UInt16: [Catalog.Relationship]] = [:]
        for entity in catalog.entities {
            let ruled = catalog.relationships(of: entity).filter { $0.deleteRule != .none }
            if !ruled.isEmpty { relationships[entity.id] = ruled }
        }
        self.relationships = relationships
    }

    subscript(entity: UInt16) -> [Catalog.Relationship] { relationships[entity] ?? [] }
}
