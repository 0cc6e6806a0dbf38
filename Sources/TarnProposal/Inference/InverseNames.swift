// Names for the other sides of relationships: `issues` of a user.

/// Adds inverses where their names are free.
enum InverseNames {
    static func add(to entities: inout [ProposedEntity]) {
        var taken: [String: Set<String>] = [:]
        for entity in entities {
            let family = family(of: entity.name, in: entities)
            taken[family, default: []].formUnion(entity.attributes.map(\.name) + entity.relationships.map(\.name))
        }
        // Nested objects before bare keys: the former are the main relationships.
        for isNested in [true, false] {
            for (index, entity) in entities.enumerated() {
                for (position, relationship) in entity.relationships.enumerated()
                where relationship.comment.isEmpty == isNested && relationship.inverse == nil {
                    let family = family(of: relationship.target, in: entities)
                    guard canHaveInverse(relationship, of: entity, in: entities) else { continue }
                    let names = candidates(relationship, of: entity.name)
                    guard let name = names.first(where: { taken[family]?.contains($0) != true }) else { continue }
                    taken[family, default: []].insert(name)
                    entities[index].relationships[position].inverse = name
                }
            }
        }
    }

    private static func candidates(_ relationship: ProposedRelationship, of entity: String) -> [String] {
        guard relationship.target != entity else { return [relationship.name + "Of"] }
        let plural = EnglishName.plural(EnglishName.uncapitalized(entity))
        let role = EnglishName.singularWords(of: relationship.name).enumerated()
            .map { $0.offset == 0 ? $0.element : EnglishName.capitalized($0.element) }.joined()
        return [plural, role + EnglishName.capitalized(plural)]
    }

    /// Whether an inverse would be clear: a list whose members refer back by a field of their own
    /// has that side already.
    private static func canHaveInverse(
        _ relationship: ProposedRelationship, of entity: ProposedEntity, in entities: [ProposedEntity]
    ) -> Bool {
        guard entity.parent == nil else { return false }
        guard relationship.isToMany else { return true }
        let target = entities.first { $0.name == relationship.target }
        return target?.relationships.contains { $0.target == entity.name && !$0.isToMany } != true
    }

    /// The root of an entity's kinds.
    private static func family(of name: String, in entities: [ProposedEntity]) -> String {
        entities.first { $0.name == name }?.parent ?? name
    }
}
