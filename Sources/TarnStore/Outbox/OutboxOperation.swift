// An operation of the outbox: a local change that still has to reach the server.

import Foundation

/// A local change of a record that is queued for the server.
///
/// Operations of one record are sent in the order of their ids. An id is never reused.
public struct OutboxOperation: Sendable, Hashable, Identifiable {
    /// The operation that the server has to perform.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Creates the record.
        case create
        /// Changes fields of the record.
        case update
        /// Deletes the record.
        case delete
        /// Adds members to a to-many relationship of the record.
        case add
        /// Removes members from a to-many relationship of the record.
        case remove
    }

    /// The state of an operation.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// The operation waits for its turn, for other operations, or for its back-off to end.
        case pending
        /// The operation was claimed by a sender. After a crash it is sent again.
        case sending
        /// The server refused the operation for good. It is sent again only after a retry.
        case dead
    }

    /// The change of one field.
    public struct Change: Sendable, Hashable {
        /// The name of the attribute or stored relationship.
        public var name: String
        /// The value before the change; nil if the field was absent, `.null` if it was null.
        public var before: Value?
        /// The local value, which the server has to get.
        public var after: Value

        /// Creates a change.
        public init(_ name: String, before: Value?, after: Value) {
            self.name = name
            self.before = before
            self.after = after
        }
    }

    /// The number of the operation: ascending in the order of queueing, never reused.
    public var id: UInt64
    /// The operation that the server has to perform.
    public var kind: Kind
    /// The concrete entity of the record.
    public var entity: String
    /// The key of the record; a temporary one until the server has assigned its own.
    public var key: RecordKey
    /// Whether the key, or a part of it, is temporary.
    public var hasTemporaryKey: Bool
    /// The changed fields of an update, and all fields of a creation, in the order of their ids.
    public var changes: [Change]
    /// The record before its deletion, without local changes that were never sent.
    public var deleted: Record?
    /// The to-many relationship whose members are added or removed.
    public var relationship: String?
    /// The entity of the members.
    public var memberEntity: String?
    /// The keys of the members that are added or removed.
    public var members: [RecordKey]
    /// The value of the request's idempotency key: the same one for all attempts.
    public var idempotencyKey: UUID
    /// The state of the operation.
    public var state: State
    /// The number of times the operation was claimed for sending.
    public var attempts: Int
    /// The time when the operation was queued.
    public var queuedAt: Timestamp
    /// The time of the last attempt.
    public var attemptedAt: Timestamp?
    /// The time before which the operation is not sent again.
    public var notBefore: Timestamp?
    /// The failure of the last attempt; nil before the first failure and after a retry.
    public var failure: OutboxFailure?
    /// The options of the request, text that only the sender understands.
    public var options: String?
    /// Records that the operation refers to besides its fields and members, such as those of its
    /// URL.
    public var related: [OutboxRecord]
    /// The URL at which the server has created the record, whose key is not known yet.
    ///
    /// The next attempt reads the record there, and creates nothing.
    package var location: String?
    /// The entity tag of the record's version at the server on which the operation is based.
    package var etag: String?
    /// The date of that version.
    package var lastModified: String?
    /// Whether an earlier attempt may have reached the server: its answer is not known.
    package var mayHaveArrived = false
    /// The fields of a creation that stay local changes, because no request sends them.
    package var unsent: [String] = []
    /// The fields of a creation that are left to the server, because the request did not send them
    /// when the creation was queued; nil if that is not known.
    package var serverFields: [String]?
    /// The fields of a creation that its last attempt has sent; nil without one, and in an entry of
    /// a program that did not note them.
    package var sentFields: [String]?

    /// Whether the operation is a creation that the server has accepted, or a part of it, and whose
    /// key is not known: sent again, it could create a second record.
    package var isAccepted: Bool { OutboxOperation.isAccepted(kind, state, failure, location) }

    static func isAccepted(_ kind: Kind, _ state: State, _ failure: OutboxFailure?, _ location: String?) -> Bool {
        kind == .create && state == .dead && location == nil && (failure?.isOfAccepted ?? false)
    }

    /// The record of the operation.
    public var record: OutboxRecord { OutboxRecord(entity, key) }
}
