// The marks of records with operations: always the union of what the operations change.

extension StoredOperation {
    /// The change of a record by the operation, as its mark shows it; nil if it does not touch it.
    fileprivate func touch(_ record: ListedRecord, _ own: ListedRecord) -> LocalTouch? {
        if record == own, isOfEarlierRecord { return nil }
        if let row = rows.first(where: { $0.record == record }) { return LocalTouch(.delete, [], entity: row.kind) }
        if record == own, kind == .create { return LocalTouch(.create, [], entity: entity) }
        if record == own, kind == .delete { return LocalTouch(.delete, [], entity: entity) }
        var fields: Set<UInt16> = [], kind: UInt16?
        for change in changes where (change.record ?? own) == record {
            fields.insert(change.field)
            kind = change.kind
        }
        for edit in edits where (edit.record ?? own) == record {
            fields.insert(edit.field)
            kind = edit.kind
        }
        return kind.map { LocalTouch(.update, fields, entity: $0) }
    }
}

extension StoredOperation {
    /// The whole key of a deleted record, from its row.
    fileprivate func deletedKey(of record: ListedRecord, _ entity: Catalog.Entity) -> RecordKey? {
        guard let row = rows.first(where: { $0.record == record }) else { return nil }
        return row.body.withUnsafeBytes { RowBody($0, isWide: row.isWide)?.key(of: entity) }
    }
}

/// The change of a record by one operation.
private struct LocalTouch {
    var operation: LocalChange.Operation
    var fields: Set<UInt16>
    var entity: UInt16

    init(_ operation: LocalChange.Operation, _ fields: Set<UInt16>, entity: UInt16) {
        self.operation = operation
        self.fields = fields
        self.entity = entity
    }

    /// Returns a mark with this change after the ones that it has.
    func added(to mark: LocalMark?, at time: Timestamp) -> LocalMark {
        guard var mark else { return LocalMark(operation, fields.sorted(), entity: entity, since: time) }
        mark.since = min(mark.since, time)
        switch (mark.operation, operation) {
        case (_, .delete), (.delete, .create):
            mark.operation = operation
            mark.fields = []
        case (.update, .create):
            mark.operation = .create
            mark.fields = []
        case (.create, _), (.delete, .update): break
        case (.update, .update):
            if !mark.fields.isEmpty { mark.fields = fields.union(mark.fields).sorted() }
        }
        return mark
    }
}

extension StoreWriter {
    /// Adds an operation, the last one of its records, to their marks.
    ///
    /// - Parameters:
    ///   - known: the marks of deleted records before their deletion.
    ///   - records: records of the operation that have its mark already.
    mutating func mark(
        _ operation: StoredOperation, known: [ListedRecord: LocalMark] = [:], except records: Set<ListedRecord> = []
    ) throws {
        let own = operation.record(access.catalog), parts = OperationParts(operation, own)
        for record in operation.touchedRecords(own).subtracting(records) {
            let part = parts[record]
            guard let touch = part.touch(record, own) else { continue }
            let before = try known[record] ?? access.mark(of: record)
            try putMark(touch.added(to: before, at: operation.queuedAt), record, part)
        }
    }

    /// Makes the mark of a record that an ended operation has touched the union of the remaining
    /// ones.
    ///
    /// Fields that were marked without an operation stay marked, and so does a deletion or creation
    /// of a record that the operation has updated.
    ///
    /// - Parameter ended: the operation, or its part for the record.
    mutating func renewMark(_ record: ListedRecord, after ended: StoredOperation) throws {
        if let known = try access.mark(of: record) { try renewMark(known, record, after: ended) }
    }

    /// Replaces a mark, which need not be stored as it is: see ``renewMark(_:after:)``.
    mutating func renewMark(_ known: LocalMark, _ record: ListedRecord, after ended: StoredOperation) throws {
        let catalog = access.catalog, touch = ended.touch(record, ended.record(catalog))
        var mark: LocalMark?, source = ended
        for operation in try outbox.touching(record, except: ended.id) {
            guard let next = operation.touch(record, operation.record(catalog)) else { continue }
            mark = next.added(to: mark, at: operation.queuedAt)
            source = operation
        }
        if known.operation == .update, let touch, touch.operation == .update {
            let others = Set(known.fields).subtracting(touch.fields)
            if mark == nil, known.fields.isEmpty || !others.isEmpty {
                mark = LocalMark(.update, [], entity: known.entity, since: known.since)
            }
            if let union = mark, union.operation == .update {
                mark?.fields = known.fields.isEmpty ? [] : others.union(union.fields).sorted()
            }
        }
        if known.operation != .update, touch?.operation == .update, mark?.operation != known.operation {
            mark = LocalMark(known.operation, [], entity: known.entity, since: known.since)
        }
        if mark == nil, known.operation != .delete, touch?.operation == .delete, try access.wholeRow(record) != nil {
            // The program has stored the record again, without an operation.
            mark = LocalMark(known.operation, known.fields, entity: known.entity, since: known.since)
        }
        if ended.kind == .create, !ended.unsent.isEmpty, record == ended.record(catalog), mark?.operation != .delete {
            // No request has sent them.
            var left = mark ?? LocalMark(.update, ended.unsent.sorted(), entity: known.entity, since: known.since)
            if !left.fields.isEmpty { left.fields = ended.unsent.union(left.fields).sorted() }
            mark = left
        }
        // With `local: keep`, other fields than the changed ones have kept their values, too.
        let isUpdate = known.operation == .update && touch?.operation == .update
        let kept = isUpdate ? known.server.filter { !(touch?.fields.contains($0.field) ?? true) } : []
        guard var mark else {
            if !kept.isEmpty {
                try setFields(record, Dictionary(kept.map { ($0.field, $0.value) }) { $1 })
            }
            _ = try record.storageKey.withUnsafeBytes { try access.localChanges.remove(record.entity, $0) }
            if known.isGoneAtServer { goneRecords.insert(record) }
            return
        }
        mark.server = known.server.filter { value in
            mark.covers(value.field) || kept.contains { $0.field == value.field }
        }
        mark.isGoneAtServer = known.isGoneAtServer
        mark.wholeKey = known.wholeKey
        mark.entity = known.entity
        try putMark(mark, record, source)
    }

    /// Keeps what the program has marked itself, without an operation, after one that is done.
    ///
    /// 1. A record that was deleted while its creation was queued is to be deleted at the server.
    /// 2. A record that was stored again while its deletion was queued is to be created there.
    ///
    /// - Parameter before: the mark before the operation was done.
    mutating func keepMark(_ before: LocalMark, of record: ListedRecord, after done: StoredOperation) throws {
        let own = done.record(access.catalog), now = try access.mark(of: record)
        if before.operation == .delete {
            guard now == nil, done.kind == .create, record == own else { return }
            try putMark(LocalMark(.delete, [], entity: before.entity, since: before.since), record, done)
        } else if now?.operation == .update, (record == own && done.kind == .delete) || done.hasRow(of: record) {
            guard try outbox.touching(record, except: done.id).isEmpty else { return }
            try putMark(LocalMark(.create, [], entity: before.entity, since: before.since), record, done)
        }
    }

    /// Stores a mark, with the whole key of a record that is stored under a digest.
    ///
    /// After a mark of a record that the server has deleted, the next one says so, too.
    mutating func putMark(_ mark: LocalMark, _ record: ListedRecord, _ operation: StoredOperation) throws {
        var mark = withWholeKey(mark, record, operation)
        if goneRecords.remove(record) != nil { mark.isGoneAtServer = true }
        let stored = mark
        try record.storageKey.withUnsafeBytes {
            try access.localChanges.put(stored, record.entity, $0, sequence: sequence)
        }
    }

    /// Deletes the records that the server has deleted, and whose last change has ended without
    /// being sent: by their delete rules, unless one of these forbids it.
    ///
    /// Called at the end of each call that can end a change.
    ///
    /// - Parameter kept: a record that waits for a later call, because it is deleted for itself.
    /// - Returns: the deleted records.
    @discardableResult
    mutating func deleteGone(except kept: ListedRecord? = nil) throws -> [OutboxRecord] {
        var deleted: [OutboxRecord] = []
        for listed in goneRecords.sorted(by: ListedRecord.precedes) where listed != kept {
            goneRecords.remove(listed)
            guard try access.mark(of: listed) == nil, let record = try access.record(listed) else { continue }
            let name = outbox.decoded(listed)
            do {
                if try delete(record.entity, record.key) { deleted.append(name) }
            } catch StoreWriteError.deleteDenied { continue }
        }
        return deleted
    }

    /// The mark with the whole key of a record that is stored under a digest.
    private func withWholeKey(_ mark: LocalMark, _ record: ListedRecord, _ operation: StoredOperation) -> LocalMark {
        var mark = mark
        let isDigest = record.storageKey.count == StorageKey.digestLength
        if isDigest, mark.wholeKey == nil {
            if operation.record(access.catalog) == record {
                mark.wholeKey = operation.key.tuple
            } else if let entity = access.catalog.entity(id: record.entity) {
                mark.wholeKey =
                    operation.deletedKey(of: record, entity)?.tuple
                    ?? record.storageKey.withUnsafeBytes { try? access.wholeKey(entity, ofDigest: $0)?.tuple }
            }
        }
        return mark
    }

    /// Returns a mark that notes that the server has the values of an operation now.
    ///
    /// - Parameter part: the part of the operation for the record.
    func noted(
        _ old: LocalMark, _ part: StoredOperation, of operation: StoredOperation, _ record: ListedRecord
    ) throws -> LocalMark {
        var mark = old
        let own = operation.record(access.catalog)
        mark.isGoneAtServer = false
        for change in part.changes where (change.record ?? own) == record {
            if let known = old.serverValue(of: change.field), !isReached(change, known, by: operation) { continue }
            _ = change.after.withUnsafeBytes { mark.remember(change.field, EncodedValue($0)) }
        }
        for edit in part.edits where (edit.record ?? own) == record {
            let place = RecordFieldPlace(record: record, field: edit.field)
            guard let known = try mark.serverValue(of: edit.field) ?? valueBeforeRefused(place, part),
                let value = edit.applied(to: known, isUndone: false)
            else { continue }
            _ = value.withUnsafeBytes { mark.remember(edit.field, EncodedValue($0)) }
        }
        let isOld = !old.isGoneAtServer && old.server.elementsEqual(mark.server, by: ==)
        return isOld ? old : withWholeKey(mark, record, part)
    }

    /// Whether an operation that is done has changed a field of which a response has brought a
    /// value.
    ///
    /// A reference that leads elsewhere since is not the one that was removed.
    private func isReached(
        _ change: StoredOperation.FieldChange, _ known: [UInt8], by operation: StoredOperation
    ) -> Bool {
        guard change.record != nil else { return true }
        if operation.kind == .create || operation.kind == .update {
            // Another target than the one that was taken is not what the record has lost.
            return known.referenceTarget == nil || known.referenceTarget == change.before?.referenceTarget
        }
        guard operation.kind == .remove || operation.kind == .delete else { return true }
        guard let target = known.referenceTarget,
            let root = access.state.outboxSchema.destinationRoot(change.kind, change.field)
        else { return operation.relationship?.isJoin != true || known == change.before }
        let removed = ListedRecord(entity: root, storageKey: target)
        return removed == operation.record(access.catalog) || operation.hasRow(of: removed)
    }

    /// The value of a list on which earlier operations are based that the server has refused; nil
    /// if none of them replaces the list.
    private func valueBeforeRefused(_ place: RecordFieldPlace, _ operation: StoredOperation) throws -> [UInt8]? {
        let catalog = access.catalog
        let earlier = try outbox.touching(place.record, before: operation.id)
        guard earlier.contains(where: { other in other.changes.contains { $0.isOf(place, other.record(catalog)) } })
        else { return nil }
        return earlier.undone(nil, place, catalog) ?? [ValueTag.null]
    }

    /// Makes visible what responses have brought of fields that an operation has changed in part,
    /// once no change of them is left.
    ///
    /// - Parameter noted: the mark before the operation ended, with the operation's values.
    mutating func showServerValues(
        _ noted: LocalMark, _ record: ListedRecord, after ended: StoredOperation
    ) throws {
        let own = ended.record(access.catalog)
        var values: [UInt16: [UInt8]?] = [:]
        for change in ended.changes where (change.record ?? own) == record {
            guard let value = noted.serverValue(of: change.field), value != change.after else { continue }
            values[change.field] = value
        }
        for edit in ended.edits where (edit.record ?? own) == record {
            if let value = noted.serverValue(of: edit.field) { values[edit.field] = value }
        }
        guard !values.isEmpty else { return }
        let covered = try outbox.coveredFields(of: record, except: ended.id), mark = try access.mark(of: record)
        values = values.filter { !covered.contains($0.key) && !(mark?.covers($0.key) ?? false) }
        if !values.isEmpty { try setFields(record, values) }
    }
}
