// The meaning of answers to changes that are sent through a bridge.

import Synchronization
import TarnMacros
import TestSupport
import Testing

@Record private struct BoardJob: Equatable {
    @Key var id: String
    var title: String?
}

@Suite("Changes through a bridge", .timeLimit(.minutes(2)))
struct BridgeChangeTests {
    func client(
        _ server: AnsweringTransport, _ folder: TemporaryFolder, read: String? = nil, mask: String? = nil
    ) throws -> RecordClient {
        try RecordClient(
            base: "http://made.example", records: Entry.self, BoardJob.self, store: folder("made.tarn"),
            transport: server
        ) {
            $0.api.retry.attempts = 1
            $0.writes["Entry"] = WriteRequests(
                create: WriteRequest("POST", "/entries"), update: WriteRequest("PATCH", "/entries/{id}"))
            $0.writes["Entry"]?.read = read
            $0.writes["Entry"]?.update?.mask = mask
            $0.writes["BoardJob"] = WriteRequests(
                create: WriteRequest("POST", "/graphql"), update: WriteRequest("POST", "/graphql"),
                delete: WriteRequest("POST", "/graphql"))
        }
    }

    // MARK: REST

    @Test("through the REST bridge an answer means what it means without a bridge", arguments: [false, true])
    func declaredRequests(isBridged: Bool) async throws {
        let isGone = Mutex(false), folder = try TemporaryFolder()
        let server = AnsweringTransport { request in
            let gone = isGone.withLock(\.self)
            switch request.method {
            case "POST": return .init(status: 201, fields: ["Location": "/entries/9"])
            case "PATCH": return gone ? .init(status: 404) : .init(body: "{}")
            default: return gone ? .init(status: 404) : .init(body: #"{"id":9,"title":"mine","rank":5}"#)
            }
        }
        let client = try client(server, folder, read: "/entries/{id}"), plain = client.outbox(conflicts: .server)
        let outbox = isBridged ? plain.sending(through: RESTBridge<Entry>(client)) : plain
        // The record is read at its URL.
        try await outbox.create("Entry", [.init("title", .string("mine"))])
        #expect(try await outbox.drain().sent == 1)
        #expect(try client.store.read { try $0.get(Entry.self, 9)?.rank } == 5)
        // An answer without the record is a warning.
        try await outbox.update("Entry", RecordKey(9), [.init("title", .string("other"))])
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.warnings.count == 1)
        // The policy decides about a record that the server has deleted.
        isGone.withLock { $0 = true }
        try await outbox.update("Entry", RecordKey(9), [.init("title", .string("third"))])
        #expect(try await outbox.drain().dead == 0)
        #expect(try outbox.operations().isEmpty && client.store.read { try $0.count("Entry") } == 0)
    }

    @Test("through the REST bridge an answer that states an error is a refusal, too", arguments: [false, true])
    func statedError(isBridged: Bool) async throws {
        let folder = try TemporaryFolder()
        let server = AnsweringTransport { request in
            request.method == "POST"
                ? .init(body: #"{"ok":false,"error":"no room"}"#)
                : .init(body: #"{"status":"fail","data":{"title":"is taken"}}"#)
        }
        let client = try client(server, folder), plain = client.outbox(conflicts: .perField)
        let outbox = isBridged ? plain.sending(through: RESTBridge<Entry>(client)) : plain
        try await client.store.write { try $0.put("Entry", RecordKey(9), [.init("title", .string("a"))]) }
        try await outbox.create("Entry", [.init("title", .string("mine"))])
        try await outbox.update("Entry", RecordKey(9), [.init("title", .string("other"))])
        let report = try await outbox.drain()
        #expect(report.sent == 0 && report.dead == 2, "\(report)")
        let messages = try outbox.operations().map { $0.failure?.message ?? "" }
        #expect(messages.contains { $0.contains("no room") } && messages.contains { $0.contains("is taken") })
    }

    @Test("a change with a mask makes the stored response at the record's own URL invalid", arguments: [false, true])
    func masked(isBridged: Bool) async throws {
        let folder = try TemporaryFolder()
        let server = AnsweringTransport { _ in
            .init(fields: ["Cache-Control": "max-age=60"], body: #"{"id":9,"title":"mine"}"#)
        }
        let client = try client(server, folder, mask: "fields"), plain = client.outbox(conflicts: .perField)
        let outbox = isBridged ? plain.sending(through: RESTBridge<Entry>(client)) : plain
        try await client.store.write { try $0.put("Entry", RecordKey(9), [.init("title", .string("a"))]) }
        let cached = CachedTransport(server, store: client.store), url = "http://made.example/entries/9"
        for _ in 0..<2 { _ = try await cached.answer(TransportRequest(url: url)) }
        #expect(server.requests.count == 1)
        try await outbox.update("Entry", RecordKey(9), [.init("title", .string("mine"))])
        #expect(try await outbox.drain().sent == 1)
        #expect(server.requests.last?.target == "/entries/9?fields=title")
        _ = try await cached.answer(TransportRequest(url: url))
        #expect(server.requests.last?.target == "/entries/9")
    }

    // MARK: GraphQL

    private static let mutations = GraphQLBridge { change in
        let isDeletion = change.operation.kind == .delete
        return GraphQLRequest(
            "mutation { made }", ["id": change.key],
            records: isDeletion ? [] : [.init("updateTask.task", "BoardJob"), .init("assign.task", "BoardJob")])
    }

    /// Sends one change of a job that is answered so.
    private func send(
        isDeletion: Bool, _ answer: AnsweringTransport.Answer, _ folder: TemporaryFolder
    ) async throws -> (outbox: Outbox, report: OutboxReport, client: RecordClient) {
        let client = try client(AnsweringTransport { _ in answer }, folder)
        try await client.store.write { try $0.put(BoardJob(id: "t1", title: "old")) }
        let outbox = client.outbox().sending(through: Self.mutations)
        if isDeletion {
            try await outbox.delete("BoardJob", RecordKey("t1"))
        } else {
            try await outbox.update("BoardJob", RecordKey("t1"), [.init("title", .string("mine"))])
        }
        return (outbox, try await outbox.drain(), client)
    }

    @Test("a refusal by its status, and a mutation without a record, are dead letters with the server's reason")
    func refusedMutations() async throws {
        let cases: [(isDeletion: Bool, reason: String, answer: AnsweringTransport.Answer)] = [
            // The path is not that of the record.
            (true, "no such route", .init(status: 404, body: #"{"message":"no such route"}"#)),
            (
                true, "not allowed",
                .init(
                    body: #"{"data":{"deleteTask":{"id":null},"viewer":{"id":"u"}},"#
                        + #""errors":[{"message":"not allowed","path":["deleteTask","id"]}]}"#)
            ),
            (
                false, "it is locked",
                .init(
                    body: #"{"data":{"updateTask":{"task":null,"userErrors":[{"message":"it is locked"}]},"#
                        + #""assign":null}}"#)
            ),
            (false, "updateTask.task", .init(body: #"{"data":{"updateTask":{"task":null},"assign":null}}"#)),
        ]
        for (isDeletion, reason, answer) in cases {
            let folder = try TemporaryFolder()
            let (outbox, report, _) = try await send(isDeletion: isDeletion, answer, folder)
            #expect(report.sent == 0 && report.dead == 1, "\(reason)")
            #expect(try outbox.operations().first?.failure?.message.contains(reason) == true, "\(reason)")
        }
    }

    @Test("errors beside the record, and the record of another key, are warnings")
    func doubtfulMutations() async throws {
        let folder = try TemporaryFolder(), other = try TemporaryFolder()
        let partial = try await send(
            isDeletion: false,
            .init(
                body: #"{"data":{"updateTask":{"task":{"id":"t1","title":"new"}},"assign":null},"#
                    + #""errors":[{"message":"no permission","path":["assign"]}]}"#), folder)
        #expect(partial.report.sent == 1 && partial.report.warnings.count == 1)
        #expect(partial.report.warnings.first?.description.contains("no permission") == true)
        #expect(try partial.client.store.read { try $0.get(BoardJob.self, "t1")?.title } == "new")
        let another = try await send(
            isDeletion: false,
            .init(body: #"{"data":{"updateTask":{"task":{"id":"t2","title":"theirs"}},"assign":null}}"#), other)
        #expect(another.report.sent == 1 && another.report.warnings.count == 1)
        #expect(try another.client.store.read { try $0.fetch(BoardJob.all).map(\.title) } == ["mine"])
    }

    // MARK: Several operations

    /// Creates an entry, then labels it; the answer to that lists entries.
    private struct CreateAndLabel: Bridge {
        typealias Request = String
        typealias Info = String

        func operations(for request: String) throws -> [RemoteOperation<String>] { [] }

        func operations(for change: RemoteChange) throws -> [RemoteOperation<String>] {
            [RemoteOperation("POST", "/entries", json: change.body, info: "create")]
        }

        func answer(
            _ response: TransportResponse, to operation: RemoteOperation<String>
        ) throws -> RemoteAnswer<String> {
            guard response.status < 300 else { throw RemoteError("no such label") }
            let part = RemotePart("Entry", .path(JSONPath(keys: [])))
            let label = RemoteOperation("POST", "/labels", json: .object([]), info: "label")
            return RemoteAnswer([part], next: operation.info == "create" ? [label] : [])
        }
    }

    @Test("each operation of a change has a key of its own, and the first record is the created one")
    func severalOperations() async throws {
        let statuses = Mutex([503, 200, 400]), folder = try TemporaryFolder()
        let server = AnsweringTransport { request in
            if request.target == "/entries" { return .init(status: 201, body: #"{"id":50,"title":"made"}"#) }
            let status = statuses.withLock { $0.removeFirst() }
            return .init(status: status, body: status == 200 ? #"[{"id":1},{"id":50}]"# : "{}")
        }
        let client = try client(server, folder)
        var options = Outbox.Options()
        // The attempt after the failure is the retry's, however long a drain takes.
        options.backOff = RetryPolicy(attempts: .max, firstDelay: .seconds(600), longestDelay: .seconds(600))
        let outbox = client.outbox(options: options).sending(through: CreateAndLabel())
        try await outbox.create("Entry", [.init("title", .string("made"))])
        #expect(try await outbox.drain().failed == 1)
        let pending = try #require(try outbox.operations().first)
        try await outbox.retry(pending.id)
        #expect(try await outbox.drain().sent == 1)
        let keys = server.requests.map { $0.headers["Idempotency-Key"] ?? "" }
        #expect(keys.count == 4 && Set(keys).count == 2 && keys[0] == keys[2] && keys[1] == keys[3])
        #expect(try client.store.read { try $0.fetch(Entry.all).map(\.id) } == [1, 50])
        // The dead letter says what the server has.
        try await outbox.create("Entry", [.init("title", .string("another"))])
        #expect(try await outbox.drain().dead == 1)
        let dead = try #require(try outbox.operations().first), failure = try #require(dead.failure)
        await #expect(throws: OutboxError.accepted(id: dead.id)) { try await outbox.retry(dead.id) }
        #expect(failure.kind == "partial" && failure.message.hasPrefix("no such label; "))
        #expect(failure.message.contains("it has Entry 50"))
    }

    /// Sends one operation, and imports a record of its answer.
    private struct Single: Bridge {
        typealias Request = String
        typealias Info = String

        /// The entity of the record in the answer.
        var entity = "Entry"
        /// Whether the declared request is sent, and not the creation of an entry.
        var sendsDeclared = false

        func operations(for request: String) throws -> [RemoteOperation<String>] { [] }

        func operations(for change: RemoteChange) throws -> [RemoteOperation<String>] {
            guard sendsDeclared else { return [RemoteOperation("POST", "/made", json: change.body, info: "")] }
            let message = change.message
            return [
                RemoteOperation(message.method, message.url, headers: message.headers, body: message.body, info: "")
            ]
        }

        func answer(
            _ response: TransportResponse, to operation: RemoteOperation<String>
        ) throws -> RemoteAnswer<String> {
            RemoteAnswer([RemotePart(entity, .path(JSONPath(keys: [])))])
        }
    }

    @Test(
        "a created record that its answer lacks is found at its URL, by the declared path or by a request",
        arguments: ["/entries/9", "/elsewhere"])
    func createdElsewhere(_ location: String) async throws {
        let folder = try TemporaryFolder()
        let server = AnsweringTransport { request in
            guard request.method == "POST" else { return .init(body: #"{"id":9,"title":"mine","rank":5}"#) }
            return .init(status: 201, fields: ["Location": location], body: #"{"id":"t1","title":"job"}"#)
        }
        let client = try client(server, folder, read: "/entries/{id}")
        let outbox = client.outbox().sending(through: Single(entity: "BoardJob"))
        try await outbox.create("Entry", [.init("title", .string("mine"))])
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.dead == 0)
        #expect(try client.store.read { try $0.fetch(Entry.all).map(\.id) } == [9])
    }

    @Test("a change that is refused for another reason than its version is a dead letter, and is not withdrawn")
    func otherReason() async throws {
        let folder = try TemporaryFolder()
        let server = AnsweringTransport { request in
            let body = String(decoding: request.body ?? [], as: UTF8.self)
            if body.contains("taken") { return .init(status: 409, body: #"{"message":"the title is taken"}"#) }
            return .init(fields: ["ETag": "\"v1\""], body: #"{"id":9,"title":"one","rank":5}"#)
        }
        let client = try client(server, folder)
        let outbox = client.outbox(conflicts: .server).sending(through: Single(sendsDeclared: true))
        try await client.store.write { try $0.put("Entry", RecordKey(9), [.init("title", .string("a"))]) }
        for (title, isRefused) in [("one", false), ("taken", true)] {
            try await outbox.update("Entry", RecordKey(9), [.init("title", .string(title))])
            let report = try await outbox.drain()
            #expect(report.sent == (isRefused ? 0 : 1) && report.withdrawn == 0, "\(report)")
            #expect(report.dead == (isRefused ? 1 : 0), "\(report)")
        }
        let sent = server.requests.filter { $0.method == "PATCH" }
        #expect(sent.map { $0.headers["If-Match"] } == [nil, "\"v1\""])
        #expect(try outbox.operations().first?.failure?.status == 409)
    }

    // MARK: Lost answers

    @Test("a repeated answer to a creation overwrites no newer values")
    func repeatedAnswer() async throws {
        let isLost = Mutex(true), folder = try TemporaryFolder()
        let server = AnsweringTransport { request in
            if request.method == "GET" { return .init(body: #"[{"id":1,"title":"theirs","rank":9}]"#) }
            let failure: TransportError.Kind? = isLost.withLock { isLost in
                defer { isLost = false }
                return isLost ? .cutShort : nil
            }
            return .init(status: 201, body: #"{"id":1,"title":"mine","rank":1}"#, failure: failure)
        }
        let client = try client(server, folder), outbox = client.outbox().sending(through: Single())
        try await outbox.create("Entry", [.init("title", .string("mine"))])
        #expect(try await outbox.drain().failed == 1)
        _ = try await client.all(.get("/entries") as RecordRequest<Entry>)
        let pending = try #require(try outbox.operations().first)
        try await outbox.retry(pending.id)
        #expect(try await outbox.drain().sent == 1)
        #expect(try client.store.read { try $0.fetch(Entry.all) } == [Entry(id: 1, rank: 9, title: "theirs")])
    }

    @Test(
        "the result of a creation that is answered with 303 is read at its URL; if it cannot be, nothing is sent again",
        arguments: ["200 OK", "404 Not Found", "503 Later", "401 Who"])
    func seeOther(status: String) async throws {
        let folder = try TemporaryFolder()
        let server = try ScriptedServer { request in
            if request.method == "POST" { return .init(status: "303 See Other", fields: ["Location: /result"]) }
            return .init(status: status, body: #"{"id":50,"title":"mine"}"#)
        }
        let client = try RecordClient(base: server.base, records: Entry.self, store: folder("entries.tarn")) {
            $0.writes["Entry"] = WriteRequests(create: WriteRequest("POST", "/entries"))
        }
        let outbox = client.outbox().sending(through: Single())
        try await outbox.create("Entry", [.init("title", .string("mine"))])
        let report = try await outbox.drain()
        #expect(server.requests.filter { $0.method == "POST" }.count == 1)
        guard status != "200 OK" else {
            #expect(report.sent == 1, "\(report)")
            return #expect(try client.store.read { try $0.fetch(Entry.all).map(\.id) } == [50])
        }
        let dead = try #require(try outbox.operations().first)
        #expect(report.dead == 1 && dead.failure?.message.contains("its result could not be read") == true, "\(report)")
        await #expect(throws: OutboxError.accepted(id: dead.id)) { try await outbox.retry(dead.id) }
    }

    @Test(
        "a change that is answered with 303 takes its result; if that cannot be read, it is a dead letter",
        arguments: ["200 OK", "404 Not Found", "503 Later", "401 Who"], ["none", "unknown"])
    func seeOtherOfUpdate(status: String, coding: String) async throws {
        let folder = try TemporaryFolder()
        let server = try ScriptedServer { request in
            guard request.method == "GET" else {
                let fields = ["Location: /result", "Content-Encoding: \(coding)"]
                return .init(status: "303 See Other", fields: fields, body: "See there.")
            }
            return .init(status: status, body: #"{"id":1,"title":"theirs"}"#)
        }
        let client = try RecordClient(base: server.base, records: Entry.self, store: folder("entries.tarn")) {
            $0.api.retry.attempts = 1
            $0.writes["Entry"] = WriteRequests(
                update: WriteRequest("PATCH", "/entries/{id}"), delete: WriteRequest("DELETE", "/entries/{id}"))
        }
        try await client.store.write { try $0.put(Entry(id: 1, title: "old")) }
        try await client.store.write { try $0.put(Entry(id: 2, title: "old")) }
        let outbox = client.outbox().sending(through: Single(sendsDeclared: true)), isRead = status == "200 OK"
        try await outbox.update("Entry", RecordKey(1), [.init("title", .string("mine"))])
        var report = try await outbox.drain()
        #expect(report.sent == (isRead ? 1 : 0) && report.dead == (isRead ? 0 : 1) && report.unread == 0, "\(report)")
        #expect(server.requests.filter { $0.method == "PATCH" }.count == 1)
        let title = try client.store.read { try $0.get(Entry.self, 1)?.title }
        #expect(title == (isRead ? "theirs" : "mine"))
        guard !isRead else { return }
        try await outbox.delete("Entry", RecordKey(2))
        report = try await outbox.drain()
        #expect(report.sent == 0 && report.dead == 1, "\(report)")
        #expect(try outbox.operations().map { $0.failure?.kind } == ["partial", "partial"])
    }

    @Test("the validator of a result at another URL (303) is not that of the record")
    func validatorOfSeeOther() async throws {
        let folder = try TemporaryFolder(), conditions = Mutex<[String]>([])
        let server = try ScriptedServer { request in
            guard request.method == "PATCH" else {
                return .init(fields: ["ETag: \"\(request.target)\""], body: #"{"id":1,"title":"theirs"}"#)
            }
            conditions.withLock { $0.append(request.field("If-Match") ?? "-") }
            let location = request.body.contains("first") ? "/jobs/17" : "/entries/1"
            return .init(status: "303 See Other", fields: ["Location: \(location)", "ETag: \"other\""])
        }
        let client = try RecordClient(base: server.base, records: Entry.self, store: folder("entries.tarn")) {
            $0.writes["Entry"] = WriteRequests(update: WriteRequest("PATCH", "/entries/{id}"))
        }
        try await client.store.write { try $0.put(Entry(id: 1, title: "old")) }
        let outbox = client.outbox().sending(through: Single(sendsDeclared: true))
        for title in ["first", "second", "third"] {
            try await outbox.update("Entry", RecordKey(1), [.init("title", .string(title))])
            #expect(try await outbox.drain().sent == 1)
        }
        #expect(conditions.withLock(\.self) == ["-", "-", #""/entries/1""#])
    }

    @Test("the key of a created record follows from the URL of a 303 if what is read there has none")
    func keyOfSeeOther() async throws {
        let folder = try TemporaryFolder()
        let server = try ScriptedServer { request in
            if request.method == "POST" { return .init(status: "303 See Other", fields: ["Location: /entries/50"]) }
            return .init(body: #"{"ok":true}"#)
        }
        let client = try RecordClient(base: server.base, records: Entry.self, store: folder("entries.tarn")) {
            $0.mapping.entities["Entry"]?.url = "/entries/{id}"
            $0.writes["Entry"] = WriteRequests(create: WriteRequest("POST", "/entries"))
        }
        let outbox = client.outbox().sending(through: Single())
        try await outbox.create("Entry", [.init("title", .string("mine"))])
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.dead == 0, "\(report)")
        #expect(try client.store.read { try $0.fetch(Entry.all).map(\.id) } == [50])
    }

    @Test("an answer that cannot be decoded is not asked for again")
    func undecodableAnswer() async throws {
        let count = Mutex(0), folder = try TemporaryFolder()
        let server = try ScriptedServer { _ in
            count.withLock { $0 += 1 }
            return .init(status: "201 Created", fields: ["Content-Encoding: gzip"], body: "this is no gzip")
        }
        let client = try RecordClient(base: server.base, records: Entry.self, store: folder("entries.tarn")) {
            $0.writes["Entry"] = WriteRequests(create: WriteRequest("POST", "/entries"))
        }
        let outbox = client.outbox().sending(through: Single())
        try await outbox.create("Entry", [.init("title", .string("mine"))])
        #expect(try await outbox.drain().dead == 1)
        #expect(try outbox.operations().first?.failure?.kind == "unidentified" && count.withLock(\.self) == 1)
    }

    @Test("a failure of the store while a bridge makes the requests of a change passes: the operation is not buried")
    func unreadStore() async throws {
        let folder = try TemporaryFolder(), isFailing = Mutex(true)
        let server = AnsweringTransport { _ in
            .init(body: #"{"data":{"updateTask":{"task":{"id":"t1","title":"mine"}}}}"#)
        }
        let client = try client(server, folder)
        try await client.store.write { try $0.put(BoardJob(id: "t1", title: "old")) }
        let bridge = GraphQLBridge { change in
            if isFailing.withLock(\.self) { throw StoreError.file("other.tarn", 5, operation: "read") }
            return GraphQLRequest(
                "mutation { made }", ["id": change.key], records: [.init("updateTask.task", "BoardJob")])
        }
        let outbox = client.outbox().sending(through: bridge)
        try await outbox.update("BoardJob", RecordKey("t1"), [.init("title", .string("mine"))])
        let report = try await outbox.drain()
        #expect(report.failed == 1 && report.dead == 0 && server.requests.isEmpty, "\(report)")
        let waiting = try #require(try outbox.operations().first)
        #expect(waiting.failure?.kind == "store")
        isFailing.withLock { $0 = false }
        try await outbox.retry(waiting.id)
        #expect(try await outbox.drain().sent == 1)
    }

    @Test("a record that is created through a bridge gets a key from the server that is longer than a storage key")
    func longKey() async throws {
        let folder = try TemporaryFolder(), key = String(repeating: "k", count: 300)
        let server = AnsweringTransport { request in
            .init(status: request.method == "POST" ? 201 : 200, body: #"{"id":"\#(key)","title":"a"}"#)
        }
        let client = try RecordClient(
            base: "http://made.example", records: BoardJob.self, store: folder("made.tarn"), transport: server
        ) {
            $0.writes["BoardJob"] = WriteRequests(
                create: WriteRequest("POST", "/jobs"), update: WriteRequest("PATCH", "/jobs/{id}"))
        }
        let outbox = client.outbox().sending(through: Single(entity: "BoardJob", sendsDeclared: true))
        let temporary = try await outbox.create("BoardJob", [.init("title", .string("a"))])
        #expect(try await outbox.drain().sent == 1)
        #expect(try client.store.read { try $0.fetch(BoardJob.all).map(\.id) } == [key])
        // The temporary key leads to the record.
        try await outbox.update("BoardJob", temporary, [.init("title", .string("b"))])
        #expect(try await outbox.drain().sent == 1)
        #expect(server.requests.last?.target == "/jobs/\(key)")
    }
}
