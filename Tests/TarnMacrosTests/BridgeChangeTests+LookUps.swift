// Bridges that look something up before they change it.

import Synchronization
import TarnMacros
import TestSupport
import Testing

extension BridgeChangeTests {
    /// Looks something up before the creation.
    private struct LookingUp: Bridge {
        typealias Request = String
        typealias Info = String

        func operations(for request: String) throws -> [RemoteOperation<String>] { [] }

        func operations(for change: RemoteChange) throws -> [RemoteOperation<String>] {
            [
                RemoteOperation("GET", "/current", info: ""),
                RemoteOperation("POST", "/made", json: change.body, info: ""),
            ]
        }

        func answer(
            _ response: TransportResponse, to operation: RemoteOperation<String>
        ) throws -> RemoteAnswer<String> {
            RemoteAnswer(operation.method == "GET" ? [] : [RemotePart("Entry", .path(JSONPath(keys: [])))])
        }
    }

    @Test("a look-up before a creation is redirected by a 303 as any other request: a failure behind it is passing")
    func seeOtherOfLookUp() async throws {
        let isBack = Mutex(false), folder = try TemporaryFolder()
        let server = try ScriptedServer { request in
            if request.method == "POST" { return .init(status: "201 Created", body: #"{"id":50,"title":"mine"}"#) }
            if request.target == "/current" { return .init(status: "303 See Other", fields: ["Location: /label"]) }
            return isBack.withLock(\.self) ? .init(body: "{}") : .init(status: "503 Later")
        }
        let client = try RecordClient(base: server.base, records: Entry.self, store: folder("entries.tarn")) {
            $0.api.retry.attempts = 1
            $0.writes["Entry"] = WriteRequests(create: WriteRequest("POST", "/entries"))
        }
        let outbox = client.outbox().sending(through: LookingUp())
        try await outbox.create("Entry", [.init("title", .string("mine"))])
        let report = try await outbox.drain()
        #expect(report.failed == 1 && report.dead == 0, "\(report)")
        isBack.withLock { $0 = true }
        let waiting = try #require(try outbox.operations().first)
        try await outbox.retry(waiting.id)
        #expect(try await outbox.drain().sent == 1)
        #expect(try client.store.read { try $0.fetch(Entry.all).map(\.id) } == [50])
        #expect(server.requests.filter { $0.method == "POST" }.count == 1)
    }

    @Test("the key of a created record does not follow from the URL of what was looked up before")
    func locationOfLookUp() async throws {
        let folder = try TemporaryFolder()
        let server = try ScriptedServer { request in
            if request.method == "POST" { return .init(status: "201 Created", fields: ["Location: /entries/50"]) }
            return .init(fields: ["Content-Location: /entries/7"], body: "{}")
        }
        let client = try RecordClient(base: server.base, records: Entry.self, store: folder("entries.tarn")) {
            $0.mapping.entities["Entry"]?.url = "/entries/{id}"
            $0.writes["Entry"] = WriteRequests(create: WriteRequest("POST", "/entries"))
        }
        let outbox = client.outbox().sending(through: LookingUp())
        try await outbox.create("Entry", [.init("title", .string("mine"))])
        #expect(try await outbox.drain().sent == 1)
        #expect(try client.store.read { try $0.fetch(Entry.all).map(\.id) } == [50])
    }
}
