// Operations whose first answer was lost: the server repeats it, after other things have happened.

import Foundation
import Synchronization
import TarnStore
import TestSupport
import Testing

@testable import Tarn

@Suite("Outbox: repeated answers", .timeLimit(.minutes(2)))
struct RepeatedAnswerTests {
    private typealias Answer = ScriptedServer.Answer

    private static let entities = """
        Issue:
          key: id
          attributes: { id: int, title: string }
          relationships: { comments: { to: [Comment], inverse: issue, on_delete: cascade } }
          write:
            create: { request: 'POST /issues', fields: [title] }
            update: 'PATCH /issues/{id}'
            delete: 'DELETE /issues/{id}'
            read: '/issues/{id}'
        Comment:
          key: id
          attributes: { id: int, text: string }
          relationships: { issue: { to: Issue, inverse: comments } }
          write: { update: 'PATCH /comments/{id}' }
        """

    /// A server that carries out the first request of a kind, and loses its answer.
    private final class Lossy: Sendable {
        struct State: Sendable {
            /// The record that the creation makes.
            var title: String?
            var isLost = true
            var refusesDeletions = false
            var isCreated = false
            /// The title that another client sets before the record is read.
            var titleOnRead: String?
            var comments = "[]"
        }

        let state = Mutex(State())

        func answer(_ request: ScriptedServer.Request) -> ScriptedServer.Answer {
            state.withLock { state in
                func body(_ title: String) -> String {
                    #"{"id":1000,"title":"\#(title)","comments":\#(state.comments)}"#
                }
                switch request.method {
                case "POST", "PATCH":
                    if !state.isCreated || request.method == "PATCH" { state.title = request.sentTitle }
                    state.isCreated = true
                    if state.isLost { return Answer(status: "500 Lost") }
                    // The answer to a creation is repeated.
                    return Answer(body: request.method == "POST" ? body("first") : body(state.title ?? ""))
                case "DELETE":
                    if state.refusesDeletions { return Answer(status: "500 Later") }
                    state.title = nil
                    return Answer(status: "204 No Content")
                default:
                    if request.target != "/issues", let title = state.titleOnRead { state.title = title }
                    guard let title = state.title else {
                        return request.target == "/issues" ? Answer(body: "[]") : Answer(status: "404 Not Found")
                    }
                    return Answer(body: request.target == "/issues" ? "[\(body(title))]" : body(title))
                }
            }
        }
    }

    /// A creation whose answer is lost. A sync brings the record once more.
    private func created(
        comments: String = "[]", changingTo title: String = "first",
        meanwhile: (Outbox, RecordKey) async throws -> Void = { _, _ in }
    ) async throws -> (ScriptedOutbox, Lossy, Outbox, RecordKey) {
        let server = Lossy()
        let place = try ScriptedOutbox(Self.entities) { server.answer($0) }
        let outbox = place.outbox()
        let made = try await outbox.create("Issue", [.init("title", .string("first"))])
        #expect(try await outbox.drain().sent == 0)
        try await meanwhile(outbox, made)
        server.state.withLock { state in
            state.title = title
            state.comments = comments
        }
        try await place.sync()
        #expect(try place.store.read { try $0.count("Issue") } == 2)
        return (place, server, outbox, made)
    }

    /// Drains until no operation is left that waits for a back-off.
    private func drained(_ outbox: Outbox) async throws -> OutboxReport {
        var last = try await outbox.drain()
        for _ in 0..<50 where try outbox.operations().contains(where: { $0.state != .dead }) {
            try await Task.sleep(for: .milliseconds(5))
            last = try await outbox.drain()
        }
        return last
    }

    @Test("the repeated answer to a creation does not replace what a sync has brought since")
    func newerRecord() async throws {
        let (place, server, outbox, _) = try await created(changingTo: "X")
        server.state.withLock { $0.isLost = false }
        _ = try await drained(outbox)
        #expect(try place.store.read { try $0.count("Issue") } == 1)
        #expect(try place.field("title", of: RecordKey(1000)) == .string("X"))
    }

    @Test("a later change of the created record is a conflict with the change of another client")
    func laterChange() async throws {
        let (place, server, outbox, _) = try await created(changingTo: "X") { outbox, made in
            try await outbox.update("Issue", made, [.init("title", .string("mine"))])
        }
        server.state.withLock { $0.isLost = false }
        _ = try await drained(outbox)
        #expect(place.changes.allSatisfy { $0.method == "POST" })
        let dead = try outbox.operations()
        #expect(dead.count == 1 && dead.first?.failure?.kind == "conflict" && dead.first?.key == RecordKey(1000))
        #expect(try place.field("title", of: RecordKey(1000)) == .string("mine"))
    }

    @Test("a later change of the same record is a conflict, if the record is read instead of a repeated answer")
    func laterChangeOfRead() async throws {
        let server = Lossy()
        server.state.withLock { $0.title = "first" }
        let place = try ScriptedOutbox(Self.entities) { server.answer($0) }
        try await place.sync()
        let outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(1000), [.init("title", .string("one"))])
        #expect(try await outbox.drain().sent == 0)
        try await outbox.update("Issue", RecordKey(1000), [.init("title", .string("two"))])
        server.state.withLock { state in
            state.isLost = false
            state.titleOnRead = "X"
        }
        _ = try await drained(outbox)
        #expect(place.changes.allSatisfy { $0.sentTitle == "one" })
        #expect(try outbox.operations().map(\.failure?.kind) == ["conflict"])
    }

    @Test(
        "a record that was deleted here before the repeated answer to its creation stays deleted",
        arguments: [true, false])
    func deleted(isSent: Bool) async throws {
        let (place, server, outbox, _) = try await created()
        try await outbox.delete("Issue", RecordKey(1000))
        if isSent {
            try await Task.sleep(for: .milliseconds(5))
            #expect(try await outbox.drain().sent == 1)
        } else {
            server.state.withLock { $0.refusesDeletions = true }
        }
        server.state.withLock { $0.isLost = false }
        try await Task.sleep(for: .milliseconds(5))
        #expect(try await outbox.drain().sent == 1)
        #expect(try place.store.read { try $0.count("Issue") } == 0)
        server.state.withLock { $0.refusesDeletions = false }
        _ = try await drained(outbox)
        #expect(try outbox.operations().isEmpty)
        try await place.sync()
        #expect(try place.store.read { try $0.count("Issue") } == 0)
    }

    @Test(
        "the deletion of a created record deletes what a sync has brought of it as well, and restores it if it is discarded",
        arguments: [true, false])
    func cascade(isDiscarded: Bool) async throws {
        let (place, server, outbox, made) = try await created(comments: #"[{"id":7,"text":"c"}]"#)
        #expect(try place.store.read { try $0.count("Comment") } == 1)
        try await outbox.delete("Issue", made)
        server.state.withLock { state in
            state.isLost = false
            state.refusesDeletions = true
        }
        try await Task.sleep(for: .milliseconds(5))
        #expect(try await outbox.drain().sent == 1)
        #expect(try place.store.read { try ($0.count("Issue"), $0.count("Comment")) } == (0, 0))
        if isDiscarded {
            let deletion = try #require(try outbox.operations().first)
            try await outbox.discard(deletion.id)
            #expect(try place.store.read { try ($0.count("Issue"), $0.count("Comment")) } == (1, 1))
            #expect(try place.field("issue", of: RecordKey(7), "Comment") == .reference(RecordKey(1000)))
        } else {
            server.state.withLock { $0.refusesDeletions = false }
            _ = try await drained(outbox)
            #expect(try outbox.operations().isEmpty)
        }
        #expect(try place.store.read { try $0.localChange("Comment", RecordKey(7)) } == nil)
    }

    @Test(
        "an answer after a failure that does not say whether the change has arrived is perhaps a repeated one",
        arguments: ["500 Lost", "504 Gateway Timeout", "524 A Timeout Occurred"])
    func repeatedUpdate(status: String) async throws {
        let record = ScriptedRecord(#"{"id":1000,"title":"first"}"#), count = Mutex(0)
        let place = try ScriptedOutbox(Self.entities) { request in
            guard request.method == "PATCH" else { return record.read(request) }
            let number = count.withLock { count in
                count += 1
                return count
            }
            // The server has carried out the first attempt, and repeats its answer for the key.
            // Another client has changed the record meanwhile.
            guard number == 1 else { return Answer(body: #"{"id":1000,"title":"mine"}"#) }
            record.change(#"{"id":1000,"title":"theirs"}"#)
            return Answer(status: status)
        }
        try await place.sync()
        let outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(1000), [.init("title", .string("mine"))])
        _ = try await drained(outbox)
        #expect(try outbox.operations().isEmpty && place.field("title", of: RecordKey(1000)) == .string("theirs"))
    }

    @Test(
        "a 409 to a repeated change, which the server is perhaps still carrying out, is sent once more with a new key")
    func stillCarriedOut() async throws {
        let record = ScriptedRecord(#"{"id":1000,"title":"first"}"#), count = Mutex(0)
        let place = try ScriptedOutbox(Self.entities) { request in
            guard request.method == "PATCH" else { return record.read(request) }
            let number = count.withLock { count in
                count += 1
                return count
            }
            return Answer(status: ["502 Bad Gateway", "409 In Progress", "204 No Content"][min(number, 3) - 1])
        }
        // Without a response, no version is known.
        try await place.store.write { try $0.put("Issue", RecordKey(1000), [.init("title", .string("first"))]) }
        let outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(1000), [.init("title", .string("mine"))])
        _ = try await drained(outbox)
        #expect(try outbox.operations().isEmpty && place.changes.count == 3)
        let keys = place.changes.map { $0.field("Idempotency-Key") }
        #expect(keys[0] == keys[1] && keys[1] != keys[2])
    }

    @Test("a server that loses an answer and refuses the repetition each time is not asked without end")
    func refusedEachTime() async throws {
        let place = try ScriptedOutbox(Self.entities) { _ in Answer(body: "[]") }, count = Mutex(0)
        let transport = ClosureTransport { request in
            guard request.method == "PATCH" else {
                return TransportResponse(status: 200, body: Array(#"{"id":1000,"title":"first"}"#.utf8))
            }
            let number = count.withLock { count in
                count += 1
                return count
            }
            guard number % 2 == 1 else { return TransportResponse(status: 409) }
            var error = TransportError(.cutShort, method: request.method, url: request.url, detail: "closed")
            error.isUnanswered = true
            throw error
        }
        let outbox = try APIClient(place.client.description, store: place.store, transport: transport).outbox()
        try await place.store.write { try $0.put("Issue", RecordKey(1000), [.init("title", .string("first"))]) }
        try await outbox.update("Issue", RecordKey(1000), [.init("title", .string("mine"))])
        let report = try await outbox.drain()
        #expect(report.dead == 1 && report.remaining.pending == 0, "\(report)")
        #expect(count.withLock(\.self) <= 16)
    }

    @Test("a change whose push was killed may have arrived, also after it was queued again by hand")
    func retried() async throws {
        let server = Lossy()
        server.state.withLock { $0.title = "first" }
        let place = try ScriptedOutbox(Self.entities) { server.answer($0) }
        try await place.sync()
        let outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(1000), [.init("title", .string("one"))])
        let id = try #require(try outbox.operations().first).id
        try await place.store.write { _ = try $0.claimOperations([id]) }
        try await outbox.retry(id)
        #expect(try outbox.operation(id)?.mayHaveArrived == true)
        // A change of a sent operation is another operation.
        try await outbox.update("Issue", RecordKey(1000), [.init("title", .string("two"))])
        #expect(try outbox.operations().count == 2)
    }

    @Test(
        "a creation whose record cannot be read yet, because the rate limit is used up, is a sent one",
        arguments: [true, false])
    func limited(isDeleted: Bool) async throws {
        let place = try ScriptedOutbox(Self.entities) { request in
            guard request.method == "POST" else { return Answer(body: "[]") }
            let reset = Int(Date().timeIntervalSince1970) + 7200
            return Answer(
                status: "201 Created",
                fields: ["Location: /new/x", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: \(reset)"])
        }
        let outbox = place.outbox()
        let made = try await outbox.create("Issue", [.init("title", .string("first"))])
        #expect(try await outbox.drain().sent == 0)
        #expect(place.writes == ["POST /issues"])
        let creation = try #require(try outbox.operations().first)
        #expect(creation.attempts == 1 && creation.failure != nil)
        if isDeleted {
            try await outbox.delete("Issue", made)
        } else {
            try await outbox.update("Issue", made, [.init("title", .string("mine"))])
        }
        #expect(try outbox.operations().map(\.kind) == [.create, isDeleted ? .delete : .update])
    }

    @Test("a refused creation that may have arrived is not corrected: a change of its record is another operation")
    func refusedRepetition() async throws {
        let count = Mutex(0)
        let place = try ScriptedOutbox(Self.entities) { request in
            guard request.method == "POST" else { return Answer(body: "[]") }
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            return Answer(status: isFirst ? "504 Gateway Timeout" : "403 No")
        }
        let outbox = place.outbox()
        let made = try await outbox.create("Issue", [.init("title", .string("first"))])
        #expect(try await outbox.drain().sent == 0)
        try await Task.sleep(for: .milliseconds(5))
        #expect(try await outbox.drain().sent == 0)
        let dead = try #require(try outbox.operations().first)
        #expect(dead.state == .dead)
        try await outbox.update("Issue", made, [.init("title", .string("mine"))])
        let operations = try outbox.operations()
        #expect(operations.map(\.kind) == [.create, .update])
        #expect(operations.first?.idempotencyKey == dead.idempotencyKey)
    }

    @Test(
        "a creation whose first answer was lost within the attempt may have arrived, whatever the second one is",
        arguments: [true, false])
    func unanswered(isRefused: Bool) async throws {
        let place = try ScriptedOutbox(Self.entities) { _ in Answer(body: "[]") }
        let count = Mutex(0)
        let transport = ClosureTransport { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            var error = TransportError(.cutShort, method: request.method, url: request.url, detail: "closed")
            if number > 1 {
                if isRefused { return TransportResponse(status: 422) }
                error.kind = .connect
            }
            error.isUnanswered = number == 1
            throw error
        }
        let outbox = try APIClient(place.client.description, store: place.store, transport: transport).outbox()
        let made = try await outbox.create("Issue", [.init("title", .string("first"))])
        #expect(try await outbox.drain().sent == 0)
        #expect(count.withLock(\.self) == 2)
        let creation = try #require(try outbox.operations().first)
        #expect(creation.state == (isRefused ? .dead : .pending) && creation.mayHaveArrived)
        // With another key, the server could create a second record.
        try await outbox.update("Issue", made, [.init("title", .string("mine"))])
        let operations = try outbox.operations()
        #expect(operations.map(\.kind) == [.create, .update])
        #expect(operations.first?.idempotencyKey == creation.idempotencyKey)
    }

    @Test(
        "discarding a creation whose record a response has brought keeps the server's record", arguments: [true, false])
    func discardedCreation(isDeleted: Bool) async throws {
        let place = try ScriptedOutbox(
            """
            Issue:
              key: id
              attributes: { id: string, title: string }
              write: { create: { request: 'POST /issues', fields: [id, title] }, delete: 'DELETE /issues/{id}' }
            """
        ) { request in
            switch request.method {
            case "POST": return Answer(status: "409 Conflict", body: "{}")
            case "DELETE": return Answer(status: "204 No Content")
            default:
                let issue = #"{"id":"la","title":"blue"}"#
                return Answer(body: request.target == "/issues" ? "[\(issue)]" : issue)
            }
        }
        let outbox = place.outbox(), key = RecordKey("la")
        try await outbox.create("Issue", [.init("title", .string("red"))], key: key)
        try await place.sync()
        #expect(try place.field("title", of: key) == .string("red"))
        if isDeleted {
            // Never sent: the creation is withdrawn, and the server's record is deleted.
            try await outbox.delete("Issue", key)
            #expect(try outbox.operations().map(\.kind) == [.delete])
            #expect(try await outbox.drain().sent == 1 && place.writes == ["DELETE /issues/la"])
            return
        }
        _ = try await outbox.drain()
        let creation = try #require(try outbox.operations().first)
        #expect(creation.state == .dead)
        try await outbox.discard(creation.id)
        #expect(try place.field("title", of: key) == .string("blue"))
        #expect(try place.store.read { try $0.localChange("Issue", key) } == nil)
    }

    @Test("one process at a time sends, with whichever description of the store")
    func twoBases() async throws {
        let place = try ScriptedOutbox(Self.entities) { _ in Answer(status: "204 No Content") }
        var description = place.client.description
        description.api.base = "http://127.0.0.1:9"
        let other = try APIClient(description, store: place.store, transport: CurlTransport()).outbox()
        let lock = try SyncLock.claim([OutboxLock.name], directory: place.store.path)
        await #expect(throws: WriteError.busy(processID: ProcessInfo.processInfo.processIdentifier)) {
            try await other.drain()
        }
        withExtendedLifetime(lock) {}
    }
}

extension ScriptedServer.Request {
    fileprivate var sentTitle: String? {
        guard case .string(let title)? = (try? JSONValue(body))?["title"] else { return nil }
        return title
    }
}
