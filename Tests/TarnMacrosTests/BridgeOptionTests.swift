// The options of a request, and the hooks of the client, through a bridge.

import Synchronization
import TarnMacros
import TestSupport
import Testing

@Suite("Options through a bridge", .timeLimit(.minutes(2)))
struct BridgeOptionTests {
    private func client(_ server: AnsweringTransport, _ folder: TemporaryFolder) throws -> RecordClient {
        try RecordClient(
            base: "http://made.example", records: Entry.self, store: folder("entries.tarn"), transport: server
        ) {
            $0.api.retry.attempts = 1
            $0.writes["Entry"] = WriteRequests(update: WriteRequest("PATCH", "/entries/{id}"))
        }
    }

    private static var list: RecordRequest<Entry> { .get("/entries", records: "items") }

    @Test("a request that a bridge cannot honour is an error, and nothing is sent")
    func refusedOptions() async throws {
        let folder = try TemporaryFolder(), server = AnsweringTransport { _ in .init(body: #"{"items":[]}"#) }
        let client = try client(server, folder)
        let requests = [
            Self.list.persisting(false), Self.list.removingOrphans(), Self.list.policy(.cacheOnly),
            Self.list.editing { _, _ in },
        ]
        for request in requests {
            await #expect(throws: MirrorError.self) {
                try await client.fetch(request, through: RESTBridge(client))
            }
        }
        #expect(server.requests.isEmpty)
    }

    @Test("the rules for responses apply, and a part of a response is refused")
    func rules() async throws {
        let folder = try TemporaryFolder(), answer = Mutex(AnsweringTransport.Answer())
        let server = AnsweringTransport { _ in answer.withLock(\.self) }
        let client = try client(server, folder), bridge = RESTBridge<Entry>(client)
        answer.withLock { $0 = .init(body: #"{"items":[],"error":"limit"}"#) }
        let failing = Self.list.responses(
            ResponseRule(statuses: [200...200], text: "limit", action: .fail, message: "too fast"))
        let error = await #expect(throws: MirrorError.self) { try await client.fetch(failing, through: bridge) }
        #expect(error?.description.contains("too fast") == true)
        answer.withLock { $0 = .init(status: 404) }
        for action in [ResponseRule.Action.empty, .ignore, .stop] {
            let request = Self.list.responses(ResponseRule(statuses: [404...404], action: action))
            #expect(try await client.fetch(request, through: bridge).report.created == 0)
        }
        answer.withLock { $0 = .init(fields: ["Content-Range": "bytes 0-9/900"], body: #"{"items":[{"id":1}]}"#) }
        await #expect(throws: MirrorError.self) { try await client.fetch(Self.list, through: bridge) }
        #expect(try client.store.read { try $0.count("Entry") } == 0)
    }

    @Test("the hooks of the client run for the answers of a bridge")
    func hooks() async throws {
        let folder = try TemporaryFolder()
        let server = AnsweringTransport { _ in .init(body: #"{"items":[{"id":1,"title":"sent"}]}"#) }
        var options = RecordCache.Options()
        options.hooks = { _ in
            var hooks = ImportHooks()
            hooks.beforeDraft = { _, json in
                json["title"] = .string("edited")
                return true
            }
            return hooks
        }
        let client = RecordClient(try client(server, folder).client, options: options)
        let result = try await client.fetch(Self.list, through: RESTBridge(client))
        #expect(try client.records(Entry.self, of: result).map(\.title) == ["edited"])
    }

    @Test("a deadline and the domain of a request end the call")
    func endings() async throws {
        let folder = try TemporaryFolder()
        let server = AnsweringTransport { _ in
            do { try await Task.sleep(for: .seconds(60)) } catch { return .init(failure: .cancelled) }
            return .init(body: #"{"items":[]}"#)
        }
        let client = try client(server, folder), bridge = RESTBridge<Entry>(client)
        let error = await #expect(throws: MirrorError.self) {
            try await client.fetch(Self.list.deadline(.milliseconds(50)), through: bridge)
        }
        #expect(error?.description.contains("the deadline of the call") == true)
        let task = Task { try await client.fetch(Self.list.domain("screen"), through: bridge) }
        try await eventually("the request") { server.requests.count == 2 }
        #expect(client.cancel(domain: "screen") == 1)
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("an answer that was under way while a change was sent does not undo it", arguments: ["bridge", "POST"])
    func overtakenAnswers(kind: String) async throws {
        let folder = try TemporaryFolder(), whileSending = Mutex<(@Sendable () async -> Void)?>(nil)
        let server = AnsweringTransport { request in
            if request.method == "PATCH" { return .init(body: #"{"id":7,"title":"new"}"#) }
            await whileSending.withLock(\.self)?()
            return .init(body: #"{"items":[{"id":7,"title":"old"}]}"#)
        }
        let client = try client(server, folder), outbox = client.outbox()
        _ = try await client.all(Self.list)
        whileSending.withLock {
            $0 = {
                _ = try? await outbox.update("Entry", RecordKey(7), [.init("title", .string("new"))])
                _ = try? await outbox.drain()
            }
        }
        if kind == "POST" {
            _ = try await client.all(RecordRequest<Entry>.post("/search", body: .json(.object([])), records: "items"))
        } else {
            _ = try await client.fetch(Self.list, through: RESTBridge(client))
        }
        #expect(server.requests.map(\.method).filter { $0 == "PATCH" } == ["PATCH"])
        #expect(try client.store.read { try $0.get(Entry.self, 7)?.title } == "new")
    }

    @Test("an error beside records is in the result, and null clears nothing; one in place of records is thrown")
    func statedErrors() async throws {
        let folder = try TemporaryFolder(), body = Mutex(#"{"data":{"items":[{"id":7,"title":"seven"}]}}"#)
        let server = AnsweringTransport { _ in .init(body: body.withLock(\.self)) }
        let client = try client(server, folder), bridge = RESTBridge<Entry>(client)
        let list = RecordRequest<Entry>.get("/entries", records: "data.items", pagination: .singlePage)
        func title() throws -> String? { try client.store.read { try $0.get(Entry.self, 7)?.title } }
        #expect(try await client.fetch(list, through: bridge).errors.isEmpty)
        body.withLock { $0 = #"{"errors":[{"message":"boom"}],"data":{"items":[{"id":7,"title":null}]}}"# }
        let part = try await client.fetch(list, through: bridge)
        #expect(part.errors.count == 1 && part.errors.first?.message.contains("boom") == true)
        #expect(try title() == "seven")
        body.withLock { $0 = #"{"error":"timeout","data":{"items":[]}}"# }
        await #expect(throws: MirrorError.self) { try await client.fetch(list, through: bridge) }
        body.withLock { $0 = #"{"data":{"items":[{"id":7,"title":null}]}}"# }
        _ = try await client.fetch(list, through: bridge)
        #expect(try title() == nil)
    }

    /// Pages whose number is in a header field.
    private struct Numbered: Bridge {
        func operations(for request: Int) -> [RemoteOperation<Int>] { [operation(request)] }

        private func operation(_ number: Int) -> RemoteOperation<Int> {
            RemoteOperation("GET", "/entries", headers: TransportHeaders([.init("X-Page", "\(number)")]), info: number)
        }

        func answer(_ response: TransportResponse, to operation: RemoteOperation<Int>) -> RemoteAnswer<Int> {
            let next = operation.info < 3 ? [self.operation(operation.info + 1)] : []
            return RemoteAnswer([RemotePart("Entry", .path("items"))], next: next)
        }
    }

    @Test("operations that differ in a header field are no loop")
    func headerPages() async throws {
        let folder = try TemporaryFolder()
        let server = AnsweringTransport { .init(body: #"{"items":[{"id":\#($0.headers["X-Page"] ?? "0")}]}"#) }
        let client = try client(server, folder)
        #expect(try await client.fetch(1, through: Numbered()).report.created == 3)
    }
}
