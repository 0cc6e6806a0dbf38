// Queueing changes of the members of to-many relationships.

extension StoreWriter {
    /// Adds members to a to-many relationship locally, and queues the addition of the new ones.
    ///
    /// If all are members already, nothing is queued.
    ///
    /// - Throws: `OutboxError.recordMissing`, `.notToMany`, `.notSettable`, `.tooLarge`;
    ///   `StoreError.unknownField`, `.wrongKey`.
    @discardableResult
    package mutating func enqueueAdd(
        _ members: [RecordKey], to relationship: String, of entity: String, _ key: RecordKey,
        _ request: OutboxRequest = OutboxRequest()
    ) throws -> OutboxReceipt {
        try enqueueMembers(.add, members, relationship, entity, key, request)
    }

    /// Removes members from a to-many relationship locally, and queues the removal.
    ///
    /// If none is a member, nothing is queued.
    ///
    /// - Throws: as `enqueueAdd`.
    @discardableResult
    package mutating func enqueueRemove(
        _ members: [RecordKey], from relationship: String, of entity: String, _ key: RecordKey,
        _ request: OutboxRequest = OutboxRequest()
    ) throws -> OutboxReceipt {
        try enqueueMembers(.remove, members, relationship, entity, key, request)
    }

    /// Adds or removes members locally, and queues an operation for each.
    ///
    /// The members change together, so that the cost of thousands is not that of as many lists.
    ///
    /// - Returns: the operations.
    /// - Throws: as `enqueueAdd`.
    @discardableResult
    package mutating func enqueueEach(
        _ kind: OutboxOperation.Kind, _ members: [RecordKey], of relationship: String, _ entity: String,
        _ key: RecordKey, _ request: OutboxRequest = OutboxRequest()
    ) throws -> [UInt64] {
        guard !members.isEmpty else { return [] }
        let (all, record) = try memberChange(kind, members, relationship, entity, key, request)
        guard !all.members.isEmpty else { return [] }
        try applyLocally(all, record)
        let hasTemporaryKey = try outbox.creation(of: record)?.hasTemporaryKey ?? false
        var ids: [UInt64] = []
        // A member has either an edit of a list or a change of its reference.
        for (index, member) in all.members.enumerated() {
            var operation = all
            operation.idempotencyKey = .drawn()
            operation.members = [member]
            operation.edits = all.edits.isEmpty ? [] : [all.edits[index]]
            operation.changes = all.changes.isEmpty ? [] : [all.changes[index]]
            operation.hasTemporaryKey = hasTemporaryKey
            try operations.insert(&operation)
            try mark(operation)
            ids.append(operation.id)
        }
        return ids
    }

    private mutating func enqueueMembers(
        _ kind: OutboxOperation.Kind, _ members: [RecordKey], _ name: String, _ entity: String, _ key: RecordKey,
        _ request: OutboxRequest
    ) throws -> OutboxReceipt {
        let (change, record) = try memberChange(kind, members, name, entity, key, request)
        var operation = change
        guard !operation.members.isEmpty else { return OutboxReceipt(operation: nil, key: operation.key) }
        try applyLocally(operation, record)
        operation.hasTemporaryKey = try outbox.creation(of: record)?.hasTemporaryKey ?? false
        try operations.insert(&operation)
        try mark(operation)
        return OutboxReceipt(operation: operation.id, key: operation.key)
    }

    /// The operation that changes members, and its record; without members if there is nothing to
    /// change.
    private mutating func memberChange(
        _ kind: OutboxOperation.Kind, _ members: [RecordKey], _ name: String, _ entity: String, _ key: RecordKey,
        _ request: OutboxRequest
    ) throws -> (operation: StoredOperation, record: ListedRecord) {
        let (record, key, row) = try outbox.existing(entity, key), catalog = access.catalog
        guard let found = catalog.entity(id: row.kind) else {
            throw OutboxError.recordMissing(entity: entity, key: key.description)
        }
        guard let relationship = catalog.relationship(name, of: found),
            let destination = catalog.entity(id: relationship.destination)
        else {
            throw StoreError.unknownField(
                entity: found.name, name: name, known: catalog.relationships(of: found).map(\.name))
        }
        guard relationship.isToMany else { throw OutboxError.notToMany(entity: found.name, relationship: name) }
        var distinct: [RecordKey] = [], known: Set<RecordKey> = []
        for member in members {
            try access.checkForm(of: member, destination)
            let member = try outbox.resolved(destination, member)
            if known.insert(member).inserted { distinct.append(member) }
        }
        var change = MemberChange(
            operation: StoredOperation(0, kind, row.kind, key, at: .now), record: record, row: row,
            relationship: relationship, destination: destination, entity: found)
        change.operation.relationship = StoredOperation.Relationship(relationship)
        try change.operation.take(request, try outbox.resolving(request.related))
        if relationship.join != nil {
            try joinMembers(&change, distinct)
        } else if relationship.isStored {
            listMembers(&change, distinct)
        } else {
            try referMembers(&change, distinct)
        }
        return (change.operation, record)
    }

    /// The change of a relationship while it is prepared.
    private struct MemberChange {
        var operation: StoredOperation
        var record: ListedRecord
        var row: WholeRow
        var relationship: Catalog.Relationship
        var destination: Catalog.Entity
        var entity: Catalog.Entity

        var isAddition: Bool { operation.kind == .add }

        func member(_ key: RecordKey) -> ListedRecord {
            ListedRecord(entity: destination.root, storageKey: key.storageKey)
        }
    }

    /// Changes the list of the record itself.
    private func listMembers(_ change: inout MemberChange, _ members: [RecordKey]) {
        let value = change.row.value(of: change.relationship.field)
        var list = (value ?? []).referenceList, empty = StoredOperation.ListEdit.Empty(value)
        let known = change.isAddition && members.count > 1 ? Set(list) : nil
        for member in members {
            let target = member.storageKey
            let index: Int? = known.map { $0.contains(target) ? 0 : nil } ?? list.firstIndex(of: target)
            guard (index == nil) == change.isAddition else { continue }
            change.operation.members.append(member)
            change.operation.edits.append(
                StoredOperation.ListEdit(
                    kind: change.row.kind, field: change.relationship.field, target: target,
                    position: index.map { UInt32(clamping: $0) } ?? .max, isInsertion: change.isAddition, empty: empty))
            empty = .list
            // Members that are added are distinct, and each is behind the list.
            if let index { list.remove(at: index) }
        }
    }

    /// Changes the references of the members to the record.
    private mutating func referMembers(_ change: inout MemberChange, _ members: [RecordKey]) throws {
        guard case .reference(let reference)? = change.destination.field(id: change.relationship.field)?.kind else {
            return
        }
        let field = change.relationship.field, own = change.record.storageKey
        var position = reference.inverseIsOrdered ? try nextPosition(change) : 0
        for member in members {
            let (record, row) = try memberRow(member, change)
            let value = row.value(of: field)
            if reference.isToMany {
                let list = (value ?? []).referenceList, index = list.firstIndex(of: own)
                guard (index == nil) == change.isAddition else { continue }
                change.operation.edits.append(
                    StoredOperation.ListEdit(
                        record: record, kind: row.kind, field: field, target: own,
                        position: index.map { UInt32(clamping: $0) } ?? .max, isInsertion: change.isAddition,
                        empty: StoredOperation.ListEdit.Empty(value)))
            } else {
                guard !change.destination.key.contains(field) else {
                    throw OutboxError.notSettable(
                        entity: change.entity.name, relationship: change.relationship.name, member: member.description)
                }
                let target = value?.withUnsafeBytes { EncodedValue($0).reference.map { Array($0) } }
                guard (target != own) == change.isAddition else { continue }
                var after = ByteWriter()
                if !change.isAddition {
                    after.appendValueNull()
                } else if reference.inverseIsOrdered {
                    after.append(ValueTag.positionedReference)
                    after.appendLittleEndian(position)
                    after.append(own)
                    position = position &+ 1
                } else {
                    own.withUnsafeBytes { after.appendValue(tag: ValueTag.reference, $0) }
                }
                change.operation.changes.append(
                    StoredOperation.FieldChange(
                        record: record, kind: row.kind, field: field, before: value, after: Array(after.bytes)))
            }
            change.operation.members.append(member)
        }
    }

    /// The position after the last member of an ordered list that the members' references make.
    private mutating func nextPosition(_ change: MemberChange) throws -> UInt32 {
        try applyIndexChanges()
        var last: UInt32?
        try change.record.storageKey.withUnsafeBytes { key in
            try access.targets(of: key, change.relationship) { target in
                try access.lending {
                    let value = try access.records.row(change.destination, target)?.body.value(
                        of: change.relationship.field)
                    if let position = value?.position { last = max(last ?? 0, position) }
                }
                return true
            }
        }
        return last.map { $0 &+ 1 } ?? 0
    }

    /// Changes the joined attributes of the members.
    private func joinMembers(_ change: inout MemberChange, _ members: [RecordKey]) throws {
        guard let join = change.relationship.join else { return }
        let own = change.row.value(of: join.own)
        for member in members {
            guard let own, own != [ValueTag.null], !change.destination.key.contains(join.theirs) else {
                throw OutboxError.notSettable(
                    entity: change.entity.name, relationship: change.relationship.name, member: member.description)
            }
            let (record, row) = try memberRow(member, change)
            let value = row.value(of: join.theirs)
            guard (value != own) == change.isAddition else { continue }
            change.operation.changes.append(
                StoredOperation.FieldChange(
                    record: record, kind: row.kind, field: join.theirs, before: value,
                    after: change.isAddition ? own : [ValueTag.null]))
            change.operation.members.append(member)
        }
    }

    private func memberRow(_ member: RecordKey, _ change: MemberChange) throws -> (ListedRecord, WholeRow) {
        let record = change.member(member)
        guard let row = try access.wholeRow(record), access.catalog.isKind(row.kind, of: change.destination.id) else {
            throw OutboxError.recordMissing(entity: change.destination.name, key: member.description)
        }
        return (record, row)
    }

    /// Sets the visible values of an operation's changes and edits.
    mutating func applyLocally(_ operation: StoredOperation, _ own: ListedRecord) throws {
        var known: [ListedRecord: [UInt16: [UInt8]?]] = [:]
        for change in operation.changes { known[change.record ?? own, default: [:]][change.field] = change.after }
        let edits = Dictionary(grouping: operation.edits) { edit in
            RecordFieldPlace(record: edit.record ?? own, field: edit.field)
        }
        for (place, edits) in edits {
            let value = try known[place.record]?[place.field] ?? access.wholeRow(place.record)?.value(of: place.field)
            known[place.record, default: [:]][place.field] = edits.applied(to: value)
        }
        for (record, values) in known { try setFields(record, values) }
    }
}

extension [StoredOperation.ListEdit] {
    /// Applies edits of one list, the first one first. Many are applied in one pass over the list.
    func applied(to list: [UInt8]?) -> [UInt8]? {
        guard count > 1, Set(map(\.target)).count == count else {
            return reduce(list) { $1.applied(to: $0, isUndone: false) }
        }
        var targets = (list ?? []).referenceList, gone: Set<[UInt8]> = []
        let known = Set(targets)
        for edit in self {
            if !edit.isInsertion {
                gone.insert(edit.target)
            } else if !known.contains(edit.target) {
                targets.append(edit.target)
            }
        }
        if !gone.isEmpty { targets.removeAll { gone.remove($0) != nil } }
        return targets.referenceValue
    }
}
