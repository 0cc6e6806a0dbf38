// swift-format-ignore-file
// The examples of the page "Typed requests", verbatim and run.

import Foundation
import Logging
import TarnMacros
import TestSupport
import Testing

@Record struct Todo: DetailedRecord, Equatable {
    @Key var id: Int64
    var number: Int
    var project: String
    var isGone: Bool?

    static let detail = RecordRequest<Todo>.get("/projects/{project}/todos/{number}")
}

extension RecordRequest where Value == Todo {
    static func todos(_ project: String) -> Self {
        .get("/projects/{project}/todos", ["project": project], records: "todos")
            .editing { entity, json in json["project"] = .string(project) }
            .metadata(.total)
    }
}

extension ResponseValue<Int> {
    static var total: Self { ResponseValue("total", at: "meta.total") }
}

@Suite("The page Typed requests", .timeLimit(.minutes(2)))
struct TypedRequestsPageTests {
    @Test("every example of the page stands in these tests")
    func examples() throws {
        let page = try DocumentationPage("TypedRequests")
        #expect(try page.examples.count == 12 && page.examples(missingIn: #filePath) == [])
    }

    private static func answer(_ request: ScriptedServer.Request) -> ScriptedServer.Answer {
        switch request.target {
        case "/projects/anvil/todos":
            .tagged("a", request, #"{"todos":[{"id":1,"number":10},{"id":2,"number":20}],"people":[{"id":5,"login":"ada"}],"meta":{"total":2,"note":"x"}}"#)
        case "/projects/hammer/todos": .tagged("b", request, #"{"todos":[{"id":3,"number":30}],"meta":{"total":1}}"#)
        case "/projects/anvil/todos/10": .tagged("c", request, #"{"id":1,"number":10,"project":"anvil"}"#)
        case "/projects/anvil/todos/20": .init(status: "404 Not Found")
        default: .init(status: "500 Broken")
        }
    }

    @Test("the examples do what the page says")
    func walkthrough() async throws {
        let server = try ScriptedServer { Self.answer($0) }, folder = try TemporaryFolder()
        let forge = try RecordClient(base: server.base, records: Todo.self, User.self, store: folder("page.tarn")) {
            $0.api.retry.attempts = 1
        }
        let logger = Logger(label: "todos")

        let shown = try await forge.all(.todos("anvil").persisting(false))
        #expect(try shown.map(\.project) == ["anvil", "anvil"] && (forge.store.read { try $0.count("Todo") }) == 0)

        let urgent = RecordRequest.todos("anvil").priority(.high).domain("screen").deadline(.seconds(5))
            .staleIfError(seconds: 3600).logging(to: logger)
        #expect(try await forge.all(urgent).count == 2)

        let count = forge.cancel(domain: "screen")
        #expect(count == 0)

        let current = try await forge.all(.todos("anvil").removingOrphans(Orphans(scans: 2)) { todo in todo.number > 0 })
        #expect(current.count == 2)

        let rules = Orphans(.matching(Todo.where { $0.project == "anvil" }), scans: 1)
        let marked = try await forge.all(.todos("anvil").markingOrphans(rules) { $0.set(.isGone, true) })
        #expect(marked.count == 2)

        let (todos, notes) = try await forge.all(.todos("anvil")) { json in json["meta"]?["note"] }
        #expect(todos.count == 2 && notes == [.string("x")])

        let page = try await forge.page(.todos("anvil"))
        let total = try page[.total]
        #expect(total == 2 && page.source == .revalidated)

        let whole = try await forge.all(.todos("anvil").also(User.self, at: "people", optional: true))
        #expect(try whole.count == 2 && (forge.store.read { try $0.count("User") }) == 1)

        let fresh = try await forge.detail(of: todos[0])
        let again = try await forge.detail(Todo.self, 1) { $0.policy(.networkOnly) }
        let gone = try? await forge.detail(of: todos[1], deletingGone: true)
        #expect(try fresh == again && gone == nil && (forge.store.read { try $0.get(Todo.self, 2) }) == nil)

        let lists = try await forge.batch([.todos("anvil"), .todos("hammer")], atomic: true)
        let results = await forge.results(of: [.todos("anvil"), .todos("unknown")])
        #expect(try lists.map(\.count) == [2, 1] && (try? results[1].get()) == nil && (results[0].get().count) == 2)
    }
}
