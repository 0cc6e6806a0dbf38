// The GraphQL bridge, against a local server that parses the documents.

import Foundation
import Synchronization
import TarnMacros
import TestSupport
import Testing

@Record private struct Repo: Equatable {
    @Key var id: String
    var name: String
}

@Record("Task") private struct BoardTask: Equatable {
    @Key var id: String
    var title: String?
    var isDone: Bool?
    var repo: Reference<Repo>?
}

@Record private struct Person: Equatable {
    @Key var id: String
    var login: String
}

@Suite("GraphQL bridge", .timeLimit(.minutes(2)))
struct GraphQLBridgeTests {
    /// The data of a server: tasks of one repository, and people.
    private final class Board: Sendable {
        let tasks = Mutex<[(id: String, title: String?)]>([])

        func task(_ task: (id: String, title: String?)) -> GraphQLValue {
            .object([
                ("__typename", .string("Task")), ("id", .string(task.id)),
                (
                    "title",
                    task.title.map { .string($0) }
                        ?? .field { _ in throw GraphQLFieldError("no title", code: "SECRET") }
                ),
                ("isDone", .bool(false)),
                ("repo", .object([("__typename", .string("Repo")), ("id", .string("r")), ("name", .string("anvil"))])),
            ])
        }

        func schema() -> GraphQLSchema {
            let person = GraphQLValue.object([
                ("__typename", .string("User")), ("id", .string("u")), ("login", .string("ada")),
            ])
            let tasks = GraphQLValue.connection { [self] in self.tasks.withLock(\.self).map(task) }
            let search = GraphQLValue.field { [self] _ in
                let all = self.tasks.withLock(\.self).map(task)
                return .list([person, .null] + all.prefix(1) + [person] + all.dropFirst())
            }
            return GraphQLSchema(
                query: [
                    (
                        "repository",
                        .field { arguments in
                            guard arguments["name"]?.text == "anvil" else {
                                throw GraphQLFieldError("no such repository", code: "NOT_FOUND")
                            }
                            return .object([("id", .string("r")), ("name", .string("anvil")), ("tasks", tasks)])
                        }
                    ), ("search", search), ("tasks", tasks),
                ],
                mutation: [
                    (
                        "createTask",
                        .field { [self] arguments in
                            guard let title = arguments["input"]?["title"]?.text else {
                                throw GraphQLFieldError("title is required", code: "BAD_USER_INPUT")
                            }
                            let new = self.tasks.withLock { tasks in
                                tasks.append(("t\(tasks.count + 1)", title))
                                return tasks[tasks.count - 1]
                            }
                            return .object([("task", task(new))])
                        }
                    ),
                    (
                        "updateTask",
                        .field { [self] arguments in
                            let id = arguments["id"]?.text, title = arguments["input"]?["title"]?.text
                            let new = self.tasks.withLock { tasks -> (id: String, title: String?)? in
                                guard let index = tasks.firstIndex(where: { $0.id == id }) else { return nil }
                                tasks[index].title = title
                                return tasks[index]
                            }
                            return .object([("task", new.map(task) ?? .null)])
                        }
                    ),
                    (
                        "deleteTask",
                        .field { [self] arguments in
                            self.tasks.withLock { $0.removeAll { $0.id == arguments["id"]?.text } }
                            return .object([("deletedID", arguments["id"] ?? .null)])
                        }
                    ),
                ])
        }
    }

    private struct API {
        let board = Board()
        let server: ScriptedServer
        let folder: TemporaryFolder
        let client: RecordClient

        init(_ count: Int = 0) throws {
            let schema = board.schema()
            server = try ScriptedServer { schema.answer($0) }
            folder = try TemporaryFolder()
            client = try RecordClient(
                base: server.base, records: Repo.self, BoardTask.self, Person.self, store: folder("board.tarn")
            ) { description in
                description.api.retry.attempts = 1
                description.writes["Task"] = WriteRequests(
                    create: WriteRequest("POST", "/graphql"), update: WriteRequest("POST", "/graphql"),
                    delete: WriteRequest("POST", "/graphql"))
            }
            board.tasks.withLock { $0 = (0..<count).map { ("t\($0)", "task \($0)") } }
        }

        func stored() throws -> [String] { try client.store.read { try $0.fetch(BoardTask.all).map(\.id) } }
    }

    private static func tasks(_ fields: String, first: Int = 2) -> GraphQLRequest {
        GraphQLRequest(
            """
            query Tasks($name: String!, $after: String) {
              repository(name: $name) {
                tasks(first: \(first), after: $after) { totalCount pageInfo { hasNextPage endCursor } \(fields) }
              }
            }
            """, ["name": .string("anvil")], records: [.init("repository.tasks", "Task", cursor: "after")],
            metadata: ["total": "repository.tasks.totalCount"], userInfo: .string("mine"))
    }

    @Test("the pages of a connection follow its cursors, by nodes and by edges", arguments: ["nodes", "edges"])
    func connections(form: String) async throws {
        let api = try API(5), node = "{ id title isDone repo { id name } }"
        let request = Self.tasks(form == "nodes" ? "nodes \(node)" : "edges { node \(node) }")
        let result = try await api.client.fetch(request, through: GraphQLBridge())
        #expect(try api.client.records(BoardTask.self, of: result).map(\.title) == (0..<5).map { "task \($0)" })
        #expect(result.report.created == 6 && result.metadata == ["total": .number("5")] && result.errors == [])
        #expect(result.infos.map { $0.variables["after"] } == [nil, .string("c:2"), .string("c:4")])
        #expect(result.infos.allSatisfy { $0.userInfo == .string("mine") })
        let repo = try api.client.store.read { try $0.get(Repo.self, "r") }
        #expect(repo == Repo(id: "r", name: "anvil") && api.server.requests.count == 3)
        var counts: [Int] = []
        for try await page in try api.client.pages(request, through: GraphQLBridge()) {
            counts.append(page.report.unchanged)
        }
        #expect(counts.count == 3)
    }

    @Test("two connections of a document advance together, and each to its end")
    func twoConnections() async throws {
        let api = try API(5)
        let request = GraphQLRequest(
            """
            query($a: String, $b: String) {
              fast: tasks(first: 4, after: $a) { pageInfo { hasNextPage endCursor } nodes { id title } }
              slow: tasks(first: 2, after: $b) { pageInfo { hasNextPage endCursor } nodes { id } }
            }
            """, records: [.init("fast", "Task", cursor: "a"), .init("slow", "Task", cursor: "b")])
        let result = try await api.client.fetch(request, through: GraphQLBridge())
        #expect(try api.stored() == ["t0", "t1", "t2", "t3", "t4"] && api.server.requests.count == 3)
        #expect(result.infos.last?.variables == ["a": .string("c:5"), "b": .string("c:4")])
    }

    @Test("__typename names the entity, the order is kept, and nulls are left out")
    func types() async throws {
        let api = try API(2)
        let request = GraphQLRequest(
            "{ found: search { __typename ... on Task { id title } ... on User { id login } } }",
            records: [.init("found")])
        let result = try await api.client.fetch(request, through: GraphQLBridge(entities: ["User": "Person"]))
        #expect(
            try api.stored() == ["t0", "t1"]
                && api.client.records(Person.self, of: result).map(\.login) == ["ada", "ada"])
        let untyped = GraphQLRequest("{ search { ... on Task { id } } }", records: [.init("search")])
        await #expect(throws: RemoteError.self) { try await api.client.fetch(untyped, through: GraphQLBridge()) }
    }

    @Test("errors beside data are reported with their paths, and the data is imported")
    func partialData() async throws {
        let api = try API()
        api.board.tasks.withLock { $0 = [("t1", "one"), ("t2", nil)] }
        let result = try await api.client.fetch(Self.tasks("nodes { id title }"), through: GraphQLBridge())
        #expect(try api.stored() == ["t1", "t2"])
        #expect(
            result.errors == [
                RemoteError("no title", path: ["repository", "tasks", "nodes", "1", "title"], code: "SECRET")
            ])
        #expect(result.errors.map(\.description) == ["repository.tasks.nodes.1.title: no title (SECRET)"])
        var other = Self.tasks("nodes { id }")
        other.variables["name"] = .string("hammer")
        await #expect(throws: RemoteError("no such repository", path: ["repository"], code: "NOT_FOUND")) {
            try await api.client.fetch(other, through: GraphQLBridge())
        }
    }

    @Test("null clears nothing if there are errors beside the data: the server could not read the value")
    func unreadValues() async throws {
        let api = try API(), request = Self.tasks("nodes { id title }")
        func titles() throws -> [String?] { try api.client.store.read { try $0.fetch(BoardTask.all).map(\.title) } }
        api.board.tasks.withLock { $0 = [("t1", "one"), ("t2", "two")] }
        _ = try await api.client.fetch(request, through: GraphQLBridge())
        api.board.tasks.withLock { $0[1].title = nil }
        #expect(try await api.client.fetch(request, through: GraphQLBridge()).errors.count == 1)
        #expect(try titles() == ["one", "two"])
        for try await page in try api.client.pages(request, through: GraphQLBridge()) {
            #expect(page.errors.count == 1)
        }
        #expect(try titles() == ["one", "two"])
    }

    @Test("errors without data refuse the operation, and nothing is stored")
    func refusals() async throws {
        let api = try API(3)
        let wrong = [
            "{ tasks { nodes { id wrong } } }": "Cannot query field",
            "{ tasks(first: $n) { nodes { id } } }": "$n is not defined",
            "{ tasks": "Syntax Error",
        ]
        for (document, message) in wrong {
            let error = await #expect(throws: RemoteError.self) {
                try await api.client.fetch(
                    GraphQLRequest(document, records: [.init("tasks", "Task")]), through: GraphQLBridge())
            }
            #expect(error?.message.contains(message) == true, "\(document)")
        }
        // A page in the middle that fails: no page is stored.
        var request = Self.tasks("nodes { id }")
        request.records[0].cursor = "unknown"
        await #expect(throws: RemoteError.self) { try await api.client.fetch(request, through: GraphQLBridge()) }
        request.document = request.document.replacing("hasNextPage endCursor", with: "hasNextPage")
        await #expect(throws: RemoteError.self) { try await api.client.fetch(request, through: GraphQLBridge()) }
        #expect(try api.stored() == [])
        let dead = DeadPort(), unreachable = GraphQLBridge(path: "http://127.0.0.1:\(dead.port)/graphql")
        await #expect(throws: MirrorError.self) { try await api.client.fetch(request, through: unreachable) }
    }

    @Test("the examples of the page Bridges about GraphQL")
    func page() async throws {
        let api = try API(3), board = api.client
        api.board.tasks.withLock { $0[2].title = nil }
        var lines: [String] = []
        func report(_ line: String) { lines.append(line) }

        let request = GraphQLRequest(
            """
            query($name: String!, $after: String) {
              repository(name: $name) {
                tasks(first: 2, after: $after) { totalCount pageInfo { hasNextPage endCursor } nodes { id title } }
              }
            }
            """, ["name": .string("anvil")],
            records: [.init("repository.tasks", "Task", cursor: "after")],
            metadata: ["total": "repository.tasks.totalCount"])
        let result = try await board.fetch(request, through: GraphQLBridge())
        for error in result.errors { report("\(error)") }
        #expect(lines == ["repository.tasks.nodes.0.title: no title (SECRET)"])

        try await board.store.write { try $0.put(BoardTask(id: "t1")) }
        let bridge = GraphQLBridge { change in
            GraphQLRequest(
                "mutation($id: ID!, $input: TaskInput!) { updateTask(id: $id, input: $input) { task { id title } } }",
                ["id": change.key, "input": change.body], records: [.init("updateTask.task", "Task")])
        }
        let outbox = board.outbox().sending(through: bridge)
        try await outbox.update("Task", RecordKey("t1"), [.init("title", .string("rewrite"))])
        try await outbox.drain()
        #expect(api.board.tasks.withLock { $0[1].title } == "rewrite")
    }

    @Test("mutations create, update and delete with the input that the mapping writes")
    func mutations() async throws {
        let api = try API()
        let bridge = GraphQLBridge { change in
            switch change.operation.kind {
            case .create:
                GraphQLRequest(
                    "mutation($input: TaskInput!) { createTask(input: $input) { task { id title isDone } } }",
                    ["input": change.body], records: [.init("createTask.task", "Task")])
            case .update:
                GraphQLRequest(
                    "mutation($id: ID!, $input: TaskInput!) { updateTask(id: $id, input: $input) { task { id title } } }",
                    ["id": change.key, "input": change.body], records: [.init("updateTask.task", "Task")])
            default:
                GraphQLRequest(
                    "mutation($id: ID!) { deleteTask(id: $id) { deletedID } }", ["id": change.key], records: [])
            }
        }
        let outbox = api.client.outbox().sending(through: bridge)
        let temporary = try await outbox.create("Task", [.init("title", .string("write"))])
        #expect(try api.stored().map { RecordKey($0) } == [temporary])
        try await outbox.drain()
        // The server's key takes the place of the temporary one.
        #expect(try api.stored() == ["t1"] && outbox.operations().isEmpty)
        try await outbox.update("Task", RecordKey("t1"), [.init("title", .string("rewrite"))])
        try await outbox.drain()
        #expect(api.server.requests.last?.body.contains(#""input":{"title":"rewrite"}"#) == true)
        #expect(api.board.tasks.withLock { $0.map(\.title) } == ["rewrite"])
        try await outbox.delete("Task", RecordKey("t1"))
        try await outbox.drain()
        #expect(try api.board.tasks.withLock(\.isEmpty) && api.stored().isEmpty && outbox.operations().isEmpty)
        // A refused mutation has an error beside null data: a dead letter.
        try await outbox.create("Task", [.init("isDone", .bool(true))])
        try await outbox.drain()
        let dead = try outbox.operations()
        #expect(
            dead.map(\.state) == [.dead]
                && dead[0].failure?.message == "createTask: title is required (BAD_USER_INPUT)")
        try await outbox.discard(dead[0].id)
        #expect(try api.stored().isEmpty)
    }
}
