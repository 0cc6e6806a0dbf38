// Answers to operations that were made before another operation reached the server.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

@Suite("Outbox: answers that were under way", .timeLimit(.minutes(2)))
struct OvertakenAnswerTests {
    private typealias Answer = ScriptedServer.Answer

    private static let entities = """
        Issue:
          key: id
          attributes: { id: int, title: string }
          relationships: { user: User, tags: { to: [Tag], inverse: issues } }
          write: { update: 'PATCH /issues/{id}' }
        User: { key: id, attributes: { id: int, name: string }, write: { update: 'PATCH /users/{id}' } }
        Tag:
          key: id
          attributes: { id: int, name: string? }
          relationships: { issues: { to: [Issue], inverse: tags, on_delete: nullify } }
          write: { delete: 'DELETE /tags/{id}' }
        """

    private static let old = #"{"id":1,"title":"t","user":{"id":7,"name":"old"},"tags":[{"id":1},{"id":2}]}"#

    /// Sends an update of the issue and another change at the same time. The answer to the first is
    /// made before the second one, and arrives after the store has that.
    private func send(_ other: (Outbox) async throws -> Void) async throws -> ScriptedOutbox {
        let gate = ThreadGate(), isMade = Mutex(false)
        let place = try ScriptedOutbox(Self.entities) { request in
            if request.method == "GET" { return Answer(body: request.target == "/issues" ? "[\(Self.old)]" : Self.old) }
            guard request.target == "/issues/1" else {
                for _ in 0..<20_000 where !isMade.withLock(\.self) { usleep(1000) }
                return Answer(status: "204 No Content")
            }
            isMade.withLock { $0 = true }
            gate.wait()
            return Answer(body: Self.old.replacing(#""title":"t""#, with: #""title":"T""#))
        }
        try await place.sync()
        let outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("T"))])
        try await other(outbox)
        async let report = outbox.drain()
        try await eventually { try outbox.operations().count == 1 }
        gate.open()
        #expect(try await report.sent == 2)
        #expect(try outbox.operations().isEmpty)
        return place
    }

    @Test("a nested record keeps the change of its own operation, which was answered before")
    func nested() async throws {
        let place = try await send { try await $0.update("User", RecordKey(7), [.init("name", .string("new"))]) }
        #expect(try place.field("name", of: RecordKey(7), "User") == .string("new"))
        #expect(try place.field("title") == .string("T"))
    }

    @Test("the operation's own record keeps what another operation has changed; its responses are not used any more")
    func own() async throws {
        let place = try await send { try await $0.delete("Tag", RecordKey(1)) }
        #expect(try place.field("tags") == .references([RecordKey(2)]))
        #expect(try place.field("title") == .string("T"))
        #expect(try place.field("id", of: RecordKey(1), "Tag") == nil)
        try place.store.read { reader in
            let record = ListedRecord(
                entity: try #require(reader.catalog.entity("Issue")?.root), storageKey: RecordKey(1).storageKey)
            let ids = try reader.access.responses.ids(listing: record)
            #expect(!ids.isEmpty)
            for id in ids { #expect(try reader.access.responses.view(id: id)?.isInvalidated == true) }
        }
    }

    @Test("an answer that comes after a sync of its record does not undo what that has brought")
    func laterSync() async throws {
        let gate = ThreadGate(), record = ScriptedRecord(#"{"id":1,"title":"t","number":1}"#)
        let place = try ScriptedOutbox(
            "Issue: { key: id, attributes: { id: int, title: string, number: int }, write: { update: 'PATCH /issues/{id}' } }"
        ) { request in
            if request.method == "GET" { return record.read(request) }
            gate.wait()
            return Answer(body: #"{"id":1,"title":"T","number":1}"#)
        }
        try await place.sync()
        let outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("T"))])
        async let report = outbox.drain()
        try await gate.reached()
        record.change(#"{"id":1,"title":"t","number":2}"#)
        try await place.sync()
        #expect(try place.field("number") == .int(2))
        gate.open()
        #expect(try await report.sent == 1)
        #expect(try place.field("number") == .int(2) && place.field("title") == .string("T"))
        // The order of the two is unknown: the next sync asks without a condition.
        let count = place.server.requests.count
        #expect(await APIMirror(place.client).sync().failures.isEmpty)
        #expect(place.server.requests.dropFirst(count).allSatisfy { $0.field("If-None-Match") == nil })
        #expect(try place.field("title") == .string("t"))
    }

    @Test("an answer is imported although the record's responses are from when the clock was ahead")
    func responsesOfTheFuture() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"t","number":1}"#), clock = FastClock()
        let place = try ScriptedOutbox(
            """
            Issue:
              key: id
              attributes: { id: int, title: string, number: int }
              write: { update: 'PATCH /issues/{id}' }
            """, time: clock.source
        ) { request in
            if request.method == "GET" { return record.read(request) }
            return Answer(body: #"{"id":1,"title":"T","number":2}"#)
        }
        try await place.sync()
        clock.set()
        try await place.outbox().update("Issue", RecordKey(1), [.init("title", .string("T"))])
        #expect(try await place.outbox().drain().sent == 1)
        #expect(try place.field("number") == .int(2))
    }

    @Test("the version that was read instead of a repeated answer is required next, also if a sync has come since")
    func versionOfOvertaken() async throws {
        let gate = ThreadGate(), record = ScriptedRecord(#"{"id":1,"title":"t"}"#), count = Counter()
        let isHeld = Mutex(false)
        let place = try ScriptedOutbox(
            """
            Issue:
              key: id
              attributes: { id: int, title: string }
              write: { update: 'PATCH /issues/{id}', read: '/issues/{id}' }
            """
        ) { request in
            guard request.method == "GET" else {
                let number = count.next()
                if number == 1 { record.change(#"{"id":1,"title":"T"}"#) }
                isHeld.withLock { $0 = number == 2 }
                return Answer(status: number == 1 ? "502 Bad Gateway" : "204 No Content")
            }
            let answer = record.read(request)
            let waits = isHeld.withLock { isHeld in
                defer { isHeld = false }
                return isHeld
            }
            if waits { gate.wait() }
            return answer
        }
        try await place.sync()
        // The default delays: the operation waits for its retry.
        let outbox = place.client.outbox()
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("T"))])
        #expect(try await outbox.drain().failed == 1)
        try await outbox.retry(try #require(try outbox.operations().first).id)
        async let report = outbox.drain()
        try await gate.reached()
        try await place.sync()
        gate.open()
        #expect(try await report.sent == 1)
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("later"))])
        #expect(try await outbox.drain().sent == 1)
        #expect(place.changes.map { $0.field("If-Match") } == [#""v1""#, #""v1""#, #""v2""#])
    }

    @Test("a list whose record was changed here is no longer confirmed by a 304, if the server's record changes back")
    func changedBack() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"t"}"#)
        let place = try ScriptedOutbox(
            "Issue: { key: id, attributes: { id: int, title: string }, write: { update: 'PATCH /issues/{id}' } }"
        ) { request in
            if request.method == "GET" {
                let answer = record.read(request)
                return .tagged("\(answer.body.utf8.reduce(0) { $0 &* 31 &+ Int($1) } & 0xFFFF)", request, answer.body)
            }
            record.change(#"{"id":1,"title":"T"}"#)
            return Answer(body: #"{"id":1,"title":"T"}"#)
        }
        try await place.sync()
        #expect(await APIMirror(place.client).sync().notModified == 2)
        try await place.outbox().update("Issue", RecordKey(1), [.init("title", .string("T"))])
        #expect(try await place.outbox().drain().sent == 1)
        record.change(#"{"id":1,"title":"t"}"#)
        #expect(await APIMirror(place.client).sync().failures.isEmpty)
        #expect(try place.field("title") == .string("t"))
    }
}
