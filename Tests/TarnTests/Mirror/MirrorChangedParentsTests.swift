// `for_each` with `only: changed`: lists of records that have not changed are not requested.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: lists of changed records only", .timeLimit(.minutes(5)))
struct MirrorChangedParentsTests {
    private static let yaml = """
        api: { base: https://api.test.example }
        entities:
          Change: { key: id, attributes: { id: int, rev: int, item: int } }
          Item: { key: id, attributes: { id: int, title: string } }
        endpoints:
          changes: { path: /changes, entity: Change, paginate: single_page }
          item:
            path: /items/{change.item}
            for_each: { entity: Change, only: changed }
            entity: Item
            paginate: single_page
        """

    /// A server of changes: id, revision and item of each.
    private final class Changes: Sendable {
        let state = Mutex((changes: [(id: Int, rev: Int, item: Int)](), log: [String](), failing: Set<String>()))

        func set(_ changes: [(Int, Int, Int)]) { state.withLock { $0.changes = changes } }
        func fail(_ paths: Set<String>) { state.withLock { $0.failing = paths } }

        var transport: ClosureTransport {
            ClosureTransport { [self] request in
                let target = request.url.replacing("https://api.test.example", with: "")
                let (changes, fails) = state.withLock { state in
                    if target != "/changes" { state.log.append(target) }
                    return (state.changes, state.failing.contains(target))
                }
                if fails { return TransportResponse(status: 404) }
                if target == "/changes" {
                    let body = changes.map { #"{"id":\#($0.id),"rev":\#($0.rev),"item":\#($0.item)}"# }
                    return TransportResponse(status: 200, body: Array("[\(body.joined(separator: ","))]".utf8))
                }
                let id = (target.split(separator: "/").last ?? "").prefix { $0 != "?" }
                let rev = changes.filter { "\($0.item)" == id }.map(\.rev).max() ?? 0
                return TransportResponse(status: 200, body: Array(#"{"id":\#(id),"title":"r\#(rev)"}"#.utf8))
            }
        }

        var log: [String] {
            state.withLock { state in
                defer { state.log = [] }
                return state.log.sorted()
            }
        }
    }

    @Test("only the lists of new and changed records are requested, in every sync")
    func changed() async throws {
        let store = try MirrorStore(yaml: Self.yaml), server = Changes()
        server.set([(1, 1, 10), (2, 1, 20)])
        try await store.sync(nil, transport: server.transport)
        #expect(server.log == ["/items/10", "/items/20"])
        let report = try await store.sync(nil, transport: server.transport)
        #expect(server.log == [] && report.endpoints.last?.unchangedParents == 2)
        server.set([(1, 1, 10), (2, 2, 20), (3, 1, 30)])
        try await store.sync(nil, transport: server.transport)
        #expect(server.log == ["/items/20", "/items/30"])
        #expect(try store.record("Item", 20)["title"] == .string("r2"))
        try await store.sync(nil, transport: server.transport)
        #expect(server.log == [])
        try await store.sync(nil, transport: server.transport) { $0.isFull = true }
        #expect(server.log == ["/items/10", "/items/20", "/items/30"])
    }

    @Test("with full_every, the list of an unchanged record is requested when it is due")
    func due() async throws {
        let rule = "since: { param: since, field: rev, full_every: 7d }"
        let yaml = Self.yaml.replacing("entity: Item\n", with: "entity: Item\n    \(rule)\n")
            .replacing("title: string }", with: "title: string, rev: int }")
        let store = try MirrorStore(yaml: yaml), clock = TestClock(), log = Mutex<[String]>([])
        let transport = ClosureTransport { request in
            let isList = request.url.hasSuffix("/changes")
            if !isList { log.withLock { $0.append(request.url) } }
            let body = isList ? #"[{"id":1,"rev":1,"item":10}]"# : #"{"id":10,"title":"a","rev":1}"#
            return TransportResponse(status: 200, body: Array(body.utf8))
        }
        for expected in [1, 1, 2] {
            try await store.sync(nil, transport: transport) { $0.client.time = clock.source }
            #expect(log.withLock(\.count) == expected)
            if expected == 1 { clock.pass(4 * 86_400) }
        }
    }

    @Test("a list that has failed is requested again, although its record has not changed")
    func failure() async throws {
        let store = try MirrorStore(yaml: Self.yaml), server = Changes()
        server.set([(1, 1, 10), (2, 1, 20)])
        server.fail(["/items/20"])
        try await store.sync(nil, transport: server.transport)
        _ = server.log
        try await store.sync(nil, transport: server.transport)
        #expect(server.log == ["/items/20"])
        server.fail([])
        try await store.sync(nil, transport: server.transport)
        #expect(server.log == ["/items/20"])
        try await store.sync(nil, transport: server.transport)
        #expect(server.log == [])
    }

    @Test("a list of which a record was left out for now is requested again, until it is stored")
    func leftOut() async throws {
        let unique = Self.yaml.replacing("title: string }", with: "title: { type: string, unique: true } }")
        let store = try MirrorStore(yaml: unique), server = Changes()
        server.set([(1, 1, 10), (2, 1, 20)])
        try await store.sync(nil, transport: server.transport)
        #expect(try store.count("Item") == 1 && server.log.count == 2)
        try await store.sync(nil, transport: server.transport)
        #expect(!server.log.isEmpty)
        server.set([(1, 3, 10), (2, 4, 20)])
        for _ in 0..<2 { try await store.sync(nil, transport: server.transport) }
        #expect(try store.count("Item") == 2)
        _ = server.log
        try await store.sync(nil, transport: server.transport)
        #expect(server.log == [])
    }

    @Test("if one request stands for several records, it is sent when any of them is new or has changed")
    func shared() async throws {
        let store = try MirrorStore(yaml: Self.yaml), server = Changes()
        server.set([(1, 1, 10)])
        try await store.sync(nil, transport: server.transport)
        _ = server.log
        server.set([(1, 1, 10), (2, 2, 10)])
        try await store.sync(nil, transport: server.transport)
        #expect(server.log == ["/items/10"])
        #expect(try store.record("Item", 10)["title"] == .string("r2"))
        try await store.sync(nil, transport: server.transport)
        #expect(server.log == [])
    }

    @Test("a record that is deleted and comes back is requested again")
    func returned() async throws {
        let rule = "entity: Change, orphans: after_one_scan, paginate"
        let store = try MirrorStore(yaml: Self.yaml.replacing("entity: Change, paginate", with: rule))
        let server = Changes()
        server.set([(1, 1, 10), (2, 1, 20)])
        try await store.sync(nil, transport: server.transport)
        server.set([(1, 1, 10)])
        try await store.sync(nil, transport: server.transport)
        _ = server.log
        server.set([(1, 1, 10), (2, 1, 20)])
        try await store.sync(nil, transport: server.transport)
        #expect(server.log == ["/items/20"])
    }

    @Test("a child has it without for_each; other words and orphans are errors")
    func description() throws {
        let child = """
            api: { base: https://api.test.example }
            entities:
              Item: { key: id, attributes: { id: int, rev: int, title: string? } }
            endpoints:
              items:
                path: /items
                entity: Item
                children: { item: { path: '/items/{id}', paginate: single_page, only: changed } }
            """
        #expect(try Description.parse(child, file: "tarn.yaml").endpoints.last?.forEach?.onlyChanged == true)
        for other in ["only: new", "only: changed, orphans: after_one_scan"] {
            #expect(throws: DescriptionError.self) {
                try Description.parse(child.replacing("only: changed", with: other), file: "tarn.yaml")
            }
        }
        #expect(throws: DescriptionError.self) {
            let line = "    entity: Item\n"
            _ = try Description.parse(child.replacing(line, with: line + "    only: changed\n"), file: "tarn.yaml")
        }
    }

    @Test(
        "after an edit of the request, of its header fields or of the rule for values, all lists are requested",
        arguments: [
            (" only: changed }", " only: changed }\n    with: { view: all }", "?view=all"),
            (" only: changed }", " only: changed }\n    headers: { X-View: all }", ""),
            ("{ id: int, title: string }", "{ id: int, title: string, more: string? }", ""),
        ])
    func edited(text: String, other: String, query: String) async throws {
        let store = try MirrorStore(yaml: Self.yaml), server = Changes()
        server.set([(1, 1, 10), (2, 1, 20)])
        for _ in 0..<2 { try await store.sync(nil, transport: server.transport) }
        _ = server.log
        let edited = try store.edited(Self.yaml.replacing(text, with: other))
        try await edited.sync(nil, transport: server.transport)
        #expect(server.log == ["/items/10\(query)", "/items/20\(query)"])
        try await edited.sync(nil, transport: server.transport)
        #expect(server.log == [])
    }
}
