// The table of the outbox.

import Foundation
internal import LMDB

/// The outbox in a transaction, be it a snapshot or the writer's.
package struct OutboxTable {
    let access: StoreAccess

    init(_ access: StoreAccess) { self.access = access }

    /// Whether nothing was ever queued, or nothing is left.
    package var isEmpty: Bool { get throws { true } }

    /// The number of changes of the outbox so far: it differs after every change.
    package var revision: UInt64 { get throws { 0 } }

    /// The numbers of operations by state, which are kept in the table.
    package var counts: OutboxCounts { get throws { OutboxCounts() } }

    /// Returns an operation; nil if it is not queued.
    package func operation(_ id: UInt64) throws -> OutboxOperation? { nil }

    /// Calls the closure with operations in the order of ids, until it returns false.
    package func forEach(
        in state: OutboxOperation.State? = nil, after id: UInt64 = 0, _ body: (OutboxOperation) throws -> Bool
    ) throws {}

    /// Returns the operations of a record, in the order of ids.
    package func operations(of entity: String, _ key: RecordKey) throws -> [OutboxOperation] { [] }

    /// Returns operations from the front of the queue with what they wait for. Dead ones are left
    /// out.
    ///
    /// - Parameters:
    ///   - limit: the largest number of operations to return.
    ///   - id: the operation after which the window begins; 0 for the front.
    ///   - now: the time with which the ends of back-offs are compared.
    package func window(limit: Int, after id: UInt64 = 0, now: Timestamp = .now) throws -> [OutboxQueueEntry] { [] }

    /// Returns an operation with what it waits for; nil if it is not queued.
    package func entry(_ id: UInt64, now: Timestamp = .now) throws -> OutboxQueueEntry? { nil }

    /// The next end of a back-off; nil if no pending operation has one after `now`.
    package func nextBackOff(after now: Timestamp) throws -> Timestamp? { nil }

    /// Returns the unsent changes of a record.
    package func status(of entity: String, _ key: RecordKey) throws -> OutboxRecordStatus { OutboxRecordStatus() }

    /// Returns the key that the server has assigned to a record with a temporary key; the key
    /// itself if it has no alias. Aliases are kept for 30 days.
    package func resolvedKey(_ entity: String, _ key: RecordKey) throws -> RecordKey { key }

    /// Returns whether a key belongs to a record that a queued operation creates under a temporary
    /// key.
    package func isTemporary(_ entity: String, _ key: RecordKey) throws -> Bool { false }
}

extension StoreReader {
    /// The outbox of the snapshot.
    package var outbox: OutboxTable { access.outbox }
}
