// Versions of records that are fields, as `X-Version: 4`, `_rev` or an entity tag in the record.

import TarnImport
import TestSupport
import Testing

@testable import Tarn

@Suite("Outbox: versions in fields", .timeLimit(.minutes(2)))
struct VersionFieldTests {
    private typealias Answer = ScriptedServer.Answer

    /// A server that refuses changes of another version than its own.
    ///
    /// - Parameter version: the version that a request states; nil if it states none.
    private func place(
        _ write: String, _ record: ScriptedRecord, status: String,
        _ version: @escaping @Sendable (ScriptedServer.Request) -> String?
    ) async throws -> ScriptedOutbox {
        let place = try ScriptedOutbox(
            """
            Issue:
              key: id
              attributes: { id: int, title: string?, other: string?, rev: int }
              write: { \(write) }
            """
        ) { request in
            let state = record.state.withLock(\.self)
            let body = state.body.replacing("REV", with: "\(state.version)")
            switch (request.method, request.target) {
            case ("GET", "/issues"): return Answer(body: "[\(body)]")
            case ("GET", _): return Answer(body: body)
            default:
                guard version(request) == "\(state.version)" else {
                    return Answer(status: status, body: #"{"message":"another version"}"#)
                }
                record.state.withLock { $0.version += 1 }
                return Answer(status: "204 No Content")
            }
        }
        try await place.sync(["issues"])
        return place
    }

    private static let forms: [(String, @Sendable (ScriptedServer.Request) -> String?)] = [
        (
            "update: { request: 'PATCH /issues/{id}', headers: { X-Version: '{rev}' } }",
            { $0.field("X-Version") }
        ),
        (
            #"update: { request: 'PATCH /issues/{id}', headers: { If-Match: 'W/"{rev}"' } }"#,
            { $0.field("If-Match").map { String($0.dropFirst(3).dropLast()) } }
        ),
        (
            "update: { request: 'PATCH /issues/{id}', set: { rev: '{rev}' } }",
            { $0.body.firstMatch(of: /"rev":(\d+)/).map { String($0.output.1) } }
        ),
        (
            "update: { request: 'PATCH /issues/{id}?rev={rev}' }, read: '/issues/{id}'",
            { $0.target.firstMatch(of: /rev=(\d+)/).map { String($0.output.1) } }
        ),
    ]

    @Test(
        "a change that is refused because of the version in a field is sent again with the version that was read",
        arguments: 0..<4, ["409 Conflict", "412 Precondition Failed"])
    func sentAgain(form: Int, status: String) async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a","other":"x","rev":REV}"#), form = Self.forms[form]
        let place = try await place(form.0, record, status: status, form.1), outbox = place.outbox()
        // Another client changes another field.
        record.change(#"{"id":1,"title":"a","other":"theirs","rev":REV}"#)
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("mine"))])
        var report = try await outbox.drain()
        #expect(report.sent == 1 && report.dead == 0, "\(report)")
        #expect(place.changes.map(form.1) == ["1", "2"])
        #expect(try place.field("other") == .string("theirs") && place.field("title") == .string("mine"))
        // An answer without the record leaves the version before it, which is read then.
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("later"))])
        record.change(#"{"id":1,"title":"mine","other":"theirs","rev":REV}"#)
        report = try await outbox.drain()
        #expect(report.sent == 1 && report.dead == 0, "\(report)")
    }

    @Test("a change of the same field is decided by the policy, and a refusal for another reason is a dead letter")
    func decided() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a","rev":REV}"#)
        let place = try await place(Self.forms[0].0, record, status: "409 Conflict", Self.forms[0].1)
        let outbox = place.outbox()
        record.change(#"{"id":1,"title":"theirs","rev":REV}"#)
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("mine"))])
        #expect(try await outbox.drain().dead == 1)
        #expect(place.changes.count == 1)
        let operation = try #require(try outbox.operations().first)
        try await outbox.retry(operation.id)
        #expect(try await outbox.drain().sent == 1)
        #expect(place.changes.map(Self.forms[0].1) == ["1", "2"])
        // The version is the known one: the server means something else.
        let other = ScriptedRecord(#"{"id":1,"title":"a","rev":REV}"#)
        let locked = try await self.place(Self.forms[0].0, other, status: "409 Conflict") { _ in "none" }
        let second = locked.outbox()
        try await second.update("Issue", RecordKey(1), [.init("title", .string("mine"))])
        #expect(try await second.drain().dead == 1)
        #expect(locked.changes.count == 1)
    }

    @Test(
        "the policy server withdraws a change that is refused because of the version in a field",
        arguments: 0..<4, ["409 Conflict", "412 Precondition Failed"])
    func withdrawn(form: Int, status: String) async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a","other":"x","rev":REV}"#), form = Self.forms[form]
        let place = try await place(form.0, record, status: status, form.1), outbox = place.outbox(.server)
        record.change(#"{"id":1,"title":"a","other":"theirs","rev":REV}"#)
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("mine"))])
        let report = try await outbox.drain()
        #expect(report.withdrawn == 1 && report.sent == 0 && report.remaining.isEmpty, "\(report)")
        let warning = report.warnings.first?.failure.message ?? ""
        #expect(warning.contains("the change of title is withdrawn"), "\(report)")
        #expect(try place.field("other") == .string("theirs") && place.field("title") == .string("a"))
    }

    @Test(
        "the policy server keeps a change that is refused for another reason while another field was changed",
        arguments: [true, false], ["", ", idempotency: Idempotency-Key"])
    func otherReason(isTaken: Bool, more: String) async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a","other":"x"}"#), count = CallCounter()
        let place = try ScriptedOutbox(
            """
            Issue:
              key: id
              attributes: { id: int, title: string, other: string }
              write: { update: 'PUT /issues/{id}'\(more) }
            """
        ) { request in
            let body = record.state.withLock(\.body)
            if request.method == "GET" { return Answer(body: request.target == "/issues" ? "[\(body)]" : body) }
            guard isTaken || count.next() == 1 else { return Answer(status: "204 No Content") }
            return Answer(status: "409 Conflict", body: #"{"message":"the title is taken"}"#)
        }
        try await place.sync(["issues"])
        let outbox = place.outbox(.server)
        record.change(#"{"id":1,"title":"a","other":"theirs"}"#)
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("mine"))])
        let report = try await outbox.drain()
        #expect(report.withdrawn == 0 && report.dead == (isTaken ? 1 : 0), "\(report)")
        #expect(report.sent == (isTaken ? 0 : 1), "\(report)")
        // Sent again with the newer value, which the body repeats: once.
        #expect(try place.changes.map { try JSONValue($0.body)["other"] } == [.string("x"), .string("theirs")])
        #expect(try place.field("title") == .string("mine") && place.field("other") == .string("theirs"))
        let message = try outbox.operations().first?.failure?.message
        #expect(message?.contains("the title is taken") ?? false == isTaken, "\(message ?? "")")
    }

    @Test("a declared precondition has precedence over the entity tag of a response")
    func declaredPrecondition() async throws {
        let place = try ScriptedOutbox(
            """
            Issue:
              key: id
              attributes: { id: int, title: string?, etag: string }
              write: { update: { request: 'PATCH /issues/{id}', headers: { If-Match: '{etag}' } } }
            """
        ) { request in
            guard request.method == "GET" else { return Answer(status: "204 No Content") }
            let issue = #"{"id":1,"title":"a","etag":"\"field\""}"#
            return request.target == "/issues"
                ? Answer(body: "[\(issue)]") : Answer(fields: ["ETag: \"response\""], body: issue)
        }
        try await place.sync()
        let outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("b"))])
        #expect(try await outbox.drain().sent == 1)
        #expect(place.changes.last?.field("If-Match") == "\"field\"")
    }

    @Test("braces in a header field that name no field are a part of its value")
    func literalBraces() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a","rev":REV}"#)
        let place = try await place(
            #"update: { request: 'PATCH /issues/{id}', headers: { X-Arguments: '{"mode": {"a b": 1}}' } }"#, record,
            status: "409 Conflict"
        ) { _ in "1" }
        let outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("b"))])
        #expect(try await outbox.drain().sent == 1)
        #expect(place.changes.last?.field("X-Arguments") == #"{"mode": {"a b": 1}}"#)
    }
}
