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

@Suite("The pages about typed requests", .timeLimit(.minutes(2)))
struct TypedRequestsPageTests {
    @Test(
        "every example of the pages about requests stands in these tests, or in the example package",
        arguments: [
            ("TypedRequests", 1), ("RecordPages", 6), ("LocalFirst", 3), ("RecordDetails", 1), ("RequestBatches", 1),
            ("ResponseValues", 3), ("ImportOptions", 2), ("ListedOrphans", 2), ("WaitingAndEnding", 2), ("HandingOver", 2),
        ])
    func examples(_ name: String, _ count: Int) throws {
        let page = try DocumentationPage(name)
        let missing = try page.examples(
            missingIn: #filePath, "tools/examples/handover/Sources/Handover/Fetcher.swift",
            "tools/examples/handover/Sources/Handover/Records.swift")
        #expect(page.examples.count == count && missing == [])
    }

    @Test("each family of requests has a page that the overview names")
    func families() throws {
        let overview = try String(contentsOfFile: Checkout.root + "/Sources/Tarn/Tarn.docc/TypedRequests.md", encoding: .utf8)
        for name in ["RecordPages", "LocalFirst", "RecordDetails", "RequestBatches", "ResponseValues", "HandingOver"] {
            #expect(overview.contains("<doc:\(name)> |"), "\(name)")
        }
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
    @Test("one record, a list, its pages: the examples do what the page says")
    func pages() async throws {
        let server = try ForgeServer(), forge = server.client
        var created = 0
        var sources: [CachedAnswer.Source] = []
        for try await page in forge.pages(.issues("acme/anvil")) {
            sources.append(page.source)
            created += page.report?.entities["Issue"]?.created ?? 0
        }
        #expect(sources == [.fetched, .fetched] && created == 3)

        let issue = try await forge.one(.issue(7))
        let issues = try await forge.all(.issues("acme/anvil"))
        #expect(issue.id == 7 && issues.map(\.id) == [1, 2, 3])

        var rest: [Issue] = []
        let first = try await forge.page(.issues("acme/anvil"))
        if let next = first.next {
            rest = try await forge.page(.issues("acme/anvil"), at: next).records
        }
        #expect(rest.map(\.id) == [3])

        let request = RecordRequest<Issue>.get("/repos/acme/anvil/issues", ["per_page": "2"], pagination: .headerLink())
        #expect(try await forge.all(request).count == 3)

        let newest = try await forge.all(.issues("acme/anvil").limit(pages: 1))
        #expect(newest.count == 2)

        let found = try await forge.all(.search("linker"))
        #expect(found.map(\.id) == [4])
    }

    @Test("the store first: the examples do what the page says")
    func localFirst() async throws {
        let server = try ForgeServer(), forge = server.client
        var lines: [String] = [], titles: [String] = []
        let open = Issue.where { $0.state == .open }.order(by: \.number)
        for try await answer in forge.answers(.issues("acme/anvil"), local: open.include(\.author)) {
            for (issue, author) in answer.records { lines.append("\(issue.title) by \(author?.login ?? "?")") }
            if case .remote = answer { break }
        }
        #expect(lines == ["t1 by ada", "t2 by ada", "t3 by ada"])

        for try await answer in forge.answers(.issues("acme/anvil")) {
            titles = answer.records.map(\.title)
            if case .remote = answer { break }
        }
        #expect(titles == ["t1", "t2", "t3"])

        let asked = server.server.requests.count
        let answers = forge.answers(.issues("acme/anvil"), local: open, fetch: .ifNoLocalRecords)
        for try await answer in answers {
            #expect(answer.records.count == 3)
            break
        }
        #expect(server.server.requests.count == asked)
    }
}
