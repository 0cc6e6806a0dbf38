// Records whose operations have reached the server a short time ago.
//
// A response that was requested before that may not have the change yet, whenever it arrives. The
// mark of the local change is gone by then, so the records are noted here, under the number of the
// outbox's change: a request that was sent after it is not concerned.

internal import LMDB

extension OutboxEntryKey {
    /// The time for which records are noted, in microseconds: an hour.
    static let settledLifetime: Int64 = 3600 * 1_000_000

    private static let settledStart = 17

    static func settled(_ revision: UInt64, _ time: Timestamp, _ record: ListedRecord) -> [UInt8] {
        var key = settled(after: revision)
        key += withUnsafeBytes(of: UInt64(clamping: time.microseconds).bigEndian) { Array($0) }
        key += withUnsafeBytes(of: record.entity.bigEndian) { Array($0) }
        return key + record.storageKey
    }

    /// The beginning of the keys of a revision.
    static func settled(after revision: UInt64) -> [UInt8] {
        [Kind.settled.rawValue] + withUnsafeBytes(of: revision.bigEndian) { Array($0) }
    }

    /// Decodes a key; nil if it is of another kind, or malformed.
    static func settled(_ key: Bytes) -> (time: UInt64, record: ListedRecord)? {
        guard key.count > settledStart + 2, key[0] == Kind.settled.rawValue else { return nil }
        let root = key.loadBigEndian(settledStart, UInt16.self)
        return (
            key.loadBigEndian(9, UInt64.self),
            ListedRecord(entity: root, storageKey: Array(key.slice(settledStart + 2..<key.count)))
        )
    }
}

extension OutboxTable {
    /// Returns the records whose operations have reached the server after a revision of the outbox.
    package func settledRecords(after revision: UInt64) throws -> Set<ListedRecord> {
        guard access.state.outbox != nil, revision < .max, try self.revision > revision else { return [] }
        return try settledRecords(from: OutboxEntryKey.settled(after: revision + 1)) { _ in true }
    }

    /// Returns the records whose operations have reached the server since a time, or within the
    /// last hour if that is shorter.
    package func settledRecords(since time: Timestamp) throws -> Set<ListedRecord> {
        let first = UInt64(clamping: time.microseconds)
        return try settledRecords(from: OutboxEntryKey.settled(after: 0)) { $0 >= first }
    }

    /// Returns whether records whose operations have reached the server since a time may no longer
    /// be noted.
    package func forgetsSettledRecords(since time: Timestamp, at now: Timestamp) -> Bool {
        access.state.outbox != nil && now.elapsed(since: time) >= OutboxEntryKey.settledLifetime
    }

    private func settledRecords(from key: [UInt8], where isWanted: (UInt64) -> Bool) throws -> Set<ListedRecord> {
        guard let table = access.state.outbox else { return [] }
        let cursor = try access.raw.cursor(table)
        defer { cursor.close() }
        var records: Set<ListedRecord> = []
        var entry = try key.withUnsafeBytes { try cursor.seek($0) }
        while let (key, _) = entry, let settled = OutboxEntryKey.settled(key) {
            if isWanted(settled.time) { records.insert(settled.record) }
            entry = try cursor.next()
        }
        return records
    }
}
