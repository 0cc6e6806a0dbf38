// Dead operations whose changes later operations have sent.

extension StoreWriter {
    /// Takes the changes that an operation is about to complete out of earlier dead operations: the
    /// server has later ones, which a retry must not replace.
    ///
    /// 1. Updates lose the fields of a later update.
    /// 2. Changes of members lose the members of a later change of the same relationship.
    /// 3. Both lose the references and the members of lists that a later operation of another
    ///    record has changed: one that moves a member elsewhere, or that replaces the whole list.
    /// 4. A deletion fails with ``OutboxFailure/recreated`` if the operation creates the record
    ///    again. Updates and changes of members of the record lose everything: they were of the
    ///    record that had the key before. So they do if the server assigns its key to another one.
    ///
    /// An operation that is left without changes stays in the outbox until it is retried or
    /// discarded.
    package mutating func dropOvertakenChanges(by id: UInt64) throws {
        guard try outbox.counters.counts.dead > 0, let sent = try outbox.stored(id) else { return }
        let own = sent.record(access.catalog)
        for other in try outbox.ids(.own, own) where other < id {
            guard let known = try outbox.stored(other), known.state == .dead else { continue }
            switch (sent.kind, known.kind) {
            case (.add, .add), (.add, .remove), (.remove, .add), (.remove, .remove):
                guard known.relationship == sent.relationship else { continue }
                var operation = known
                operation.removeMembers(Set(sent.members.map(\.storageKey)))
                if operation != known { try operations.replace(known, by: operation) }
            case (.create, .delete):
                var operation = known
                operation.failure = OutboxFailure(
                    kind: OutboxFailure.recreated,
                    message: "a later change has created the record again; a retry withdraws the deletion",
                    at: known.failure?.at ?? .now)
                try operations.replace(known, by: operation)
            default: continue
            }
        }
        if sent.kind == .create { try dropChanges(ofRecordBefore: id, with: own) }
        let parts = SentParts(sent, own)
        for record in parts.records.sorted(by: ListedRecord.precedes) {
            for found in try outbox.deadOperations(touching: record, before: id) {
                // A record that gets a member back may have changed it.
                if let known = try outbox.stored(found.id) { try drop(parts, from: known) }
            }
        }
    }

    /// Takes everything out of the dead updates and changes of members of the record that had the
    /// key of a created one before.
    ///
    /// - Parameter id: the creation.
    mutating func dropChanges(ofRecordBefore id: UInt64, with own: ListedRecord) throws {
        guard try outbox.counters.counts.dead > 0 else { return }
        for other in try outbox.ids(.own, own) where other < id {
            guard let known = try outbox.stored(other), known.state == .dead else { continue }
            switch known.kind {
            case .update: try drop(Set(known.changes.filter { $0.record == nil }.map(\.field)), from: known)
            case .add, .remove: try dropMembers(of: known)
            case .create, .delete: continue
            }
            var gone = known
            gone.id = 0
            try renewMark(own, after: gone)
        }
    }

    /// Takes what was sent out of a dead operation.
    private mutating func drop(_ sent: SentParts, from known: StoredOperation) throws {
        let own = known.record(access.catalog)
        switch known.kind {
        case .update:
            let fields = Set(known.changes.filter { $0.record == nil }.map(\.field)).filter {
                sent.fields.contains(RecordFieldPlace(record: own, field: $0))
            }
            try drop(fields, from: known)
        case .add, .remove:
            var gone: Set<[UInt8]> = []
            for change in known.changes {
                guard let member = change.record,
                    sent.fields.contains(RecordFieldPlace(record: member, field: change.field))
                else { continue }
                gone.insert(member.storageKey)
            }
            for edit in known.edits where sent.contains(edit, own) {
                gone.insert(edit.record?.storageKey ?? edit.target)
            }
            guard !gone.isEmpty else { return }
            var operation = known
            operation.removeMembers(gone)
            try operations.replace(known, by: operation)
        case .create, .delete: break
        }
    }

    /// Takes all members out of a dead change of members of a record that was deleted since, and
    /// rolls back what it has changed in other records.
    private mutating func dropMembers(of known: StoredOperation) throws {
        let own = known.record(access.catalog)
        let others = known.touchedFields(own).filter { $0.record != own }
        for place in others { _ = try rollBack(place, of: known) }
        let left = try outbox.queued(known.id)
        var operation = left, gone = known
        operation.removeMembers(Set(known.members.map(\.storageKey)))
        try operations.replace(left, by: operation)
        gone.id = 0
        for record in Set(others.map(\.record)) { try renewMark(record, after: gone) }
    }

    /// Takes fields out of a dead update.
    private mutating func drop(_ fields: Set<UInt16>, from known: StoredOperation) throws {
        let known = try releaseOwners(of: known, fields)
        var operation = known
        operation.changes.removeAll { $0.record == nil && fields.contains($0.field) }
        if operation != known { try operations.replace(known, by: operation) }
    }
}

/// The fields, and the members of lists, that a request has sent.
private struct SentParts {
    /// The fields whose whole values were sent.
    private(set) var fields: Set<RecordFieldPlace> = []
    /// The members of lists that were added or removed.
    private var members: [RecordFieldPlace: Set<[UInt8]>] = [:]

    init(_ sent: StoredOperation, _ own: ListedRecord) {
        let isOfMembers = sent.kind == .add || sent.kind == .remove
        guard isOfMembers || sent.kind == .update else { return }
        // No request sends that an update takes a reference from another record.
        for change in sent.changes where change.record == nil || isOfMembers {
            fields.insert(RecordFieldPlace(record: change.record ?? own, field: change.field))
        }
        for edit in sent.edits {
            members[RecordFieldPlace(record: edit.record ?? own, field: edit.field), default: []].insert(edit.target)
        }
    }

    /// The records with these fields and lists.
    var records: Set<ListedRecord> { Set(fields.map(\.record)).union(members.keys.map(\.record)) }

    func contains(_ edit: StoredOperation.ListEdit, _ own: ListedRecord) -> Bool {
        let place = RecordFieldPlace(record: edit.record ?? own, field: edit.field)
        return fields.contains(place) || members[place]?.contains(edit.target) ?? false
    }
}

extension StoredOperation {
    /// Takes members out of a change of members, with their edits and changes.
    ///
    /// - Parameter gone: the storage keys of the members.
    fileprivate mutating func removeMembers(_ gone: Set<[UInt8]>) {
        members.removeAll { gone.contains($0.storageKey) }
        // The list of the record itself, or the members' references to the record.
        edits.removeAll { gone.contains($0.record?.storageKey ?? $0.target) }
        changes.removeAll { change in change.record.map { gone.contains($0.storageKey) } ?? false }
    }
}
