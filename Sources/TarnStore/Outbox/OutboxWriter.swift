// The entries of the table `outbox`: operations with their index entries, and counters.

internal import LMDB

/// The outbox in a write transaction.
///
/// It writes entries. The records and marks that belong to them are changed by ``StoreWriter``.
struct OutboxWriter: ~Copyable {
    let access: StoreAccess
    let sequence: UInt64
    /// Whether an operation was queued, changed or removed.
    private(set) var isChanged = false
    /// Whether there may be an alias; nil before the first write by a key.
    var knowsAliases: Bool?

    init(_ access: StoreAccess, sequence: UInt64) {
        self.access = access
        self.sequence = sequence
    }

    /// The outbox as this transaction has left it.
    var table: OutboxTable { access.outbox }

    /// Changes the counters, and counts the change of the table.
    mutating func changeCounters(_ body: (inout OutboxCounters) -> Void) throws {
        var counters = try table.counters
        body(&counters)
        counters.revision &+= 1
        try counters.store(access.raw, access.state.outboxTable(), sequence: sequence)
        isChanged = true
    }

    /// Gives an operation the next id, and stores it.
    mutating func insert(_ operation: inout StoredOperation, lastTemporary: UInt64? = nil) throws {
        var id: UInt64 = 0
        let new = operation
        try changeCounters { counters in
            // Wrapping is out of reach: a counter that was repaired goes on from the highest id.
            counters.lastOperation &+= 1
            id = counters.lastOperation
            if let lastTemporary { counters.lastTemporary = max(counters.lastTemporary, lastTemporary) }
            counters.count(new, by: 1)
        }
        operation.id = id
        try put(operation)
        let entries = try access.state.outboxTable()
        try addEntries(of: operation, operation.references(access.state.outboxSchema), entries)
    }

    /// Replaces an operation by one with the same id.
    mutating func replace(_ old: StoredOperation, by new: StoredOperation) throws {
        guard old != new else { return }
        if old.state != new.state || (old.failure == nil) != (new.failure == nil) {
            try changeCounters { counters in
                counters.count(old, by: -1)
                counters.count(new, by: 1)
            }
        } else {
            try changeCounters { _ in }
        }
        try put(new)
        guard !old.hasSameRecords(as: new) else { return }
        let entries = try access.state.outboxTable(), catalog = access.catalog
        let before = old.references(access.state.outboxSchema), after = new.references(access.state.outboxSchema)
        if old.record(catalog) != new.record(catalog) {
            try removeEntries(of: old, before, entries)
            try addEntries(of: new, after, entries)
        } else if before != after {
            for record in before.subtracting(after) {
                _ = try access.raw.delete(entries, OutboxEntryKey.record(.reference, record, old.id))
            }
            for record in after.subtracting(before) { try putEntry(.reference, record, new.id, entries) }
        }
    }

    /// Removes an operation that has ended.
    mutating func remove(_ operation: StoredOperation) throws {
        try changeCounters { $0.count(operation, by: -1) }
        let entries = try access.state.outboxTable()
        _ = try access.raw.delete(entries, OutboxEntryKey.operation(operation.id))
        try removeEntries(of: operation, operation.references(access.state.outboxSchema), entries)
        // Deleted records that are not restored leave the versions that were kept for that.
        guard operation.kind == .delete else { return }
        for row in operation.rows where try access.wholeRow(row.record) == nil {
            try row.record.storageKey.withUnsafeBytes { try access.responses.removeAll(listing: row.record.entity, $0) }
        }
    }

    private func put(_ operation: StoredOperation) throws {
        let entries = try access.state.outboxTable()
        try OutboxEntryKey.operation(operation.id).withUnsafeBytes {
            try operation.store(access.raw, entries, $0, sequence: sequence)
        }
    }

    private func putEntry(
        _ kind: OutboxEntryKey.Kind, _ record: ListedRecord, _ id: UInt64, _ entries: Table
    ) throws {
        try OutboxEntryKey.record(kind, record, id).withUnsafeBytes { try access.raw.put(entries, $0, .empty) }
    }

    private func addEntries(of operation: StoredOperation, _ references: Set<ListedRecord>, _ entries: Table) throws {
        try access.raw.willAdd()
        try putEntry(.own, operation.record(access.catalog), operation.id, entries)
        for record in references { try putEntry(.reference, record, operation.id, entries) }
    }

    private func removeEntries(
        of operation: StoredOperation, _ references: Set<ListedRecord>, _ entries: Table
    ) throws {
        let raw = access.raw
        _ = try raw.delete(entries, OutboxEntryKey.record(.own, operation.record(access.catalog), operation.id))
        for record in references {
            _ = try raw.delete(entries, OutboxEntryKey.record(.reference, record, operation.id))
        }
    }

    /// Notes records whose operation has reached the server, and forgets some from long ago.
    ///
    /// The outbox has been changed before, so that its revision is that of this commit.
    mutating func noteSettled(_ records: some Sequence<ListedRecord>, at now: Timestamp) throws {
        let entries = try access.state.outboxTable(), revision = try table.revision
        var added = 0
        for record in records {
            added += 1
            try OutboxEntryKey.settled(revision, now, record).withUnsafeBytes {
                try access.raw.put(entries, $0, .empty)
            }
        }
        let (oldest, isBefore) = now.microseconds.subtractingReportingOverflow(OutboxEntryKey.settledLifetime)
        guard !isBefore, oldest > 0 else { return }
        let cursor = try access.raw.cursor(entries)
        defer { cursor.close() }
        // A time in the future is that of a clock that was set back: it would never pass.
        let newest = now.microseconds.addingReportingOverflow(OutboxEntryKey.settledLifetime).partialValue
        // A bounded number, but more than were added.
        for _ in 0..<8 + 2 * added {
            let entry = try OutboxEntryKey.settled(after: 0).withUnsafeBytes { try cursor.seek($0) }
            guard let key = entry?.key, let settled = OutboxEntryKey.settled(key),
                settled.time < UInt64(oldest) || settled.time > UInt64(max(0, newest))
            else { return }
            try cursor.delete()
        }
    }
}
