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
        remembered[place]?.ordinals.append(changes.count)
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
                edges.removeAll()
                if let now, let nowRules {
                    try index(key, old: now.body, nowRules, new: nil, nowRules)
                    try edges.indexRemoved(nowRules.entity, key, now.body, access, into: &indexChanges)
                }
                _ = try access.raw.delete(table, key)
                try edges.store(access)
                return
            }
            let rules = try access.state.rules(of: old.entity)
            try old.body.withUnsafeBytes { bytes in
                guard let expanded = RowBody(bytes, isWide: old.isWide) else { return }
                let body = try edges.replacing(expanded, old: now?.body, rules, access)
                if let now { edges.drop(now.body.fields(notIn: body), now.body) }
                try index(key, old: now?.body, nowRules ?? rules, new: body, rules)
                try edges.index(nowRules?.entity ?? rules.entity, rules.entity, key, access, into: &indexChanges)
                try put(table, rules, key, body, isPartial: old.isPartial, version: old.version)
                try edges.store(access)
            }
        }
        try changes.undo(memory.ordinals, in: access.changes)
        return memory.outcome
    }

    /// Restores a record to its state before this transaction, if it differs in one field only.
    ///
    /// - Parameter value: the encoded value of the field to which the record is to return.
    /// - Returns: whether the record and the log have nothing of this transaction now; otherwise
    ///   nothing was changed.
    package mutating func restore(
        _ record: ListedRecord, changedIn field: UInt16, from value: [UInt8]?
    ) throws -> Bool {
        let place = RememberedKey(root: record.entity, key: record.storageKey)
        guard let old = remembered[place]?.old, let now = try access.wholeRow(record), now.kind == old.entity,
            now.isPartial == old.isPartial, var before = StoreWriter.fields(old.body, isWide: old.isWide),
            var after = StoreWriter.fields(now.body, isWide: now.isWide), before[field] == value
        else { return false }
        (before[field], after[field]) = (nil, nil)
        guard before == after else { return false }
        _ = try restore(place)
        return true
    }

    /// The encoded values of a row's fields by their ids; nil if the row is damaged.
    private static func fields(_ bytes: [UInt8], isWide: Bool) -> [UInt16: [UInt8]]? {
        bytes.withUnsafeBytes { bytes in
            guard let body = RowBody(bytes, isWide: isWide) else { return nil }
            var fields: [UInt16: [UInt8]] = [:]
            for index in 0..<body.count {
                guard let value = body.value(at: index) else { return nil }
                fields[body.id(at: index)] = Array(value.bytes)
            }
            return fields
        }
    }
}
