// Observers of records beside each other, also by keys that the server's have replaced.

import TestSupport
import Testing

@testable import TarnStore

@Suite("Observing a store: several records", .timeLimit(.minutes(5)))
struct ObservationRecordTests {
    let bed: OutboxBed
    var store: Store { bed.store }

    init() throws { bed = try OutboxBed() }

    private func title(_ key: RecordKey, _ title: String) throws {
        try store.put("Issue", key, ["title": .string(title)])
    }

    private func observer(_ key: RecordKey) async throws -> Collected<Record?> {
        let observer = Collected(store.observe("Issue", key))
        try await eventually("it has its first result") { observer.values.count == 1 }
        return observer
    }

    private func sees(_ observer: Collected<Record?>, _ title: String) async throws {
        try await eventually("\(title) was seen") { observer.values.last??["title"] == .string(title) }
    }

    @Test("an observer of a record sees its changes after the observer of another one has ended")
    func oneHasEnded() async throws {
        let first = try await observer(17), second = try await observer(18)
        first.cancel()
        try await eventually("one has ended") { store.observers.count == 1 }
        try title(18, "later")
        try await sees(second, "later")
    }

    @Test("an observer by a replaced key sees the changes of its record beside an earlier one of another record")
    func addedLater() async throws {
        let one = try bed.create("Issue").key, other = try bed.create("Issue").key
        try bed.complete(1, 99)
        try bed.complete(2, 98)
        let first = try await observer(one)
        try title(99, "later")
        try await sees(first, "later")
        // The outbox has not changed since.
        let second = try await observer(other)
        try title(98, "other")
        try await sees(second, "other")
    }

    @Test("an observer by a key that is replaced later sees the changes of its record under the new key")
    func replacedLater() async throws {
        let one = try bed.create("Issue").key, other = try bed.create("Issue").key
        try bed.complete(1, 99)
        let first = try await observer(one), second = try await observer(other)
        try title(99, "later")
        try await sees(first, "later")
        try bed.complete(2, 98)
        try await eventually("it has the server's key") { second.values.last??.key == 98 }
        try title(98, "other")
        try await sees(second, "other")
    }
}
