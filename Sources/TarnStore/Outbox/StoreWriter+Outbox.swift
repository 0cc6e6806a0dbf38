// Queueing local changes of records: the visible change, the marks and the operation in one
// transaction.

import Foundation

extension StoreWriter {
    /// The outbox as this transaction has left it.
    package var outbox: OutboxTable { access.outbox }

    /// Returns the key of the record that a caller's write by key changes: see
    /// `StoreAccess.writtenKey`.
    mutating func writtenKey(_ name: String, _ key: RecordKey) throws -> RecordKey {
        try operations.hasAliases() ? access.writtenKey(name, key) : key
    }

    /// Creates a record locally, and queues its creation.
    ///
    /// - Parameters:
    ///   - key: the key, or the way it is made. Temporary components are replaced by the server's
    ///     when the operation completes.
    ///   - values: the fields; those of the key may be left out.
    /// - Returns: the operation and the record's key.
    /// - Throws: `OutboxError.recordExists`, `.tooLarge`; otherwise as `put`.
    @discardableResult
    package mutating func enqueueCreate(
        _ entity: String, _ key: OutboxKey = .temporary, _ values: [Record.Field],
        _ request: OutboxRequest = OutboxRequest()
    ) throws -> OutboxReceipt {
        let found = try access.state.entity(entity)
        let values = try outbox.resolving(values, found)
        let new = try outbox.newKey(key, found, values), key = new.key
        try access.checkForm(of: key, found)
        let record = ListedRecord(entity: found.root, storageKey: key.storageKey)
        guard try access.wholeRow(record) == nil else {
            throw OutboxError.recordExists(entity: entity, key: key.description)
        }
        var operation = StoredOperation(0, .create, found.id, key, at: .now)
        operation.hasTemporaryKey = !new.temporaryFields.isEmpty
        try operation.take(request, try outbox.resolving(request.related))
        beginClearing()
        try put(
            entity, key,
            values.filter { value in found.field(value.name).map { !new.temporaryFields.contains($0.id) } ?? true })
        let cleared = endClearing()
        // The parts of the key that the caller knows are sent, too; defaults are the server's.
        let given = Set(values.compactMap { found.field($0.name)?.id }).union(found.key)
            .subtracting(new.temporaryFields)
        let stored = try access.wholeRow(record)?.values ?? [:]
        operation.unsent = Set(request.unsent.compactMap { found.field($0)?.id }).subtracting(found.key)
        operation.serverFields = request.serverFields.map { Set($0.compactMap { found.field($0)?.id }) }
        operation.changes = given.sorted().compactMap { id in
            stored[id].map { StoredOperation.FieldChange(kind: found.id, field: id, before: nil, after: $0) }
        }
        operation.changes += cleared
        try operations.insert(&operation, lastTemporary: new.lastTemporary)
        try mark(operation)
        return OutboxReceipt(operation: operation.id, key: key)
    }

    /// Changes fields of a record locally, and queues the change of those that differ.
    ///
    /// If nothing differs, nothing is queued. A record that the server has deleted goes when the
    /// change takes back its last one. The change is folded into the record's last operation
    /// if that creates or updates the record, was never sent, has the same options, and no
    /// operation that the change depends on is later. A creation that the server has refused takes
    /// the change as well, and stays dead until it is retried.
    ///
    /// - Throws: `OutboxError.recordMissing`, `.tooLarge`; otherwise as `put`.
    @discardableResult
    package mutating func enqueueUpdate(
        _ entity: String, _ given: RecordKey, _ values: [Record.Field], _ request: OutboxRequest = OutboxRequest()
    ) throws -> OutboxReceipt {
        let (record, key, row) = try outbox.existing(entity, given)
        guard let found = access.catalog.entity(id: row.kind) else {
            throw OutboxError.recordMissing(entity: entity, key: key.description)
        }
        let own = try key == given ? values : self.values(values, without: given, entity)
        let values = try outbox.encoded(outbox.resolving(own, found), key, found)
        var operation = StoredOperation(0, .update, row.kind, key, at: .now)
        let earlier = try outbox.ids(.own, record)
        // A field that was changed locally without an operation is based on the server's value, and
        // the server does not have the local one.
        let known = try access.mark(of: record), drafts = try drafts(among: Set(values.keys), known, record, earlier)
        for (id, after) in values.sorted(by: { $0.key < $1.key }) {
            let before = row.value(of: id), server = drafts.contains(id) ? known?.serverValue(of: id) : nil
            let isKnown = !drafts.contains(id) || (server.map { after.isContained(in: $0) } ?? false)
            if isKnown, let before, after.isContained(in: before) { continue }
            operation.changes.append(
                StoredOperation.FieldChange(kind: row.kind, field: id, before: server ?? before, after: after))
        }
        guard !operation.changes.isEmpty else { return OutboxReceipt(operation: nil, key: key) }
        operation.wasPartial = row.isPartial
        try operation.take(request, try outbox.resolving(request.related))
        beginClearing()
        try store(operation.changes, record)
        operation.changes += endClearing()
        if let last = earlier.last, let receipt = try fold(operation, into: last, record, request) {
            try deleteGone()
            return receipt
        }
        if !earlier.isEmpty { operation.hasTemporaryKey = try outbox.creation(of: record)?.hasTemporaryKey ?? false }
        try operations.insert(&operation)
        try mark(operation)
        return OutboxReceipt(operation: operation.id, key: key)
    }

    /// The fields that were changed locally without an operation.
    ///
    /// - Parameter own: the record's own operations.
    private func drafts(
        among fields: Set<UInt16>, _ mark: LocalMark?, _ record: ListedRecord, _ own: [UInt64]
    ) throws -> Set<UInt16> {
        guard let mark, mark.operation == .update else { return [] }
        var left = fields.filter { mark.covers($0) }
        func remove(_ operations: [StoredOperation]) {
            for operation in operations {
                for place in operation.touchedFields(operation.record(access.catalog)) where place.record == record {
                    left.remove(place.field)
                }
            }
        }
        remove(try own.compactMap { try outbox.stored($0) })
        // Operations of other records may be many.
        if !left.isEmpty { remove(try outbox.touching(record)) }
        return left
    }

    /// Stores the new values of a record's fields, which were checked.
    private mutating func store(_ changes: [StoredOperation.FieldChange], _ record: ListedRecord) throws {
        guard let kind = changes.first?.kind else { return }
        var builder = BodyBuilder(), bytes = ByteWriter()
        for change in changes { builder.field(change.field) { $0.append(change.after) } }
        let isWide = builder.isWide
        builder.finish(into: &bytes)
        guard let body = RowBody(bytes.bytes, isWide: isWide) else { return }
        let rules = try access.state.rules(of: kind)
        _ = try record.storageKey.withUnsafeBytes { try merge(rules, $0, body, isComplete: false) }
    }

    /// Changes fields that no request sends: they stay local changes.
    ///
    /// - Throws: `OutboxError.recordMissing`; otherwise as `put`.
    package mutating func changeLocally(_ entity: String, _ given: RecordKey, _ values: [Record.Field]) throws {
        let (record, key, row) = try outbox.existing(entity, given)
        guard let found = access.catalog.entity(id: row.kind) else {
            throw OutboxError.recordMissing(entity: entity, key: key.description)
        }
        let own = try key == given ? values : self.values(values, without: given, entity)
        let changes = try outbox.encoded(outbox.resolving(own, found), key, found).filter { id, after in
            !(row.value(of: id).map { after.isContained(in: $0) } ?? false)
        }
        guard !changes.isEmpty else { return }
        let ids = changes.keys.sorted()
        beginClearing()
        try store(
            ids.compactMap { id in
                changes[id].map { StoredOperation.FieldChange(kind: row.kind, field: id, before: nil, after: $0) }
            }, record)
        try markUpdated(endClearing())
        try markLocal(found.name, key, fields: ids.compactMap { found.field(id: $0)?.name })
        guard let creation = try outbox.creation(of: record) else { return }
        var changed = creation
        changed.unsent.formUnion(ids)
        changed.serverFields?.subtract(ids)
        try operations.replace(creation, by: changed)
    }

    /// Folds an update into the last operation of its record; nil if that is not possible.
    private mutating func fold(
        _ update: StoredOperation, into id: UInt64, _ record: ListedRecord, _ request: OutboxRequest
    ) throws -> OutboxReceipt? {
        guard let known = try outbox.stored(id), known.isUntouched || known.isCorrectable,
            known.kind == .update || (known.kind == .create && !request.staysSeparate),
            known.options == update.options,
            known.kind == .create || request.apart.isEmpty || isSent(known, with: update, apart: request.apart)
        else { return nil }
        // Another record's operation may have changed the same fields since.
        let fields = update.touchedFields(record)
        for other in try outbox.ids(.reference, record) where other > id {
            guard let other = try outbox.stored(other) else { continue }
            guard other.touchedFields(other.record(access.catalog)).isDisjoint(with: fields) else { return nil }
        }
        for needed in update.neededRecords(access.state.outboxSchema) {
            if let creation = try outbox.creation(of: needed), creation.id > id { return nil }
        }
        for change in update.changes {
            guard let other = change.record else { continue }
            let place = RecordFieldPlace(record: other, field: change.field)
            for later in try outbox.touching(other, after: id) {
                if later.touchedFields(later.record(access.catalog)).contains(place) { return nil }
            }
        }
        // The record refers to itself: the server's key is known after the creation.
        if known.kind == .create, known.hasTemporaryKey, update.refersToItself(access.state.outboxSchema) { return nil }
        return try fold(
            update, into: releaseOwners(of: known, Set(update.changes.map(\.field))), record)
    }

    /// Whether one request sends two updates of a record: both change the same field, or none that
    /// has requests of its own.
    ///
    /// An update that was queued before a field had such requests may change it beside others.
    private func isSent(_ known: StoredOperation, with update: StoredOperation, apart: Set<String>) -> Bool {
        let entity = access.catalog.entity(id: update.entity)
        let ids = Set(apart.compactMap { entity?.field($0)?.id })
        func own(_ operation: StoredOperation) -> Set<UInt16> {
            Set(operation.changes.filter { $0.record == nil }.map(\.field))
        }
        let earlier = own(known), later = own(update)
        return earlier == later || earlier.isDisjoint(with: ids) && later.isDisjoint(with: ids)
    }

    private mutating func fold(
        _ update: StoredOperation, into known: StoredOperation, _ record: ListedRecord
    ) throws -> OutboxReceipt {
        var folded = known
        let told = try access.mark(of: record)?.server ?? []
        let others = try told.isEmpty ? [] : outbox.coveredFields(of: record, except: known.id)
        for change in update.changes {
            guard change.record == nil,
                let index = folded.changes.firstIndex(where: { $0.field == change.field && $0.record == nil })
            else {
                folded.changes.append(change)
                continue
            }
            folded.changes[index].after = change.after
            guard known.kind == .update, folded.changes[index].before == change.after else { continue }
            // The server may have another value by now: the conflict policy decides.
            let server = others.contains(change.field) ? nil : told.first { $0.field == change.field }?.value
            if server.map(change.after.isContained) ?? true { folded.changes.remove(at: index) }
        }
        folded.changes.sort { $0.field < $1.field }
        if known.kind == .create {
            // The caller has found that the request sends them.
            let sent = update.changes.filter { $0.record == nil }.map(\.field)
            folded.unsent.subtract(sent)
            folded.serverFields?.subtract(sent)
            for index in folded.changes.indices where folded.changes[index].record == nil {
                folded.changes[index].before = nil
            }
        }
        if known.isCorrectable { folded.idempotencyKey = .drawn() }
        folded.related += update.related.filter { !known.related.contains($0) }
        guard !folded.changes.isEmpty else {
            // Everything is as it was before.
            try operations.remove(known)
            try renewMark(record, after: known)
            return OutboxReceipt(
                operation: nil, key: update.key, isFolded: true, withdrawn: [try outbox.decoded(known)])
        }
        try operations.replace(known, by: folded)
        try mark(folded)
        let left = Set(folded.changes.filter { $0.record == nil }.map(\.field))
        if !left.isSuperset(of: (known.changes + update.changes).filter { $0.record == nil }.map(\.field)) {
            var gone = known
            gone.id = 0
            gone.changes.removeAll { $0.record != nil || left.contains($0.field) }
            try renewMark(record, after: gone)
        }
        return OutboxReceipt(operation: folded.id, key: update.key, isFolded: true)
    }

    /// Deletes a record locally by its delete rules, and queues the deletion.
    ///
    /// Updates of the record that were never sent are withdrawn, apart from those that move it out
    /// of a record with a queued deletion: see ``isMovedOut(by:)``. If its creation was never sent,
    /// it is withdrawn, and nothing is queued: see ``withdraw(_:keeping:_:)``.
    ///
    /// - Throws: `OutboxError.recordMissing`, `.tooLarge`; `StoreWriteError.deleteDenied`.
    @discardableResult
    package mutating func enqueueDelete(
        _ entity: String, _ key: RecordKey, _ request: OutboxRequest = OutboxRequest()
    ) throws -> OutboxReceipt {
        let (record, key, row) = try outbox.existing(entity, key)
        var receipt = OutboxReceipt(operation: nil, key: key)
        if let creation = try outbox.creation(of: record), creation.isUntouched {
            let isAtServer = try outbox.isAtServer(record)
            try withdraw(creation, keeping: record, &receipt)
            if !isAtServer { return receipt }
        }
        for operation in try outbox.touching(record).reversed() where operation.isUntouched {
            guard operation.kind == .update, operation.record(access.catalog) == record,
                try !isMovedOut(by: operation)
            else { continue }
            receipt.withdrawn += try discard(operation.id, keeping: record).operations
        }
        var operation = StoredOperation(0, .delete, row.kind, key, at: .now)
        try operation.take(request, try outbox.resolving(request.related))
        var known: [ListedRecord: LocalMark] = [:]
        try deleteLocally(&operation, record, &receipt, &known)
        try operations.insert(&operation)
        try mark(operation, known: known)
        receipt.operation = operation.id
        return receipt
    }

    /// Whether an update removes a reference to a record with a later queued deletion.
    ///
    /// The server may delete with that record what still refers to it, and then also records that
    /// other operations are to move out of the updated one. Without the update, the deletion would
    /// wait for none of them.
    private func isMovedOut(by update: StoredOperation) throws -> Bool {
        var left: Set<ListedRecord> = []
        // Not where it takes a reference from another record.
        for change in update.changes where change.record == nil {
            guard let before = change.before else { continue }
            access.state.outboxSchema.forEachReferenced(by: before, change.kind, change.field) { left.insert($0) }
        }
        return try left.contains { try outbox.deletion(of: $0, after: update.id) != nil }
    }

    /// Deletes the rows of a cascade, and keeps them in the operation.
    private mutating func deleteLocally(
        _ operation: inout StoredOperation, _ record: ListedRecord, _ receipt: inout OutboxReceipt,
        _ known: inout [ListedRecord: LocalMark]
    ) throws {
        try withdrawCreations(inCascadeOf: record, &receipt)
        try deleteCascade(of: record, into: &operation, &known)
    }

    /// Deletes a record by its delete rules, and adds its cascade to a deletion.
    ///
    /// - Parameter known: takes the marks of the deleted records, which deleting removes.
    /// - Returns: the values, after a deletion that is queued, of the fields that have lost
    ///   references: once the deletion is stored, the operations behind it continue from these.
    /// - Throws: `OutboxError.tooLarge`; `StoreWriteError.deleteDenied`.
    @discardableResult
    mutating func deleteCascade(
        of record: ListedRecord, into operation: inout StoredOperation, _ known: inout [ListedRecord: LocalMark]
    ) throws -> [RecordFieldPlace: [UInt8]?] {
        try applyIndexChanges()
        let access = access, mark = access.rowMark
        defer { access.release(to: mark) }
        guard let root = access.catalog.entity(id: record.entity) else { return [:] }
        return try record.storageKey.withUnsafeBytes { key in
            guard let row = try access.records.row(root, key) else { return [:] }
            let cascade = try Cascade(access, root, key, row)
            var size = 0
            for position in 0..<cascade.end {
                let member = ListedRecord(cascade.records[position].root, cascade.records.key(at: position))
                guard let row = try access.wholeRow(member) else { continue }
                size += row.body.count
                try OutboxError.check("deleted records", size, limit: StoredOperation.longestRows)
                operation.rows.append(
                    StoredOperation.DeletedRow(
                        record: member, kind: row.kind, isPartial: row.isPartial, isWide: row.isWide, body: row.body))
                known[member] = try access.mark(of: member)
            }
            let left = try collectNullified(cascade, &operation)
            keepsVersionsOfDeleted = true
            defer { keepsVersionsOfDeleted = false }
            _ = try delete(cascade, 0..<cascade.end, except: [])
            return left
        }
    }

    /// Adds the references that the delete rule `nullify` removes.
    ///
    /// - Returns: the values of the fields after a deletion that is queued.
    private func collectNullified(
        _ cascade: Cascade, _ operation: inout StoredOperation
    ) throws -> [RecordFieldPlace: [UInt8]?] {
        let catalog = access.catalog, gone = Set(operation.rows.map(\.record))
        var left: [RecordFieldPlace: [UInt8]?] = [:]
        for found in try referrersToChange(cascade, 0..<cascade.end, except: []) {
            guard let owner = catalog.entity(id: found.entity),
                let root = access.state.outboxSchema.destinationRoot(owner.id, found.field)
            else { continue }
            let record = ListedRecord(entity: owner.root, storageKey: found.key)
            guard let row = try access.wholeRow(record), let visible = row.value(of: found.field) else { continue }
            let place = RecordFieldPlace(record: record, field: found.field)
            guard operation.id > 0 else {
                _ = operation.nullify(place, row.kind, visible, gone, root)
                continue
            }
            let value = try outbox.value(visible, place, before: operation.id)
            left.updateValue(operation.nullify(place, row.kind, value, gone, root), forKey: place)
        }
        return left
    }
}

extension StoredOperation {
    /// Adds the removal of references to deleted records from a field of another record.
    ///
    /// - Parameters:
    ///   - value: the value of the field before.
    ///   - root: the root entity of the deleted records to which the field refers.
    /// - Returns: the value without the references.
    fileprivate mutating func nullify(
        _ place: RecordFieldPlace, _ kind: UInt16, _ value: [UInt8]?, _ gone: Set<ListedRecord>, _ root: UInt16
    ) -> [UInt8]? {
        guard let before = value else { return nil }
        if let target = before.referenceTarget {
            guard gone.contains(ListedRecord(entity: root, storageKey: target)) else { return value }
            changes.append(
                FieldChange(
                    record: place.record, kind: kind, field: place.field, before: before, after: [ValueTag.null]))
            return [ValueTag.null]
        }
        var left = value
        for (position, target) in before.referenceList.enumerated().reversed()
        where gone.contains(ListedRecord(entity: root, storageKey: target)) {
            let edit = ListEdit(
                record: place.record, kind: kind, field: place.field, target: target,
                position: UInt32(clamping: position), isInsertion: false)
            edits.append(edit)
            left = edit.applied(to: left, isUndone: false)
        }
        return left
    }

    /// The largest size of an operation's deleted rows, in bytes.
    static let longestRows = 64 << 20

    mutating func take(_ request: OutboxRequest, _ related: [ListedRecord]) throws(OutboxError) {
        try OutboxError.check("options", request.options?.utf8.count ?? 0, limit: OutboxRequest.longestOptions)
        options = request.options
        self.related = related
        (etag, lastModified) = (request.etag, request.lastModified)
    }
}

extension OutboxError {
    static func check(_ part: String, _ bytes: Int, limit: Int) throws(OutboxError) {
        guard bytes <= limit else { throw .tooLarge(part: part, bytes: bytes, limit: limit) }
    }
}

extension [UInt8] {
    /// Whether another value contains all information of this one: see `EncodedValue`.
    func isContained(in other: [UInt8]) -> Bool {
        withUnsafeBytes { a in
            other.withUnsafeBytes { b in
                guard !a.isEmpty, !b.isEmpty else { return a.isEmpty && b.isEmpty }
                return EncodedValue(a).isContained(in: EncodedValue(b))
            }
        }
    }
}
