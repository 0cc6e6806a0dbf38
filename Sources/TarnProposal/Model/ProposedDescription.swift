// A proposed description as values, before it is written.

import Foundation
import Tarn

/// The parts of a proposed description file.
struct ProposedDescription {
    /// A header field of every request.
    struct Header {
        var name: String
        var value: String
    }

    /// The comment at the beginning of the file.
    var comments: [String] = []
    var base = ""
    var baseComment = ""
    var aliases: [String] = []
    var headers: [Header] = []
    /// The style of the keys; nil for the default one.
    var naming: NamingStyle?
    /// The value of `auth` as a description writes it.
    var authentication: String?
    var authenticationComment = ""
    var entities: [ProposedEntity] = []
    var endpoints: [ProposedEndpoint] = []

    /// Returns a key that a record of an entity may have.
    func sampleKey(of entity: String, depth: Int = 0) -> [KeyComponent] {
        guard let position = position(of: entity), depth < 8 else { return [] }
        let entity = entities[position]
        if let parent = entity.parent { return sampleKey(of: parent, depth: depth + 1) }
        return entity.key.flatMap { name in
            if let relationship = entity.relationships.first(where: { $0.name == name }) {
                return sampleKey(of: relationship.target, depth: depth + 1)
            }
            switch entity.attributes.first(where: { $0.name == name })?.type {
            case "int": return [.int(1)]
            case "uuid": return [.uuid(UUID())]
            default: return [.string("1")]
            }
        }
    }

    /// The types of keys that consist of one attribute, by the names of entities.
    var keyTypes: [String: String] {
        var types: [String: String] = [:]
        for entity in entities {
            var owner = entity, left = entities.count
            while left > 0, let parent = owner.parent.flatMap(position) {
                owner = entities[parent]
                left -= 1
            }
            guard owner.key.count == 1, let key = owner.attributes.first(where: { $0.name == owner.key[0] }) else {
                continue
            }
            types[entity.name] = key.type
        }
        return types
    }

    /// The position of an entity by its name.
    func position(of entity: String) -> Int? { entities.firstIndex { $0.name == entity } }
}
