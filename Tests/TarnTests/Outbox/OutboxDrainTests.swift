// One pass over the outbox: writes that apply answers and claim operations, and that may fail.

import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Tarn

@Suite("Outbox: one pass", .timeLimit(.minutes(2)))
struct OutboxDrainTests {
    private typealias Answer = ScriptedServer.Answer

    /// Three issues, named a, b and c. The server then has the name d for the second one, which was
    /// renamed here, and a local change gives the third one the same name.
    private func renamed(title isFirst: Bool) async throws -> ScriptedOutbox {
        let second = Mutex("b")
        let place = try ScriptedOutbox(
            """
            Issue:
              key: id
              attributes: { id: int, title: string, name: { type: string, unique: true } }
              write: { update: 'PATCH /issues/{id}' }
            """
        ) { request in
            guard request.method == "GET" else { return Answer(status: "204 No Content") }
            let names = ["a", second.withLock(\.self), "c"]
            let issues = names.enumerated().map { #"{"id":\#($0 + 1),"title":"t","name":"\#($1)"}"# }
            guard let id = Int(request.target.dropFirst("/issues/".count)) else {
                return Answer(body: "[\(issues.joined(separator: ","))]")
            }
            return Answer(body: issues[id - 1])
        }
        try await place.sync()
        let outbox = place.outbox()
        func update(_ id: Int64, _ field: String, _ text: String) async throws {
            try await outbox.update("Issue", RecordKey(id), [.init(field, .string(text))])
        }
        if isFirst { try await update(1, "title", "mine") }
        try await update(2, "name", "x")
        try await update(3, "name", "d")
        if !isFirst { try await update(1, "title", "mine") }
        second.withLock { $0 = "d" }
        try await place.sync()
        return place
    }

    private func outbox(_ place: ScriptedOutbox, _ policy: ConflictPolicy) -> Outbox {
        var options = Outbox.Options()
        options.concurrent = 1
        return place.client.outbox(conflicts: policy, options: options)
    }

    @Test(
        "an operation whose conflict cannot be decided because of a unique value is a dead letter; others are sent",
        arguments: [true, false])
    func unclaimable(isFirst: Bool) async throws {
        let place = try await renamed(title: isFirst), outbox = outbox(place, .server)
        // When the change of the second one is claimed, it is withdrawn: its record would get the
        // name that the third one has here.
        let report = try await outbox.drain()
        #expect(report.sent == 2 && report.dead == 1 && report.withdrawn == 0, "\(report)")
        #expect(Set(place.writes) == ["PATCH /issues/1", "PATCH /issues/3"] && place.writes.count == 2)
        let dead = try #require(try outbox.operations().first)
        #expect(try outbox.operations().count == 1 && dead.record == OutboxRecord("Issue", RecordKey(2)))
        #expect(dead.state == .dead && dead.failure?.message.contains("must be unique") == true)
        #expect(dead.failure?.kind == "conflict")
        #expect(try place.field("name", of: RecordKey(2)) == .string("x"))
        #expect(try place.store.read { try $0.localChange("Issue", RecordKey(1)) } == nil)
        // The next pass is not stopped either.
        #expect(try await outbox.drain().remaining.dead == 1)
    }

    @Test("an operation whose claim was rolled back with another one's decision is sent by the same pass")
    func claimedAgain() async throws {
        let place = try await renamed(title: false)
        let outbox = outbox(place, .resolve { _, _, _ in nil })
        let report = try await outbox.drain()
        #expect(report.sent == 2 && report.dead == 1 && report.remaining.pending == 0, "\(report)")
        #expect(place.writes == ["PATCH /issues/3", "PATCH /issues/1"])
        #expect(try outbox.operations().map(\.id) == [1])
        // The conflict is open: a later change of the record is not based on the value before.
        #expect(try outbox.operations().first?.failure?.kind == "conflict")
    }

    @Test("a write that fails because of an answer's data buries its operation; a lack of memory or room buries none")
    func reasons() {
        let answers: [any Error] = [
            StoreWriteError.notUnique(entity: "Issue", index: "name", keys: ["1", "2"]),
            StoreWriteError.keyCollision(entity: "Issue"),
            StoreWriteError.deleteDenied(entity: "Issue", key: "1", relationship: "comments", by: "Comment 7"),
        ]
        #expect(answers.allSatisfy { OutboxDrain.isAnswers($0) })
        let others: [any Error] = [
            ImportError.outOfMemory, StoreWriteError.storeFull(path: "s.tarn", quota: nil),
            StoreError.file("s.tarn", 28, operation: "write"),
        ]
        #expect(!others.contains { OutboxDrain.isAnswers($0) })
    }

    @Test("a change of a record that the server has deleted is withdrawn, also if a delete rule keeps the record")
    func denied() async throws {
        let place = try ScriptedOutbox(
            """
            Issue:
              key: id
              attributes: { id: int, title: string }
              relationships: { comments: { to: [Comment], inverse: issue, on_delete: deny } }
              write: { update: 'PATCH /issues/{id}', read: '/issues/{id}' }
            Comment:
              key: id
              attributes: { id: int, text: string }
              relationships: { issue: { to: Issue, inverse: comments } }
            """
        ) { _ in Answer(status: "404 Not Found") }
        try await place.store.write { writer in
            try writer.put("Issue", RecordKey(1), [.init("title", .string("a"))])
            try writer.put(
                "Comment", RecordKey(7), [.init("text", .string("c")), .init("issue", .reference(RecordKey(1)))])
        }
        let outbox = outbox(place, .server)
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("mine"))])
        let report = try await outbox.drain()
        #expect(report.withdrawn == 1 && report.dead == 0, "\(report)")
        #expect(try outbox.operations().isEmpty && place.field("title") == .string("a"))
        // Without the comment, the record goes with its change.
        _ = try await place.store.write { try $0.delete("Comment", RecordKey(7), ifVersion: nil) }
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("mine"))])
        #expect(try await outbox.drain().withdrawn == 1)
        #expect(try place.store.read { try $0.record("Issue", RecordKey(1)) } == nil)
    }
}
