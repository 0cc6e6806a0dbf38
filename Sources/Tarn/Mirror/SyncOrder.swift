// The order of the endpoints of a sync: those that do not depend on one another side by side.

import TarnImport
import TarnStore

/// The dependencies between endpoints of a sync.
///
/// An endpoint with `for_each` is scanned when those are complete that may store records of its
/// parents: every endpoint before it whose responses can contain them, and every endpoint that
/// lists them. Endpoints with orphan rules keep their order relative to those that can store the
/// same records. The list of a change feed follows the feed. An endpoint whose records list others
/// by a path of its own, as in `from: task_ids`, is scanned when those that list these are
/// complete: a bare key of a record that is not stored says nothing. All other endpoints are
/// independent.
///
/// An API may have thousands of endpoints, so those that list or store records of an entity are
/// found by it, and not by a comparison of each endpoint with each other one.
struct SyncOrder {
    /// For each endpoint, the indexes of those that must be complete before it.
    let predecessors: [BitSet]

    /// - Parameter endpoints: the endpoints, in the order of the description.
    init(_ endpoints: [Endpoint], _ schema: Schema, _ mapping: Mapping) {
        let graph = EntityGraph(endpoints, schema, mapping), count = endpoints.count
        var before = Array(repeating: BitSet(bound: count), count: count)
        for index in endpoints.indices {
            for parent in graph.parents[index] {
                for other in graph.listing[parent] where other != index && endpoints[other].forEach == nil {
                    before[index].insert(other)
                }
                for other in graph.storing(parent) where other < index { before[index].insert(other) }
            }
        }
        let hasFeeds = SyncOrder.addFeeds(endpoints, &before)
        let removing = endpoints.indices.filter { endpoints[$0].orphans != nil }
        for index in endpoints.indices {
            var others: [Int] = []
            if endpoints[index].orphans != nil {
                for root in graph.listed[index] { others += graph.storing(root) }
            }
            others += removing.prefix { $0 < index }.filter { graph.stores(index, anyOf: graph.listed[$0]) }
            for other in others where other < index && !before[other].contains(index) {
                if !hasFeeds || !SyncOrder.waits(other, for: index, before) { before[index].insert(other) }
            }
        }
        for index in endpoints.indices {
            let members = graph.memberRoots(graph.listed[index])
            for other in Set(members.flatMap { graph.listing[$0] }).sorted() where other != index {
                if !SyncOrder.waits(other, for: index, before) { before[index].insert(other) }
            }
        }
        predecessors = before
    }

    /// Adds that the list of a change feed waits for the feed, which requests its first value
    /// before the list is read.
    ///
    /// - Returns: whether there are such feeds.
    private static func addFeeds(_ endpoints: [Endpoint], _ before: inout [BitSet]) -> Bool {
        var hasFeeds = false
        for (feed, endpoint) in endpoints.enumerated() {
            guard let name = endpoint.incremental?.start?.list,
                let list = endpoints.firstIndex(where: { $0.name == name }), list != feed,
                !waits(feed, for: list, before)
            else { continue }
            before[list].insert(feed)
            hasFeeds = true
        }
        return hasFeeds
    }

    /// Whether an endpoint waits for another one, perhaps through others.
    private static func waits(_ endpoint: Int, for other: Int, _ before: [BitSet]) -> Bool {
        var known = BitSet(bound: before.count), next = [endpoint]
        known.insert(endpoint)
        while let index = next.popLast() {
            if before[index].contains(other) { return true }
            for earlier in before[index].numbers where !known.contains(earlier) {
                known.insert(earlier)
                next.append(earlier)
            }
        }
        return false
    }
}

extension Endpoint {
    /// The entities of the listed records.
    fileprivate var entities: [String] { envelope.isEmpty ? [entity] : envelope.map(\.entity) }
}

/// The references between entities, and the endpoints that list them. Entities with a common root
/// are one node, which has a number.
private final class EntityGraph {
    private let definitions: [String: EntityDefinition]
    /// The number of each root.
    private var numbers: [String: Int] = [:]
    /// By root: the roots that its records, and the records that these refer to, may belong to.
    private var reachable: [BitSet] = []
    /// By root: the roots of the records that its lists name by paths of their own.
    private var members: [BitSet] = []
    /// By endpoint: the roots of the listed records.
    private(set) var listed: [[Int]] = []
    /// By endpoint: the roots of its parents, and of the records that its path reads.
    private(set) var parents: [Set<Int>] = []
    /// By root: the endpoints that list its records, in ascending order.
    private(set) var listing: [[Int]] = []
    private var knownStoring: [Int: [Int]] = [:]

    init(_ endpoints: [Endpoint], _ schema: Schema, _ mapping: Mapping) {
        definitions = Dictionary(schema.entities.map { ($0.name, $0) }) { first, _ in first }
        var edges: [Int: Set<Int>] = [:]
        for entity in schema.entities {
            let own = root(entity.name)
            for relationship in entity.relationships { edges[own, default: []].insert(root(relationship.destination)) }
        }
        listed = endpoints.map { Set($0.entities.map(root)).sorted() }
        parents = endpoints.map { parentRoots($0) }
        // Every root has its number now.
        let count = numbers.count
        reachable = (0..<count).map { EntityGraph.reachable($0, edges, count) }
        members = Array(repeating: BitSet(bound: count), count: count)
        for definition in definitions.values { addMembers(of: definition, mapping) }
        listing = Array(repeating: [], count: count)
        for (index, roots) in listed.enumerated() { for root in roots { listing[root].append(index) } }
    }

    private func root(_ entity: String) -> Int {
        var name = entity
        // The schema was not validated: a cycle of parents must end.
        for _ in 0..<definitions.count {
            guard let parent = definitions[name]?.parent else { break }
            name = parent
        }
        if let known = numbers[name] { return known }
        numbers[name] = numbers.count
        return numbers.count - 1
    }

    private static func reachable(_ root: Int, _ edges: [Int: Set<Int>], _ count: Int) -> BitSet {
        var found = BitSet(bound: count), next = [root]
        found.insert(root)
        while let root = next.popLast() {
            for other in edges[root] ?? [] where !found.contains(other) {
                found.insert(other)
                next.append(other)
            }
        }
        return found
    }

    /// Whether the responses of an endpoint can contain records of one of the roots.
    func stores(_ endpoint: Int, anyOf roots: [Int]) -> Bool {
        listed[endpoint].contains { own in roots.contains { reachable[own].contains($0) } }
    }

    /// The endpoints whose responses can contain records of a root.
    func storing(_ root: Int) -> [Int] {
        if let known = knownStoring[root] { return known }
        let found = listed.indices.filter { stores($0, anyOf: [root]) }
        knownStoring[root] = found
        return found
    }

    private func parentRoots(_ endpoint: Endpoint) -> Set<Int> {
        guard let forEach = endpoint.forEach else { return [] }
        var found: Set<Int> = [root(forEach.entity)]
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

    /// The roots of the records that lists of other roots name by paths of their own, and that
    /// store the references.
    func memberRoots(_ roots: [Int]) -> [Int] {
        var found = BitSet(bound: members.count)
        for root in roots { found.formUnion(members[root]) }
        for root in roots { found.remove(root) }
        return found.numbers
    }

    private func addMembers(of definition: EntityDefinition, _ mapping: Mapping) {
        let own = root(definition.name)
        for relationship in definition.relationships where relationship.isToMany && relationship.join == nil {
            guard mapping.entities[definition.name]?.paths[relationship.name]?.isEmpty == false,
                let inverse = relationship.inverse,
                self.definition(of: inverse, in: relationship.destination)?.isToMany == false
            else { continue }
            members[own].insert(root(relationship.destination))
        }
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
