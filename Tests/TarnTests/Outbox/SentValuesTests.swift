// The values in URLs and bodies: those of the server, and those of the operation.

import Foundation
import Synchronization
import Tarn
import TarnImport
import TestSupport
import Testing

@Suite("Outbox: values that are sent", .timeLimit(.minutes(2)))
struct SentValuesTests {
    private typealias Answer = ScriptedServer.Answer
    private static let key = RecordKey(1)

    private static func entities(_ write: String, _ attributes: String = "title: string") -> String {
        """
        Issue:
          key: id
          attributes: { id: int, number: int, \(attributes), body: string?, u: { type: string?, from: 'arr[0].u' } }
          relationships: { parent: Issue, labels: { to: [Label] } }
          write: { \(write) }
        Label: { key: id, attributes: { id: int, name: string, color: string } }
        """
    }

    /// A server whose list has an issue, and that takes every change.
    private func place(
        _ write: String, _ list: String = #"[{"id":1,"number":11,"title":"a"}]"#,
        refusing status: Int? = nil
    ) throws -> (ScriptedOutbox, SharedText) {
        let body = SharedText(list)
        let place = try ScriptedOutbox(Self.entities(write)) { request in
            if request.method == "GET" {
                let list = body.value.withLock(\.self)
                return Answer(body: request.target == "/issues" ? list : String(list.dropFirst().dropLast()))
            }
            if let status, request.method == "PATCH" { return Answer(status: "\(status) No") }
            if request.method == "POST" {
                return Answer(status: "201 Created", body: #"{"id":7,"number":17,"title":"b"}"#)
            }
            return Answer(status: "204 No Content")
        }
        return (place, body)
    }

    /// A text that a server's closure and the test share.
    private final class SharedText: Sendable {
        let value: Mutex<String>
        init(_ text: String) { value = Mutex(text) }
        func set(_ text: String) { value.withLock { $0 = text } }
    }

    private func json(_ request: ScriptedServer.Request?) throws -> JSONValue {
        try JSONValue(try #require(request).body)
    }

    // MARK: Repeated requests

    @Test(
        "the answer to a repeated update may be an earlier one: the record is read, or requested without a condition",
        arguments: [false, true])
    func repeated(isRead: Bool) async throws {
        let record = ScriptedRecord(#"{"id":1,"number":11,"title":"a","body":"x"}"#), first = SharedText("")
        let read = isRead ? ", read: '/issues/{id}'" : ""
        let place = try ScriptedOutbox(Self.entities("update: 'PATCH /issues/{id}'" + read)) { request in
            if request.method == "GET" {
                let answer = record.read(request)
                return .tagged("\(answer.body.utf8.count)", request, answer.body)
            }
            // The first answer is lost behind a gateway; a repeated request gets it again.
            guard first.value.withLock(\.isEmpty) else { return Answer(body: first.value.withLock(\.self)) }
            first.set(#"{"id":1,"number":11,"title":"b","body":"x"}"#)
            return Answer(status: "504 Gateway Timeout")
        }
        try await place.sync()
        try await place.outbox().update("Issue", Self.key, [.init("title", .string("b"))])
        // The default delay: the operation waits for its retry.
        #expect(try await place.client.outbox().drain().failed == 1)
        record.change(#"{"id":1,"number":11,"title":"a","body":"theirs"}"#)
        try await place.sync()
        #expect(try place.field("body") == .string("theirs") && place.field("title") == .string("b"))
        try await place.outbox().retry(try #require(try place.outbox().operations().first).id)
        let report = try await place.outbox().drain()
        #expect(report.sent == 1 && report.warnings.isEmpty && place.changes.count == 2, "\(report)")
        #expect(try place.field("body") == .string("theirs"))
        #expect(try place.field("title") == .string(isRead ? "a" : "b"))
        let count = place.server.requests.count
        #expect(await APIMirror(place.client).sync().failures.isEmpty)
        #expect(place.server.requests.dropFirst(count).allSatisfy { $0.field("If-None-Match") == nil })
        #expect(try place.field("body") == .string("theirs") && place.field("title") == .string("a"))
        // Once more: now the condition is that of the current responses.
        #expect(await APIMirror(place.client).sync().notModified == 2)
    }

    @Test("a repeated PUT has the same idempotency key, and another one if a sync has changed its body")
    func idempotencyKey() async throws {
        let record = ScriptedRecord(#"{"id":1,"number":11,"title":"a","body":"x"}"#)
        let place = try ScriptedOutbox(Self.entities("update: 'PUT /issues/{id}', idempotency: Idempotency-Key")) {
            $0.method == "GET" ? record.read($0) : Answer(status: "503 No")
        }
        try await place.sync()
        let outbox = place.client.outbox()
        try await outbox.update("Issue", Self.key, [.init("title", .string("b"))])
        func key() async throws -> String {
            try await outbox.retry(try #require(try outbox.operations().first).id)
            #expect(try await outbox.drain().failed == 1)
            return try #require(place.changes.last?.field("Idempotency-Key"))
        }
        let first = try await key()
        #expect(UUID(uuidString: first) != nil)
        #expect(try await key() == first)
        record.change(#"{"id":1,"number":11,"title":"a","body":"theirs"}"#)
        try await place.sync()
        let second = try await key()
        #expect(second != first)
        #expect(try await key() == second)
        #expect(try json(place.changes.last)["body"] == .string("theirs"))
    }

    // MARK: URLs

    @Test("a deletion behind a refused change of a field in its URL has the server's value, and not another record's")
    func deletion() async throws {
        let (place, _) = try place(
            "update: 'PATCH /issues/{number}', delete: 'DELETE /issues/{number}'", refusing: 422)
        try await place.sync()
        let outbox = place.outbox()
        try await outbox.update("Issue", Self.key, [.init("number", .int(12))])
        #expect(try await outbox.drain().dead == 1)
        try await outbox.delete("Issue", Self.key)
        #expect(try await outbox.drain().sent == 1)
        #expect(place.writes == ["PATCH /issues/11", "DELETE /issues/11"])
    }

    @Test("values that were changed without an operation are neither in URLs nor in the body of a PUT")
    func drafts() async throws {
        let (place, _) = try place("update: 'PUT /issues/{number}'")
        try await place.sync()
        try place.draft(["number": .int(12), "title": .string("draft")])
        try await place.sync()
        try await place.outbox().update("Issue", Self.key, [.init("body", .string("mine"))])
        #expect(try await place.outbox().drain().sent == 1)
        #expect(place.writes == ["PUT /issues/11"])
        let body = try json(place.changes.first)
        #expect(body["number"] == .number("11") && body["title"] == .string("a") && body["body"] == .string("mine"))
        #expect(try place.field("title") == .string("draft") && place.field("number") == .int(12))
    }

    @Test("a value in a URL that was changed without an operation, and that no response has brought since, is an error")
    func unknown() async throws {
        let (place, _) = try place("update: 'PATCH /issues/{number}', delete: 'DELETE /issues/{number}'")
        try await place.sync()
        try place.draft(["number": .int(12)])
        let outbox = place.outbox()
        let failed = await #expect(throws: WriteError.self) {
            try await outbox.update("Issue", Self.key, [.init("title", .string("b"))])
        }
        #expect(failed?.description.contains("the server's value of number is not known") == true)
        await #expect(throws: WriteError.self) { try await outbox.delete("Issue", Self.key) }
        #expect(try place.store.read { try $0.record("Issue", Self.key) } != nil)
        try await place.sync()
        try await outbox.update("Issue", Self.key, [.init("title", .string("b"))])
        #expect(try await outbox.drain().sent == 1)
        #expect(place.writes == ["PATCH /issues/11"])
    }

    @Test("a PUT beside a later operation sends what a sync has brought, and the policy decides about the later one")
    func laterOperation() async throws {
        let isDown = Mutex(true), list = Mutex(#"[{"id":1,"number":11,"title":"a"}]"#)
        let place = try ScriptedOutbox(Self.entities("update: 'PUT /issues/{id}'")) { request in
            if request.method == "GET" { return Answer(body: list.withLock(\.self)) }
            return isDown.withLock(\.self) ? Answer(status: "503 No") : Answer(body: request.body)
        }
        try await place.store.write {
            try $0.put("Issue", Self.key, [.init("number", .int(11)), .init("title", .string("a"))])
        }
        let outbox = place.outbox(.server)
        try await outbox.update("Issue", Self.key, [.init("body", .string("mine"))])
        #expect(try await outbox.drain().failed >= 1)
        try await outbox.update("Issue", Self.key, [.init("title", .string("mine"))])
        list.withLock { $0 = #"[{"id":1,"number":12,"title":"theirs"}]"# }
        var options = APIMirror.Options()
        options.refetches = true
        _ = await APIMirror(place.client, options: options).sync()
        isDown.withLock { $0 = false }
        let report = try await drained(outbox)
        #expect(report.sent == 1 && report.withdrawn == 1, "\(report)")
        let body = try json(place.changes.last)
        #expect(
            body["title"] == .string("theirs") && body["number"] == .number("12") && body["body"] == .string("mine"))
        #expect(try place.field("title") == .string("theirs"))
    }

    @Test("a temporary key is sent neither in a URL nor in a body")
    func temporaryKey() async throws {
        for write in ["create: 'PUT /issues/{id}'", "create: { request: 'POST /issues', set: { ref: '{id}' } }"] {
            let (place, _) = try place(write)
            try await place.outbox().create("Issue", [.init("title", .string("a")), .init("number", .int(1))])
            #expect(try await place.outbox().drain().dead == 1)
            let message = try #require(try place.outbox().operations().first?.failure?.message)
            #expect(message.contains("{id}") && message.contains("tarn.yaml:"), "\(message)")
            #expect(place.changes.isEmpty)
        }
    }

    @Test("a reference of a new record to itself is sent after its creation, with the server's key")
    func selfReference() async throws {
        let (place, _) = try place("create: { request: 'POST /issues', fields: [title] }, update: 'PATCH /issues/{id}'")
        let outbox = place.outbox()
        let key = try await outbox.create("Issue", [.init("title", .string("a")), .init("number", .int(1))])
        try await outbox.update("Issue", key, [.init("parent", .reference(key))])
        #expect(try await outbox.drain().sent == 2)
        #expect(place.writes == ["POST /issues", "PATCH /issues/7"])
        #expect(try json(place.changes.last)["parent_id"] ?? json(place.changes.last)["parent"] == .number("7"))
    }

    // MARK: Fields that are not sent

    @Test("a field that no request sends is an error that names it; beside others it stays a local change")
    func unsent() async throws {
        for (write, field, value) in [
            ("update: { request: 'PATCH /issues/{id}', fields: [title] }", "body", "z"),
            ("update: { request: 'PUT /issues/{id}', fields: [title] }", "body", "z"),
            ("update: 'PUT /issues/{id}'", "u", "z"), ("update: 'PATCH /issues/{id}'", "u", "z"),
        ] {
            let (place, list) = try place(write)
            try await place.sync()
            let outbox = place.outbox()
            let error = await #expect(throws: WriteError.self) {
                try await outbox.update("Issue", Self.key, [.init(field, .string(value))])
            }
            #expect(error?.description.contains(field) == true, "\(String(describing: error))")
            try await outbox.update("Issue", Self.key, [.init(field, .string(value)), .init("title", .string("b"))])
            #expect(try outbox.operations().map { $0.changes.map(\.name) } == [["title"]])
            #expect(try await outbox.drain().sent == 1)
            #expect(try place.store.read { try $0.localChange("Issue", Self.key)?.fields } == [field])
            list.set(#"[{"id":1,"number":11,"title":"c","body":"theirs","arr":[{"u":"theirs"}]}]"#)
            try await place.sync()
            #expect(try place.field(field) == .string(value) && place.field("title") == .string("c"))
        }
    }

    @Test("a field of a creation that its request does not send stays a local change; one in the URL is sent")
    func unsentOfCreation() async throws {
        let (place, list) = try place("create: { request: 'POST /issues/{number}', fields: [title] }")
        let outbox = place.outbox()
        let values: [Record.Field] = [
            .init("title", .string("b")), .init("number", .int(17)), .init("body", .string("mine")),
        ]
        let key = try await outbox.create("Issue", values)
        #expect(try await outbox.drain().sent == 1)
        #expect(try place.store.read { try $0.localChange("Issue", key)?.fields } == ["body"])
        list.set(#"[{"id":7,"number":17,"title":"c","body":"theirs"}]"#)
        try await place.sync()
        #expect(try place.field("body", of: RecordKey(7)) == .string("mine"))
        #expect(try place.field("title", of: RecordKey(7)) == .string("c"))
    }

    @Test("a change of a new record that its creation does not send is sent after it")
    func afterCreation() async throws {
        let (place, _) = try place("create: { request: 'POST /issues', fields: [title] }, update: 'PATCH /issues/{id}'")
        let outbox = place.outbox()
        let key = try await outbox.create("Issue", [.init("title", .string("a")), .init("number", .int(1))])
        try await outbox.update("Issue", key, [.init("title", .string("b")), .init("body", .string("late"))])
        #expect(try outbox.operations().map(\.kind) == [.create, .update])
        #expect(try await outbox.drain().sent == 2)
        #expect(place.changes.map(\.body) == [#"{"title":"b"}"#, #"{"body":"late"}"#])
    }

    @Test("a listed field without a value is left out, and is not null")
    func absent() async throws {
        let (place, _) = try place(
            "create: { request: 'POST /issues', fields: [title, body] }, "
                + "update: { request: 'PUT /issues/{id}', fields: [title, body] }")
        try await place.sync()
        let outbox = place.outbox()
        try await outbox.create("Issue", [.init("title", .string("b")), .init("number", .int(1))])
        try await outbox.update("Issue", Self.key, [.init("title", .string("c"))])
        #expect(try await outbox.drain().sent == 2)
        #expect(Set(place.changes.map(\.body)) == [#"{"title":"b"}"#, #"{"title":"c"}"#])
    }

    @Test("a PUT of a record of which only a part is known reads it first, or is a dead letter")
    func partial() async throws {
        for isRead in [true, false] {
            let (place, _) = try place(
                "update: 'PUT /issues/{id}'" + (isRead ? ", read: '/issues/{id}'" : ""),
                #"[{"id":1,"number":11,"title":"a","body":"theirs"}]"#)
            try await place.store.write { writer in
                try writer.put("Issue", Self.key, [.init("title", .string("a"))], isComplete: false)
            }
            let outbox = place.outbox()
            try await outbox.update("Issue", Self.key, [.init("title", .string("b"))])
            let report = try await outbox.drain()
            guard isRead else {
                #expect(report.dead == 1 && place.server.requests.isEmpty, "\(report)")
                let message = try #require(try outbox.operations().first?.failure?.message)
                #expect(message.contains("only a part of it is known") && message.contains("write.read"), "\(message)")
                continue
            }
            #expect(report.sent == 1, "\(report)")
            #expect(place.server.requests.map(\.method) == ["GET", "PUT"])
            let body = try json(place.changes.first)
            #expect(body["body"] == .string("theirs") && body["title"] == .string("b"))
        }
    }

    @Test("a PUT reads a record first if an optional field has no value here, unless its own URL was read before")
    func optionalFields() async throws {
        for (isKnown, write) in [
            (false, "update: 'PUT /issues/{id}', read: '/issues/{id}'"), (false, "update: 'PUT /issues/{id}'"),
            (true, "update: 'PUT /issues/{id}', read: '/issues/{id}'"),
        ] {
            // Some servers leave fields out of lists.
            let whole = #"{"id":1,"number":11,"title":"a","body":"theirs"}"#
            let place = try ScriptedOutbox(Self.entities(write)) { request in
                guard request.method == "GET" else { return Answer(status: "204 No Content") }
                return Answer(body: request.target == "/issues" ? #"[{"id":1,"number":11,"title":"a"}]"# : whole)
            }
            try await place.sync(isKnown ? nil : ["issues"])
            let count = place.server.requests.count, isRead = write.contains("read")
            let outbox = place.outbox()
            try await outbox.update("Issue", Self.key, [.init("title", .string("b"))])
            #expect(try await outbox.drain().sent == 1)
            let methods = place.server.requests.dropFirst(count).map(\.method)
            #expect(methods == (isRead && !isKnown ? ["GET", "PUT"] : ["PUT"]), "\(write)")
            // Without `read`, the server's value is not known.
            #expect(try json(place.changes.first)["body"] == (isRead ? .string("theirs") : nil))
        }
    }

    // MARK: Local changes that are queued later

    @Test("a change that was made without an operation is queued by repeating it")
    func repeated() async throws {
        let (place, _) = try place("update: 'PATCH /issues/{id}'")
        try await place.sync()
        let outbox = place.outbox()
        try place.draft(["title": .string("mine")])
        #expect(try await outbox.update("Issue", Self.key, [.init("title", .string("mine"))]) != nil)
        #expect(try await outbox.update("Issue", Self.key, [.init("title", .string("mine"))]) == nil)
        #expect(try await outbox.drain().sent == 1)
        #expect(place.changes.map(\.body) == [#"{"title":"mine"}"#])
        #expect(try place.store.read { try $0.localChange("Issue", Self.key) } == nil)
    }

    @Test("a refused creation is corrected by an update, and retried with another idempotency key")
    func corrected() async throws {
        let place = try ScriptedOutbox(
            Self.entities("create: { request: 'POST /issues', fields: [title] }, update: 'PATCH /issues/{id}'")
        ) {
            request in
            request.body.contains("bad")
                ? Answer(status: "422 No")
                : Answer(status: "201 Created", body: #"{"id":7,"number":17,"title":"good"}"#)
        }
        let outbox = place.outbox()
        let key = try await outbox.create("Issue", [.init("title", .string("bad")), .init("number", .int(1))])
        #expect(try await outbox.drain().dead == 1)
        try await outbox.update("Issue", key, [.init("title", .string("good"))])
        #expect(try outbox.operations().map(\.state) == [.dead])
        try await outbox.retry(try #require(try outbox.operations().first).id)
        #expect(try await outbox.drain().sent == 1)
        #expect(place.changes.map(\.body) == [#"{"title":"bad"}"#, #"{"title":"good"}"#])
        #expect(Set(place.changes.map { $0.field("Idempotency-Key") }).count == 2)
    }

    // MARK: Order

    @Test("another order of a relationship without an order is no conflict", arguments: [false, true])
    func order(isSettled: Bool) async throws {
        let labels = { (ids: [Int]) in ids.map { #"{"id":\#($0),"name":"n","color":"c"}"# }.joined(separator: ",") }
        let issue = { (ids: [Int]) in #"[{"id":1,"number":11,"title":"a","labels":[\#(labels(ids))]}]"# }
        let (place, list) = try place("update: 'PATCH /issues/{id}'", issue([1, 2]))
        try await place.sync()
        let outbox = place.outbox()
        try await place.store.write {
            try $0.put("Label", RecordKey(3), [.init("name", .string("n")), .init("color", .string("c"))])
        }
        let wanted = Value.references([RecordKey(1), RecordKey(2), RecordKey(3)])
        try await outbox.update("Issue", Self.key, [.init("labels", wanted)])
        list.set(issue(isSettled ? [3, 2, 1] : [2, 1]))
        try await place.sync()
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.dead == 0 && report.remaining.isEmpty, "\(report)")
        #expect(place.changes.count == (isSettled ? 0 : 1))
    }
}
