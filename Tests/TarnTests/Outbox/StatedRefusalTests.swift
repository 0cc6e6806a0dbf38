// Answers with success that state an error in place of the record.

import Foundation
import Tarn
import TarnImport
import TestSupport
import Testing

@Suite("Outbox: refusals with status 200", .timeLimit(.minutes(2)))
struct StatedRefusalTests {
    private typealias Answer = ScriptedServer.Answer

    private static func entities(_ records: String = "") -> String {
        """
        Issue:
          key: id
          attributes: { id: int, title: string, error: string?, status: string? }
          relationships: { labels: { to: [Label] } }
          write:
            create: { request: POST /issues\(records) }
            update: { request: 'PATCH /issues/{id}'\(records) }
            delete: 'DELETE /issues/{id}'
            relationships:
              labels: { add: 'PUT /issues/{id}/labels/{member.id}' }
        Label: { key: id, attributes: { id: int, name: string } }
        """
    }

    private func place(
        _ answer: String, records: String = "", api: String = "", status: String = "200 OK"
    ) async throws -> ScriptedOutbox {
        let place = try ScriptedOutbox(Self.entities(records), api: api) { request in
            guard request.method == "GET" else { return Answer(status: status, body: answer) }
            return Answer(body: request.target == "/issues" ? #"[{"id":1,"title":"a"}]"# : #"{"id":1,"title":"a"}"#)
        }
        try await place.sync(["issues"])
        return place
    }

    @Test(
        "an answer with an error in place of the record refuses the change: it stays as a dead letter with the reason",
        arguments: [
            (#"{"ok":false,"error":"channel_not_found"}"#, "channel_not_found"),
            (#"{"success":false,"message":"no such issue"}"#, "no such issue"),
            (#"{"status":"error","message":"closed"}"#, "closed"),
            (#"{"error":{"code":403,"message":"not yours"}}"#, "not yours"),
            (#"{"errors":[{"message":"title is too long"}]}"#, "title is too long"),
            (#"{"Success":false}"#, "`Success`"),
            (#"{"status":"fail","data":{"title":"a title is needed"}}"#, "`status`): a title is needed"),
            (#"{"success":false,"errors":["not now"]}"#, "not now"),
            (#"{"issue":null,"field_errors":[{"field":"title","message":"too short"}]}"#, "`field_errors`): too short"),
        ])
    func refused(answer: String, reason: String) async throws {
        let place = try await place(answer), outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("b"))])
        try await outbox.create("Issue", [.init("title", .string("c"))])
        let report = try await outbox.drain()
        #expect(report.sent == 0 && report.dead == 2, "\(report)")
        for operation in try outbox.operations() {
            let failure = try #require(operation.failure)
            #expect(
                failure.kind == "refused" && failure.status == 200 && failure.message.contains(reason), "\(failure)")
            #expect(failure.excerpt == answer)
        }
        // The local change stays, and a creation may be sent again.
        #expect(try place.field("title") == .string("b"))
        for operation in try outbox.operations() { try await outbox.retry(operation.id) }
        #expect(try await outbox.drain().dead == 2)
        #expect(place.writes.count == 4)
    }

    @Test("errors beside a record's place: those of GraphQL")
    func besidePlace() async throws {
        let place = try await place(
            #"{"data":{"updateIssue":null},"errors":[{"message":"locked"}]}"#,
            records: ", records: data.updateIssue.issue")
        let outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("b"))])
        #expect(try await outbox.drain().dead == 1)
        let inner = try await self.place(
            #"{"data":{"updateIssue":{"issue":null,"errors":[{"message":"locked"}]}}}"#,
            records: ", records: data.updateIssue.issue")
        let second = inner.outbox()
        try await second.update("Issue", RecordKey(1), [.init("title", .string("b"))])
        #expect(try await second.drain().dead == 1)
        #expect(try second.operations().first?.failure?.message.contains("locked") == true)
    }

    @Test("`success: false` counts in each object that leads to the record")
    func innerFlag() async throws {
        let place = try await place(
            #"{"data":{"updateIssue":{"success":false,"message":"locked","issue":null}}}"#,
            records: ", records: data.updateIssue.issue")
        let outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("b"))])
        #expect(try await outbox.drain().dead == 1)
        let message = try #require(try outbox.operations().first?.failure?.message)
        #expect(message.contains("`data.updateIssue.success`") && message.contains("locked"), "\(message)")
    }

    private static let payloads: [(errors: String, reason: String)] = [
        (#""userErrors":[{"field":["title"],"message":"is taken"}]"#, "`data.updateIssue.userErrors`): is taken"),
        (#""errors":["Title is taken"]"#, "`data.updateIssue.errors`): Title is taken"),
        (#""success":false"#, "`data.updateIssue.success`"),
    ]

    @Test(
        "errors in the payload of a mutation refuse an update, also beside the record as it is or would have been",
        arguments: payloads, [#"{"id":1,"title":"a"}"#, #"{"id":1,"title":"b"}"#, "null"])
    func besideRecord(payload: (errors: String, reason: String), record: String) async throws {
        let answer = #"{"data":{"updateIssue":{"issue":\#(record),\#(payload.errors)}}}"#
        let place = try await place(answer, records: ", records: data.updateIssue.issue"), outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("b"))])
        let report = try await outbox.drain()
        #expect(report.sent == 0 && report.dead == 1, "\(report)")
        let operation = try #require(try outbox.operations().first)
        #expect(operation.failure?.message.contains(payload.reason) == true, "\(operation)")
        #expect(try place.field("title") == .string("b"))
        try await outbox.discard(operation.id)
        #expect(try place.field("title") == .string("a"))
    }

    @Test("a mutation whose payload is not declared as the place of a record is refused by its errors, too")
    func payloadOfDeletion() async throws {
        let issue = #"{"id":1,"title":"a"}"#
        for (payload, dead) in [
            (#"{"deletedId":null,"userErrors":[{"message":"is in use"}]}"#, 1),
            (#"{"success":false,"errors":[{"message":"is in use"}]}"#, 1), (#"{"deletedId":"1","userErrors":[]}"#, 0),
        ] {
            let place = try ScriptedOutbox(
                """
                Issue:
                  key: id
                  attributes: { id: int, title: string }
                  write: { delete: { request: POST /graphql, set: { query: 'mutation { drop }', variables.id: '{id}' } } }
                """
            ) { request in
                if request.method == "GET" { return Answer(body: "[\(issue)]") }
                return Answer(body: #"{"data":{"drop":\#(payload)}}"#)
            }
            try await place.sync(["issues"])
            let outbox = place.outbox()
            try await outbox.delete("Issue", RecordKey(1))
            let report = try await outbox.drain()
            #expect(report.dead == dead && report.sent == 1 - dead, "\(payload): \(report)")
            let message = try outbox.operations().first?.failure?.message
            #expect(dead == 0 || message?.contains("): is in use") == true, "\(message ?? "")")
        }
    }

    @Test("a payload without errors, and errors of other parts of an answer with the record, are none of the change")
    func besidePayload() async throws {
        for answer in [
            #"{"data":{"updateIssue":{"issue":{"id":1,"title":"b"},"userErrors":[],"success":true}}}"#,
            #"{"data":{"updateIssue":{"issue":{"id":1,"title":"b"}}},"errors":[{"message":"no avatar"}]}"#,
            #"{"data":{"updateIssue":{"issue":{"id":1,"title":"b","errors":["of a build"]}}}}"#,
        ] {
            let place = try await place(answer, records: ", records: data.updateIssue.issue"), outbox = place.outbox()
            try await outbox.update("Issue", RecordKey(1), [.init("title", .string("b"))])
            let report = try await outbox.drain()
            #expect(report.sent == 1 && report.unread == 0 && report.dead == 0, "\(answer): \(report)")
        }
    }

    @Test("a creation whose answer has the record is done, although a part of it was refused")
    func partOfCreation() async throws {
        let place = try await place(
            #"{"data":{"createIssue":{"issue":{"id":9,"title":"b"},"userErrors":[{"message":"no image"}]}}}"#,
            records: ", records: data.createIssue.issue")
        let outbox = place.outbox()
        try await outbox.create("Issue", [.init("title", .string("b"))])
        #expect(try await outbox.drain().sent == 1)
        #expect(try place.field("title", of: RecordKey(9)) == .string("b"))
    }

    @Test("a 201 with `Location` has created the record, whatever its body states")
    func created() async throws {
        let place = try ScriptedOutbox(Self.entities()) { request in
            switch (request.method, request.target) {
            case ("POST", _):
                Answer(
                    status: "201 Created", fields: ["Location: /issues/9"],
                    body: #"{"check":{"name":"lint"},"status":"error"}"#)
            case (_, "/issues"): Answer(body: #"[{"id":1,"title":"a"}]"#)
            default: Answer(body: #"{"id":9,"title":"b"}"#)
            }
        }
        try await place.sync(["issues"])
        let outbox = place.outbox()
        try await outbox.create("Issue", [.init("title", .string("b"))])
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.dead == 0, "\(report)")
        #expect(try place.field("title", of: RecordKey(9)) == .string("b"))
    }

    @Test("deletions and additions of members are refused in the same way")
    func otherChanges() async throws {
        let place = try await place(#"{"ok":false,"error":"in_use"}"#), outbox = place.outbox()
        try await place.store.write { try $0.put("Label", RecordKey(5), [.init("name", .string("l"))]) }
        try await outbox.add([RecordKey(5)], to: "labels", of: "Issue", RecordKey(1))
        #expect(try await outbox.drain().dead == 1)
        try await outbox.delete("Issue", RecordKey(1))
        #expect(try await outbox.drain().dead == 1)
        let last = try #require(try outbox.operations().last)
        #expect(last.kind == .delete && last.failure?.message.contains("in_use") == true)
        try await outbox.discard(last.id)
        #expect(try place.field("title") == .string("a"))
    }

    @Test("an error that is a member of the record itself is none of the answer")
    func ownMember() async throws {
        let place = try await place(#"{"id":1,"title":"b","error":"disk full","status":"error"}"#)
        let outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("b"))])
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.unread == 0, "\(report)")
        #expect(try place.field("error") == .string("disk full"))
        // The answer to a deletion may have the deleted record.
        try await outbox.delete("Issue", RecordKey(1))
        #expect(try await outbox.drain().sent == 1)
    }

    @Test(
        "answers without an error are no refusals",
        arguments: [
            #"{"ok":true}"#, #"{"error":null}"#, #"{"errors":[],"data":{}}"#, #"{"error":false,"code":0}"#,
            #"{"success":true,"message":"updated"}"#, #"{"id":8,"title":"other"}"#, #"["error"]"#,
        ])
    func calm(answer: String) async throws {
        let place = try await place(answer), outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("b"))])
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.unread == 1 && report.dead == 0, "\(report)")
        try await outbox.delete("Issue", RecordKey(1))
        #expect(try await outbox.drain().sent == 1)
    }

    @Test(
        "an empty list in answer to an update that prefers the record has changed none; without that it may be anything"
    )
    func emptyList() async throws {
        for (prefer, dead) in [("return=representation", 1), ("return=minimal", 0)] {
            let place = try await place("[]", records: ", headers: { Prefer: \(prefer) }"), outbox = place.outbox()
            try await outbox.update("Issue", RecordKey(1), [.init("title", .string("b"))])
            let report = try await outbox.drain()
            #expect(report.dead == dead && report.sent == 1 - dead, "\(prefer): \(report)")
            if dead == 1 {
                let message = try #require(try outbox.operations().first?.failure?.message)
                #expect(message.contains("the list of changed records is empty"), "\(message)")
            }
            // The record of a deletion may have been gone before.
            try await outbox.delete("Issue", RecordKey(1))
            #expect(try await outbox.drain().sent == 1)
        }
    }

    @Test("a secret that the server repeats in its error is not stored")
    func secret() async throws {
        let secrets = try TemporaryFolder(), file = try secrets.write("token", "hunter2")
        let place = try await place(
            #"{"ok":false,"error":"unknown token hunter2"}"#, api: ", auth: { bearer: { file: '\(file)' } }")
        let outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("b"))])
        #expect(try await outbox.drain().dead == 1)
        let failure = try #require(try outbox.operations().first?.failure)
        #expect(failure.message.contains("unknown token ") && !"\(failure)".contains("hunter2"), "\(failure)")
    }

    @Test("a rule with `then: ignore` takes such an answer as done")
    func rule() async throws {
        let place = try await place(
            #"{"ok":false,"error":"already_done"}"#,
            api: ", responses: [{ contains: already_done, then: ignore }]")
        let outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("b"))])
        #expect(try await outbox.drain().sent == 1)
    }

    @Test("a repeated request that is refused so is not done either")
    func repeated() async throws {
        let tries = CallCounter()
        let place = try ScriptedOutbox(Self.entities()) { request in
            guard request.method == "GET" else {
                return tries.next() == 1
                    ? Answer(status: "503 Busy") : Answer(body: #"{"ok":false,"error":"not allowed"}"#)
            }
            return Answer(body: #"[{"id":1,"title":"a"}]"#)
        }
        try await place.sync(["issues"])
        let outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("b"))])
        var report = try await outbox.drain()
        while report.dead == 0, report.sent == 0 {
            try await Task.sleep(for: .milliseconds(2))
            report = try await outbox.drain()
        }
        #expect(report.dead == 1 && report.sent == 0, "\(report)")
    }
}
