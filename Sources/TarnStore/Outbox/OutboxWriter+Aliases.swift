// Keys that were replaced: which ones lead to which records.

internal import LMDB

extension OutboxWriter {
    /// Whether a key may have been replaced. It is looked up once in a transaction.
    mutating func hasAliases() throws -> Bool {
        if let known = knowsAliases { return known }
        let known = try table.hasAliases
        knowsAliases = known
        return known
    }

    /// Stores an alias, and removes some that are older than their lifetime.
    mutating func putAlias(_ record: ListedRecord, _ key: RecordKey, at time: Timestamp) throws {
        let entries = try access.state.outboxTable(), isNew = try table.alias(record) == nil
        knowsAliases = true
        let aliasKey = OutboxEntryKey.record(.alias, record)
        if !isNew { try removeAlias(aliasKey, entries) }
        try aliasKey.withUnsafeBytes {
            try OutboxAlias(key, at: time).store(access.raw, entries, $0, sequence: sequence)
        }
        try OutboxEntryKey.aliasTime(time, aliasKey).withUnsafeBytes { try access.raw.put(entries, $0, .empty) }
        let expired = try expiredAliases(at: time, entries)
        for key in expired { try removeAlias(key, entries) }
        try changeCounters { counters in
            counters.aliases = counters.aliases &+ (isNew ? 1 : 0) &- min(counters.aliases, UInt64(expired.count))
        }
    }

    /// Ends the alias of a key that another record has, or has had. Other keys that led to it were
    /// keys of the record that it has led to, and keep leading there.
    mutating func removeAlias(of record: ListedRecord) throws {
        guard let alias = try table.alias(record) else { return }
        let entries = try access.state.outboxTable()
        try removeAlias(OutboxEntryKey.record(.alias, record), entries)
        for (key, other) in try table.aliases(leadingTo: record) {
            try key.withUnsafeBytes {
                try OutboxAlias(alias.key, at: other.at).store(access.raw, entries, $0, sequence: sequence)
            }
        }
        try changeCounters { $0.aliases -= min($0.aliases, 1) }
    }

    private func expiredAliases(at now: Timestamp, _ entries: Table) throws -> [[UInt8]] {
        let (oldest, isBefore) = now.microseconds.subtractingReportingOverflow(OutboxAlias.lifetime)
        guard !isBefore, oldest > 0 else { return [] }
        let cursor = try access.raw.cursor(entries)
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

    private func removeAlias(_ key: [UInt8], _ entries: Table) throws {
        let alias = try key.withUnsafeBytes { bytes in
            try access.raw.systemRow(of: bytes, in: entries, "outbox").flatMap { OutboxAlias($0) }
        }
        if let alias { _ = try access.raw.delete(entries, OutboxEntryKey.aliasTime(alias.at, key)) }
        _ = try access.raw.delete(entries, key)
    }
}
