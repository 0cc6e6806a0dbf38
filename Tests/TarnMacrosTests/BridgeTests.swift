// Bridges: REST requests, a language of a program, and what travels through every step.

import Foundation
import Synchronization
import TarnMacros
import TestSupport
import Testing

@Suite("Bridges", .timeLimit(.minutes(2)))
struct BridgeTests {
    @Test("the REST bridge imports all pages of a request as one change, with metadata and edges")
    func rest() async throws {
        let api = try ListAPI()
        api.list.set(5, 2, 9, 4, 1, 3, 8)
        let before = try api.client.store.read { try $0.sequence }
        let result = try await api.client.fetch(
            RecordRequest.numbered.metadata("pages", at: "pages"), through: RESTBridge(api.client))
        #expect(result.report.created == 7 && result.metadata == ["pages": .number("3")] && result.errors == [])
        #expect(try api.client.records(Entry.self, of: result).map(\.id) == [5, 2, 9, 4, 1, 3, 8])
        #expect(try api.client.store.read { try $0.sequence } == before + 1)
        #expect(api.server.targets == ["/number?page=1", "/number?page=2", "/number?page=3"])
        // A style that the first page determines.
        api.list.set(1, 2, 3, 4)
        #expect(
            try await api.client.fetch(RecordRequest.entries(), through: RESTBridge(api.client)).report.unchanged == 4)
    }

    @Test("pages through a bridge are imported one by one, and a failure leaves those before")
    func pages() async throws {
        let api = try ListAPI()
        api.list.set(5, 2, 9, 4)
        var created: [Int] = []
        for try await page in try api.client.pages(RecordRequest.numbered, through: RESTBridge(api.client)) {
            created.append(page.report.created)
        }
        #expect(created == [3, 1])
        api.list.set(11, 12, 13, 14)
        api.list.fail("", "500 Broken")
        await #expect(throws: (any Error).self) {
            try await api.client.fetch(RecordRequest.numbered, through: RESTBridge(api.client))
        }
        #expect(try api.stored() == [2, 4, 5, 9])
        for try await _ in try api.client.pages(RecordRequest.numbered, through: RESTBridge(api.client)) { break }
        #expect(try api.stored() == [2, 4, 5, 9, 11, 12, 13])
    }

    @Test("a refusal of the server, and a loop of operations, are errors, and nothing is stored")
    func refusals() async throws {
        let api = try ListAPI()
        api.list.set(1, 2, 3)
        api.list.fail("403 Forbidden")
        await #expect(throws: MirrorError.self) {
            try await api.client.fetch(RecordRequest.numbered, through: RESTBridge(api.client))
        }
        await #expect(throws: RemoteError.self) { try await api.client.fetch("loop", through: Commands()) }
        await #expect(throws: (any Error).self) { try await api.client.fetch("elsewhere", through: Commands()) }
        #expect(try api.stored() == [] && api.server.targets.count == 2)
    }

    /// A language of one word a request.
    private struct Commands: Bridge {
        func operations(for request: String) -> [RemoteOperation<String>] {
            switch request {
            case "loop": [RemoteOperation("GET", "/number?page=1", info: "a")]
            case "elsewhere": [RemoteOperation("GET", "https://elsewhere.example/x", info: "b")]
            default:
                [RemoteOperation("GET", "/number", info: request), RemoteOperation("GET", "/link", info: "second")]
            }
        }

        func answer(
            _ response: TransportResponse, to operation: RemoteOperation<String>
        ) throws -> RemoteAnswer<String> {
            if operation.info == "a" { return RemoteAnswer(next: [operation]) }
            let json = try JSONValue(String(decoding: response.body, as: UTF8.self))
            guard let items = json["items"] else {
                return RemoteAnswer([RemotePart("Entry", .json(json))], metadata: ["last": .string(operation.info)])
            }
            var part = RemotePart("Entry", .path("items"))
            part.parameters = ["from": operation.info]
            return RemoteAnswer(
                [RemotePart("Entry", .json(items)), part], metadata: ["first": .string(operation.info)],
                errors: [RemoteError("half of it", path: ["items"])])
        }
    }

    @Test("several operations of a request are one import; info and metadata come back")
    func severalOperations() async throws {
        let api = try ListAPI()
        api.list.set(1, 2)
        let result = try await api.client.fetch("both", through: Commands())
        #expect(result.infos == ["both", "second"] && result.report.created == 2)
        #expect(result.metadata == ["first": .string("both"), "last": .string("second")])
        #expect(result.errors.map(\.description) == ["items: half of it"])
    }

    @Test("the outbox sends through the REST bridge what the description declares, with its idempotency key")
    func changes() async throws {
        let folder = try TemporaryFolder(), bodies = Mutex<[String]>([])
        let server = try ScriptedServer { request in
            bodies.withLock { $0.append("\(request.method) \(request.target) \(request.body)") }
            if request.field("Idempotency-Key") == nil { return .init(status: "400 Bad Request") }
            return request.method == "DELETE"
                ? .init(status: "404 Not Found") : .init(body: #"{"id":7,"title":"set by the server","rank":1}"#)
        }
        let client = try RecordClient(base: server.base, records: Entry.self, store: folder("entries.tarn")) {
            $0.writes["Entry"] = WriteRequests(
                create: WriteRequest("POST", "/entries"), update: WriteRequest("PATCH", "/entries/{id}"),
                delete: WriteRequest("DELETE", "/entries/{id}"))
        }
        let outbox = client.outbox().sending(through: RESTBridge<Entry>(client))
        try await outbox.create("Entry", [.init("title", .string("mine")), .init("rank", .int(2))])
        #expect(try await outbox.drain().sent == 1)
        #expect(
            try client.store.read { try $0.fetch(Entry.all) } == [Entry(id: 7, rank: 1, title: "set by the server")])
        try await outbox.update("Entry", RecordKey(7), [.init("title", .string("other"))])
        #expect(try await outbox.drain().sent == 1)
        #expect(try client.store.read { try $0.get(Entry.self, 7)?.title } == "set by the server")
        try await outbox.delete("Entry", RecordKey(7))
        #expect(try await outbox.drain().sent == 1)
        #expect(try outbox.operations().isEmpty && client.store.read { try $0.count("Entry") } == 0)
        #expect(
            bodies.withLock(\.self) == [
                #"POST /entries {"rank":2,"title":"mine"}"#, #"PATCH /entries/7 {"title":"other"}"#,
                "DELETE /entries/7 ",
            ])
    }

    @Test("through the REST bridge a change is conditional on the version that was seen, and a conflict is merged")
    func preconditions() async throws {
        let folder = try TemporaryFolder(), seen = Mutex<[String]>([]), version = Mutex(1), rank = Mutex(1)
        let server = try ScriptedServer { request in
            let condition = request.field("If-Match") ?? "-"
            seen.withLock { $0.append("\(request.method) \(condition) \(request.body)") }
            func record() -> ScriptedServer.Answer {
                .init(
                    fields: ["ETag: \"v\(version.withLock(\.self))\""],
                    body: #"{"id":7,"title":"shown","rank":\#(rank.withLock(\.self))}"#)
            }
            if request.method == "GET" { return record() }
            if condition != "-", condition != "\"v\(version.withLock(\.self))\"" {
                return .init(status: "412 Precondition Failed")
            }
            version.withLock { $0 += 1 }
            return record()
        }
        let client = try RecordClient(base: server.base, records: Entry.self, store: folder("entries.tarn")) {
            $0.writes["Entry"] = WriteRequests(
                create: WriteRequest("POST", "/entries"), update: WriteRequest("PATCH", "/entries/{id}"))
        }
        let outbox = client.outbox(conflicts: .perField).sending(through: RESTBridge<Entry>(client))
        try await outbox.create("Entry", [.init("title", .string("mine")), .init("rank", .int(2))])
        #expect(try await outbox.drain().sent == 1)
        try await outbox.update("Entry", RecordKey(7), [.init("title", .string("first"))])
        #expect(try await outbox.drain().sent == 1)
        try await outbox.update("Entry", RecordKey(7), [.init("title", .string("second"))])
        #expect(try await outbox.drain().sent == 1)
        // Another client changes the other field: the version that was seen is old.
        version.withLock { $0 = 8 }
        rank.withLock { $0 = 9 }
        seen.withLock { $0 = [] }
        try await outbox.update("Entry", RecordKey(7), [.init("title", .string("third"))])
        var sent = 0
        for _ in 0..<5 where sent == 0 { sent += try await outbox.drain().sent }
        #expect(sent == 1)
        #expect(
            seen.withLock(\.self) == [
                #"PATCH "v4" {"title":"third"}"#, "GET - ", #"PATCH "v8" {"title":"third"}"#,
            ])
        #expect(try client.store.read { try $0.get(Entry.self, 7)?.rank } == 9)
    }

    @Test("a bridge that only reads refuses changes: they are dead letters that say so")
    func readOnly() async throws {
        let api = try ListAPI()
        let client = try RecordClient(base: api.server.base, records: Entry.self, store: api.folder("own.tarn")) {
            $0.writes["Entry"] = WriteRequests(create: WriteRequest("POST", "/entries"))
        }
        let outbox = client.outbox().sending(through: Commands())
        try await outbox.create("Entry", [.init("title", .string("mine"))])
        _ = try await outbox.drain()
        let dead = try outbox.operations()
        #expect(dead.map(\.state) == [.dead] && dead[0].failure?.message == "Commands sends no create of Entry")
        #expect(api.server.targets == [])
    }
}
