// The order of requests that change one record: bodies with all of its fields.

import Foundation
import Synchronization
import Tarn
import TarnImport
import TestSupport
import Testing

@Suite("Outbox: order of whole records", .timeLimit(.minutes(2)))
struct OutboxOrderTests {
    private typealias Answer = ScriptedServer.Answer

    /// An issue and its child. The server takes its time for the requests of a method, and notes
    /// the requests when it answers them.
    private func place(
        update: String = "PUT", slow: String = "", refusing refused: String = ""
    ) async throws -> (ScriptedOutbox, Done) {
        let done = Done()
        let place = try ScriptedOutbox(
            """
            Issue:
              key: id
              attributes: { id: int, title: string }
              relationships:
                parent: { to: Issue, inverse: children }
                children: { to: [Issue], inverse: parent, on_delete: nullify }
              write: { update: '\(update) /issues/{id}', delete: 'DELETE /issues/{id}' }
            """
        ) { request in
            if request.method == slow { usleep(200_000) }
            done.requests.withLock { $0.append("\(request.method) \(request.target)") }
            if request.method == refused { return Answer(status: "403 No") }
            return request.method == "DELETE" ? Answer(status: "204 No Content") : Answer(body: request.body)
        }
        try await place.store.write { writer in
            try writer.put("Issue", RecordKey(1), [.init("title", .string("a")), .init("parent", .null)])
            try writer.put(
                "Issue", RecordKey(2), [.init("title", .string("b")), .init("parent", .reference(RecordKey(1)))])
        }
        return (place, done)
    }

    private final class Done: Sendable {
        let requests = Mutex<[String]>([])
    }

    private func parent(_ place: ScriptedOutbox) throws -> JSONValue? {
        try JSONValue(try #require(place.changes.first { $0.method == "PUT" }).body)["parent"]
    }

    @Test(
        "a PUT and a deletion that removes a reference of the same record reach the server in the order of the queue",
        arguments: [true, false])
    func order(isDeletionFirst: Bool) async throws {
        let (place, done) = try await place(slow: isDeletionFirst ? "DELETE" : "PUT")
        let outbox = place.outbox()
        if isDeletionFirst { try await outbox.delete("Issue", RecordKey(1)) }
        try await outbox.update("Issue", RecordKey(2), [.init("title", .string("mine"))])
        if !isDeletionFirst { try await outbox.delete("Issue", RecordKey(1)) }
        #expect(try outbox.waits(of: 2) == [1: false])
        #expect(try await outbox.drain().sent == 2)
        let expected = ["DELETE /issues/1", "PUT /issues/2"]
        #expect(done.requests.withLock(\.self) == (isDeletionFirst ? expected : expected.reversed()))
        #expect(try parent(place) == (isDeletionFirst ? .null : .number("1")))
        #expect(try place.field("parent", of: RecordKey(2)) == .null)
        #expect(try place.store.read { try $0.localChange("Issue", RecordKey(2)) } == nil)
    }

    @Test("a change of all records that meet a condition leaves out those that no longer meet it in their step")
    func staleCondition() async throws {
        let (place, _) = try await place(update: "PATCH"), outbox = place.outbox()
        let condition = Condition.or([
            .compare(FieldPath("title"), .equal, .string("a")),
            .compare(FieldPath("parent.title"), .equal, .string("a")),
        ])
        let changed = try await outbox.update(
            Query("Issue", where: condition), set: ["title": .string("z")], step: 1)
        #expect(changed.matched == 2 && changed.operations == [1])
        #expect(try place.field("title") == .string("z") && place.field("title", of: RecordKey(2)) == .string("b"))
        // In one step, the records are checked before the first of them is changed.
        let (other, _) = try await self.place(update: "PATCH")
        let both = try await other.outbox().update(Query("Issue", where: condition), set: ["title": .string("z")])
        #expect(both.matched == 2 && both.operations == [1, 2])
    }

    @Test(
        "a request whose URL has a field of another record, and a change of that field, reach the server in their order",
        arguments: [true, false])
    func urls(isRenamedFirst: Bool) async throws {
        let done = Done()
        let place = try ScriptedOutbox(
            """
            Project: { key: id, attributes: { id: int, slug: string, note: string? }, write: { update: 'PATCH /projects/{id}' } }
            Issue:
              key: id
              attributes: { id: int, title: string }
              relationships: { project: Project }
              write: { update: 'PATCH /p/{project.slug}/issues/{id}' }
            """
        ) { request in
            if done.requests.withLock(\.isEmpty) { usleep(200_000) }
            done.requests.withLock { $0.append(request.target) }
            return Answer(status: "204 No Content")
        }
        try await place.store.write { writer in
            try writer.put("Project", RecordKey(1), [.init("slug", .string("old"))])
            try writer.put(
                "Issue", RecordKey(7), [.init("title", .string("a")), .init("project", .reference(RecordKey(1)))])
        }
        let outbox = place.outbox()
        func rename() async throws { try await outbox.update("Project", RecordKey(1), [.init("slug", .string("new"))]) }
        if isRenamedFirst { try await rename() }
        try await outbox.update("Issue", RecordKey(7), [.init("title", .string("b"))])
        if !isRenamedFirst { try await rename() }
        #expect(try outbox.waits(of: 2) == [1: false])
        #expect(try await outbox.drain().sent == 2)
        #expect(
            done.requests.withLock(\.self)
                == (isRenamedFirst ? ["/projects/1", "/p/new/issues/7"] : ["/p/old/issues/7", "/projects/1"]))
        // Another field does not concern the URL.
        try await outbox.update("Project", RecordKey(1), [.init("note", .string("n"))])
        try await outbox.update("Issue", RecordKey(7), [.init("title", .string("c"))])
        #expect(try outbox.waits(of: 4).isEmpty)
    }

    @Test("a change that moves a record out of a deleted one reaches the server before the deletion")
    func moved() async throws {
        let (place, done) = try await place(update: "PATCH", slow: "PATCH")
        let outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(2), [.init("parent", .null)])
        try await outbox.delete("Issue", RecordKey(1))
        #expect(try outbox.waits(of: 2) == [1: false])
        #expect(try await outbox.drain().sent == 2)
        #expect(done.requests.withLock(\.self) == ["PATCH /issues/2", "DELETE /issues/1"])
    }

    @Test("a slow request of another record does not hold up a change whose wait has ended")
    func slowOther() async throws {
        let done = Done()
        let place = try ScriptedOutbox(
            """
            Issue:
              key: id
              attributes: { id: int, title: string }
              relationships: { parent: Issue }
              write: { update: 'PATCH /issues/{id}', delete: 'DELETE /issues/{id}' }
            """
        ) { request in
            if request.target == "/issues/3" {
                // The answer comes after the deletion, and at the latest after five seconds.
                for _ in 0..<500 {
                    if done.requests.withLock({ $0.contains("DELETE /issues/1") }) { break }
                    usleep(10_000)
                }
            }
            done.requests.withLock { $0.append("\(request.method) \(request.target)") }
            return Answer(status: "204 No Content")
        }
        try await place.store.write { writer in
            try writer.put("Issue", RecordKey(1), [.init("title", .string("a"))])
            try writer.put(
                "Issue", RecordKey(2), [.init("title", .string("b")), .init("parent", .reference(RecordKey(1)))])
            try writer.put("Issue", RecordKey(3), [.init("title", .string("c"))])
        }
        let outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(2), [.init("parent", .null)])
        try await outbox.delete("Issue", RecordKey(1))
        try await outbox.update("Issue", RecordKey(3), [.init("title", .string("mine"))])
        #expect(try outbox.waits(of: 2) == [1: false])
        #expect(try await outbox.drain().sent == 3)
        #expect(done.requests.withLock(\.self) == ["PATCH /issues/2", "DELETE /issues/1", "PATCH /issues/3"])
    }

    @Test("a PUT behind a refused deletion is sent with the reference that the server still has")
    func refused() async throws {
        let (place, _) = try await place(refusing: "DELETE")
        let outbox = place.outbox()
        try await outbox.delete("Issue", RecordKey(1))
        try await outbox.update("Issue", RecordKey(2), [.init("title", .string("mine"))])
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.dead == 1, "\(report)")
        #expect(try parent(place) == .number("1") && place.field("parent", of: RecordKey(2)) == .null)
    }

    @Test("run sleeps while a change waits for another one whose field is in its URL, and that for its back-off")
    func idle() async throws {
        let place = try ScriptedOutbox(
            """
            Project: { key: id, attributes: { id: int, slug: string }, write: { update: 'PATCH /projects/{id}' } }
            Issue:
              key: id
              attributes: { id: int, title: string }
              relationships: { project: Project }
              write: { update: 'PATCH /p/{project.slug}/issues/{id}' }
            """
        ) { _ in Answer(status: "503 Later") }
        try await place.store.write { writer in
            try writer.put("Project", RecordKey(1), [.init("slug", .string("old"))])
            try writer.put(
                "Issue", RecordKey(7), [.init("title", .string("a")), .init("project", .reference(RecordKey(1)))])
        }
        var options = Outbox.Options()
        options.backOff = RetryPolicy(attempts: .max, firstDelay: .seconds(60), longestDelay: .seconds(60))
        let outbox = place.client.outbox(options: options), drains = Mutex(0)
        try await outbox.update("Project", RecordKey(1), [.init("slug", .string("new"))])
        try await outbox.update("Issue", RecordKey(7), [.init("title", .string("b"))])
        let run = Task { try await outbox.run { _ in drains.withLock { $0 += 1 } } }
        while drains.withLock(\.self) == 0 { try await Task.sleep(for: .milliseconds(5)) }
        try await Task.sleep(for: .milliseconds(500))
        run.cancel()
        _ = await run.result
        #expect(place.writes == ["PATCH /projects/1"])
        #expect(drains.withLock(\.self) < 5)
    }

    @Test("a PATCH of other fields does not wait for the deletion")
    func patch() async throws {
        let (place, _) = try await place(update: "PATCH")
        let outbox = place.outbox()
        try await outbox.delete("Issue", RecordKey(1))
        try await outbox.update("Issue", RecordKey(2), [.init("title", .string("mine"))])
        #expect(try outbox.waits(of: 2) == [:])
        #expect(try await outbox.drain().sent == 2)
    }
}
