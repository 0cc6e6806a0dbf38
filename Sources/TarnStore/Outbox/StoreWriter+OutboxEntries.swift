// The entries of the table `outbox`: operations with their index entries, counters, aliases.

import Foundation
internal import LMDB

extension StoreWriter {
    /// The outbox as this transaction has left it.
    package var outbox: OutboxTable { access.outbox }

    /// Changes the counters, and counts the change of the outbox.
    mutating func changeCounters(_ body: (inout OutboxCounters) -> Void) throws {
        var counters = try outbox.counters
        body(&counters)
        counters.revision &+= 1
        try counters.store(access.raw, access.state.outboxTable(), sequence: sequence)
        changesOutbox = true
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
        let table = try access.state.outboxTable()
        try addEntries(of: operation, operation.references(access.state.outboxSchema), table)
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
        let table = try access.state.outboxTable(), catalog = access.catalog
        let before = old.references(access.state.outboxSchema), after = new.references(access.state.outboxSchema)
        if old.record(catalog) != new.record(catalog) {
            try removeEntries(of: old, before, table)
            try addEntries(of: new, after, table)
        } else if before != after {
            for record in before.subtracting(after) {
                _ = try access.raw.delete(table, OutboxEntryKey.record(.reference, record, old.id))
            }
            for record in after.subtracting(before) { try putEntry(.reference, record, new.id, table) }
        }
    }

    /// Removes an operation that has ended.
    mutating func removeEntry(_ operation: StoredOperation) throws {
        try changeCounters { $0.count(operation, by: -1) }
        let table = try access.state.outboxTable()
        _ = try access.raw.delete(table, OutboxEntryKey.operation(operation.id))
        try removeEntries(of: operation, operation.references(access.state.outboxSchema), table)
        // Deleted records that are not restored leave the versions that were kept for that.
        guard operation.kind == .delete else { return }
        for row in operation.rows where try wholeRow(row.record) == nil {
            try row.record.storageKey.withUnsafeBytes { try access.responses.removeAll(listing: row.record.entity, $0) }
        }
    }

    private func put(_ operation: StoredOperation) throws {
        let table = try access.state.outboxTable()
        try OutboxEntryKey.operation(operation.id).withUnsafeBytes {
            try operation.store(access.raw, table, $0, sequence: sequence)
        }
    }

    private func putEntry(
        _ kind: OutboxEntryKey.Kind, _ record: ListedRecord, _ id: UInt64, _ table: Table
    ) throws {
        try OutboxEntryKey.record(kind, record, id).withUnsafeBytes { try access.raw.put(table, $0, .empty) }
    }

    private func addEntries(of operation: StoredOperation, _ references: Set<ListedRecord>, _ table: Table) throws {
        try access.raw.willAdd()
        try putEntry(.own, operation.record(access.catalog), operation.id, table)
        for record in references { try putEntry(.reference, record, operation.id, table) }
    }

    private func removeEntries(of operation: StoredOperation, _ references: Set<ListedRecord>, _ table: Table) throws {
        let raw = access.raw
        _ = try raw.delete(table, OutboxEntryKey.record(.own, operation.record(access.catalog), operation.id))
        for record in references {
            _ = try raw.delete(table, OutboxEntryKey.record(.reference, record, operation.id))
        }
    }

    // MARK: - Aliases

    /// Whether a key may have been replaced. It is looked up once in a transaction.
    mutating func hasAliases() throws -> Bool {
        if let known = knowsAliases { return known }
        let known = try outbox.hasAliases
        knowsAliases = known
        return known
    }

    /// Returns the key of the record that a caller's write by key changes: see
    /// `StoreAccess.writtenKey`.
    mutating func writtenKey(_ name: String, _ key: RecordKey) throws -> RecordKey {
        try hasAliases() ? access.writtenKey(name, key) : key
    }

    /// Stores an alias, and removes some that are older than their lifetime.
    mutating func putAlias(_ record: ListedRecord, _ key: RecordKey, at time: Timestamp) throws {
        let table = try access.state.outboxTable(), isNew = try outbox.alias(record) == nil
        knowsAliases = true
        let aliasKey = OutboxEntryKey.record(.alias, record)
        if !isNew { try removeAlias(aliasKey, table) }
        try aliasKey.withUnsafeBytes {
            try OutboxAlias(key, at: time).store(access.raw, table, $0, sequence: sequence)
        }
        try OutboxEntryKey.aliasTime(time, aliasKey).withUnsafeBytes { try access.raw.put(table, $0, .empty) }
        let expired = try expiredAliases(at: time, table)
        for key in expired { try removeAlias(key, table) }
        try changeCounters { counters in
            counters.aliases = counters.aliases &+ (isNew ? 1 : 0) &- min(counters.aliases, UInt64(expired.count))
        }
    }

    /// Ends the alias of a key that another record has, or has had. Other keys that led to it were
    /// keys of the record that it has led to, and keep leading there.
    mutating func removeAlias(of record: ListedRecord) throws {
        guard let alias = try outbox.alias(record) else { return }
        let table = try access.state.outboxTable()
        try removeAlias(OutboxEntryKey.record(.alias, record), table)
        for (key, other) in try outbox.aliases(leadingTo: record) {
            try key.withUnsafeBytes {
                try OutboxAlias(alias.key, at: other.at).store(access.raw, table, $0, sequence: sequence)
            }
        }
        try changeCounters { $0.aliases -= min($0.aliases, 1) }
    }

    private func expiredAliases(at now: Timestamp, _ table: Table) throws -> [[UInt8]] {
        let (oldest, isBefore) = now.microseconds.subtractingReportingOverflow(OutboxAlias.lifetime)
        guard !isBefore, oldest > 0 else { return [] }
        let cursor = try access.raw.cursor(table)
        defer { cursor.close() }
        var result: [[UInt8]] = []
        var entry = try [OutboxEntryKey.Kind.aliasTime.rawValue].withUnsafeBytes { try cursor.seek($0) }
        // A bounded number: each adoption removes more than it adds.
        while let (key, _) = entry, key.count > 9, result.count < 64,
            key.loadBigEndian(1, UInt64.self) < UInt64(oldest)
        {
            result.append(Array(key.slice(9..<key.count)))
            entry = try cursor.next()
        }
        return result
    }

    private func removeAlias(_ key: [UInt8], _ table: Table) throws {
        let alias = try key.withUnsafeBytes { bytes in
            try access.raw.systemRow(of: bytes, in: table, "outbox").flatMap { OutboxAlias($0) }
        }
        if let alias { _ = try access.raw.delete(table, OutboxEntryKey.aliasTime(alias.at, key)) }
        _ = try access.raw.delete(table, key)
    }
}
