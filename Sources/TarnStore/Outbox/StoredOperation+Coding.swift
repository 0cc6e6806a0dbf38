// The bytes of an operation: see *StoreFormat*.

import Foundation
internal import LMDB

extension StoredOperation {
    private enum ID {
        static let kind: UInt16 = 1, entity: UInt16 = 2, key: UInt16 = 3, flags: UInt16 = 4, changes: UInt16 = 5
        static let edits: UInt16 = 6, rows: UInt16 = 7, relationship: UInt16 = 8, members: UInt16 = 9
        static let idempotencyKey: UInt16 = 10, state: UInt16 = 11, attempts: UInt16 = 12, queuedAt: UInt16 = 13
        static let attemptedAt: UInt16 = 14, notBefore: UInt16 = 15, failureKind: UInt16 = 16
        static let failureStatus: UInt16 = 17, failureMessage: UInt16 = 18, failureExcerpt: UInt16 = 19
        static let failedAt: UInt16 = 20, options: UInt16 = 21, related: UInt16 = 22
        static let location: UInt16 = 23, etag: UInt16 = 24, lastModified: UInt16 = 25, unsent: UInt16 = 26
        static let serverFields: UInt16 = 27, sentFields: UInt16 = 28
    }

    private enum Flag {
        static let temporaryKey = 1, partial = 2, arrived = 4
    }

    /// Decodes an entry. Nil if a part is missing or malformed.
    package init?(id: UInt64, _ row: EncodedRow) {
        guard row.body.isWellFormed, let kind = row.text(ID.kind).flatMap(OutboxOperation.Kind.init(rawValue:)),
            let entity = row.unsigned(ID.entity).flatMap({ UInt16(exactly: $0) }),
            let key = row.rawBytes(ID.key).flatMap({ RecordKey(tuple: $0) }),
            let state = row.text(ID.state).flatMap(OutboxOperation.State.init(rawValue:)),
            let attempts = row.number(ID.attempts), attempts >= 0, let queuedAt = row.date(ID.queuedAt),
            let uuid = row.body.value(of: ID.idempotencyKey), uuid.tag == ValueTag.uuid, uuid.bytes.count == 17
        else { return nil }
        self.init(id, kind, entity, key, at: queuedAt, idempotencyKey: UUID(bytes: uuid.payload))
        let flags = row.number(ID.flags) ?? 0
        hasTemporaryKey = flags & Flag.temporaryKey != 0
        wasPartial = flags & Flag.partial != 0
        mayHaveArrived = flags & Flag.arrived != 0
        self.state = state
        self.attempts = attempts
        attemptedAt = row.date(ID.attemptedAt)
        notBefore = row.date(ID.notBefore)
        options = row.text(ID.options)
        location = row.text(ID.location)
        etag = row.text(ID.etag)
        lastModified = row.text(ID.lastModified)
        if row.rawBytes(ID.serverFields) != nil { serverFields = [] }
        if row.rawBytes(ID.sentFields) != nil { sentFields = [] }
        if let kind = row.text(ID.failureKind), let at = row.date(ID.failedAt) {
            failure = OutboxFailure(
                kind: kind, status: row.number(ID.failureStatus), message: row.text(ID.failureMessage) ?? "",
                excerpt: row.text(ID.failureExcerpt), at: at)
        }
        guard readParts(row) else { return nil }
    }

    /// Whether an entry is that of a dead operation; only its state is read.
    static func isDead(_ row: EncodedRow) -> Bool { state(row)?.state == .dead }

    /// Reads the state of an entry, and whether its last attempt has failed; nil if malformed.
    ///
    /// The other parts are not read: they may be large.
    package static func state(_ row: EncodedRow) -> (state: OutboxOperation.State, hasFailed: Bool)? {
        guard row.body.isWellFormed, let state = row.text(ID.state).flatMap(OutboxOperation.State.init(rawValue:))
        else { return nil }
        return (state, row.body.value(of: ID.failureKind) != nil && row.body.value(of: ID.failedAt) != nil)
    }

    private mutating func readParts(_ row: EncodedRow) -> Bool {
        func forEach(_ id: UInt16, _ body: (inout BlobReader) -> Bool) -> Bool {
            guard let bytes = row.rawBytes(id) else { return true }
            var reader = BlobReader(bytes)
            while !reader.isAtEnd {
                guard body(&reader) else { return false }
            }
            return true
        }
        return forEach(ID.changes) { reader in
            FieldChange(&reader).map { changes.append($0) } != nil
        }
            && forEach(ID.edits) { reader in
                ListEdit(&reader).map { edits.append($0) } != nil
            }
            && forEach(ID.rows) { reader in
                DeletedRow(&reader).map { rows.append($0) } != nil
            }
            && forEach(ID.relationship) { reader in
                relationship = Relationship(&reader)
                return relationship != nil
            }
            && forEach(ID.members) { reader in
                guard let length = reader.number(UInt32.self), let bytes = reader.take(Int(length)),
                    let key = RecordKey.member(bytes)
                else { return false }
                members.append(key)
                return true
            }
            && forEach(ID.related) { reader in
                reader.record().map { related.append($0) } != nil
            }
            && forEach(ID.unsent) { reader in
                reader.number(UInt16.self).map { unsent.insert($0) } != nil
            }
            && forEach(ID.serverFields) { reader in
                reader.number(UInt16.self).map { serverFields?.insert($0) } != nil
            }
            && forEach(ID.sentFields) { reader in
                reader.number(UInt16.self).map { sentFields?.insert($0) } != nil
            }
    }

    func store(_ raw: RawTransaction, _ table: Table, _ key: Bytes, sequence: UInt64) throws {
        var row = SystemRowBuilder(), bytes = ByteWriter()
        func blob(_ id: UInt16, isEmpty: Bool, _ write: (inout ByteWriter) -> Void) {
            guard !isEmpty else { return }
            bytes.removeAll()
            write(&bytes)
            row.field(id, raw: bytes)
        }
        row.field(ID.kind, kind.rawValue)
        row.field(ID.entity, UInt64(entity))
        blob(ID.key, isEmpty: false) { $0.append(self.key.tuple) }
        let flags =
            (hasTemporaryKey ? Flag.temporaryKey : 0) | (wasPartial ? Flag.partial : 0)
            | (mayHaveArrived ? Flag.arrived : 0)
        if flags != 0 { row.field(ID.flags, flags) }
        blob(ID.changes, isEmpty: changes.isEmpty) { bytes in for change in changes { change.append(to: &bytes) } }
        blob(ID.edits, isEmpty: edits.isEmpty) { bytes in for edit in edits { edit.append(to: &bytes) } }
        blob(ID.rows, isEmpty: rows.isEmpty) { bytes in for row in rows { row.append(to: &bytes) } }
        if let relationship { blob(ID.relationship, isEmpty: false) { relationship.append(to: &$0) } }
        blob(ID.members, isEmpty: members.isEmpty) { bytes in
            for member in members { bytes.appendBlob(value: member.tuple) }
        }
        row.field(ID.idempotencyKey, Value.uuid(idempotencyKey))
        row.field(ID.state, state.rawValue)
        row.field(ID.attempts, attempts)
        row.field(ID.queuedAt, queuedAt)
        row.field(ID.attemptedAt, attemptedAt)
        row.field(ID.notBefore, notBefore)
        row.field(ID.failureKind, failure?.kind)
        row.field(ID.failureStatus, failure?.status)
        row.field(ID.failureMessage, failure?.message)
        row.field(ID.failureExcerpt, failure?.excerpt)
        row.field(ID.failedAt, failure?.at)
        row.field(ID.options, options)
        blob(ID.related, isEmpty: related.isEmpty) { bytes in for record in related { bytes.appendBlob(record) } }
        row.field(ID.location, location)
        row.field(ID.etag, etag)
        row.field(ID.lastModified, lastModified)
        func fields(_ id: UInt16, _ fields: Set<UInt16>) {
            blob(id, isEmpty: false) { bytes in for field in fields.sorted() { bytes.appendLittleEndian(field) } }
        }
        if !unsent.isEmpty { fields(ID.unsent, unsent) }
        if let serverFields { fields(ID.serverFields, serverFields) }
        if let sentFields { fields(ID.sentFields, sentFields) }
        try row.store(raw, table, key, sequence: sequence)
    }
}

extension RecordKey {
    /// Decodes a stored member: the tuple of its key, or the digest of a missing record's long key.
    fileprivate static func member(_ bytes: Bytes) -> RecordKey? {
        RecordKey(tuple: bytes) ?? (StorageKey.isDigest(bytes) ? RecordKey(reference: bytes) : nil)
    }
}

extension StoredOperation.FieldChange {
    private enum Flag {
        static let record: UInt8 = 1, before: UInt8 = 2
    }

    init?(_ reader: inout BlobReader) {
        guard let flags = reader.number(UInt8.self) else { return nil }
        if flags & Flag.record != 0 {
            guard let record = reader.record() else { return nil }
            self.record = record
        }
        guard let kind = reader.number(UInt16.self), let field = reader.number(UInt16.self) else { return nil }
        if flags & Flag.before != 0 {
            guard let before = reader.value() else { return nil }
            self.before = before
        }
        guard let after = reader.value() else { return nil }
        (self.kind, self.field, self.after) = (kind, field, after)
    }

    func append(to bytes: inout ByteWriter) {
        bytes.append((record == nil ? 0 : Flag.record) | (before == nil ? 0 : Flag.before))
        if let record { bytes.appendBlob(record) }
        bytes.appendLittleEndian(kind)
        bytes.appendLittleEndian(field)
        if let before { bytes.appendBlob(value: before) }
        bytes.appendBlob(value: after)
    }
}

extension StoredOperation.ListEdit {
    private enum Flag {
        static let record: UInt8 = 1, insertion: UInt8 = 2
        static let emptyShift: UInt8 = 2
    }

    init?(_ reader: inout BlobReader) {
        guard let flags = reader.number(UInt8.self) else { return nil }
        if flags & Flag.record != 0 {
            guard let record = reader.record() else { return nil }
            self.record = record
        }
        guard let kind = reader.number(UInt16.self), let field = reader.number(UInt16.self),
            let target = reader.storageKey(), let position = reader.number(UInt32.self)
        else { return nil }
        (self.kind, self.field, self.target, self.position) = (kind, field, target, position)
        isInsertion = flags & Flag.insertion != 0
        guard let empty = Empty(rawValue: flags >> Flag.emptyShift) else { return nil }
        self.empty = empty
    }

    func append(to bytes: inout ByteWriter) {
        bytes.append(
            (record == nil ? 0 : Flag.record) | (isInsertion ? Flag.insertion : 0) | empty.rawValue << Flag.emptyShift)
        if let record { bytes.appendBlob(record) }
        bytes.appendLittleEndian(kind)
        bytes.appendLittleEndian(field)
        bytes.appendBlob(storageKey: target)
        bytes.appendLittleEndian(position)
    }
}

extension StoredOperation.DeletedRow {
    private enum Flag {
        static let partial: UInt8 = 1, wide: UInt8 = 2
    }

    init?(_ reader: inout BlobReader) {
        guard let record = reader.record(), let kind = reader.number(UInt16.self),
            let flags = reader.number(UInt8.self), let length = reader.number(UInt32.self),
            let body = reader.take(Int(length)), let view = RowBody(body, isWide: flags & Flag.wide != 0),
            view.isWellFormed, !(0..<view.count).contains(where: { view.value(at: $0)?.tag == ValueTag.edges })
        else { return nil }
        self.init(
            record: record, kind: kind, isPartial: flags & Flag.partial != 0, isWide: flags & Flag.wide != 0,
            body: Array(body))
    }

    func append(to bytes: inout ByteWriter) {
        bytes.appendBlob(record)
        bytes.appendLittleEndian(kind)
        bytes.append((isPartial ? Flag.partial : 0) | (isWide ? Flag.wide : 0))
        bytes.appendBlob(value: body)
    }
}

extension StoredOperation.Relationship {
    init?(_ reader: inout BlobReader) {
        guard let owner = reader.number(UInt16.self), let field = reader.number(UInt16.self),
            let destination = reader.number(UInt16.self), let flags = reader.number(UInt8.self)
        else { return nil }
        self.init(
            owner: owner, field: field, destination: destination, isStored: flags & 1 != 0, isJoin: flags & 2 != 0)
    }

    init(_ relationship: Catalog.Relationship) {
        self.init(
            owner: relationship.owner, field: relationship.field, destination: relationship.destination,
            isStored: relationship.isStored, isJoin: relationship.join != nil)
    }

    func append(to bytes: inout ByteWriter) {
        bytes.appendLittleEndian(owner)
        bytes.appendLittleEndian(field)
        bytes.appendLittleEndian(destination)
        bytes.append((isStored ? 1 : 0) | (isJoin ? 2 : 0) as UInt8)
    }
}
