// The order of the endpoints of a sync: the rules one by one, and many endpoints.

import TarnImport
import TarnStore
import Testing

@testable import Tarn

@Suite("Sync: order of endpoints")
struct SyncOrderTests {
    /// User; Project with an owner; Task with a project.
    private static let schema = Schema([
        EntityDefinition("User", key: ["id"], attributes: [AttributeDefinition("id", .int)]),
        EntityDefinition(
            "Project", key: ["id"], attributes: [AttributeDefinition("id", .int)],
            relationships: [RelationshipDefinition("owner", to: "User")]),
        EntityDefinition(
            "Task", key: ["id"], attributes: [AttributeDefinition("id", .int)],
            relationships: [RelationshipDefinition("project", to: "Project")]),
        EntityDefinition("Note", key: ["id"], attributes: [AttributeDefinition("id", .int)]),
    ])

    private func endpoint(
        _ name: String, _ entity: String, forEach parent: String? = nil, orphans: Orphans? = nil
    ) -> Endpoint {
        let path = parent.map { "/\(name)/{\($0.lowercased()).id}" } ?? "/\(name)"
        var endpoint = Endpoint(name: name, path: path, entity: entity)
        endpoint.forEach = parent.map { Endpoint.ForEach(entity: $0, parent: nil, variable: $0.lowercased()) }
        endpoint.orphans = orphans
        return endpoint
    }

    private func order(_ endpoints: [Endpoint]) -> [[Int]] {
        SyncOrder(endpoints, Self.schema, Mapping()).predecessors.map(\.numbers)
    }

    @Test("an endpoint with for_each waits for those that list its parents, and for earlier ones that may contain them")
    func parents() {
        let endpoints = [
            endpoint("tasks", "Task"), endpoint("notes", "Note"), endpoint("byUser", "Note", forEach: "User"),
            endpoint("users", "User"), endpoint("projects", "Project"),
        ]
        #expect(order(endpoints) == [[], [], [0, 3], [], []])
    }

    @Test("endpoints with orphan rules keep their order relative to those that store the same records")
    func orphans() {
        let endpoints = [
            endpoint("tasks", "Task"), endpoint("users", "User", orphans: Orphans()), endpoint("notes", "Note"),
            endpoint("projects", "Project"),
        ]
        #expect(order(endpoints) == [[], [0], [], [1]])
    }

    @Test("the order of thousands of endpoints needs little memory for each, and has the same rules")
    func many() {
        var endpoints: [Endpoint] = []
        for number in 0..<1000 { endpoints.append(endpoint("tasks\(number)", "Task")) }
        for number in 0..<1000 { endpoints.append(endpoint("notes\(number)", "Note", forEach: "User")) }
        let predecessors = SyncOrder(endpoints, Self.schema, Mapping()).predecessors
        #expect(predecessors[..<1000].allSatisfy { $0.numbers.isEmpty })
        #expect(predecessors[1000...].allSatisfy { $0.numbers == Array(0..<1000) })
    }

    @Test("an endpoint waits for one behind the first sixty-four, too")
    func manyWait() {
        var endpoints = (0..<70).map { endpoint("notes\($0)", "Note") }
        endpoints += [endpoint("users", "User"), endpoint("byUser", "Note", forEach: "User")]
        var queue = EndpointQueue(
            SyncOrder(endpoints, Self.schema, Mapping()), groups: endpoints.map { _ in nil }, isSequential: false)
        queue.most = [nil: 100]
        var taken: [Int] = []
        while let index = queue.take(unless: { _ in false }) { taken.append(index) }
        #expect(taken == Array(0...70))
        queue.ended(70)
        let last = queue.take { _ in false }
        #expect(last == 71)
    }

    @Test("APIs are watched together if one waits for another, directly or not")
    func watchGroups() {
        var endpoints = [endpoint("users", "User"), endpoint("alone", "Note")]
        for number in 0..<200 { endpoints.append(endpoint("tasks\(number)", "Task", forEach: "Project")) }
        endpoints += [endpoint("byUser", "Note", forEach: "User"), endpoint("projects", "Project")]
        let predecessors = SyncOrder(endpoints, Self.schema, Mapping()).predecessors
        let tasks = Array(2..<202)
        func groups(_ api: (Int) -> String?) -> [[Int]] { SyncWatch.groups(endpoints.indices.map(api), predecessors) }
        #expect(groups { _ in nil } == [Array(endpoints.indices)])
        // The notes wait for the users, which the tasks may contain, and these wait for the projects.
        #expect(groups { tasks.contains($0) ? "tasks" : "api\($0)" } == [[0] + tasks + [202, 203], [1]])
        #expect(groups { "api\($0)" } == [[0] + tasks + [202, 203], [1]])
    }

    @Test("a free place costs one look at each API, not at each of its endpoints")
    func looks() {
        let endpoints = (0..<1000).map { endpoint("notes\($0)", "Note") }
        var queue = EndpointQueue(
            SyncOrder(endpoints, Self.schema, Mapping()), groups: endpoints.indices.map { $0 < 10 ? "a" : nil },
            isSequential: false)
        queue.most = ["a": 2, nil: 1]
        var looks = 0, taken: [Int] = []
        func take() -> Int? {
            queue.take { _ in
                looks += 1
                return false
            }
        }
        while let index = take() { taken.append(index) }
        #expect(taken == [0, 1, 10] && looks == 8)
        queue.ended(10)
        let next = take(), last = take()
        #expect(next == 11 && last == nil && looks == 12)
    }
}
