// Values of fields under several operations: each changes the value that the one before has left.
//
// The visible value is the base with the changes of all operations that touch the field, in the
// order of ids. When one of them ends, the others continue from another value, which is computed
// by undoing operations from the visible value backwards, and by replaying the remaining ones.

extension StoredOperation {
    /// Makes the operation one that was never sent: its payload or its base is another one.
    mutating func sendAnew() {
        state = .pending
        notBefore = nil
        failure = nil
        idempotencyKey = .drawn()
        mayHaveArrived = false
    }

    func hasRow(of record: ListedRecord) -> Bool { rows.contains { $0.record == record } }

    func deletedValue(of place: RecordFieldPlace) -> [UInt8]? {
        guard let row = rows.first(where: { $0.record == place.record }) else { return nil }
        return row.body.withUnsafeBytes {
            RowBody($0, isWide: row.isWide)?.value(of: place.field).map { Array($0.bytes) }
        }
    }

    mutating func setDeletedValue(_ value: [UInt8]?, of place: RecordFieldPlace) {
        guard let index = rows.firstIndex(where: { $0.record == place.record }) else { return }
        rows[index].set([place.field: value])
    }
}

extension StoredOperation.DeletedRow {
    /// Sets and removes fields.
    mutating func set(_ values: [UInt16: [UInt8]?]) {
        var builder = BodyBuilder(), bytes = ByteWriter()
        let known = body, wasWide = isWide
        known.withUnsafeBytes { stored in
            var all: [UInt16: [UInt8]] = [:]
            guard let row = RowBody(stored, isWide: wasWide) else { return }
            for index in 0..<row.count { all[row.id(at: index)] = row.value(at: index).map { Array($0.bytes) } }
            for (id, value) in values { all[id] = value }
            for (id, value) in all.sorted(by: { $0.key < $1.key }) { builder.field(id) { $0.append(value) } }
        }
        isWide = builder.isWide
        builder.finish(into: &bytes)
        body = Array(bytes.bytes)
    }
}

extension StoredOperation.FieldChange {
    func isOf(_ place: RecordFieldPlace, _ own: ListedRecord) -> Bool {
        field == place.field && (record ?? own) == place.record
    }
}

extension StoredOperation.ListEdit {
    func isOf(_ place: RecordFieldPlace, _ own: ListedRecord) -> Bool {
        field == place.field && (record ?? own) == place.record
    }

    /// Whether the edit changes the list: what it has not changed, a rollback leaves.
    var hasEffect: Bool { isInsertion == (position == .max) }

    /// Returns a list with the edit, or without it. Nil is absent.
    func applied(to list: [UInt8]?, isUndone: Bool) -> [UInt8]? {
        var value = EditedValue(list)
        value.apply(self, isUndone: isUndone)
        return value.value
    }
}

extension StoredOperation.ListEdit.Empty {
    /// The form of a value as a list without members.
    init(_ value: [UInt8]?) {
        self = value == nil ? .absent : value == [ValueTag.null] ? .null : .list
    }
}

extension [UInt8] {
    /// The storage keys of an encoded reference list; empty for any other value.
    var referenceList: [[UInt8]] {
        var targets: [[UInt8]] = []
        withUnsafeBytes { bytes in
            guard !bytes.isEmpty else { return }
            _ = EncodedValue(bytes).forEachReference { targets.append(Array($0)) }
        }
        return targets
    }
}

extension [[UInt8]] {
    /// The encoded reference list with these storage keys.
    var referenceValue: [UInt8] {
        var value = ByteWriter()
        value.append(ValueTag.references)
        for target in self { target.withUnsafeBytes { value.appendReferenceElement($0) } }
        return [UInt8](value.bytes)
    }
}

extension StoreWriter {
    /// Sets and removes fields of a stored record. Values that no longer fit the catalog are
    /// removed.
    ///
    /// - Parameter mayBePartial: whether the record becomes partial if it lacks a required field.
    mutating func setFields(
        _ record: ListedRecord, _ values: [UInt16: [UInt8]?], mayBePartial: Bool = false
    ) throws {
        let access = access
        guard let row = try access.wholeRow(record), let entity = access.catalog.entity(id: row.kind) else { return }
        var builder = BodyBuilder(), bytes = ByteWriter(), removed: Set<UInt16> = []
        for (id, value) in values.sorted(by: { $0.key < $1.key }) {
            guard let field = entity.field(id: id), !entity.key.contains(id) else { continue }
            let fits = value?.withUnsafeBytes { bytes in
                (try? access.catalog.check(EncodedValue(bytes), fits: field, of: entity)) != nil
            }
            if let value, fits == true { builder.field(id) { $0.append(value) } } else { removed.insert(id) }
        }
        let isWide = builder.isWide
        builder.finish(into: &bytes)
        guard let body = RowBody(bytes.bytes, isWide: isWide) else { return }
        let rules = try access.state.rules(of: row.kind)
        _ = try record.storageKey.withUnsafeBytes {
            try merge(rules, $0, body, isComplete: false, removing: removed, mayBePartial: mayBePartial)
        }
    }

    /// Makes the other operations of a field continue without an operation, and sets the visible
    /// value.
    ///
    /// - Parameter ended: the operation, or its part for the record.
    /// - Returns: whether the visible value has changed.
    mutating func rollBack(_ place: RecordFieldPlace, of ended: StoredOperation) throws -> Bool {
        let catalog = access.catalog, row = try access.wholeRow(place.record)
        let others = try outbox.touching(place.record, except: ended.id)
        let deletion = row == nil ? others.last { $0.hasRow(of: place.record) } : nil
        guard row != nil || deletion != nil else { return false }
        let visible = row.map { $0.value(of: place.field) } ?? deletion?.deletedValue(of: place)
        let all = (others + [ended]).sorted { $0.id < $1.id }.filter {
            $0.touchedFields($0.record(catalog)).contains(place)
        }
        var edited = EditedValue(all.undone(visible, place, catalog))
        if row != nil, let server = try outbox.serverValue(place) {
            // Later operations continue from the server's value if it is that of the ended one,
            // whose answer may have been lost, or if they only edit a list. Others conflict
            // with it.
            let own = ended.record(catalog)
            let isReached = ended.changes.contains { $0.isOf(place, own) && $0.after == server }
            let areEdits = all.allSatisfy { operation in
                operation.id == ended.id
                    || !operation.changes.contains { $0.isOf(place, operation.record(catalog)) }
            }
            if areEdits || isReached && all.first?.id == ended.id { edited.set(server) }
        }
        for var operation in all where operation.id != ended.id {
            let known = operation
            operation.replay(&edited, place, operation.record(catalog))
            try operations.replace(known, by: operation)
        }
        let value = edited.value
        guard value != visible else { return false }
        if let id = deletion?.id, let known = try outbox.stored(id) {
            var changed = known
            changed.setDeletedValue(value, of: place)
            try operations.replace(known, by: changed)
            return false
        }
        try setFields(place.record, [place.field: value], mayBePartial: ended.wasPartial)
        return true
    }

    /// Makes the operations after an operation continue from its value of a field, and sets the
    /// visible value.
    ///
    /// - Parameter isSentAnew: whether updates that wait and get another base are sent as if they
    ///   had never been.
    mutating func continueFrom(
        _ value: [UInt8]?, _ place: RecordFieldPlace, after id: UInt64, isSentAnew: Bool = false
    ) throws {
        let catalog = access.catalog
        var edited = EditedValue(value), left: [StoredOperation] = []
        for var operation in try outbox.touching(place.record, after: id) {
            let known = operation
            operation.replay(&edited, place, operation.record(catalog))
            if isSentAnew, operation.kind == .update, operation.state == .pending, operation.changes != known.changes {
                operation.sendAnew()
            }
            try operations.replace(known, by: operation)
            if operation.edits.count < known.edits.count { left.append(known) }
        }
        let visible = edited.value
        if try access.wholeRow(place.record)?.value(of: place.field) != visible {
            try setFields(place.record, [place.field: visible])
        }
        // A deletion that finds nothing to remove from the record no longer changes it.
        for var operation in left {
            operation.id = 0
            try renewMark(place.record, after: operation)
        }
    }

    /// Bases the operations behind one that has ended on the server's values of its fields; behind
    /// a creation, on those of all fields: the server may have given others a value as well.
    ///
    /// Operations of other records may change the same fields: each one continues from the value
    /// that the one before it leaves.
    ///
    /// - Parameter key: the key of the record now.
    package mutating func rebaseOperations(after ended: OutboxOperation, _ key: RecordKey) throws {
        guard let entity = access.catalog.entity(ended.entity) else { return }
        let record = ListedRecord(entity: entity.root, storageKey: key.storageKey)
        // Only updates have a base. Operations of other records may be many.
        let isUpdated = try outbox.ids(.own, record).contains { id in
            try id > ended.id && outbox.stored(id)?.kind == .update
        }
        guard isUpdated else { return }
        var touched: Set<UInt16> = []
        for operation in try outbox.touching(record, after: ended.id) {
            for place in operation.touchedFields(operation.record(access.catalog)) where place.record == record {
                touched.insert(place.field)
            }
        }
        if ended.kind != .create { touched.formIntersection(ended.changes.compactMap { entity.field($0.name)?.id }) }
        for field in touched.sorted() {
            let place = RecordFieldPlace(record: record, field: field)
            guard let value = try outbox.serverValue(place) else { continue }
            try continueFrom(value, place, after: ended.id, isSentAnew: true)
        }
        try deleteGone()
    }
}
