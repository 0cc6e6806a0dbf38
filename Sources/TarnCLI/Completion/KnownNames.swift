// The names that completions offer: those of the store's catalog, and of the description.

import Foundation
import Tarn

/// The entities, fields and endpoints of a store and of a description.
struct KnownNames {
    struct Entity {
        var name: String
        var attributes: [String] = []
        /// The names of relationships, and the entities that they lead to.
        var relationships: [(name: String, destination: String)] = []
        /// The names of the relationships that lead to several records.
        var toMany: Set<String> = []
    }

    var entities: [Entity] = []
    var endpoints: [(name: String, path: String)] = []
    /// The APIs of a description with several ones.
    var apis: [(name: String, base: String)] = []

    /// Reads the names; a file or store that cannot be read has none.
    ///
    /// - Parameters:
    ///   - file: the path of the description.
    ///   - store: the path of the store; nil for that of the description.
    init(file: String, store: String?) {
        // To read a pipe could take for ever.
        var status = stat()
        let isFile = stat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        let description = isFile ? try? Description.load(path: file) : nil
        endpoints = description?.endpoints.map { ($0.name, $0.path) } ?? []
        apis = description?.apis.compactMap { name, api in name.map { ($0, Redaction.url(api.base)) } } ?? []
        if let path = store ?? description?.storePath, FileManager.default.fileExists(atPath: path + "/data.mdb"),
            let catalog = try? Store.open(at: path, options: Store.Options(isReadOnly: true)).catalog
        {
            entities = KnownNames.entities(of: catalog)
        } else if let schema = description?.schema {
            entities = schema.entities.map { KnownNames.entity($0, in: schema) }
        }
    }

    /// Creates the names of a catalog.
    init(_ catalog: Catalog) { entities = KnownNames.entities(of: catalog) }

    private static func entities(of catalog: Catalog) -> [Entity] {
        catalog.entities.map { entity in
            var known = Entity(name: entity.name)
            known.relationships = catalog.relationships(of: entity).map { relationship in
                (relationship.name, catalog.entity(id: relationship.destination)?.name ?? "")
            }
            known.toMany = Set(catalog.relationships(of: entity).filter(\.isToMany).map(\.name))
            for field in entity.fields {
                if case .attribute = field.kind { known.attributes.append(field.name) }
            }
            return known
        }
    }

    func entity(_ name: String) -> Entity? { entities.first { $0.name == name } }

    /// An entity of a schema, with the fields of its ancestors.
    private static func entity(_ definition: EntityDefinition, in schema: Schema) -> Entity {
        var known = Entity(name: definition.name), next: EntityDefinition? = definition, rounds = 0
        while let current = next, rounds < 64 {
            known.attributes += current.attributes.map(\.name)
            known.relationships += current.relationships.map { ($0.name, $0.destination) }
            known.toMany.formUnion(current.relationships.filter(\.isToMany).map(\.name))
            next = current.parent.flatMap { parent in schema.entities.first { $0.name == parent } }
            rounds += 1
        }
        return known
    }
}
