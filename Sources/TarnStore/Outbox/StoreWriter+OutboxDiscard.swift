// Discarding operations: their local changes are rolled back.

extension StoreWriter {
    /// Discards an operation, and rolls its local change back.
    ///
    /// Each changed field that no other operation changes gets the server's value: the one that a
    /// later response has brought, otherwise the one before the change. A created record is
    /// deleted, with all operations that depend on it, unless a response has brought it. A deleted
    /// record is restored. A record that the server has deleted meanwhile is deleted with its last
    /// change, by its delete rules.
    ///
    /// The responses that list the records of the operation are requested without a condition the
    /// next time.
    ///
    /// - Parameter evenIfSending: whether an operation is discarded that a sender has claimed. The
    ///   request may still reach the server.
    /// - Throws: `OutboxError.unknownOperation`, `.wrongState`.
    @discardableResult
    package mutating func discardOperation(_ id: UInt64, evenIfSending: Bool = false) throws -> OutboxDiscard {
        let operation = try outbox.queued(id)
        guard evenIfSending || operation.state != .sending else {
            throw OutboxError.wrongState(id: id, state: .sending, expected: [.pending, .dead])
        }
        return try discard(id)
    }

    /// Discards an operation in any state, and deletes the records that the server has deleted and
    /// that have no other change.
    ///
    /// - Parameter kept: a record that later deletions do not delete again, because it is deleted
    ///   for itself.
    mutating func discard(_ id: UInt64, keeping kept: ListedRecord? = nil) throws -> OutboxDiscard {
        guard let operation = try outbox.stored(id) else { return OutboxDiscard() }
        var result = OutboxDiscard(), records: Set<ListedRecord> = []
        let isGone = try operation.kind == .create && !outbox.isAtServer(operation.record(access.catalog))
        let all = isGone ? try outbox.dependents(of: operation) : [id]
        result.operations = try all.compactMap { try outbox.operation($0) }
        let removed = isGone ? try removeRows(ofCreations: all) : []
        records.formUnion(removed)
        // The last one first: each leaves the state before it.
        for id in all.reversed() {
            // An earlier rollback may have changed it.
            guard let operation = try outbox.stored(id) else { continue }
            try rollBack(operation, &records, removed, keeping: kept)
        }
        result.records = records.sorted(by: ListedRecord.precedes).map(outbox.decoded)
        for deleted in try deleteGone(except: kept) where !result.records.contains(deleted) {
            result.records.append(deleted)
        }
        return result
    }

    /// Removes the records that only creations among some operations have made.
    ///
    /// Before these operations are rolled back: a record may have thousands, and the rollback of
    /// each in its row and its mark reads all that are left.
    ///
    /// - Returns: the removed records. Nothing of them is left to roll back.
    private mutating func removeRows(ofCreations ids: [UInt64]) throws -> Set<ListedRecord> {
        var removed: Set<ListedRecord> = []
        for id in ids.reversed() {
            guard let operation = try outbox.stored(id), operation.kind == .create else { continue }
            let record = operation.record(access.catalog)
            if try !outbox.isAtServer(record) && removeRow(record) { removed.insert(record) }
        }
        return removed
    }

    /// - Parameter removed: records of the operations that are removed already, with their marks.
    private mutating func rollBack(
        _ operation: StoredOperation, _ records: inout Set<ListedRecord>, _ removed: Set<ListedRecord>,
        keeping kept: ListedRecord?
    ) throws {
        let own = operation.record(access.catalog), parts = OperationParts(operation, own)
        let taken = operation.takenFields
        var restored: Set<ListedRecord> = [], changed: [ListedRecord: Set<UInt16>] = [:]
        let wasRestoring = restoresOwners
        restoresOwners = true
        defer { restoresOwners = wasRestoring }
        for row in operation.rows where !(row.record == own && operation.isOfEarlierRecord) {
            if try restore(row, operation) { restored.insert(row.record) }
        }
        if try operation.kind == .create && outbox.isAtServer(own) {
            let covered = try outbox.coveredFields(of: own, except: operation.id)
            let server = try access.mark(of: own)?.server ?? []
            let values = server.filter { !covered.contains($0.field) }.map { ($0.field, $0.value) }
            try setFields(own, Dictionary(values) { $1 })
            changed[own] = Set(values.map(\.0))
        } else if operation.kind == .create {
            if try removeRow(own) { records.insert(own) }
            try forgetDeleted(own)
        } else {
            for place in operation.touchedFields(own).subtracting(taken)
            where try !removed.contains(place.record) && rollBack(place, of: parts[place.record]) {
                changed[place.record, default: []].insert(place.field)
            }
        }
        // After the own fields, which no longer have what others get back.
        for place in taken where try !removed.contains(place.record) && rollBack(place, of: parts[place.record]) {
            changed[place.record, default: []].insert(place.field)
        }
        // Rolling back may have stored the operation's neighbours, and never itself.
        try operations.remove(operation)
        // Their next writes are based on the versions on which this one was: if an attempt has
        // reached the server, that refuses them, and the conflict is decided.
        for record in outbox.toldRecords(operation) { try responses.removeValidators(ofResponsesListing: record) }
        // It has changed nothing any more, and has no part in the mark.
        if operation.isOvertaken { return }
        try repeatDeletions(after: operation.id, on: restored, changed, keeping: kept)
        records.formUnion(changed.keys)
        for record in restored where try access.wholeRow(record) != nil { records.insert(record) }
        for record in operation.touchedRecords(own).subtracting(removed) { try renewMark(record, after: parts[record]) }
    }

    /// Removes the row of a record that will never exist from the operations that have deleted it.
    private mutating func forgetDeleted(_ record: ListedRecord) throws {
        let schema = access.state.outboxSchema
        for known in try outbox.touching(record) {
            var operation = known
            operation.rows.removeAll { $0.record == record && known.record(access.catalog) != record }
            operation.edits.removeAll {
                $0.target == record.storageKey && schema.destinationRoot($0.kind, $0.field) == record.entity
            }
            if operation != known { try operations.replace(known, by: operation) }
        }
    }

    /// Restores a deleted row with the values that later responses have brought.
    ///
    /// - Returns: false if a record with the key exists again or was deleted again, or no longer
    ///   exists at the server.
    private mutating func restore(_ row: StoredOperation.DeletedRow, _ deletion: StoredOperation) throws -> Bool {
        guard try access.wholeRow(row.record) == nil, access.catalog.entity(id: row.kind) != nil else { return false }
        // A later deletion is of the record that was created again, and keeps that one.
        guard try outbox.deletion(of: row.record, after: deletion.id) == nil else { return false }
        let known = try access.mark(of: row.record)
        if known?.isGoneAtServer ?? false { return false }
        let rules = try access.state.rules(of: row.kind)
        try row.body.withUnsafeBytes { bytes in
            guard let body = RowBody(bytes, isWide: row.isWide) else { return }
            _ = try row.record.storageKey.withUnsafeBytes {
                try merge(rules, $0, body, isComplete: !row.isPartial)
            }
        }
        guard let known, !known.server.isEmpty else { return true }
        // Fields with other unsent changes keep their local values.
        let covered = try outbox.coveredFields(of: row.record, except: deletion.id)
        let server = known.server.filter { !covered.contains($0.field) }
        try setFields(row.record, Dictionary(server.map { ($0.field, $0.value) }) { $1 })
        return true
    }

    /// Removes the row of a record without regard to delete rules.
    mutating func removeRow(_ record: ListedRecord) throws -> Bool {
        let mark = access.rowMark
        defer { access.release(to: mark) }
        guard let root = access.catalog.entity(id: record.entity) else { return false }
        return try record.storageKey.withUnsafeBytes { key in
            guard let row = try access.records.row(root, key) else { return false }
            try remove(key, row)
            return true
        }
    }
}
