// Changes of fields that have requests of their own, such as `POST /issues/1/transitions`.

import Tarn
import TarnDescription
import TarnImport
import TestSupport
import Testing

@Suite("Outbox: fields with requests of their own", .timeLimit(.minutes(2)))
struct FieldRequestTests {
    private typealias Answer = ScriptedServer.Answer
    private static let key = RecordKey(1)
    private static let fields = """
        fields: {
              status: { values: {
                open: { request: 'POST /issues/{id}/transitions', set: { transition.id: '11' } },
                done: { request: 'POST /issues/{id}/transitions', set: { transition.id: '31' } } } },
              locked: { values: { true: 'PUT /issues/{id}/lock', false: 'DELETE /issues/{id}/lock' } },
              due: { values: { null: 'DELETE /issues/{id}/due' }, otherwise: 'PUT /issues/{id}/due' } }
        """
    private static let write =
        "create: { request: POST /issues, fields: [title] }, update: 'PATCH /issues/{id}', \(fields)"

    private static func entities(_ write: String) -> String {
        """
        Issue:
          key: id
          attributes:
            id: int
            title: string
            status: { type: 'enum?', values: [open, done] }
            locked: bool?
            due: string?
          write: { \(write) }
        """
    }

    /// A server with an issue, which takes every change.
    ///
    /// - Parameter taken: the body of the answers to the requests of fields.
    private func place(
        _ write: String = FieldRequestTests.write, status: String? = nil, taken: String? = nil
    ) async throws -> ScriptedOutbox {
        let record = ScriptedRecord(#"{"id":1,"title":"a","status":"open","locked":false,"due":"may"}"#)
        let place = try ScriptedOutbox(Self.entities(write)) { request in
            if request.method == "GET" { return record.read(request) }
            if let status { return Answer(status: status, body: #"{"message":"no"}"#) }
            guard request.target == "/issues" else {
                return taken.map { Answer(body: $0) } ?? Answer(status: "204 No Content")
            }
            return Answer(
                status: "201 Created", body: #"{"id":7,"title":"new","status":"open","locked":false,"due":null}"#)
        }
        try await place.sync()
        return place
    }

    @Test("each such field is an operation of its own, sent in order by the request for its value")
    func requests() async throws {
        let place = try await place(), outbox = place.outbox()
        let last = try await outbox.update(
            "Issue", Self.key,
            [
                .init("status", .string("done")), .init("title", .string("b")), .init("locked", .bool(true)),
                .init("due", .null),
            ])
        let operations = try outbox.operations()
        #expect(operations.map { $0.changes.map(\.name) } == [["title"], ["status"], ["locked"], ["due"]])
        #expect(last == operations.last?.id)
        let report = try await outbox.drain()
        #expect(report.sent == 4 && report.warnings.isEmpty && report.remaining.isEmpty, "\(report)")
        #expect(
            place.writes == [
                "PATCH /issues/1", "POST /issues/1/transitions", "PUT /issues/1/lock", "DELETE /issues/1/due",
            ])
        #expect(
            place.changes.map(\.body) == [#"{"title":"b"}"#, #"{"transition":{"id":"31"}}"#, "", ""])
        // The condition is one of the record's URL.
        #expect(place.changes.map { $0.field("If-Match") } == ["\"v1\"", nil, nil, nil])
        #expect(try place.field("locked") == .bool(true) && place.field("due") == .null)
        // Another value has another request, and a body with the field.
        try await outbox.update("Issue", Self.key, [.init("locked", .bool(false)), .init("due", .string("june"))])
        #expect(try await outbox.drain().sent == 2)
        #expect(place.writes.suffix(2) == ["DELETE /issues/1/lock", "PUT /issues/1/due"])
        #expect(place.changes.last?.body == #"{"due":"june"}"#)
        // The record's stored response is stale.
        let count = place.server.requests.count
        #expect(await APIMirror(place.client).sync().failures.isEmpty)
        #expect(place.server.requests.dropFirst(count).allSatisfy { $0.field("If-None-Match") == nil })
    }

    @Test(
        "the answer to such a request may be something else than the record",
        arguments: [(#"{"id":31,"name":"Done"}"#, "open"), (#"{"id":1,"status":"done","locked":true}"#, "done")])
    func otherAnswer(body: String, status: String) async throws {
        let place = try await place(taken: body), outbox = place.outbox()
        try await outbox.update("Issue", Self.key, [.init("locked", .bool(true))])
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.warnings.isEmpty && report.unread == 0, "\(report)")
        #expect(try place.field("locked") == .bool(true) && place.field("status") == .string(status))
        #expect(try place.store.read { try $0.count("Issue") } == 1)
    }

    @Test("changes of the same field fold, and not with those of others")
    func folding() async throws {
        let place = try await place(), outbox = place.outbox()
        func names() throws -> [[String]] { try outbox.operations().map { $0.changes.map(\.name) } }
        try await outbox.update("Issue", Self.key, [.init("due", .string("june"))])
        try await outbox.update("Issue", Self.key, [.init("due", .string("july"))])
        #expect(try names() == [["due"]])
        try await outbox.update("Issue", Self.key, [.init("title", .string("b"))])
        try await outbox.update("Issue", Self.key, [.init("title", .string("c"))])
        #expect(try names() == [["due"], ["title"]])
        try await outbox.update("Issue", Self.key, [.init("locked", .bool(true))])
        try await outbox.update("Issue", Self.key, [.init("title", .string("d"))])
        #expect(try names() == [["due"], ["title"], ["locked"], ["title"]])
        #expect(try await outbox.drain().sent == 4)
        #expect(place.changes.map(\.body) == [#"{"due":"july"}"#, #"{"title":"c"}"#, "", #"{"title":"d"}"#])
        // The earlier value again: nothing is left to send.
        try await outbox.update("Issue", Self.key, [.init("locked", .bool(false))])
        try await outbox.update("Issue", Self.key, [.init("locked", .bool(true))])
        #expect(try names() == [])
    }

    @Test("a change of a new record is sent after its creation, unless the creation sends the field")
    func creation() async throws {
        for isSent in [false, true] {
            let create = "create: { request: POST /issues, fields: [title\(isSent ? ", status" : "")] }"
            let place = try await place(create + ", update: 'PATCH /issues/{id}', " + Self.fields)
            let outbox = place.outbox()
            let key = try await outbox.create("Issue", [.init("title", .string("new"))])
            try await outbox.update("Issue", key, [.init("status", .string("done")), .init("title", .string("newer"))])
            #expect(try outbox.operations().map(\.kind) == (isSent ? [.create] : [.create, .update]))
            #expect(try await outbox.drain().remaining.isEmpty)
            #expect(place.writes == ["POST /issues"] + (isSent ? [] : ["POST /issues/7/transitions"]))
            #expect(try JSONValue(place.changes[0].body)["title"] == .string("newer"))
        }
    }

    @Test("a whole body has the server's value of such a field, also while its change is queued")
    func wholeBody() async throws {
        let place = try await place("update: 'PUT /issues/{id}', " + Self.fields), outbox = place.outbox()
        try await outbox.update("Issue", Self.key, [.init("locked", .bool(true)), .init("title", .string("b"))])
        #expect(try await outbox.drain().sent == 2)
        #expect(place.writes == ["PUT /issues/1", "PUT /issues/1/lock"])
        let body = try JSONValue(place.changes[0].body)
        #expect(body["title"] == .string("b") && body["locked"] == .bool(false) && body["status"] == .string("open"))
    }

    @Test("a creation queues the fields behind it that only requests of their own send")
    func createdValues() async throws {
        let place = try await place(), outbox = place.outbox()
        try await outbox.create(
            "Issue",
            [
                .init("title", .string("new")), .init("status", .string("done")), .init("locked", .bool(true)),
                .init("due", .null),
            ])
        #expect(try outbox.operations().map(\.kind) == [.create, .update, .update])
        let report = try await outbox.drain()
        #expect(report.sent == 3 && report.warnings.isEmpty && report.remaining.isEmpty, "\(report)")
        #expect(place.writes == ["POST /issues", "POST /issues/7/transitions", "PUT /issues/7/lock"])
        let change = try place.store.read { try $0.localChange("Issue", RecordKey(7)) }
        #expect(try change == nil && place.field("status", of: RecordKey(7)) == .string("done"))
        // Without a request for the value, nothing is created.
        let other = try await self.place(
            "create: { request: POST /issues, fields: [title] }, "
                + "fields: { locked: { values: { true: 'PUT /issues/{id}/lock' } } }")
        await #expect(throws: WriteError.self) {
            try await other.outbox().create("Issue", [.init("title", .string("new")), .init("locked", .bool(false))])
        }
        #expect(try other.outbox().operations().isEmpty)
    }

    @Test("a creation that sends such fields takes them in also without a request for updates")
    func withoutUpdate() async throws {
        let place = try await place("create: 'POST /issues', " + Self.fields), outbox = place.outbox()
        let key = try await outbox.create("Issue", [.init("title", .string("new"))])
        try await outbox.update("Issue", key, [.init("status", .string("done")), .init("locked", .bool(true))])
        #expect(try outbox.operations().map(\.kind) == [.create])
        #expect(try await outbox.drain().sent == 1)
        #expect(try JSONValue(place.changes[0].body)["status"] == .string("done"))
    }

    @Test("a request for a value at the URL of the record has its version as a condition")
    func sameURL() async throws {
        let place = try await place(
            "update: 'PATCH /issues/{id}', fields: { status: { values: { "
                + "done: { request: 'PATCH /issues/{id}', set: { event: close } } } }, "
                + "locked: { values: { true: 'PATCH /issues/{id}' } } }")
        let outbox = place.outbox()
        try await outbox.update("Issue", Self.key, [.init("status", .string("done"))])
        #expect(try await outbox.drain().sent == 1)
        #expect(place.changes.map { $0.field("If-Match") } == ["\"v1\""])
        #expect(place.changes.map(\.body) == [#"{"event":"close"}"#])
        // Without `set`, nothing else would state the value.
        try await outbox.update("Issue", Self.key, [.init("locked", .bool(true))])
        #expect(try await outbox.drain().sent == 1)
        #expect(place.changes.last?.body == #"{"locked":true}"#)
    }

    @Test(
        "a refusal without a condition is final if the record has no other value",
        arguments: ["409 Conflict", "412 Precondition Failed", "428 Precondition Required"])
    func refusedOnce(status: String) async throws {
        let place = try await place(status: status)
        for policy in [ConflictPolicy.client, .server] {
            let outbox = place.outbox(policy), count = place.changes.count
            try await outbox.update("Issue", Self.key, [.init("locked", .bool(true))])
            let report = try await outbox.drain()
            #expect(report.dead == 1 && report.withdrawn == 0, "\(report)")
            #expect(place.writes.dropFirst(count) == ["PUT /issues/1/lock"])
            try await outbox.discard(try #require(try outbox.operations().first).id)
        }
    }

    @Test(
        "a body with the whole record is not sent while the server's value of such a field is unknown",
        arguments: [false, true])
    func unknownValue(isRead: Bool) async throws {
        let read = isRead ? "read: '/issues/{id}', " : ""
        let place = try await place("update: 'PUT /issues/{id}', " + read + Self.fields), outbox = place.outbox()
        try place.draft(["due": .string("june")])
        try await outbox.update("Issue", Self.key, [.init("title", .string("b"))])
        let report = try await outbox.drain()
        #expect(report.sent == (isRead ? 1 : 0) && report.dead == (isRead ? 0 : 1), "\(report)")
        // Without it, the server would clear it.
        let sent = try place.changes.map { try JSONValue($0.body)["due"] }
        #expect(sent == (isRead ? [.string("may")] : []))
    }

    @Test("a later change of a field does not fold into an update that was queued with others before")
    func foldedBefore() async throws {
        let place = try await place()
        let before = place.client.outbox(writes: ["Issue": WriteRequests(update: WriteRequest("PATCH", "/issues/{id}"))]
        )
        try await before.update("Issue", Self.key, [.init("title", .string("b")), .init("due", .string("june"))])
        let outbox = place.outbox()
        try await outbox.update("Issue", Self.key, [.init("due", .string("july"))])
        #expect(try outbox.operations().map { Set($0.changes.map(\.name)) } == [["title", "due"], ["due"]])
        #expect(try await outbox.drain().sent == 2)
        #expect(place.writes == ["PATCH /issues/1", "PUT /issues/1/due"])
        #expect(place.changes.map(\.body) == [#"{"title":"b"}"#, #"{"due":"july"}"#])
    }

    @Test("a value without a request is refused when it is queued, before any other field is changed")
    func undeclared() async throws {
        let place = try await place(
            "update: 'PATCH /issues/{id}', fields: { locked: { values: { true: 'PUT /issues/{id}/lock' } } }")
        let outbox = place.outbox()
        try await outbox.update("Issue", Self.key, [.init("locked", .bool(true))])
        #expect(try await outbox.drain().sent == 1)
        let error = await #expect(throws: WriteError.self) {
            try await outbox.update("Issue", Self.key, [.init("title", .string("b")), .init("locked", .bool(false))])
        }
        #expect(error?.description.contains("entities.Issue.write.fields.locked.values.false") == true)
        #expect(try outbox.operations().isEmpty && place.field("title") == .string("a"))
    }

    @Test("a refusal is a dead letter; without a URL of the record, nothing is read after a conflict")
    func refused() async throws {
        let place = try await place(
            "fields: { locked: { values: { true: 'PUT /issues/{id}/lock' } } }", status: "409 No")
        let count = place.server.requests.count, outbox = place.outbox()
        try await outbox.update("Issue", Self.key, [.init("locked", .bool(true))])
        let report = try await outbox.drain()
        #expect(report.dead == 1, "\(report)")
        #expect(place.server.requests.dropFirst(count).map(\.method) == ["PUT"])
        try await outbox.discard(try #require(try outbox.operations().first).id)
        #expect(try place.field("locked") == .bool(false))
    }

    @Test(
        "a field that was queued with others before it has got a request of its own stays a local change, and is named")
    func queuedBefore() async throws {
        let place = try await place()
        let before = place.client.outbox(writes: ["Issue": WriteRequests(update: WriteRequest("PATCH", "/issues/{id}"))]
        )
        try await before.update("Issue", Self.key, [.init("title", .string("b")), .init("locked", .bool(true))])
        let outbox = place.outbox(), report = try await outbox.drain()
        #expect(report.sent == 1 && report.warnings.map(\.failure.kind) == ["unsent"], "\(report)")
        #expect(place.changes.map(\.body) == [#"{"title":"b"}"#])
        #expect(try place.store.read { try $0.localChange("Issue", Self.key)?.fields } == ["locked"])
        // Repeated, it is queued.
        try await outbox.update("Issue", Self.key, [.init("locked", .bool(true))])
        #expect(try await outbox.drain().sent == 1 && place.writes.last == "PUT /issues/1/lock")
        #expect(try place.store.read { try $0.localChange("Issue", Self.key) } == nil)
    }

    @Test("a request at another URL has no condition, and the entity tag of its answer is none of the record")
    func otherURL() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a","status":"open","locked":false,"due":"may"}"#)
        let place = try ScriptedOutbox(Self.entities(Self.write)) { request in
            request.method == "GET"
                ? record.read(request) : Answer(status: "204 No Content", fields: ["ETag: \"other\""])
        }
        try await place.sync()
        let outbox = place.outbox()
        try await outbox.update("Issue", Self.key, [.init("locked", .bool(true))])
        #expect(try await outbox.drain().sent == 1 && place.changes.last?.field("If-Match") == nil)
        try await outbox.update("Issue", Self.key, [.init("title", .string("b"))])
        #expect(try await outbox.drain().sent == 1 && place.changes.last?.field("If-Match") != "\"other\"")
    }

    @Test("the text null is a value, and not none; no such field is reported as one that an update leaves out")
    func nullText() async throws {
        let place = try await place(), outbox = place.outbox()
        try await outbox.update("Issue", Self.key, [.init("due", .string("null"))])
        #expect(try await outbox.drain().sent == 1 && place.writes == ["PUT /issues/1/due"])
        #expect(place.changes.last?.body == #"{"due":"null"}"#)
        let unsent = try place.store.read { try outbox.unsent(.update, "Issue", ["locked", "title"], $0.access) }
        #expect(unsent.isEmpty)
    }

    @Test("a change that its own request cannot send is refused when it is queued")
    func unsendable() async throws {
        let place = try await place(
            "update: 'PATCH /issues/{id}', fields: { due: { request: 'PUT /issues/{id}/due', fields: [title] } }")
        let outbox = place.outbox()
        let error = await #expect(throws: WriteError.self) {
            try await outbox.update("Issue", Self.key, [.init("title", .string("b")), .init("due", .string("june"))])
        }
        #expect(error?.description.contains("lacks it under `fields`") == true, "\(error?.description ?? "")")
        #expect(try outbox.operations().isEmpty && place.field("due") == .string("may"))
    }

    @Test(
        "an error of a description names the field or the value",
        arguments: [
            ("fields: { lockd: 'PUT /i' }", "t.yaml:6:24: ", "did you mean \"locked\"?"),
            ("fields: { locked: { values: { on: 'PUT /i' } } }", "t.yaml:6:44: ", "unknown value of locked"),
            ("fields: { state: { values: { opn: 'PUT /i' } } }", "t.yaml:6:43: ", "did you mean \"open\"?"),
            ("fields: { locked: { otherwise: 'PUT /i' } }", "t.yaml:6:24: ", "missing"),
            ("fields: { locked: 'PUT /{nmber}' }", "t.yaml:6:32: ", "{nmber}"),
            ("fields: { locked: { values: { true: 'PUT i' } } }", "t.yaml:6:50: ", "begin it with /"),
        ])
    func problems(write: String, place: String, message: String) throws {
        let text = """
            api: { base: 'https://api.example' }
            entities:
              Issue:
                key: id
                attributes: { id: int, locked: bool, state: { type: enum, values: [open, closed] } }
                write: { \(write) }
            """
        let error = #expect(throws: DescriptionError.self) { try Description.parse(text, file: "t.yaml") }
        let found = error?.description ?? ""
        #expect(found.contains(place) && found.contains(message), "\(found)")
    }
}
