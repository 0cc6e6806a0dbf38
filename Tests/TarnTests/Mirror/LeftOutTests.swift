// Parts of a page that an import leaves out because of the state of the store come with a later
// sync, although the server's page is the same.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: what was left out of a page", .timeLimit(.minutes(2)))
struct LeftOutTests {
    private typealias Answer = ScriptedServer.Answer

    private final class Lists: Sendable {
        let bodies = Mutex<[String: String]>([:])
    }

    /// A server of lists with tags that depend on their content, and a client of it. The server
    /// refuses every change.
    private struct Place {
        let folder: TemporaryFolder
        let server: ScriptedServer
        let lists = Lists()
        let client: APIClient

        init(_ yaml: String) throws {
            folder = try TemporaryFolder()
            let lists = lists
            server = try ScriptedServer { request in
                guard request.method == "GET" else { return Answer(status: "403 Forbidden") }
                let path = String(request.target.prefix { $0 != "?" })
                guard let body = lists.bodies.withLock({ $0[path] }) else { return Answer(status: "404 Not Found") }
                return .tagged("\(body.utf8.reduce(7) { ($0 &* 31 &+ Int($1)) & 0xFF_FFFF })", request, body)
            }
            let description = try Description.parse(
                "api: { base: '\(server.base)' }\n" + yaml, file: folder.path + "/tarn.yaml")
            let store = try Store.open(
                at: folder.path + "/s.tarn", schema: description.schema, options: Store.Options(durability: .relaxed))
            client = try APIClient(description, store: store, transport: CurlTransport())
        }

        /// Scans the endpoints one after the other, while the server has these lists.
        func sync(_ bodies: [String: String]) async throws {
            lists.bodies.withLock { $0 = bodies }
            var options = APIMirror.Options()
            options.concurrency = 1
            let report = await APIMirror(client, options: options).sync()
            try #require(report.failures.isEmpty, "\(report)")
        }

        func field(_ name: String, _ entity: String, _ key: Int64) throws -> Value? {
            try client.store.read { try $0.record(entity, RecordKey(key))?[name] }
        }

        func count(_ entity: String) throws -> Int { try client.store.read { try $0.count(entity) } }

        /// Whether the last request for a list had a condition.
        func isConditional(_ target: String) -> Bool {
            server.requests.last { $0.target == target }?.field("If-None-Match") != nil
        }
    }

    @Test("a record with another one's unique value is imported when the value is free, and then with a condition")
    func unique() async throws {
        let place = try Place(
            """
            entities: { Task: { key: id, attributes: { id: int, slug: { type: string, unique: true } } } }
            endpoints:
              one: { path: /one, entity: Task, paginate: single_page }
              two: { path: /two, entity: Task, paginate: single_page }
            """)
        try await place.sync(["/one": #"[{"id":1,"slug":"a"}]"#, "/two": #"[{"id":2,"slug":"b"}]"#])
        let swapped = ["/one": #"[{"id":1,"slug":"b"}]"#, "/two": #"[{"id":2,"slug":"c"}]"#]
        try await place.sync(swapped)
        #expect(try place.field("slug", "Task", 1) == .string("a") && place.field("slug", "Task", 2) == .string("c"))
        try await place.sync(swapped)
        #expect(try place.field("slug", "Task", 1) == .string("b"))
        #expect(!place.isConditional("/one") && place.isConditional("/two"))
        try await place.sync(swapped)
        #expect(place.isConditional("/one"))
    }

    @Test("an incremental scan that has left a record out begins with the same value the next time")
    func since() async throws {
        let place = try Place(
            """
            entities: { Task: { key: id, attributes: { id: int, at: int, slug: { type: string, unique: true } } } }
            endpoints:
              one: { path: /one, entity: Task, paginate: single_page, since: { param: since, field: at } }
              two: { path: /two, entity: Task, paginate: single_page }
            """)
        try await place.sync(["/one": #"[{"id":1,"at":1,"slug":"a"}]"#, "/two": #"[{"id":2,"at":1,"slug":"b"}]"#])
        for _ in 0..<3 {
            try await place.sync([
                "/one": #"[{"id":1,"at":5,"slug":"b"},{"id":3,"at":6,"slug":"z"}]"#,
                "/two": #"[{"id":2,"at":1,"slug":"c"}]"#,
            ])
        }
        #expect(try place.field("slug", "Task", 1) == .string("b"))
        #expect(
            place.server.targets.filter { $0.hasPrefix("/one") } == [
                "/one", "/one?since=1", "/one?since=1", "/one?since=6",
            ])
    }

    @Test("a tombstone that a delete rule has denied applies when nothing forbids it any more")
    func denied() async throws {
        let place = try Place(
            """
            entities:
              Project:
                key: id
                attributes: { id: int }
                deleted: gone
                relationships: { tasks: { to: [Task], inverse: project, on_delete: deny } }
              Task:
                key: id
                attributes: { id: int }
                deleted: gone
                relationships: { project: { to: Project, inverse: tasks, from: project_id } }
            endpoints:
              projects: { path: /projects, entity: Project, paginate: single_page }
              tasks: { path: /tasks, entity: Task, paginate: single_page }
            """)
        try await place.sync(["/projects": #"[{"id":1},{"id":2}]"#, "/tasks": #"[{"id":7,"project_id":1}]"#])
        let gone = ["/projects": #"[{"id":1,"gone":true},{"id":2}]"#, "/tasks": #"[{"id":7,"gone":true}]"#]
        try await place.sync(gone)
        #expect(try place.count("Project") == 2 && place.count("Task") == 0)
        try await place.sync(gone)
        #expect(try place.count("Project") == 1)
    }

    @Test("a reference that the deletion of its target has removed comes again with the target")
    func nullified() async throws {
        let place = try Place(
            """
            entities:
              User:
                key: id
                attributes: { id: int }
                relationships: { assigned: { to: [Task], inverse: assignee, on_delete: nullify } }
              Task:
                key: id
                attributes: { id: int }
                relationships: { assignee: { to: User, from: assignee_id, inverse: assigned } }
            endpoints:
              users:
                path: /users
                entity: User
                paginate: single_page
                orphans: { scope: listed, after: one_scan }
              tasks: { path: /tasks, entity: Task, paginate: single_page }
            """)
        let tasks = #"[{"id":7,"assignee_id":2}]"#
        try await place.sync(["/users": #"[{"id":1},{"id":2}]"#, "/tasks": tasks])
        try await place.sync(["/users": #"[{"id":1}]"#, "/tasks": tasks])
        #expect(!place.isConditional("/tasks"))
        try await place.sync(["/users": #"[{"id":1},{"id":2}]"#, "/tasks": tasks])
        #expect(try place.field("assignee", "Task", 7) == .reference(RecordKey(2)))
    }

    /// The projects list the keys of their tasks, which store the references.
    private static let projects = """
        entities:
          Project:
            key: id
            attributes: { id: int }
            relationships: { tasks: { to: [Task], from: task_ids, inverse: project } }
          Task: { key: id, attributes: { id: int }, relationships: { project: { to: Project, inverse: tasks } } }
        endpoints:
          projects: { path: /projects, entity: Project, paginate: single_page }
          tasks: { path: /tasks, entity: Task, paginate: single_page }
        """

    @Test("a list of keys of records that were not stored is imported again when they are")
    func members() async throws {
        let place = try Place(Self.projects)
        let bodies = ["/projects": #"[{"id":1,"task_ids":[7]}]"#, "/tasks": #"[{"id":7}]"#]
        try await place.sync(bodies)
        #expect(try place.field("project", "Task", 7) == nil)
        try await place.sync(bodies)
        #expect(try place.field("project", "Task", 7) == .reference(RecordKey(1)))
    }

    @Test("side by side, the endpoint of such a list waits for the one that lists the members")
    func order() async throws {
        let place = try Place(Self.projects)
        place.lists.bodies.withLock { $0 = ["/projects": #"[{"id":1,"task_ids":[7]}]"#, "/tasks": #"[{"id":7}]"#] }
        let report = await APIMirror(place.client).sync()
        #expect(report.failures.isEmpty && place.server.targets == ["/tasks", "/projects"])
        #expect(try place.field("project", "Task", 7) == .reference(RecordKey(1)))
    }

    @Test(
        "a record whose queued deletion was refused is no orphan: the server has listed it throughout",
        arguments: ["listed", "entity"])
    func refusedDeletion(scope: String) async throws {
        let place = try Place(
            """
            entities:
              Task: { key: id, attributes: { id: int, title: string }, write: { delete: 'DELETE /tasks/{id}' } }
            endpoints:
              tasks:
                path: /tasks
                entity: Task
                paginate: single_page
                orphans: { scope: \(scope), after: one_scan }
            """)
        let outbox = place.client.outbox()
        try await place.sync(["/tasks": #"[{"id":1,"title":"a"},{"id":2,"title":"b"}]"#])
        try await outbox.delete("Task", RecordKey(1))
        let changed = ["/tasks": #"[{"id":1,"title":"new"},{"id":2,"title":"b"}]"#]
        try await place.sync(changed)
        #expect(try await outbox.drain().sent == 0)
        for operation in try outbox.operations() { try await outbox.discard(operation.id) }
        for _ in 0..<3 {
            try await place.sync(changed)
            #expect(try place.field("title", "Task", 1) == .string("new"))
        }
        #expect(place.isConditional("/tasks"))
        try await place.sync(["/tasks": #"[{"id":2,"title":"b"}]"#])
        #expect(try place.count("Task") == 1)
    }

    @Test("a record takes the kind that the server has given it meanwhile when its change is discarded")
    func kind() async throws {
        let place = try Place(
            """
            entities:
              Event:
                key: id
                attributes: { id: int, type: string, title: string }
                kinds: { Push: { type: push }, Tag: { type: tag } }
                write: { update: { request: 'PATCH /events/{id}', fields: [title] } }
              Push: { parent: Event, attributes: { branch: string? } }
              Tag: { parent: Event, attributes: { tag: string? } }
            endpoints:
              events: { path: /events, entity: Event, paginate: single_page }
            """)
        let outbox = place.client.outbox()
        try await place.sync(["/events": #"[{"id":1,"type":"push","title":"a","branch":"m"}]"#])
        try await outbox.update("Event", RecordKey(1), [.init("title", .string("mine"))])
        let tagged = ["/events": #"[{"id":1,"type":"tag","title":"a","tag":"v1"}]"#]
        try await place.sync(tagged)
        #expect(try place.count("Push") == 1)
        for operation in try outbox.operations() { try await outbox.discard(operation.id) }
        try await place.sync(tagged)
        #expect(try place.count("Tag") == 1 && place.field("tag", "Event", 1) == .string("v1"))
    }
}
