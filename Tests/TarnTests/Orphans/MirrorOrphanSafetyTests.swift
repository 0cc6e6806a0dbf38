// Unlisted records that are not orphans: changed locally, requested in another way, or known from
// another scan.

import Foundation
import Tarn
import TarnDescription
import Testing

@Suite("Mirror: what is no orphan")
struct MirrorOrphanSafetyTests {
    private func store(_ orphans: String = "after_two_scans", attributes: String = "") throws -> MirrorStore {
        try MirrorStore(yaml: itemsYAML("paginate: header_link\n    orphans: \(orphans)", attributes: attributes))
    }

    @Test(
        "a record that was changed here and not yet at the server stays; where the server counts it goes",
        arguments: ["fields", "server"])
    func localChanges(policy: String) async throws {
        let yaml = itemsYAML("orphans: after_one_scan", attributes: "    local: \(policy)")
        let store = try MirrorStore(yaml: yaml)
        try await store.scan([[1, 2]])
        try await store.open().write {
            try $0.putLocally("Item", RecordKey(2), [Record.Field("name", .string("mine"))])
        }
        #expect(found(try await store.scan([[1]])) == ["candidates": 1, policy == "server" ? "deleted" : "local": 1])
        #expect(try store.items() == (policy == "server" ? [1] : [1, 2]))
        _ = try await store.open().write { try $0.clearLocalChange("Item", RecordKey(2)) }
        #expect(try await store.scan([[1]]).orphans?.deleted == (policy == "server" ? 0 : 1) || policy == "server")
        #expect(try store.items() == [1])
    }

    @Test("an object in the place of a list may report an error: nothing is deleted for it, also if it is confirmed")
    func objectInPlaceOfList() async throws {
        let store = try store("after_one_scan")
        try await store.scan([[1, 2]])
        let error = recording("/v1/items", #"{"id":9,"name":"unauthorized"}"#, "ETag: \"e\"")
        for _ in 0..<2 {
            let report = try await store.sync(nil, transport: try WrittenTransport([error]))
            #expect(report.orphans?.refusals.first?.contains("a single object") == true && found(report) == [:])
            #expect(try store.items() == [1, 2, 9])
        }
        #expect(found(try await store.scan([[1]])) == ["candidates": 2, "deleted": 2])
        #expect(try store.items() == [1])
    }

    @Test("another description may list other records: what it does not list is not gone for that")
    func changedDescription() async throws {
        var store = try store("after_one_scan")
        try await store.scan([[1, 2], [3]])
        let path = store.path
        store.description = try Description.parse(
            itemsYAML("paginate: header_link\n    records: $\n    with: { a: b }\n    orphans: after_one_scan"),
            file: "tarn.yaml")
        store.description.storePath = path
        let other = recording("/v1/items?a=b", #"[{"id":3,"name":"n3"}]"#, "ETag: \"x\"")
        for _ in 0..<2 { #expect(found(try await store.sync(nil, transport: try WrittenTransport([other]))) == [:]) }
        #expect(try store.items() == [1, 2, 3])
    }

    @Test(
        "a walk that began without the rule, and is resumed with it, says nothing about what is missing; one with another token begins anew"
    )
    func resumedWithAnotherRule() async throws {
        let yaml = itemsYAML(
            "paginate: header_link\n    orphans: { scope: entity, after: one_scan }",
            api: "  auth: { bearer: { env: TOKEN } }")
        for (first, token) in [
            (yaml.replacing("orphans: { scope: entity, after: one_scan }", with: "orphans: keep"), "a"), (yaml, "b"),
        ] {
            var store = try MirrorStore(yaml: first)
            let path = store.path, pages = writtenPages([[1, 2], [3]])
            let cut = try await store.sync(
                nil, transport: try WrittenTransport([pages[0]]), environment: ["TOKEN": token])
            #expect(cut.failures.count == 1)
            store.description = try Description.parse(yaml, file: "tarn.yaml")
            store.description.storePath = path
            let report = try await store.sync(nil, transport: try WrittenTransport(pages), environment: ["TOKEN": "a"])
            #expect(report.endpoints.first?.isResumed == (token == "a") && found(report) == [:])
            #expect(report.endpoints.first?.pages == (token == "a" ? 1 : 2))
            if token == "a" {
                #expect(report.orphans?.refusals.first?.contains("the next scan looks") == true)
            }
            #expect(try store.items() == [1, 2, 3])
        }
    }

    @Test("what one token's answers do not list is not gone for another's")
    func scopes() async throws {
        let yaml = itemsYAML("orphans: after_one_scan", api: "  auth: { bearer: { env: TOKEN } }")
        let store = try MirrorStore(yaml: yaml)
        for (token, ids, deleted) in [
            ("a", [1, 2], 0), ("b", [1], 0), ("a", [2], 0), ("b", [1], 0), ("b", [3], 1),
        ] {
            let report = try await store.sync(
                nil, transport: try WrittenTransport(writtenPages([ids])), environment: ["TOKEN": token])
            #expect(report.orphans?.deleted ?? 0 == deleted, "\(token) \(ids) \(report.texts)")
        }
        // Record 1 stayed as long as an answer of either token listed it.
        #expect(try store.items() == [2, 3])
    }

    @Test("answers to a token that was replaced, and of an endpoint that was renamed, do not keep records for ever")
    func unusedLists() async throws {
        let yaml = itemsYAML(
            "orphans: { scope: entity, after: one_scan }", api: "  auth: { bearer: { env: TOKEN } }")
        var store = try MirrorStore(yaml: yaml)
        func scan(_ ids: [Int], token: String) async throws -> [String: Int] {
            let report = try await store.sync(
                nil, transport: try WrittenTransport(writtenPages([ids])), environment: ["TOKEN": token])
            return found(report)
        }
        #expect(try await scan([1, 2], token: "a") == [:])
        #expect(try await scan([1, 2], token: "b") == [:])
        #expect(try await scan([1], token: "b") == ["candidates": 1, "deleted": 1])
        let path = store.path
        store.description = try Description.parse(yaml.replacing("  items:", with: "  things:"), file: "tarn.yaml")
        store.description.storePath = path
        #expect(try await scan([1, 3], token: "b") == [:])
        #expect(try await scan([3], token: "b") == ["candidates": 1, "deleted": 1])
        #expect(try store.items() == [3])
    }

    @Test("a list of a former endpoint is in use until the second scan after it, also for a clock that is behind")
    func clockBehind() async throws {
        let yaml = itemsYAML("orphans: after_one_scan")
        var store = try MirrorStore(yaml: yaml + "\n  others: { path: /others, entity: Item }")
        let others = writtenPages([[2]], path: "/others")
        #expect(found(try await store.scan([[1, 2]], and: others)) == [:])
        let path = store.path
        store.description = try Description.parse(yaml, file: "tarn.yaml")
        store.description.storePath = path
        func scan() async throws -> [String: Int] {
            found(
                try await store.scan([[1]]) {
                    $0.client.time.now = { Date(timeIntervalSinceNow: -Date.now.timeIntervalSince1970 + 1000) }
                })
        }
        #expect(try await scan() == ["candidates": 1, "elsewhere": 1])
        #expect(try await scan() == ["candidates": 1, "deleted": 1])
        #expect(try store.items() == [1])
    }

    @Test("responses to a token that was replaced are removed by the second complete sync with the new one")
    func unusedResponses() async throws {
        let store = try MirrorStore(yaml: itemsYAML("", api: "  auth: { bearer: { env: TOKEN } }"))
        for (token, count) in [("a", 1), ("b", 2), ("a", 2), ("a", 1)] {
            let report = try await store.sync(
                nil, transport: try WrittenTransport(writtenPages([[1, 2]])), environment: ["TOKEN": token])
            #expect(report.failures.isEmpty, "\(report.texts)")
            #expect(try store.read { try $0.responseCount } == count)
        }
    }

    @Test("a sync of named endpoints removes responses to a token that was replaced after the second complete scan")
    func unusedResponsesOfNamedEndpoints() async throws {
        let store = try MirrorStore(yaml: itemsYAML("", api: "  auth: { bearer: { env: TOKEN } }"))
        for (token, count) in [("a", 1), ("b", 2), ("b", 1)] {
            let report = try await store.sync(
                nil, transport: try WrittenTransport(writtenPages([[1, 2]])), names: ["items"],
                environment: ["TOKEN": token])
            #expect(report.failures.isEmpty, "\(report.texts)")
            #expect(try store.read { try $0.responseCount } == count)
        }
    }

    @Test("a response of another endpoint to a token that was replaced does not keep records for ever")
    func otherEndpointsToken() async throws {
        let yaml = itemsYAML("orphans: after_one_scan", api: "  auth: { bearer: { env: TOKEN } }")
        let store = try MirrorStore(yaml: yaml + "\n  recent: { path: /recent, entity: Item }")
        func scan(_ name: String, _ ids: [Int], token: String) async throws -> [String: Int] {
            let transport = try WrittenTransport(writtenPages([ids], path: "/\(name)"))
            return found(
                try await store.sync(nil, transport: transport, names: [name], environment: ["TOKEN": token]))
        }
        #expect(try await scan("items", [1, 2, 5], token: "a") == [:])
        #expect(try await scan("recent", [5], token: "a") == [:])
        #expect(try await scan("items", [1, 2, 5], token: "b") == [:])
        // Until the other endpoint is scanned with the new token, it may still list the record.
        #expect(try await scan("items", [1, 2], token: "b") == ["candidates": 1, "elsewhere": 1])
        #expect(try await scan("recent", [2], token: "b") == [:])
        // From here on the list misses it alone: another scan of the other endpoint has to miss it.
        #expect(try await scan("items", [1, 2], token: "b") == ["candidates": 1, "waiting": 1])
        #expect(try await scan("recent", [2], token: "b") == [:])
        #expect(try await scan("items", [1, 2], token: "b") == ["candidates": 1, "deleted": 1])
        #expect(try store.items() == [1, 2])
    }

    @Test(
        "the members of scans with other credentials are removed: the first scan of a returning account decides nothing"
    )
    func membersOfOtherAccounts() async throws {
        let yaml = itemsYAML("orphans: after_one_scan", api: "  auth: { bearer: { env: TOKEN } }")
        let store = try MirrorStore(yaml: yaml)
        for (token, ids) in [("a", [1, 2, 3]), ("b", [2, 4]), ("a", [1, 2])] {
            let report = try await store.sync(
                nil, transport: try WrittenTransport(writtenPages([ids])), environment: ["TOKEN": token])
            #expect(found(report) == [:])
            #expect(try store.read { try $0.access.scans.count } == ids.count)
        }
        #expect(try store.items() == [1, 2, 3, 4])
    }

    @Test("the members of scans are forgotten with their records: nothing piles up")
    func membersGo() async throws {
        let store = try store("after_one_scan")
        for scan in 0..<4 { try await store.scan([[1, 10 + scan, 20 + scan]]) }
        #expect(try store.read { try $0.access.scans.count } == 3)
    }

    @Test("a record that an endpoint requests by itself is no orphan of its requests for other records")
    func requestsForSingleRecords() async throws {
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example }
                entities:
                  User: { key: id, attributes: { id: int, name: string } }
                  Item: { key: id, attributes: { id: int }, relationships: { author: { to: User } } }
                endpoints:
                  items: { path: /items, entity: Item, paginate: single_page }
                  users:
                    path: '/users/{user.id}'
                    entity: User
                    paginate: single_page
                    for_each: User
                    orphans: { scope: entity, after: one_scan }
                """)
        let transport = ClosureTransport { request in
            let body: String
            if let id = Int(request.url.split(separator: "/").last ?? "") {
                body = #"{"id":\#(id),"name":"n\#(id)"}"#
            } else {
                body = #"[{"id":1,"author":{"id":7}},{"id":2,"author":{"id":8}}]"#
            }
            return TransportResponse(status: 200, body: Array(body.utf8))
        }
        for _ in 0..<2 {
            #expect(found(try await store.sync(nil, transport: transport)) == ["candidates": 2, "elsewhere": 2])
            #expect(try store.items("User") == [7, 8])
        }
    }
}
