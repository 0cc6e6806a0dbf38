// The order of the endpoints of a sync: those that do not depend on one another side by side.

import TarnImport
import TarnStore

/// The dependencies between endpoints of a sync.
///
/// An endpoint with `for_each` is scanned when those are complete that may store records of its
/// parents: every endpoint before it whose responses can contain them, and every endpoint that
/// lists them. Endpoints with orphan rules keep their order relative to those that can store the
/// same records. An endpoint whose records list others by a path of its own, as in
/// `from: task_ids`, is scanned when those that list these are complete: a bare key of a record
/// that is not stored says nothing. All other endpoints are independent.
struct SyncOrder {
    /// For each endpoint, the indexes of those that must be complete before it.
    let predecessors: [Set<Int>]

    /// - Parameter endpoints: the endpoints, in the order of the description.
    init(_ endpoints: [Endpoint], _ schema: Schema, _ mapping: Mapping) {
        let graph = EntityGraph(schema)
        let listed = endpoints.map { graph.roots($0.entities) }, stored = listed.map(graph.reachable)
        let parents = endpoints.map { graph.parentRoots($0) }
        var before = endpoints.indices.map { index in
            Set(
                endpoints.indices.filter { other in
                    guard other != index else { return false }
                    return endpoints[other].forEach == nil && !listed[other].isDisjoint(with: parents[index])
                        || other < index && !stored[other].isDisjoint(with: parents[index])
                })
        }
        for index in endpoints.indices {
            for other in 0..<index where !before[other].contains(index) {
                let removes = endpoints[index].orphans != nil && !stored[other].isDisjoint(with: listed[index])
                let isRemoved = endpoints[other].orphans != nil && !stored[index].isDisjoint(with: listed[other])
                if removes || isRemoved { before[index].insert(other) }
            }
        }
        for index in endpoints.indices {
            let members = graph.memberRoots(endpoints[index].entities, mapping)
            for other in endpoints.indices where other != index && !listed[other].isDisjoint(with: members) {
                if !SyncOrder.waits(other, for: index, before) { before[index].insert(other) }
            }
        }
        predecessors = before
    }

    /// Whether an endpoint waits for another one, perhaps through others.
    private static func waits(_ endpoint: Int, for other: Int, _ before: [Set<Int>]) -> Bool {
        var known: Set<Int> = [endpoint], next = [endpoint]
        while let index = next.popLast() {
            if before[index].contains(other) { return true }
            for earlier in before[index] where known.insert(earlier).inserted { next.append(earlier) }
        }
        return false
    }
}

extension Endpoint {
    /// The entities of the listed records.
    fileprivate var entities: [String] { envelope.isEmpty ? [entity] : envelope.map(\.entity) }
}

/// The references between entities. Entities with a common root are one node.
private struct EntityGraph {
    private let definitions: [String: EntityDefinition]
    private var edges: [String: Set<String>] = [:]

    init(_ schema: Schema) {
        definitions = Dictionary(schema.entities.map { ($0.name, $0) }) { first, _ in first }
        for entity in schema.entities {
            for relationship in entity.relationships {
                edges[root(entity.name), default: []].insert(root(relationship.destination))
            }
        }
    }

    private func root(_ entity: String) -> String {
        var name = entity
        // The schema was not validated: a cycle of parents must end.
        for _ in 0..<definitions.count {
            guard let parent = definitions[name]?.parent else { break }
            name = parent
        }
        return name
    }

    func roots(_ entities: [String]) -> Set<String> { Set(entities.map(root)) }

    /// The roots, and all that their records refer to.
    func reachable(_ roots: Set<String>) -> Set<String> {
        var found = roots, next = Array(roots)
        while let root = next.popLast() {
            for other in edges[root] ?? [] where found.insert(other).inserted { next.append(other) }
        }
        return found
    }

    /// The roots of the parents of an endpoint, and of the records that its path reads.
    func parentRoots(_ endpoint: Endpoint) -> Set<String> {
        guard let forEach = endpoint.forEach else { return [] }
        var found: Set<String> = [root(forEach.entity)]
        for variable in endpoint.variables where variable.hasPrefix(forEach.variable + ".") {
            var entity = forEach.entity
            for name in variable.dropFirst(forEach.variable.count + 1).split(separator: ".").dropLast() {
                guard let next = relationship(String(name), of: entity) else { break }
                entity = next
                found.insert(root(entity))
            }
        }
        return found
    }

    /// The roots of the records that lists of entities name by paths of their own, and that store
    /// the references.
    func memberRoots(_ entities: [String], _ mapping: Mapping) -> Set<String> {
        let roots = roots(entities)
        var found: Set<String> = []
        for definition in definitions.values where roots.contains(root(definition.name)) {
            for relationship in definition.relationships where relationship.isToMany && relationship.join == nil {
                guard mapping.entities[definition.name]?.paths[relationship.name]?.isEmpty == false,
                    let inverse = relationship.inverse,
                    self.definition(of: inverse, in: relationship.destination)?.isToMany == false
                else { continue }
                found.insert(root(relationship.destination))
            }
        }
        return found.subtracting(roots)
    }

    private func relationship(_ name: String, of entity: String) -> String? {
        definition(of: name, in: entity)?.destination
    }

    private func definition(of name: String, in entity: String) -> RelationshipDefinition? {
        var entity: String? = entity
        for _ in 0...definitions.count {
            guard let definition = entity.flatMap({ definitions[$0] }) else { return nil }
            if let found = definition.relationships.first(where: { $0.name == name }) { return found }
            entity = definition.parent
        }
        return nil
    }
}
