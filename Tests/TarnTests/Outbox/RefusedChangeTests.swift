// Changes of a field whose earlier change the server has refused.

import Foundation
import Tarn
import TestSupport
import Testing

@Suite("Outbox: changes behind refused ones", .timeLimit(.minutes(2)))
struct RefusedChangeTests {
    private typealias Answer = ScriptedServer.Answer
    private static let key = RecordKey(1)
    private static let policies: [String: ConflictPolicy] = [
        "server": .server, "client": .client, "per field": .perField, "code": .resolve { _, _, _ in nil },
    ]

    /// The parts of a server that are made later.
    private final class Late: Sendable {
        let store = Mutex<Store?>(nil)
    }

    @Test("a refused change that another process queues again while a pass sends is sent by the same pass")
    func retriedMeanwhile() async throws {
        let late = Late()
        let place = try ScriptedOutbox(
            """
            Issue: { key: id, attributes: { id: int, title: string }, write: { update: 'PATCH /issues/{id}' } }
            """
        ) { request in
            guard request.target == "/issues/2" else {
                return late.store.withLock { $0 == nil } ? Answer(status: "422 No") : Answer(body: request.body)
            }
            _ = try? late.store.withLock(\.self)?.write { try $0.retryOperation(1) }
            return Answer(body: request.body)
        }
        let outbox = place.outbox()
        try await place.store.write { writer in
            for key: Int64 in 1...2 { try writer.put("Issue", RecordKey(key), [.init("title", .string("a"))]) }
        }
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("b"))])
        #expect(try await outbox.drain().dead == 1)
        late.store.withLock { $0 = place.store }
        try await outbox.update("Issue", RecordKey(2), [.init("title", .string("b"))])
        let report = try await outbox.drain()
        #expect(report.sent == 2 && report.remaining.isEmpty, "\(report)")
        #expect(place.writes == ["PATCH /issues/1", "PATCH /issues/2", "PATCH /issues/1"])
    }

    /// A server that refuses bad titles.
    private func place() throws -> (ScriptedOutbox, ScriptedRecord) {
        let record = ScriptedRecord(#"{"id":1,"title":"a"}"#)
        let place = try ScriptedOutbox(
            """
            Issue: { key: id, attributes: { id: int, title: string }, write: { update: 'PATCH /issues/{id}' } }
            """
        ) { request in
            if request.method == "GET" { return record.read(request) }
            if request.body.contains("bad") { return Answer(status: "422 No") }
            record.change(#"{"id":1,"#.appending(request.body.dropFirst()))
            return Answer(body: record.state.withLock(\.body))
        }
        return (place, record)
    }

    @Test("a corrected change is no conflict after a sync: the server has changed nothing", arguments: policies.keys)
    func corrected(policy: String) async throws {
        let (place, record) = try place()
        try await place.sync()
        let outbox = place.outbox(try #require(Self.policies[policy]))
        for title in ["bad", "bad as well"] {
            try await outbox.update("Issue", Self.key, [.init("title", .string(title))])
            #expect(try await outbox.drain().dead == 1)
        }
        try await place.sync()
        try await outbox.update("Issue", Self.key, [.init("title", .string("good"))])
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.conflicts == 0 && report.withdrawn == 0, "\(report)")
        #expect(record.state.withLock(\.body) == #"{"id":1,"title":"good"}"#)
        #expect(try place.field("title") == .string("good"))
        for operation in try outbox.operations() { try await outbox.discard(operation.id) }
        #expect(try place.field("title") == .string("good"))
        #expect(try place.store.read { try $0.localChange("Issue", Self.key) } == nil)
    }

    @Test("a retry sends nothing over a later change of the same field that was sent", arguments: policies.keys)
    func retried(policy: String) async throws {
        let (place, record) = try place()
        try await place.sync()
        let outbox = place.outbox(try #require(Self.policies[policy]))
        try await outbox.update("Issue", Self.key, [.init("title", .string("bad"))])
        #expect(try await outbox.drain().dead == 1)
        try await outbox.update("Issue", Self.key, [.init("title", .string("good"))])
        #expect(try await outbox.drain().sent == 1)
        let dead = try #require(try outbox.operations().first)
        #expect(dead.state == .dead && dead.changes.isEmpty)
        #expect(try await !outbox.retry(dead.id))
        #expect(try outbox.operations().isEmpty)
        #expect(try place.field("title") == .string("good"))
        #expect(record.state.withLock(\.body) == #"{"id":1,"title":"good"}"#)
    }

    @Test("a retry sends nothing over a later change that the server had already")
    func retriedBehindSettled() async throws {
        let (place, record) = try place()
        try await place.sync()
        let outbox = place.outbox()
        try await outbox.update("Issue", Self.key, [.init("title", .string("bad"))])
        #expect(try await outbox.drain().dead == 1)
        try await outbox.update("Issue", Self.key, [.init("title", .string("good"))])
        record.change(#"{"id":1,"title":"good"}"#)
        try await place.sync()
        #expect(try await outbox.drain().sent == 1 && place.writes.count == 1)
        #expect(try place.field("title") == .string("good"))
        let dead = try #require(try outbox.operations().first)
        #expect(try await !outbox.retry(dead.id))
        #expect(try place.field("title") == .string("good"))
    }

    @Test("a change by another client is a conflict with the corrected change", arguments: policies.keys)
    func conflict(policy: String) async throws {
        let (place, record) = try place()
        try await place.sync()
        let outbox = place.outbox(try #require(Self.policies[policy]))
        try await outbox.update("Issue", Self.key, [.init("title", .string("bad"))])
        #expect(try await outbox.drain().dead == 1)
        record.change(#"{"id":1,"title":"theirs"}"#)
        try await place.sync()
        try await outbox.update("Issue", Self.key, [.init("title", .string("good"))])
        let report = try await outbox.drain()
        #expect(report.conflicts == 1, "\(report)")
        let expected = policy == "client" ? "good" : "theirs"
        #expect(record.state.withLock(\.body) == #"{"id":1,"title":"\#(expected)"}"#)
    }

    @Test("a change that the server's value withdraws leaves an earlier refused one of the same field as it is")
    func withdrawn() async throws {
        let (place, record) = try place()
        try await place.sync()
        let outbox = place.outbox(.server)
        try await outbox.update("Issue", Self.key, [.init("title", .string("bad"))])
        #expect(try await outbox.drain().dead == 1)
        try await outbox.update("Issue", Self.key, [.init("title", .string("good"))])
        record.change(#"{"id":1,"title":"theirs"}"#)
        try await place.sync()
        let report = try await outbox.drain()
        #expect(report.withdrawn == 1 && report.sent == 0 && place.changes.count == 1, "\(report)")
        let dead = try #require(try outbox.operations().first)
        #expect(dead.state == .dead && dead.changes.map(\.after) == [.string("bad")])
    }
}
