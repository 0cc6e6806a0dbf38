// Operations with names and values instead of ids and bytes.

extension OutboxSource {
    package func decoded(_ stored: StoredOperation) throws -> OutboxOperation {
        let catalog = records.catalog, entity = catalog.entity(id: stored.entity)
        let relationship = entity.flatMap { entity in
            stored.relationship.flatMap { catalog.relationship($0, of: entity) }
        }
        func names(_ fields: Set<UInt16>) -> [String] { fields.sorted().compactMap { entity?.field(id: $0)?.name } }
        return OutboxOperation(
            id: stored.id, kind: stored.kind, entity: entity?.name ?? "#\(stored.entity)", key: stored.key,
            hasTemporaryKey: stored.hasTemporaryKey,
            changes: stored.changes.compactMap { $0.record == nil ? decoded($0) : nil },
            deleted: try stored.rows.first.flatMap { try decoded($0) },
            relationship: stored.relationship.map { relationship?.name ?? "#\($0.field)" },
            memberEntity: (relationship?.destination ?? stored.relationship?.destination).flatMap {
                catalog.entity(id: $0)?.name
            },
            members: stored.members, idempotencyKey: stored.idempotencyKey, state: stored.state,
            attempts: stored.attempts, queuedAt: stored.queuedAt, attemptedAt: stored.attemptedAt,
            notBefore: stored.notBefore, failure: stored.failure, options: stored.options,
            related: stored.related.map(decoded), location: stored.location, etag: stored.etag,
            lastModified: stored.lastModified, mayHaveArrived: stored.mayHaveArrived,
            unsent: names(stored.unsent), serverFields: stored.serverFields.map(names),
            sentFields: stored.sentFields.map(names))
    }

    func decoded(_ record: ListedRecord) -> OutboxRecord {
        let key = record.storageKey.withUnsafeBytes { wholeKey(record.entity, $0) ?? RecordKey(reference: $0) }
        return OutboxRecord(
            records.catalog.entity(id: record.entity)?.name ?? "#\(record.entity)",
            key ?? RecordKey([.digest(record.storageKey)]))
    }

    /// An operation is shown with the digest of a key whose record cannot be read.
    private func wholeKey(_ root: UInt16, _ storageKey: Bytes) -> RecordKey? {
        RecordKey(storageKey: storageKey)
            ?? records.catalog.entity(id: root).flatMap { try? records.wholeKey($0, ofDigest: storageKey) }
    }

    private func decoded(_ change: StoredOperation.FieldChange) -> OutboxOperation.Change? {
        guard let after = value(change.after, change.kind, change.field) else { return nil }
        return OutboxOperation.Change(
            records.catalog.entity(id: change.kind)?.field(id: change.field)?.name ?? "#\(change.field)",
            before: change.before.flatMap { value($0, change.kind, change.field) }, after: after)
    }

    func value(_ bytes: [UInt8], _ kind: UInt16, _ field: UInt16) -> Value? {
        let root = schema.destinationRoot(kind, field)
        return bytes.withUnsafeBytes { bytes in
            guard !bytes.isEmpty else { return nil }
            return try? EncodedValue(bytes).decoded { digest in root.flatMap { wholeKey($0, digest) } }
        }
    }

    func decoded(_ row: StoredOperation.DeletedRow) throws -> Record? {
        guard let entity = records.catalog.entity(id: row.kind) else { return nil }
        return try row.body.withUnsafeBytes { bytes in
            guard let body = RowBody(bytes, isWide: row.isWide), let fields = try records.fields(entity, body) else {
                return nil
            }
            let key = row.record.storageKey.withUnsafeBytes { RecordKey(storageKey: $0) } ?? body.key(of: entity)
            return key.map { Record(entity: entity.name, key: $0, isPartial: row.isPartial, fields: fields) }
        }
    }
}
