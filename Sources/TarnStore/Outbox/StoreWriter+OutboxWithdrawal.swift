// Withdrawing the creation of a record that is deleted before the server has it: other operations
// lose their references to the record, as other records do when a stored one is deleted.

extension StoreWriter {
    /// Withdraws the creation of a record that was never sent and is to be deleted.
    ///
    /// The operations of the record go with it. So do the creations of records whose keys contain
    /// its key, and of those that a delete rule deletes with it. Other operations stay, without
    /// their references to these records; one that has nothing else is withdrawn.
    ///
    /// - Parameter kept: a record that later deletions do not delete again.
    /// - Throws: `StoreWriteError.deleteDenied`.
    mutating func withdraw(
        _ creation: StoredOperation, keeping kept: ListedRecord, _ receipt: inout OutboxReceipt
    ) throws {
        var gone: Set<ListedRecord> = []
        if try !outbox.isAtServer(creation.record(access.catalog)) {
            gone = try recordsGone(with: creation)
            for record in gone.sorted(by: ListedRecord.precedes) {
                // The last one first: each leaves the state before it.
                for id in try outbox.ids(.reference, record).reversed() {
                    guard let other = try outbox.stored(id), !gone.contains(other.record(access.catalog)),
                        other.neededRecords(access.state.outboxSchema).contains(record)
                    else { continue }
                    try release(record, from: other, keeping: kept, &receipt)
                }
            }
        }
        receipt.withdrawn += try discard(creation.id, keeping: kept).operations
        // Those that an update has moved to the record were created without it.
        for record in gone.sorted(by: ListedRecord.precedes) {
            guard let other = try outbox.creation(of: record) else { continue }
            receipt.withdrawn += try discard(other.id, keeping: kept).operations
        }
    }

    /// The records that cannot exist, or are deleted by a delete rule, without a new record.
    private mutating func recordsGone(with creation: StoredOperation) throws -> Set<ListedRecord> {
        let schema = access.state.outboxSchema, own = creation.record(access.catalog)
        let led = try cascadeMembers(of: own)
        var gone: Set<ListedRecord> = [own], waiting = [own]
        while let record = waiting.popLast() {
            for target in try unsentTargets(of: record) where gone.insert(target).inserted { waiting.append(target) }
            for id in try outbox.ids(.reference, record) {
                guard let other = try outbox.stored(id), other.kind == .create || other.kind == .update else {
                    continue
                }
                let owned = other.record(access.catalog)
                guard !gone.contains(owned), other.neededRecords(schema).contains(record) else { continue }
                // An update may have moved a new record here that was never sent.
                if other.kind == .update, try outbox.creation(of: owned)?.isUntouched != true { continue }
                var isOwned = false
                if let entity = access.catalog.entity(id: other.entity) {
                    schema.forEachOwner(of: other.key, entity) { if $0 == record { isOwned = true } }
                }
                guard isOwned || led.contains(owned), try !outbox.isAtServer(owned) else { continue }
                gone.insert(owned)
                waiting.append(owned)
            }
        }
        return gone
    }

    /// The new records that were never sent, and that a delete rule deletes with a record.
    ///
    /// They need not refer to the record: it may refer to them, or have them in a list.
    private func unsentTargets(of record: ListedRecord) throws -> [ListedRecord] {
        guard let row = try access.wholeRow(record) else { return [] }
        var targets: [ListedRecord] = []
        for relationship in access.state.deleteRules[row.kind] where relationship.deleteRule == .cascade {
            targets += try access.targets(of: record, relationship)
        }
        return try targets.filter { target in
            guard let creation = try outbox.creation(of: target), creation.isUntouched else { return false }
            return try !outbox.isAtServer(target)
        }
    }

    /// Withdraws the creations that were never sent of the records that are deleted with a record.
    ///
    /// A withdrawal may change the cascade. Finding it anew after each one would be quadratic for
    /// the very many new records of one owner: it is found once for all whose own references still
    /// lead there.
    mutating func withdrawCreations(inCascadeOf record: ListedRecord, _ receipt: inout OutboxReceipt) throws {
        while let cascade = try cascade(of: record) {
            var isChanged = false
            for position in 1..<max(1, cascade.end) {
                let member = ListedRecord(cascade.records[position].root, cascade.records.key(at: position))
                guard let creation = try outbox.creation(of: member), creation.isUntouched,
                    try !isChanged || cascade.isStillReferring(access, position)
                else { continue }
                try withdraw(creation, keeping: record, &receipt)
                isChanged = true
            }
            if !isChanged { return }
        }
    }

    /// The records that the delete rules of a record delete with it.
    ///
    /// - Throws: `StoreWriteError.deleteDenied`.
    private mutating func cascadeMembers(of record: ListedRecord) throws -> Set<ListedRecord> {
        guard let cascade = try cascade(of: record) else { return [] }
        return Set((0..<cascade.end).map { ListedRecord(cascade.records[$0].root, cascade.records.key(at: $0)) })
    }

    /// Finds the cascade of a record; nil if it is not stored, or has no delete rules.
    ///
    /// - Throws: `StoreWriteError.deleteDenied`.
    private mutating func cascade(of record: ListedRecord) throws -> Cascade? {
        try applyIndexChanges()
        let access = access
        guard let root = access.catalog.entity(id: record.entity) else { return nil }
        let cascade = try access.lending {
            try record.storageKey.withUnsafeBytes { key -> Cascade? in
                guard let row = try access.records.row(root, key), !access.state.deleteRules[row.entity].isEmpty else {
                    return nil
                }
                return try Cascade(access, root, key, row)
            }
        }
        cascadeMemberCount += cascade?.end ?? 0
        return cascade
    }

    /// Removes the references to a record that will never exist from an operation of another one.
    private mutating func release(
        _ record: ListedRecord, from known: StoredOperation, keeping kept: ListedRecord,
        _ receipt: inout OutboxReceipt
    ) throws {
        let own = known.record(access.catalog), lost = released(known, from: record).dropped.map(\.field)
        let known = try releaseOwners(of: known, Set(lost)), released = released(known, from: record)
        guard !released.left.isOvertaken else {
            receipt.withdrawn += try discard(known.id, keeping: kept).operations
            return
        }
        var part = known, fields: Set<UInt16> = []
        (part.changes, part.edits, part.rows, part.members) = (released.dropped, [], [], [])
        for change in released.dropped {
            if try rollBack(RecordFieldPlace(record: own, field: change.field), of: part) {
                fields.insert(change.field)
            }
        }
        try operations.replace(known, by: released.left)
        for change in released.shortened {
            let place = RecordFieldPlace(record: own, field: change.field)
            try continueFrom(change.after, place, after: known.id)
        }
        for edit in known.edits where edit.isInsertion && !released.left.edits.contains(edit) {
            try remove(record, from: RecordFieldPlace(record: edit.record ?? own, field: edit.field))
        }
        // Responses may have told something that the operation has held back.
        for told in outbox.toldRecords(part) { try responses.removeValidators(ofResponsesListing: told) }
        if !fields.isEmpty { try repeatDeletions(after: known.id, on: [], [own: fields], keeping: kept) }
        if known.kind == .update, !released.dropped.isEmpty {
            part.id = 0
            try renewMark(own, after: part)
        }
        if known.kind != .delete { receipt.changed.append(try outbox.decoded(released.left)) }
    }

    /// An operation without its references to a record.
    private struct Released {
        var left: StoredOperation
        /// The changes that the operation has lost.
        var dropped: [StoredOperation.FieldChange] = []
        /// The changes that have set a list with the record, without it.
        var shortened: [StoredOperation.FieldChange] = []
    }

    private func released(_ known: StoredOperation, from record: ListedRecord) -> Released {
        let schema = access.state.outboxSchema, key = record.storageKey
        var result = Released(left: known)
        // A refused creation whose values change is another request.
        if known.isCorrectable { result.left.idempotencyKey = .drawn() }
        result.left.related.removeAll { $0 == record }
        if let destination = known.relationship?.destination,
            access.catalog.entity(id: destination)?.root == record.entity
        {
            result.left.members.removeAll { $0.storageKey == key }
        }
        result.left.edits.removeAll { edit in
            edit.record == record
                || edit.target == key && schema.destinationRoot(edit.kind, edit.field) == record.entity
        }
        // The row of the record itself is removed.
        result.left.changes.removeAll { $0.record == record }
        for change in result.left.changes where change.record == nil {
            var isMeant = false
            schema.forEachReferenced(by: change.after, change.kind, change.field) { if $0 == record { isMeant = true } }
            guard isMeant, let index = result.left.changes.firstIndex(of: change) else { continue }
            var shorter = change
            if change.after.first == ValueTag.references {
                shorter.after = change.after.referenceList.filter { $0 != key }.referenceValue
            }
            if shorter.after == change.after || known.kind == .update && shorter.after == change.before {
                result.left.changes.remove(at: index)
                result.dropped.append(change)
            } else {
                result.left.changes[index] = shorter
                result.shortened.append(shorter)
            }
        }
        return result
    }

    /// Removes a member from the visible value of a list.
    private mutating func remove(_ member: ListedRecord, from place: RecordFieldPlace) throws {
        guard let list = try access.wholeRow(place.record)?.value(of: place.field)?.referenceList,
            list.contains(member.storageKey)
        else { return }
        try setFields(place.record, [place.field: list.filter { $0 != member.storageKey }.referenceValue])
    }
}
