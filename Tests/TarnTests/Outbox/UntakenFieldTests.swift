// Answers that have the value from before a change.

import Foundation
import Tarn
import TestSupport
import Testing

@Suite("Outbox: fields that the server does not take", .timeLimit(.minutes(2)))
struct UntakenFieldTests {
    private typealias Answer = ScriptedServer.Answer

    private static func entities(_ options: String = "") -> String {
        """
        Issue:
          key: id
          attributes: { id: int, title: string, dueOn: string?, meta: json? }
          relationships: { labels: { to: [Label] } }
          write:
            create: { request: POST /issues\(options) }
            update: { request: 'PATCH /issues/{id}'\(options) }
        Label: { key: id, attributes: { id: int } }
        """
    }

    /// A server whose list has an issue, and that answers each change in the same way.
    private func place(_ answer: String, _ options: String = "") async throws -> ScriptedOutbox {
        let place = try ScriptedOutbox(Self.entities(options)) { request in
            guard request.method == "GET" else {
                return answer.isEmpty ? Answer(status: "204 No Content") : Answer(body: answer)
            }
            return Answer(
                body: #"[{"id":1,"title":"a","dueOn":"may","meta":{"x":1},"labels":[{"id":1},{"id":2}]}]"#)
        }
        try await place.sync(["issues"])
        return place
    }

    private func warnings(
        _ place: ScriptedOutbox, _ changes: [Record.Field]
    ) async throws -> [OutboxReport.Problem] {
        let outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(1), changes)
        let report = try await outbox.drain()
        try #require(report.sent == 1 && report.unread == 0, "\(report)")
        return report.warnings
    }

    @Test("a server that leaves out a member with an unknown name: the report names the field, the store has its value")
    func unknownMember() async throws {
        // The responses have camelCase, which the description does not declare.
        let place = try await place(#"{"id":1,"title":"b","dueOn":"may"}"#)
        let warnings = try await warnings(place, [.init("title", .string("b")), .init("dueOn", .string("june"))])
        #expect(place.changes.last?.body == #"{"title":"b","due_on":"june"}"#)
        let warning = try #require(warnings.first)
        #expect(warnings.count == 1 && warning.failure.kind == "untaken")
        #expect(warning.failure.message.contains("earlier value of dueOn,"), "\(warning)")
        #expect(try place.field("dueOn") == .string("may") && place.field("title") == .string("b"))
    }

    @Test(
        "no warning: taken, changed by the server, left out of the answer, another order of labels, an answer without a body",
        arguments: [
            #"{"id":1,"title":"b","meta":{"x":2},"labels":[{"id":2},{"id":3}]}"#,
            #"{"id":1,"title":"B!","meta":{"x":3}}"#, #"{"id":1}"#,
            #"{"id":1,"title":"b","meta":{ "x": 2 },"labels":[{"id":3},{"id":2}]}"#, "",
        ])
    func taken(answer: String) async throws {
        let place = try await place(answer)
        let warnings = try await warnings(
            place,
            [
                .init("title", .string("b")), .init("meta", .json(#"{"x":2}"#)),
                .init("labels", .references([RecordKey(2), RecordKey(3)])),
            ])
        #expect(warnings.isEmpty, "\(warnings)")
    }

    @Test("JSON and lists that the server has not taken are told, too")
    func otherValues() async throws {
        let place = try await place(#"{"id":1,"meta":{ "x": 1 },"labels":[{"id":2},{"id":1}]}"#)
        let warnings = try await warnings(
            place,
            [
                .init("meta", .json(#"{"x":2}"#)), .init("labels", .references([RecordKey(2), RecordKey(3)])),
            ])
        #expect(warnings.first?.failure.message.contains("earlier value of labels, meta,") == true, "\(warnings)")
    }

    @Test("a created record whose answer has null in place of a value")
    func creation() async throws {
        let place = try await place(#"{"id":7,"title":"new","dueOn":null}"#)
        let outbox = place.outbox()
        try await outbox.create("Issue", [.init("title", .string("new")), .init("dueOn", .string("june"))])
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.warnings.count == 1, "\(report)")
        #expect(report.warnings.first?.record == OutboxRecord("Issue", RecordKey(7)))
        #expect(report.warnings.first?.failure.message.contains("dueOn") == true)
    }

    @Test("null in place of an empty text is no other value")
    func emptyText() async throws {
        let place = try await place(#"{"id":7,"title":"new","dueOn":null,"labels":null}"#)
        let outbox = place.outbox()
        try await outbox.create(
            "Issue", [.init("title", .string("new")), .init("dueOn", .string("")), .init("labels", .references([]))])
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.warnings.isEmpty, "\(report)")
    }

    @Test("a field that the request does not send is not among them")
    func notSent() async throws {
        let place = try await place(#"{"id":1,"title":"b","dueOn":"may"}"#, ", fields: [title]")
        let warnings = try await warnings(place, [.init("title", .string("b")), .init("dueOn", .string("june"))])
        #expect(warnings.allSatisfy { $0.failure.kind != "untaken" }, "\(warnings)")
    }
}
