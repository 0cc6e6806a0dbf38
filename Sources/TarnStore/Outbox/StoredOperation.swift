// An operation as it is stored: ids instead of names, values in the encoding of rows.

import Foundation

/// An operation as it is stored, a system row of the table `outbox`.
package struct StoredOperation: Sendable, Hashable {
    /// The change of a field, which replaces its whole value.
    struct FieldChange: Sendable, Hashable {
        /// The changed record; nil for the operation's own.
        ///
        /// A creation or an update changes other records only where it takes a one-to-one reference
        /// from them. No request sends that: the server does so, too.
        var record: ListedRecord?
        /// The concrete entity of the changed record.
        var kind: UInt16
        var field: UInt16
        /// The encoded value before; nil if the field was absent.
        var before: [UInt8]?
        var after: [UInt8]
    }

    /// The insertion or removal of one member of a stored list.
    struct ListEdit: Sendable, Hashable {
        /// The record with the list; nil for the operation's own.
        var record: ListedRecord?
        /// The concrete entity of the record with the list.
        var kind: UInt16
        var field: UInt16
        /// The storage key of the member.
        var target: [UInt8]
        /// The position of the member before the edit; the largest number if the list lacks it.
        ///
        /// An insertion is at the end.
        var position: UInt32
        var isInsertion: Bool
        /// The value before an insertion into no list.
        var empty = Empty.list

        /// The forms of a list without members: a list, no value, or null.
        enum Empty: UInt8, Sendable {
            case list, absent, null
        }
    }

    /// A deleted row, with long lists in the form of short ones.
    struct DeletedRow: Sendable, Hashable {
        var record: ListedRecord
        /// The concrete entity.
        var kind: UInt16
        var isPartial: Bool
        var isWide: Bool
        var body: [UInt8]
    }

    /// The identity of a relationship, which a renaming does not change.
    struct Relationship: Sendable, Hashable {
        var owner: UInt16
        var field: UInt16
        var destination: UInt16
        var isStored: Bool
        var isJoin: Bool
    }

    package var id: UInt64
    var kind: OutboxOperation.Kind
    /// The concrete entity of the record.
    var entity: UInt16
    /// The whole key of the record.
    var key: RecordKey
    /// Whether the server assigns the key of the created record, or a part of it.
    var hasTemporaryKey = false
    /// Whether the record was partial before the change.
    var wasPartial = false
    /// Whether an earlier attempt may have reached the server: its answer is not known.
    var mayHaveArrived = false
    var changes: [FieldChange] = []
    var edits: [ListEdit] = []
    /// The deleted records; the operation's own is the first.
    var rows: [DeletedRow] = []
    var relationship: Relationship?
    var members: [RecordKey] = []
    var idempotencyKey: UUID
    var state = OutboxOperation.State.pending
    var attempts = 0
    var queuedAt: Timestamp
    var attemptedAt: Timestamp?
    var notBefore: Timestamp?
    var failure: OutboxFailure?
    var options: String?
    var related: [ListedRecord] = []
    /// The URL at which the server has created the record, whose key is not known yet.
    var location: String?
    /// The entity tag of the record's version at the server on which the operation is based.
    var etag: String?
    /// The date of that version.
    var lastModified: String?
    /// The fields of a creation that no request sends: they stay local changes.
    var unsent: Set<UInt16> = []
    /// The fields of a creation that are left to the server, because the request did not send them
    /// when the creation was queued.
    ///
    /// Nil in an entry of a program that did not note them.
    var serverFields: Set<UInt16>?
    /// The fields of a creation that its last attempt has sent.
    ///
    /// An attempt after one that may have arrived sends the same ones. Nil without an attempt, and
    /// in an entry of a program that did not note them.
    var sentFields: Set<UInt16>?

    init(
        _ id: UInt64, _ kind: OutboxOperation.Kind, _ entity: UInt16, _ key: RecordKey, at time: Timestamp,
        idempotencyKey: UUID = .drawn()
    ) {
        self.id = id
        self.kind = kind
        self.entity = entity
        self.key = key
        self.idempotencyKey = idempotencyKey
        queuedAt = time
    }

    /// Whether another change may be folded into the operation: no request has had its payload.
    var isUntouched: Bool { state == .pending && attempts == 0 && location == nil && !mayHaveArrived }

    /// Whether later operations have sent all fields of the update, or all members: see
    /// ``StoreWriter/dropOvertakenChanges(by:)``.
    var isOvertaken: Bool {
        switch kind {
        case .update: changes.isEmpty && edits.isEmpty
        case .add, .remove: members.isEmpty
        case .create, .delete: false
        }
    }

    /// Whether a later operation has created the record again that the dead one was to delete.
    var isOfEarlierRecord: Bool { failure?.kind == OutboxFailure.recreated }

    /// Whether the operation is an accepted creation: see ``OutboxOperation/isAccepted``.
    var isAccepted: Bool { OutboxOperation.isAccepted(kind, state, failure, location) }

    /// Whether a change corrects the operation: a creation that the server has refused, or whose
    /// request could not be built.
    var isCorrectable: Bool {
        guard kind == .create, state == .dead, location == nil, !mayHaveArrived, let failure else { return false }
        return failure.kind == "refused" || (failure.kind == "request" && attempts <= 1)
    }
}

extension UUID {
    /// Creates a random UUID (RFC 9562 §5.4).
    ///
    /// `UUID()` opens a device for each one on Linux, which takes longer than storing it.
    static func drawn() -> UUID {
        var random = SystemRandomNumberGenerator()
        var high = random.next().bigEndian, low = random.next().bigEndian
        return withUnsafeMutableBytes(of: &high) { high in
            withUnsafeMutableBytes(of: &low) { low in
                high[6] = high[6] & 0x0F | 0x40
                low[0] = low[0] & 0x3F | 0x80
                return UUID(
                    uuid: (
                        high[0], high[1], high[2], high[3], high[4], high[5], high[6], high[7],
                        low[0], low[1], low[2], low[3], low[4], low[5], low[6], low[7]
                    ))
            }
        }
    }
}
