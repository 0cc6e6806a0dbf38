// The delete rules of records that have lists of their own.

import Tarn
import TarnStore

/// The endpoints with orphans whose records stay when the records are deleted that they belong to.
struct OwnerRules {
    private let description: Description

    init(_ description: Description) { self.description = description }

    func findings(_ places: DescriptionPlaces) -> [CheckFinding] {
        description.endpoints.compactMap { endpoint -> CheckFinding? in
            guard endpoint.orphans != nil, let forEach = endpoint.forEach, let parent = forEach.parent,
                let relationship = relationship(parent, of: endpoint.entity)
            else { return nil }
            let owner = relationship.inverse.flatMap { self.relationship($0, of: relationship.destination) }
            switch owner?.deleteRule {
            case .cascade?, .deny?: return nil
            default: break
            }
            let (field, mark) = places.place(endpoint: endpoint.name)
            let wayOut =
                relationship.inverse.map { "set on_delete: cascade at \(relationship.destination).\($0)" }
                ?? "declare the other side of \(endpoint.entity).\(parent) with on_delete: cascade"
            return CheckFinding(
                .note, .ownerWithoutRule, file: description.file, at: mark, field: field,
                "if a record of \(forEach.entity) is deleted, its list is no longer requested, and its records of "
                    + "\(endpoint.entity) are no orphans: they stay; to delete them with it, \(wayOut)")
        }
    }

    /// A relationship of an entity, its own or an inherited one.
    private func relationship(_ name: String, of entity: String) -> RelationshipDefinition? {
        var next: String? = entity, seen: Set<String> = []
        while let current = next, seen.insert(current).inserted,
            let definition = description.schema.entities.first(where: { $0.name == current })
        {
            if let found = definition.relationships.first(where: { $0.name == name }) { return found }
            next = definition.parent
        }
        return nil
    }
}
