// Deletions that are queued behind a discarded operation. Its rollback restores references, also to
// records that were deleted since: the later deletion applies to them as well, by its delete rules.

extension StoreWriter {
    /// A restored reference between a record and one that a queued deletion has deleted.
    private struct LostReference {
        /// The deletion.
        var operation: UInt64
        /// The field with the reference that is removed; nil if the record is deleted.
        var nullified: UInt16?
        var target: ListedRecord
    }

    /// Applies deletions that are queued behind a discarded operation to the records that its
    /// rollback has restored or changed.
    ///
    /// By the rule `cascade` the record is deleted, and kept in the deletion. By `nullify` it loses
    /// the reference, which the deletion restores if it is discarded as well.
    ///
    /// - Parameters:
    ///   - restored: the records that were deleted.
    ///   - changed: the fields of other records that have other values.
    ///   - kept: a record that is not deleted.
    mutating func repeatDeletions(
        after id: UInt64, on restored: Set<ListedRecord>, _ changed: [ListedRecord: Set<UInt16>],
        keeping kept: ListedRecord?
    ) throws {
        for record in restored.union(changed.keys).sorted(by: ListedRecord.precedes) {
            let fields = restored.contains(record) ? nil : changed[record]
            for lost in try lostReferences(of: record, fields, after: id) {
                if let field = lost.nullified {
                    try nullify(RecordFieldPlace(record: record, field: field), lost)
                } else if try record != kept && deleteAgain(record, lost) {
                    break
                }
            }
        }
    }

    /// Finds the references by which later deletions apply to a record, in their order.
    ///
    /// - Parameter fields: the fields that were changed; nil for a restored record.
    private func lostReferences(
        of record: ListedRecord, _ fields: Set<UInt16>?, after id: UInt64
    ) throws -> [LostReference] {
        let catalog = access.catalog
        guard let row = try access.wholeRow(record), let entity = catalog.entity(id: row.kind) else { return [] }
        var found: [LostReference] = []
        for field in entity.fields where fields?.contains(field.id) ?? true {
            guard let root = access.state.outboxSchema.destinationRoot(row.kind, field.id),
                let value = row.value(of: field.id)
            else { continue }
            for key in value.referenceTarget.map({ [$0] }) ?? value.referenceList {
                let target = ListedRecord(entity: root, storageKey: key)
                guard let (operation, kind) = try outbox.deletion(of: target, after: id) else { continue }
                let rule = access.state.deleteRules[kind].first {
                    !$0.isStored && $0.field == field.id && catalog.isKind(row.kind, of: $0.owner)
                }?.deleteRule
                if rule == .cascade {
                    found.append(LostReference(operation: operation, nullified: nil, target: target))
                } else if rule == .nullify, !entity.key.contains(field.id) {
                    found.append(LostReference(operation: operation, nullified: field.id, target: target))
                }
            }
        }
        if fields == nil { found += try lostOwners(of: record, after: id) }
        return found.sorted { $0.operation < $1.operation }
    }

    /// Finds deleted records whose own references lead to a record by the rule `cascade`.
    private func lostOwners(of record: ListedRecord, after id: UInt64) throws -> [LostReference] {
        var found: [LostReference] = []
        for other in try outbox.ids(.reference, record) where other > id {
            guard let operation = try outbox.stored(other) else { continue }
            for row in operation.rows where row.record != record {
                let leads = access.state.deleteRules[row.kind].contains { relationship in
                    guard relationship.deleteRule == .cascade, relationship.isStored,
                        access.state.outboxSchema.destinationRoot(row.kind, relationship.field) == record.entity,
                        let value = operation.deletedValue(
                            of: RecordFieldPlace(record: row.record, field: relationship.field))
                    else { return false }
                    return (value.referenceTarget.map { [$0] } ?? value.referenceList).contains(record.storageKey)
                }
                guard leads, try access.wholeRow(row.record) == nil else { continue }
                found.append(LostReference(operation: other, nullified: nil, target: row.record))
                break
            }
        }
        return found
    }

    /// Deletes a restored record with its cascade, and adds it to a deletion.
    ///
    /// - Returns: false if a delete rule denies it.
    private mutating func deleteAgain(_ record: ListedRecord, _ lost: LostReference) throws -> Bool {
        let before = try outbox.queued(lost.operation)
        var deletion = before, known: [ListedRecord: LocalMark] = [:]
        let left: [RecordFieldPlace: [UInt8]?]
        do { left = try deleteCascade(of: record, into: &deletion, &known) } catch StoreWriteError.deleteDenied {
            return false
        }
        try operations.replace(before, by: deletion)
        for (place, value) in left { try continueFrom(value, place, after: before.id) }
        let deleted = deletion.rows.dropFirst(before.rows.count).map(\.record)
        let marked = before.touchedRecords(before.record(access.catalog)).subtracting(deleted)
        try mark(deletion, known: known, except: marked)
        return true
    }

    /// Removes a restored reference, and adds its removal to a deletion.
    private mutating func nullify(_ place: RecordFieldPlace, _ lost: LostReference) throws {
        let before = try outbox.queued(lost.operation), catalog = access.catalog
        guard let row = try access.wholeRow(place.record) else { return }
        // The value at the time of the deletion: later operations continue from it.
        var value = try outbox.value(row.value(of: place.field), place, before: before.id)
        guard let known = value else { return }
        var deletion = before
        if known.referenceTarget == lost.target.storageKey {
            value = [ValueTag.null]
            deletion.changes.append(
                StoredOperation.FieldChange(
                    record: place.record, kind: row.kind, field: place.field, before: known, after: [ValueTag.null]))
        } else if let position = known.referenceList.firstIndex(of: lost.target.storageKey) {
            let edit = StoredOperation.ListEdit(
                record: place.record, kind: row.kind, field: place.field, target: lost.target.storageKey,
                position: UInt32(clamping: position), isInsertion: false)
            value = edit.applied(to: known, isUndone: false)
            deletion.edits.append(edit)
        } else {
            return
        }
        try operations.replace(before, by: deletion)
        try continueFrom(value, place, after: before.id)
        try mark(deletion, except: deletion.touchedRecords(deletion.record(catalog)).subtracting([place.record]))
    }
}

extension [UInt8] {
    /// The storage key of an encoded reference; nil for any other value.
    var referenceTarget: [UInt8]? {
        withUnsafeBytes { bytes in bytes.isEmpty ? nil : EncodedValue(bytes).reference.map { Array($0) } }
    }
}
