// Responses that bring other values between the decision about a conflict and the request.

import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Tarn

@Suite("Outbox: late conflicts", .timeLimit(.minutes(2)))
struct LateConflictTests {
    private typealias Answer = ScriptedServer.Answer
    private static let key = RecordKey(1)

    private static func entities(_ write: String) -> String {
        """
        Issue:
          key: id
          attributes: { id: int, title: string, votes: int? }
          write: { \(write) }
        """
    }

    private func place(
        _ record: ScriptedRecord, _ write: String = "update: 'PATCH /issues/{id}'"
    ) throws -> ScriptedOutbox {
        try ScriptedOutbox(Self.entities(write)) { request in
            if request.method == "GET" { return record.read(request) }
            return Answer(status: record.isStale(request) ? "412 Precondition Failed" : "204 No Content")
        }
    }

    @Test("a change is not sent if a response has brought another value of its field since it was claimed")
    func changedSinceClaim() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a"}"#), place = try place(record)
        try await place.sync()
        let outbox = place.outbox()
        try await outbox.update("Issue", Self.key, [.init("title", .string("mine"))])
        let id = try #require(try outbox.operations().first).id
        let first = try await place.store.write { try $0.claimOperations([id]).first }
        let claimed = ClaimedOperation(operation: try #require(first), seen: [:])
        record.change(#"{"id":1,"title":"theirs"}"#)
        try await place.sync()
        let sent = try await OutboxLane(outbox, place.client).send(claimed)
        let isUnsent = if case .unsent = sent.outcome { true } else { false }
        #expect(isUnsent && place.changes.isEmpty)
        // The next pass decides about the conflict.
        let report = try await outbox.drain()
        #expect(report.dead == 1 && place.changes.isEmpty, "\(report)")
    }

    @Test("a version that was read after a refusal is no precondition before its values are stored")
    func versionOfStored() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a"}"#), place = try place(record)
        try await place.sync()
        let outbox = place.outbox(), lane = try await OutboxLane(outbox, place.client)
        try await outbox.update("Issue", Self.key, [.init("title", .string("mine"))])
        let id = try #require(try outbox.operations().first).id
        let first = try await place.store.write { try $0.claimOperations([id]).first }
        let claimed = ClaimedOperation(operation: try #require(first), seen: [:])
        record.change(#"{"id":1,"title":"theirs"}"#)
        // The outcomes are not applied, as if their writes had failed.
        _ = await lane.send(claimed)
        _ = await lane.send(claimed)
        #expect(place.changes.map { $0.field("If-Match") } == [#""v1""#, #""v1""#])
        #expect(try await outbox.drain().dead == 1)
        #expect(try place.field("title") == .string("mine"))
    }

    /// Claims the only operation, as a pass does.
    private func claim(_ place: ScriptedOutbox, _ outbox: Outbox) async throws -> OutboxOperation {
        let id = try #require(try outbox.operations().first).id
        let first = try await place.store.write { try $0.claimOperations([id]).first }
        return try #require(first)
    }

    private func claimed(_ operation: OutboxOperation, _ place: ScriptedOutbox) throws -> ClaimedOperation {
        try place.store.read { reader in
            ClaimedOperation(operation: operation, seen: try reader.outbox.conflictingValues(of: operation))
        }
    }

    @Test("a version that was read instead of a repeated answer is no precondition before its values are stored")
    func versionOfRepeated() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a"}"#)
        let place = try ScriptedOutbox(Self.entities("update: 'PATCH /issues/{id}', read: '/issues/{id}'")) { request in
            if request.method == "GET" { return record.read(request) }
            record.change(#"{"id":1,"title":"theirs"}"#)
            return Answer(status: "204 No Content")
        }
        try await place.sync()
        let outbox = place.outbox(), lane = try await OutboxLane(outbox, place.client)
        try await outbox.update("Issue", Self.key, [.init("title", .string("mine"))])
        var operation = try await claim(place, outbox)
        operation.mayHaveArrived = true
        // The outcomes are not applied, as if their writes had failed.
        _ = await lane.send(try claimed(operation, place))
        _ = await lane.send(try claimed(operation, place))
        #expect(place.changes.map { $0.field("If-Match") } == [#""v1""#, #""v1""#])
    }

    @Test("behind an answer without validators, the version that a queued deletion has noted is no precondition")
    func versionOfDeletion() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a"}"#)
        let place = try place(record, "update: 'PATCH /issues/{id}', delete: 'DELETE /issues/{id}'")
        try await place.sync()
        let outbox = place.outbox(), lane = try await OutboxLane(outbox, place.client)
        try await outbox.update("Issue", Self.key, [.init("title", .string("mine"))])
        let operation = try await claim(place, outbox)
        try await outbox.delete("Issue", Self.key)
        // The outcomes are not applied, as if their writes had failed.
        _ = await lane.send(try claimed(operation, place))
        _ = await lane.send(try claimed(operation, place))
        #expect(place.changes.map { $0.field("If-Match") } == [#""v1""#, nil])
    }

    @Test(
        "the version of an answer counts before that of a deletion which another process, without it, has queued since")
    func versionOfAnswer() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a"}"#)
        let entities = Self.entities("update: 'PATCH /issues/{id}', delete: 'DELETE /issues/{id}'")
        let place = try ScriptedOutbox(entities) { request in
            if request.method != "GET" { record.change(#"{"id":1,"title":"mine"}"#) }
            return record.read(request)
        }
        try await place.sync()
        let outbox = place.outbox(), lane = try await OutboxLane(outbox, place.client)
        try await outbox.update("Issue", Self.key, [.init("title", .string("mine"))])
        let operation = try await claim(place, outbox)
        // The outcomes are not applied, as if their writes had failed.
        _ = await lane.send(try claimed(operation, place))
        try await place.outbox().delete("Issue", Self.key)
        _ = await lane.send(try claimed(operation, place))
        #expect(place.changes.map { $0.field("If-Match") } == [#""v1""#, #""v2""#])
    }

    @Test("a version that was read before another operation of its record ended is no precondition")
    func versionOfOvertaken() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a","votes":1}"#), place = try place(record)
        try await place.sync()
        let outbox = place.outbox(), lane = try await OutboxLane(outbox, place.client)
        try await outbox.update("Issue", Self.key, [.init("title", .string("mine"))])
        let operation = try await claim(place, outbox)
        record.change(#"{"id":1,"title":"theirs","votes":1}"#)
        let sent = await lane.send(try claimed(operation, place))
        #expect(sent.version != nil)
        // Another operation of the record reaches the server before the outcome is applied.
        try await outbox.update("Issue", Self.key, [.init("votes", .int(2))])
        let other = try #require(try outbox.operations().last).id
        let drain = try await OutboxDrain(outbox, concurrent: [:])
        let versions = try await place.store.write { writer in
            _ = try writer.claimOperations([other])
            _ = try writer.completeOperation(other)
            var effects = OutboxDrain.Effects()
            try drain.apply(sent, &effects, &writer)
            return effects.versions.map(\.url)
        }
        #expect(other != operation.id && versions.isEmpty, "\(versions)")
    }

    @Test("a conflict is decided again if a response brings other values while code decides about it")
    func decidedAgain() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a"}"#), place = try place(record), client = place.client
        let seen = Mutex<[Value?]>([])
        try await place.sync()
        let outbox = place.outbox(
            .resolve { _, local, remote in
                let count = seen.withLock { seen in
                    seen.append(remote["title"])
                    return seen.count
                }
                if count == 1 {
                    record.change(#"{"id":1,"title":"theirs again"}"#)
                    var options = APIMirror.Options()
                    options.refetches = true
                    _ = await APIMirror(client, options: options).sync()
                }
                return [.init("title", local["title"] ?? .null)]
            })
        try await outbox.update("Issue", Self.key, [.init("title", .string("mine"))])
        record.change(#"{"id":1,"title":"theirs"}"#)
        try await place.sync()
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.dead == 0, "\(report)")
        let titles = seen.withLock(\.self)
        #expect(titles == [.string("theirs"), .string("theirs again")])
        #expect(place.changes.map { $0.field("If-Match") } == [#""v3""#])
    }

    @Test("a refused deletion is decided again if a response brings other values while code decides about it")
    func deletionDecidedAgain() async throws {
        let title = Mutex("a"), seen = Mutex<[Value?]>([]), count = Counter()
        // Without validators: the server would not notice that the decision is about older values.
        let place = try ScriptedOutbox(Self.entities("delete: 'DELETE /issues/{id}'")) { request in
            guard request.method == "GET" else {
                return Answer(status: count.next() == 1 ? "409 Conflict" : "204 No Content")
            }
            let record = #"{"id":1,"title":"\#(title.withLock(\.self))"}"#
            return Answer(body: request.target == "/issues" ? "[\(record)]" : record)
        }
        let client = place.client
        try await place.sync()
        let outbox = place.outbox(
            .resolve { _, _, remote in
                let count = seen.withLock { seen in
                    seen.append(remote["title"])
                    return seen.count
                }
                guard count == 1 else { return nil }
                title.withLock { $0 = "theirs again" }
                var options = APIMirror.Options()
                options.refetches = true
                _ = await APIMirror(client, options: options).sync()
                return []
            })
        try await outbox.delete("Issue", Self.key)
        title.withLock { $0 = "theirs" }
        let report = try await outbox.drain()
        let titles = seen.withLock(\.self)
        #expect(titles == [.string("theirs"), .string("theirs again")])
        #expect(report.withdrawn == 1 && report.sent == 0 && place.changes.count == 1, "\(report)")
        #expect(try place.field("title") == .string("theirs again"))
    }
}
