// The queued changes of a record: what they cover, and what the server has told beside them.

extension OutboxTable {
    /// Returns an operation that has to be queued.
    ///
    /// - Throws: `OutboxError.unknownOperation`.
    func queued(_ id: UInt64) throws -> StoredOperation {
        guard let operation = try stored(id) else { throw OutboxError.unknownOperation(id: id) }
        return operation
    }

    /// Whether a response has brought a stored record whose creation is queued.
    func isAtServer(_ record: ListedRecord) throws -> Bool {
        guard try access.wholeRow(record) != nil else { return false }
        // No response has a record under a temporary key.
        if try creation(of: record)?.hasTemporaryKey ?? false { return false }
        if let mark = try access.mark(of: record) {
            if mark.isGoneAtServer { return false }
            // Another record's list that lacks this one leaves null in its reference.
            if mark.server.contains(where: { $0.value != [ValueTag.null] }) { return true }
        }
        // The version of a record that was deleted before shows nothing.
        return try access.responses.ids(listing: record).contains { id in
            try !(access.responses.entry(id: id)?.hasOnlyVersion ?? false)
        }
    }

    /// A creation and the operations that cannot be sent without it, in the order of ids.
    func dependents(of creation: StoredOperation) throws -> [UInt64] {
        var ids: Set<UInt64> = [creation.id], waiting = [creation]
        while let operation = waiting.popLast() {
            let record = operation.record(access.catalog)
            for id in try Set(self.ids(.own, record) + self.ids(.reference, record))
            where id > operation.id && !ids.contains(id) {
                guard let other = try stored(id) else { continue }
                guard
                    other.record(access.catalog) == record
                        || other.neededRecords(access.state.outboxSchema).contains(record)
                else { continue }
                ids.insert(id)
                if other.kind == .create { waiting.append(other) }
            }
        }
        return ids.sorted()
    }

    /// The records of which responses may have told something that an operation has held back:
    /// those that it has changed, and those whose lists have a reference that it has changed.
    func toldRecords(_ operation: StoredOperation) -> Set<ListedRecord> {
        var result = operation.touchedRecords(operation.record(access.catalog))
        for change in operation.changes {
            guard let root = access.state.outboxSchema.destinationRoot(change.kind, change.field) else { continue }
            for target in [change.before?.referenceTarget, change.after.referenceTarget] {
                if let target { result.insert(ListedRecord(entity: root, storageKey: target)) }
            }
        }
        return result
    }

    /// The fields of a record that operations other than one change.
    func coveredFields(of record: ListedRecord, except id: UInt64) throws -> Set<UInt16> {
        var fields: Set<UInt16> = []
        for operation in try touching(record, except: id) {
            for place in operation.touchedFields(operation.record(access.catalog)) where place.record == record {
                fields.insert(place.field)
            }
        }
        return fields
    }

    /// The server's value of a field that a later response has brought; nil if there is none.
    func serverValue(_ place: RecordFieldPlace) throws -> [UInt8]? {
        try place.record.storageKey.withUnsafeBytes { key in
            try access.localChanges.mark(place.record.entity, key)?.server.first { $0.field == place.field }?.value
        }
    }

    /// The value of a field before the operations behind one.
    ///
    /// - Parameter visible: the value with all operations.
    func value(_ visible: [UInt8]?, _ place: RecordFieldPlace, before id: UInt64) throws -> [UInt8]? {
        try touching(place.record, after: id).undone(visible, place, access.catalog)
    }

    /// Finds the deletion of a record that is not stored, and the record's concrete entity.
    func deletion(of record: ListedRecord, after id: UInt64) throws -> (operation: UInt64, kind: UInt16)? {
        guard try access.wholeRow(record) == nil else { return nil }
        for operation in try touching(record, after: id) {
            if let row = operation.rows.first(where: { $0.record == record }) { return (operation.id, row.kind) }
        }
        return nil
    }
}
