// The state of unsent changes, as it is observed, and members that a write of the caller changes.

import Tarn
import TestSupport
import Testing

@Suite("Outbox: status")
struct OutboxStatusTests {
    @Test(
        "the unsent changes of a record are observed: those of this record, also when they fail and end",
        .timeLimit(.minutes(1)))
    func observed() async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        try await fixture.stored(7)
        try await fixture.stored(8)
        var iterator = outbox.status(of: "Item", RecordKey(7)).makeAsyncIterator()
        func next() async throws -> OutboxRecordStatus { try #require(try await iterator.next()).value }
        #expect(try await next() == OutboxRecordStatus())
        // A change of another record is none of this one: the next value has the one after it.
        try await outbox.update("Item", RecordKey(8), [.init("title", .string("other"))])
        let operation = try #require(try await outbox.update("Item", RecordKey(7), [.init("title", .string("b"))]))
        var status = try await next()
        #expect(status.operations == [operation] && status.counts.pending == 1 && status.failure == nil)
        fixture.server.with { $0.fault = { $0.target.hasSuffix("/7") ? .status(422) : nil } }
        _ = try await outbox.drain()
        repeat { status = try await next() } while status.counts.dead == 0
        #expect(status.operations == [operation] && status.failure?.status == 422)
        try await outbox.discard(operation)
        repeat { status = try await next() } while !status.operations.isEmpty
        #expect(status == OutboxRecordStatus())
        #expect(try fixture.field("title", of: RecordKey(7)) == .string("a"))
    }

    @Test("members are added and removed within a write of the caller: all of it, or nothing")
    func membersOfAWrite() async throws {
        struct Failed: Error {}
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        fixture.server.with { $0.labels = [1: "one", 2: "two"] }
        try await fixture.stored(7)
        await #expect(throws: Failed.self) {
            try await fixture.store.write { writer in
                try outbox.add([RecordKey(1)], to: "labels", of: "Item", RecordKey(7), in: &writer)
                throw Failed()
            }
        }
        #expect(try outbox.operations().isEmpty && fixture.field("labels", of: RecordKey(7)) == .references([]))
        try await fixture.store.write { writer in
            try outbox.add([RecordKey(1), RecordKey(2)], to: "labels", of: "Item", RecordKey(7), in: &writer)
            try outbox.remove([RecordKey(2)], from: "labels", of: "Item", RecordKey(7), in: &writer)
        }
        #expect(try fixture.field("labels", of: RecordKey(7)) == .references([RecordKey(1)]))
        _ = try await outbox.drain()
        #expect(fixture.server.with { $0.items[7]?.labels } == [1])
    }
}
