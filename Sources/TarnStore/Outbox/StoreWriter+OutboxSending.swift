// The life of a queued operation: claimed, sent, completed, postponed, buried, retried.

import Foundation
internal import LMDB

extension StoreWriter {
    /// Claims operations for sending: their state becomes `sending`, and the attempt is counted.
    ///
    /// An operation that is `sending` already, because its sender was killed, is claimed again.
    /// Operations that are dead or no longer queued are left out. The caller respects
    /// dependencies: see ``OutboxTable/window(limit:after:now:)``.
    ///
    /// - Returns: the claimed operations, in the order of `ids`.
    package mutating func claimOperations(_ ids: [UInt64], at now: Timestamp = .now) throws -> [OutboxOperation] {
        throw OutboxError.unknownOperation(id: 0)
    }

    /// Takes an operation that reached the server out of the outbox, and adopts the server's key.
    ///
    /// The key is replaced in the row, in indexes and references, in joined attributes, in rows
    /// whose key contains it, in marks, and in other operations. If a record with the server's key
    /// exists, both become one: fields with unsent changes keep their local values.
    ///
    /// The answer's record, if there is one, is imported after this call in the same transaction.
    ///
    /// - Parameter key: the server's key of a created record; nil to keep the key.
    /// - Returns: nil if the operation is no longer queued.
    /// - Throws: `StoreError.wrongKey`; otherwise as `put`.
    package mutating func completeOperation(
        _ id: UInt64, adopting key: RecordKey? = nil, at now: Timestamp = .now
    ) throws -> OutboxCompletion? {
        throw OutboxError.unknownOperation(id: 0)
    }

    /// Returns an operation to the queue after a failure that may pass.
    ///
    /// - Returns: false if the operation is no longer queued.
    @discardableResult
    package mutating func retryOperationLater(
        _ id: UInt64, notBefore: Timestamp?, _ failure: OutboxFailure
    ) throws -> Bool {
        throw OutboxError.unknownOperation(id: 0)
    }

    /// Returns claimed operations to the queue that were not sent after all.
    ///
    /// Their attempts stay counted: nothing is folded into them.
    package mutating func releaseOperations(_ ids: [UInt64]) throws {
        throw OutboxError.unknownOperation(id: 0)
    }

    /// Makes an operation dead: the server refused it for good.
    ///
    /// - Returns: false if the operation is no longer queued.
    @discardableResult
    package mutating func buryOperation(_ id: UInt64, _ failure: OutboxFailure) throws -> Bool {
        throw OutboxError.unknownOperation(id: 0)
    }

    /// Queues a dead operation again, or ends the back-off of a pending one.
    ///
    /// The idempotency key stays: the payload is the same.
    ///
    /// - Returns: the operation.
    /// - Throws: `OutboxError.unknownOperation`, `.wrongState` if it is being sent.
    @discardableResult
    package mutating func retryOperation(_ id: UInt64) throws -> OutboxOperation {
        throw OutboxError.unknownOperation(id: 0)
    }

    /// Replaces the changes of an update or a creation after a conflict, and queues it again.
    ///
    /// `changes` has the new base values and the values to send. Fields that it lacks are
    /// withdrawn: their visible value becomes the server's. Later operations continue from the new
    /// values. The operation gets a new idempotency key. An update without changes is withdrawn.
    ///
    /// - Returns: the operation; nil if it was withdrawn.
    /// - Throws: `OutboxError.unknownOperation`, `.wrongState` for another kind.
    @discardableResult
    package mutating func replaceChanges(
        ofOperation id: UInt64, _ changes: [OutboxOperation.Change]
    ) throws -> OutboxOperation? {
        throw OutboxError.unknownOperation(id: 0)
    }

    /// Discards an operation, and rolls its local change back.
    ///
    /// Each changed field that no later operation changes gets the server's value: the one that a
    /// later response has brought, otherwise the one before the change. A created record is
    /// deleted, with all operations that depend on it. A deleted record is restored.
    ///
    /// - Parameter evenIfSending: whether an operation is discarded that a sender has claimed. The
    ///   request may still reach the server.
    /// - Throws: `OutboxError.unknownOperation`, `.wrongState`.
    @discardableResult
    package mutating func discardOperation(_ id: UInt64, evenIfSending: Bool = false) throws -> OutboxDiscard {
        throw OutboxError.unknownOperation(id: 0)
    }
}
