// Queueing local changes: the visible change, the marks and the operation in one transaction.

import Foundation
internal import LMDB

extension StoreWriter {
    /// The outbox as this transaction has left it.
    package var outbox: OutboxTable { access.outbox }

    /// Creates a record locally, and queues its creation.
    ///
    /// - Parameters:
    ///   - key: the key, or the way it is made. Temporary components are replaced by the server's
    ///     when the operation completes.
    ///   - values: the fields; those of the key may be left out.
    /// - Returns: the operation and the record's key.
    /// - Throws: `OutboxError.recordExists`, `.tooLarge`; otherwise as `put`.
    @discardableResult
    package mutating func enqueueCreate(
        _ entity: String, _ key: OutboxKey = .temporary, _ values: [Record.Field],
        _ request: OutboxRequest = OutboxRequest()
    ) throws -> OutboxReceipt {
        throw OutboxError.unknownOperation(id: 0)
    }

    /// Changes fields of a record locally, and queues the change of those that differ.
    ///
    /// If nothing differs, nothing is queued. The change is folded into the record's last operation
    /// if that creates or updates the record, was never sent, has the same options, and no
    /// operation that the change depends on is later.
    ///
    /// - Throws: `OutboxError.recordMissing`, `.tooLarge`; otherwise as `put`.
    @discardableResult
    package mutating func enqueueUpdate(
        _ entity: String, _ key: RecordKey, _ values: [Record.Field], _ request: OutboxRequest = OutboxRequest()
    ) throws -> OutboxReceipt {
        throw OutboxError.unknownOperation(id: 0)
    }

    /// Deletes a record locally by its delete rules, and queues the deletion.
    ///
    /// Updates of the record that were never sent are withdrawn. If its creation was never sent,
    /// it is withdrawn with all operations that depend on it, and nothing is queued.
    ///
    /// - Throws: `OutboxError.recordMissing`, `.tooLarge`; `StoreWriteError.deleteDenied`.
    @discardableResult
    package mutating func enqueueDelete(
        _ entity: String, _ key: RecordKey, _ request: OutboxRequest = OutboxRequest()
    ) throws -> OutboxReceipt {
        throw OutboxError.unknownOperation(id: 0)
    }

    /// Adds members to a to-many relationship locally, and queues the addition of the new ones.
    ///
    /// If all are members already, nothing is queued.
    ///
    /// - Throws: `OutboxError.recordMissing`, `.notToMany`, `.notSettable`, `.tooLarge`;
    ///   `StoreError.unknownField`, `.wrongKey`.
    @discardableResult
    package mutating func enqueueAdd(
        _ members: [RecordKey], to relationship: String, of entity: String, _ key: RecordKey,
        _ request: OutboxRequest = OutboxRequest()
    ) throws -> OutboxReceipt {
        throw OutboxError.unknownOperation(id: 0)
    }

    /// Removes members from a to-many relationship locally, and queues the removal.
    ///
    /// If none is a member, nothing is queued.
    ///
    /// - Throws: as `enqueueAdd`.
    @discardableResult
    package mutating func enqueueRemove(
        _ members: [RecordKey], from relationship: String, of entity: String, _ key: RecordKey,
        _ request: OutboxRequest = OutboxRequest()
    ) throws -> OutboxReceipt {
        throw OutboxError.unknownOperation(id: 0)
    }
}
