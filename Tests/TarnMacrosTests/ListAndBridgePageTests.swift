// swift-format-ignore-file
// (The pages of the documentation have parts of this file.)
// The examples of the pages "List loaders" and "Bridges", verbatim and run.

import Foundation
import TarnMacros
import TestSupport
import Testing

struct Catalogue: Bridge {
    func operations(for request: String) -> [RemoteOperation<String>] {
        [RemoteOperation("GET", "/lookup?word=\(request)", info: request)]
    }

    func answer(_ response: TransportResponse, to operation: RemoteOperation<String>) throws -> RemoteAnswer<String> {
        guard response.status == 200 else { throw RemoteError("no answer about \(operation.info)") }
        return RemoteAnswer([RemotePart("Label", .path("found"))], metadata: ["word": .string(operation.info)])
    }
}

@Suite("The pages List loaders and Bridges", .timeLimit(.minutes(2)))
struct ListAndBridgePageTests {
    @Test("every example of the pages stands here or among the tests of the GraphQL bridge")
    func examples() throws {
        let lists = try DocumentationPage("ListLoaders"), bridges = try DocumentationPage("Bridges")
        #expect(try lists.examples.count == 5 && lists.examples(missingIn: #filePath) == [])
        let graphQL = "Tests/TarnMacrosTests/GraphQLBridgeTests.swift"
        #expect(try bridges.examples.count == 4 && bridges.examples(missingIn: #filePath, graphQL) == [])
    }

    @Test("the page List loaders: a list, its middle, a rule, a query, orphans")
    func lists() async throws {
        let server = try ForgeServer(), forge = server.client, base = server.server.base
        var shown: [String] = []
        func show(_ titles: [String], _ end: String) { shown.append("\(titles) \(end)") }

        let list = try await forge.list(.issues("acme/anvil"))
        try await list.loadFirst()
        try await list.loadNext()
        for try await state in list.states {
            show(state.items.map(\.title), state.hasNext ? "more" : "the end")
            if state.loading == nil { break }
        }
        #expect(shown == [#"["t1", "t2", "t3"] the end"#])

        let middle = try await forge.list(.issues("acme/anvil"))
        try await middle.loadFirst(at: base + "/repos/acme/anvil/issues?per_page=2&page=2")
        if try middle.state.hasPrevious { try await middle.loadPrevious() }
        #expect(try middle.state.items.map(\.title) == ["t3"])

        try await list.refresh(rule: .skip)

        let open = try await forge.list(.issues("acme/anvil"), local: Issue.where { $0.state == .open }.order(by: \.number))
        try await open.loadFirst()
        let titles = try open.state.items.map(\.title)
        #expect(titles == ["t1", "t2", "t3"])

        let kept = try await forge.list(.issues("acme/anvil").removingOrphans { !$0.isShown })
        try await kept.loadFirst()
    }

    @Test("the page Bridges: a bridge of a program")
    func bridge() async throws {
        let server = try ForgeServer { request in
            request.target == "/lookup?word=bug" ? .init(body: #"{"found":[{"id":1,"name":"bug"}]}"#) : nil
        }
        let forge = server.client
        let result = try await forge.fetch("bug", through: Catalogue())
        let labels = try forge.records(Label.self, of: result)
        #expect(labels == [Label(id: 1, name: "bug")] && result.metadata == ["word": .string("bug")])
        await #expect(throws: RemoteError("no answer about bear")) { try await forge.fetch("bear", through: Catalogue()) }
    }
}
