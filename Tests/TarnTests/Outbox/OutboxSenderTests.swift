// One sender at a time: the file of its lock, and operations of a sender that was killed.

import Foundation
import TestSupport
import Testing

@testable import Tarn

@Suite("Outbox: senders", .timeLimit(.minutes(2)))
struct OutboxSenderTests {
    private typealias Answer = ScriptedServer.Answer
    private static let key = RecordKey(1)
    private static let entities = """
        Issue: { key: id, attributes: { id: int, title: string }, write: { update: 'PATCH /issues/{id}' } }
        """

    @Test("without the file of its lock nothing is sent or fetched, and the error names it")
    func lockFile() async throws {
        let place = try ScriptedOutbox(Self.entities) { _ in Answer(status: "204 No Content") }
        let outbox = place.outbox(), path = place.store.path + "/claims.lock"
        try await place.store.write { try $0.put("Issue", Self.key, [.init("title", .string("a"))]) }
        try await outbox.update("Issue", Self.key, [.init("title", .string("b"))])
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        await #expect(throws: StoreError.self) { try await outbox.drain() }
        let failures = await APIMirror(place.client).sync().failures
        #expect("\(failures)".contains("claims.lock"), "\(failures)")
        #expect(place.server.requests.isEmpty)
    }

    @Test("an operation whose sender was killed is retried with its key, or discarded, while nobody sends")
    func killedSender() async throws {
        let place = try ScriptedOutbox(Self.entities) { _ in Answer(status: "204 No Content") }
        let outbox = place.outbox()
        for isRetried in [true, false] {
            try await place.store.write { try $0.put("Issue", Self.key, [.init("title", .string("a"))]) }
            try await outbox.update("Issue", Self.key, [.init("title", .string("b"))])
            let queued = try #require(try outbox.operations().first)
            // The state that a killed process leaves.
            try await place.store.write { _ = try $0.claimOperations([queued.id]) }
            var claim = try SyncLock.claim([OutboxLock.name], directory: place.store.path)
            #expect(claim != nil)
            await #expect(throws: OutboxError.self) { try await outbox.retry(queued.id) }
            claim = nil
            if isRetried {
                try await outbox.retry(queued.id)
                #expect(try outbox.operation(queued.id)?.state == .pending)
                #expect(try outbox.operation(queued.id)?.idempotencyKey == queued.idempotencyKey)
                #expect(try await outbox.drain().sent == 1)
            } else {
                try await outbox.discard(queued.id)
                #expect(try place.field("title") == .string("a") && outbox.operations().isEmpty)
            }
        }
    }
}
