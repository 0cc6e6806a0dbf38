// Descriptions with an endpoint of the same name, which scan into one store in turn.

import Synchronization
import TarnDescription
import TarnStore
import TestSupport
import Testing

@testable import Tarn

extension MirrorOtherMappingTests {
    @Test("a list that another description with an endpoint of the same name resets in turn is reported")
    func sameName() async throws {
        func yaml(_ label: String, id: String = "int") -> String {
            Self.yaml("items", label: label)
                .replacing(
                    "entity: Item, paginate: single_page",
                    with: "entity: Item, paginate: single_page, orphans: after_two_scans"
                )
                .replacing("Item: { key: id, attributes: { id: int,", with: "Item: { key: id, attributes: { id: \(id),")
        }
        let server = try LocalServer([recording("/v1/items", Self.items("one", "two"))])
        let first = try MirrorStore(yaml: yaml("name"))
        // Other keys may be other records.
        let second = try mirror(yaml("note", id: "{ type: int, from: [number, id] }"), with: first)
        // The first return may be an edit that was taken back.
        let syncs = [(first, false), (second, false), (first, false), (first, false), (second, true), (first, true)]
        for (store, isReset) in syncs {
            let report = try await store.sync(server.base + "/v1", names: ["items"])
            #expect(report.failures.isEmpty, "\(report.texts)")
            #expect(report.endpoint("items")?.hasOtherDescription == isReset)
        }
        // The caller's wish.
        let full = try await second.sync(server.base + "/v1", names: ["items"]) { $0.isFull = true }
        #expect(full.endpoint("items")?.hasOtherDescription == false)
        let anew = try await first.sync(server.base + "/v1", names: ["items"]) { $0.restarts = true }
        #expect(anew.endpoint("items")?.hasOtherDescription == false)
    }

    @Test(
        "a reset of a list without since, of which both list the same records, costs nothing and is not reported",
        arguments: ["", ", orphans: after_two_scans"])
    func sameNameWithoutCost(orphans: String) async throws {
        func yaml(_ label: String) -> String {
            Self.yaml("items", label: label).replacing(
                "entity: Item, paginate: single_page", with: "entity: Item, paginate: single_page\(orphans)")
        }
        let server = try LocalServer([recording("/v1/items", Self.items("one", "two"))])
        let first = try MirrorStore(yaml: yaml("name")), second = try mirror(yaml("note"), with: first)
        for store in [first, second, first, second, first] {
            let report = try await store.sync(server.base + "/v1", names: ["items"])
            #expect(report.failures.isEmpty, "\(report.texts)")
            #expect(report.endpoint("items")?.hasOtherDescription == false)
        }
    }

    @Test("a list that other credentials reset in turn is none of another description", arguments: [false, true])
    func sameNameOtherCredentials(isInterrupted: Bool) async throws {
        let store = try MirrorStore(
            yaml: itemsYAML(
                "paginate: header_link\n    orphans: after_two_scans", api: "  auth: { bearer: { env: TOKEN } }"))
        let pages = writtenPages([[1], [2]]), failing = recording("/v1/items?page=2", "{}", status: "500 No")
        for (number, token) in ["a", "b", "a", "b", "a"].enumerated() {
            let isCut = isInterrupted && number == 3
            let report = try await store.sync(
                nil, transport: try WrittenTransport(isCut ? [pages[0], failing] : pages), environment: ["TOKEN": token]
            )
            #expect(report.failures.count == (isCut ? 1 : 0), "\(report.texts)")
            let items = report.endpoint("items")
            #expect(items?.hasOtherDescription == false && items?.hasOtherCredentials == (isInterrupted && number == 4))
        }
    }

    /// A list of which changes are requested by `at`, as a description and as answers.
    private static func changes(label: String) -> String {
        yaml("items", label: label).replacing("label: {", with: "at: int?, label: {").replacing(
            "/items, entity: Item, paginate: single_page",
            with: "/items, entity: Item, paginate: single_page, since: { param: since, field: at }")
    }

    @Test("of a list whose progress was forgotten, the description before the last one is still known")
    func sameNameForgotten() async throws {
        let transport = ClosureTransport { _ in
            TransportResponse(status: 200, body: Array(#"[{"id":1,"name":"one","note":"x","at":1}]"#.utf8))
        }
        let first = try MirrorStore(yaml: Self.changes(label: "name"))
        let second = try mirror(Self.changes(label: "note"), with: first)
        for (number, store) in [first, second, first, second, second, first].enumerated() {
            let report = try await store.sync(nil, transport: transport, names: ["items"])
            #expect(report.failures.isEmpty, "\(report.texts)")
            #expect(report.endpoint("items")?.hasOtherDescription == (number == 3 || number == 5))
            guard number == 3 else { continue }
            // A third mapping has changed a record.
            let forgotten = try #require(try first.checkpoint("items")?.forgotten)
            try await first.open().write { try $0.setCheckpoint("items", forgotten) }
        }
    }

    @Test("progress that is forgotten stays so, also if the page that is committed next has no value")
    func forgottenBeforeValue() async throws {
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example }
                entities:
                  Item: { key: id, attributes: { id: int } }
                endpoints:
                  items:
                    path: /items
                    records: items
                    entity: Item
                    paginate: { cursor: { path: next, param: after } }
                    since: { cursor: sync, param: token }
                """)
        let state = Mutex((missing: "p2", log: [String]()))
        let transport = ClosureTransport { request in
            let parameter = QueryParameters.values(in: request.url).first
            let place = parameter.map { $0.name == "after" ? $0.value : $0.name } ?? "all"
            let missing = state.withLock { state in
                state.log.append(place)
                return state.missing
            }
            if place == missing { return TransportResponse(status: 500) }
            if place == "p2", missing == "p3" {
                // Another mapping has changed a record of the first page.
                let forgotten = try #require(try store.checkpoint("items")?.forgotten)
                try await store.open().write { try $0.setCheckpoint("items", forgotten) }
            }
            let body =
                switch place {
                case "all": #"{"items":[{"id":1}],"next":"p2"}"#
                case "p2": #"{"items":[{"id":2}],"next":"p3"}"#
                default: #"{"items":[{"id":3}],"sync":"t"}"#
                }
            return TransportResponse(status: 200, body: Array(body.utf8))
        }
        for (missing, failures) in [("p2", 1), ("p3", 1), ("none", 0), ("none", 0), ("none", 0)] {
            state.withLock { $0.missing = missing }
            #expect(try await store.sync(nil, transport: transport).failures.count == failures)
        }
        #expect(state.withLock { $0.log } == ["all", "p2", "p2", "p3", "p3", "all", "p2", "p3", "token"])
    }

    @Test("a scan whose progress was forgotten is no complete scan, even if it was interrupted")
    func forgottenScan() {
        let began = Timestamp(microseconds: 1)
        let whole = Checkpoint(state: .complete, plan: "p", scan: 1, startedAt: began)
        let part = Checkpoint(state: .underWay, plan: "p", scan: 1, startedAt: began)
        #expect(whole.completed == began && part.completed == nil)
        #expect(part.forgotten?.state == .complete && part.forgotten?.completed == nil)
    }
}
