// The state of unsent changes, as it is observed, and members that a write of the caller changes.

import Synchronization
import Tarn
import TestSupport
import Testing

@Suite("Outbox: status")
struct OutboxStatusTests {
    @Test("the unsent changes of a record are observed: those of this record, also when they fail and end")
    func observed() async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        try await fixture.stored(7)
        try await fixture.stored(8)
        let seen = Mutex<[OutboxRecordStatus]>([])
        let observer = Task {
            for try await status in outbox.status(of: "Item", RecordKey(7)) {
                seen.withLock { $0.append(status.value) }
            }
        }
        defer { observer.cancel() }
        func last() -> OutboxRecordStatus? { seen.withLock(\.last) }
        try await eventually { last() == OutboxRecordStatus() }
        // A change of another record gives no value.
        try await outbox.update("Item", RecordKey(8), [.init("title", .string("other"))])
        try await Task.sleep(for: .milliseconds(200))
        #expect(seen.withLock(\.count) == 1)
        let operation = try #require(try await outbox.update("Item", RecordKey(7), [.init("title", .string("b"))]))
        try await eventually { last()?.operations == [operation] }
        #expect(last()?.counts.pending == 1 && last()?.failure == nil)
        fixture.server.with { $0.fault = { $0.target.hasSuffix("/7") ? .status(422) : nil } }
        _ = try await outbox.drain()
        try await eventually { last()?.counts.dead == 1 }
        #expect(last()?.operations == [operation] && last()?.failure?.status == 422)
        try await outbox.discard(operation)
        try await eventually { last() == OutboxRecordStatus() }
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
