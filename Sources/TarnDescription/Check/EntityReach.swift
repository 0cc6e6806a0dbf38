// The entities that the endpoints of a description reach.

import Tarn
import TarnImport
import TarnStore

/// The entities that endpoints list, and those that are nested in their records.
struct EntityReach {
    private let description: Description
    /// The entities of the listed records, with the kinds that they may be.
    private(set) var listed: Set<String>
    /// The listed entities, and those that their relationships lead to.
    private(set) var reached: Set<String>

    init(_ description: Description) {
        self.description = description
        let schema = description.schema
        var listed = Set(description.endpoints.flatMap { [$0.entity] + $0.envelope.map(\.entity) })
        EntityReach.addKinds(to: &listed, schema)
        self.listed = listed
        var reached = listed, before = 0
        while reached.count > before {
            before = reached.count
            for entity in schema.entities where reached.contains(entity.name) {
                if let parent = entity.parent { reached.insert(parent) }
                reached.formUnion(entity.relationships.map(\.destination))
            }
            EntityReach.addKinds(to: &reached, schema)
        }
        self.reached = reached
    }

    private static func addKinds(to entities: inout Set<String>, _ schema: Schema) {
        var before = 0
        while entities.count > before {
            before = entities.count
            for entity in schema.entities where entity.parent.map(entities.contains) ?? false {
                entities.insert(entity.name)
            }
        }
    }

    func findings(_ places: DescriptionPlaces) -> [CheckFinding] {
        guard !description.endpoints.isEmpty else {
            return [
                CheckFinding(
                    .warning, .entityUnused, file: description.file, field: "endpoints",
                    "no endpoints: `tarn sync` has nothing to fetch")
            ]
        }
        return description.schema.entities.flatMap { entity -> [CheckFinding] in
            let (field, mark) = places.place(entity: entity.name, field: nil)
            if !reached.contains(entity.name) {
                return [
                    CheckFinding(
                        .warning, .entityUnused, file: description.file, at: mark, field: field,
                        "unused: no endpoint lists it, and no relationship of a listed entity leads to it")
                ]
            }
            // A key without other attributes is complete as soon as it is known.
            let isKeyOnly =
                entity.attributes.allSatisfy { entity.key.contains($0.name) } && entity.relationships.isEmpty
            if !listed.contains(entity.name), !isKeyOnly, !isParent(entity.name) {
                return [
                    CheckFinding(
                        .note, .entityNested, file: description.file, at: mark, field: field,
                        "no endpoint lists it: its records have what nested objects say, and a bare id stays missing")
                ]
            }
            return unreachable(entity, places)
        }
    }

    private func isParent(_ name: String) -> Bool { description.schema.entities.contains { $0.parent == name } }

    /// The joined relationships whose targets nothing fetches: a join brings no nested object.
    private func unreachable(_ entity: EntityDefinition, _ places: DescriptionPlaces) -> [CheckFinding] {
        entity.relationships.filter { $0.join != nil && !listed.contains($0.destination) }.map { relationship in
            let (field, mark) = places.place(entity: entity.name, field: relationship.name)
            return CheckFinding(
                .warning, .relationshipUnreachable, file: description.file, at: mark, field: field,
                "no endpoint lists \(relationship.destination), so the join finds nothing")
        }
    }
}
