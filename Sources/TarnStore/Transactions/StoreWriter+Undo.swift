// Undo of single records in a write transaction.

internal import LMDB

extension StoreWriter {
    /// Begins a part of this transaction: what is undone from now on is restored to its present
    /// state.
    package mutating func forgetRecords() { remembered.removeAll() }

    /// Saves the state of a record, on its first change in this transaction or in its present part.
    mutating func remember(_ key: Bytes, _ root: UInt16, _ old: EncodedRow?, _ outcome: Outcome) throws {
        let place = RememberedKey(root: root, key: Array(key))
        if remembered[place] == nil {
            var row = old.map(RememberedRecord.Row.init)
            // The edge table changes, so the list is copied with its references.
            if let old, let expanded = try access.expandingLongLists(old.body) {
                row?.body = expanded.bytes
                row?.isWide = expanded.isWide
            }
            remembered[place] = RememberedRecord(order: remembered.count, old: row, outcome: outcome)
        }
        remembered[place]?.ordinals.append(changeCount)
    }

    /// Gives a field of a record an earlier value.
    ///
    /// If nothing else of the record has changed in this part of the transaction, the record is
    /// restored, and its changes are removed from the log.
    ///
    /// - Parameter value: the encoded value; nil for null.
    /// - Returns: whether the record is as it was before this part of the transaction.
    package mutating func takeBack(
        _ field: UInt16, to value: [UInt8]?, of entity: Catalog.Entity, _ record: [UInt8]
    ) throws -> Bool {
        let place = RememberedKey(root: entity.root, key: record)
        let value = value.flatMap { $0 == [ValueTag.null] ? nil : $0 }
        if try isRestored(by: field, value, place) { return try restore(place) != nil }
        var builder = BodyBuilder(), bytes = ByteWriter()
        builder.field(field) { writer in
            if let value { writer.append(value) } else { writer.appendValueNull() }
        }
        builder.finish(into: &bytes)
        guard let body = RowBody(bytes.bytes, isWide: false) else { return false }
        _ = try record.withUnsafeBytes { try merge(entity, $0, body, isComplete: false) }
        return false
    }

    /// Gives a field of a record the value before this part of the transaction: null if the record
    /// did not exist. A record that was not changed stays.
    ///
    /// - Returns: whether the record was changed, and is as it was before.
    package mutating func takeBack(
        _ field: UInt16, of entity: Catalog.Entity, _ record: [UInt8]
    ) throws -> Bool {
        guard let memory = remembered[RememberedKey(root: entity.root, key: record)] else { return false }
        let before = memory.old.flatMap { old in
            old.body.withUnsafeBytes { RowBody($0, isWide: old.isWide)?.value(of: field)?.unlessNull }
        }
        return try takeBack(field, to: before, of: entity, record)
    }

    /// Returns whether a record is as it was once a field has a value.
    private func isRestored(by field: UInt16, _ value: [UInt8]?, _ place: RememberedKey) throws -> Bool {
        guard let old = remembered[place]?.old, let root = catalog.entity(id: place.root) else { return false }
        let access = access
        return try access.lending {
            try place.key.withUnsafeBytes { key in
                guard let now = try access.records.row(root, key), now.entity == old.entity,
                    now.isPartial == old.isPartial
                else { return false }
                let expanded = try access.expandingLongLists(now.body)
                return old.body.withUnsafeBytes { bytes in
                    guard let before = RowBody(bytes, isWide: old.isWide), before.value(of: field)?.unlessNull == value
                    else { return false }
                    guard let expanded else { return before.equals(now.body, except: field) }
                    return expanded.bytes.withUnsafeBytes {
                        RowBody($0, isWide: expanded.isWide).map { before.equals($0, except: field) } ?? false
                    }
                }
            }
        }
    }

    /// Restores a record to its state before this transaction, and removes its changes from the
    /// log.
    mutating func restore(_ place: RememberedKey) throws -> Outcome? {
        guard let memory = remembered.removeValue(forKey: place) else { return nil }
        remembersRecords = false
        defer { remembersRecords = true }
        hasUnknownOwners = true
        // The restored key may be past the known end of the table.
        tail = TableTail()
        let table = try access.state.records(of: place.root)
        let mark = access.rowMark
        defer { access.release(to: mark) }
        try place.key.withUnsafeBytes { key in
            guard let root = catalog.entity(id: place.root) else { return }
            let now = try access.raw.get(table, key).map { try access.records.view($0, root, key) }
            let nowRules = try now.map { try access.state.rules(of: $0.entity) }
            guard let old = memory.old else {
                edges.changes.removeAll(keepingCapacity: true)
                if let now, let nowRules {
                    try index(key, old: now.body, nowRules, new: nil, nowRules)
                    try indexRemovedLongLists(nowRules.entity, key, now.body)
                }
                _ = try access.raw.delete(table, key)
                try storeLongLists()
                return
            }
            let rules = try access.state.rules(of: old.entity)
            try old.body.withUnsafeBytes { bytes in
                guard let expanded = RowBody(bytes, isWide: old.isWide) else { return }
                let body = try replacingLongLists(expanded, old: now?.body, rules)
                if let now { edges.drop(now.body.fields(notIn: body), now.body) }
                try index(key, old: now?.body, nowRules ?? rules, new: body, rules)
                try indexLongLists(nowRules?.entity ?? rules.entity, rules.entity, key)
                try put(table, rules, key, body, isPartial: old.isPartial, version: old.version)
                try storeLongLists()
            }
        }
        try writeLog()
        undoneCount += UInt32(memory.ordinals.count)
        for ordinal in memory.ordinals { try access.changes.remove(sequence, ordinal) }
        return memory.outcome
    }
}

extension RowBody {
    /// Whether two bodies have the same values, but for one field.
    fileprivate func equals(_ other: RowBody, except field: UInt16) -> Bool {
        func values(_ body: RowBody) -> [UInt16: [UInt8]] {
            var values: [UInt16: [UInt8]] = [:]
            for index in 0..<body.count where body.id(at: index) != field {
                values[body.id(at: index)] = body.value(at: index).map { Array($0.bytes) } ?? []
            }
            return values
        }
        return values(self) == values(other)
    }
}

extension EncodedValue {
    /// The encoded value; nil for null.
    fileprivate var unlessNull: [UInt8]? { isNull ? nil : Array(bytes) }
}
