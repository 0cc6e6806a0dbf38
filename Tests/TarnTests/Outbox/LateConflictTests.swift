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

    private func place(_ record: ScriptedRecord) throws -> ScriptedOutbox {
        try ScriptedOutbox(
            """
            Issue:
              key: id
              attributes: { id: int, title: string }
              write: { update: 'PATCH /issues/{id}' }
            """
        ) { request in
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
}
