// The objects in records that contain their lists, as a connection of GraphQL does.

import TarnImport

extension Description {
    /// The paths of the objects around the lists of an entity's relationships, such as `labels` for
    /// `from: labels.nodes`.
    func containers(ofListsIn entity: String) -> [JSONPath] {
        var found: [JSONPath] = [], name: String? = entity
        // The schema was not validated: a cycle of parents must end.
        for _ in 0...schema.entities.count {
            guard let definition = name.flatMap({ name in schema.entities.first { $0.name == name } }) else { break }
            let paths = mapping.entities[definition.name]?.paths ?? [:]
            for relationship in definition.relationships where relationship.isToMany && relationship.join == nil {
                for path in (paths[relationship.name] ?? []).flatMap(\.paths) {
                    guard let container = ListContainers.container(ofListAt: path), !found.contains(container) else {
                        continue
                    }
                    found.append(container)
                }
            }
            name = definition.parent
        }
        return found
    }
}

extension Endpoint {
    /// The entities of the lists of a response, in their order.
    var listedEntities: [String] { envelope.isEmpty ? [entity] : envelope.map(\.entity) }
}
