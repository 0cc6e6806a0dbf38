// The check of the table `outbox`, for `verify`, `repair` and `salvage`.

internal import LMDB

/// A check of all entries of the table `outbox`, in the order of keys.
package struct OutboxAudit {
    /// The state of an entry by itself.
    package enum Entry: Sendable, Hashable {
        case sound
        /// The bytes are no entry, or the checksum is wrong.
        case malformed
        /// The operation belongs to an entity that does not exist.
        case unknownEntity(UInt16)
    }

    private let schema: OutboxSchema
    /// The counters; nil if their entry is missing or malformed.
    private(set) var counters: OutboxCounters?
    /// The numbers of sound operations by state.
    package private(set) var counts = OutboxCounts()
    private(set) var aliases: UInt64 = 0
    /// The highest id of an operation.
    private(set) var lastOperation: UInt64 = 0
    /// The highest number of a temporary integer key.
    private(set) var lastTemporary: UInt64 = 0
    private var expected: Set<[UInt8]> = []
    private var found: Set<[UInt8]> = []

    package init(_ schema: OutboxSchema) { self.schema = schema }

    /// Checks an entry, and takes it in if it is sound.
    package mutating func add(_ key: Bytes, _ value: Bytes) -> Entry {
        guard key.count > 0, let kind = OutboxEntryKey.Kind(rawValue: key[0]) else { return .malformed }
        switch kind {
        case .own, .reference, .aliasTime:
            guard value.isEmpty, key.count > 9 else { return .malformed }
            found.insert(Array(key))
            return .sound
        case .settled:
            return value.isEmpty && OutboxEntryKey.settled(key) != nil ? .sound : .malformed
        case .counters, .operation, .alias: break
        }
        guard EncodedRow.hasValidChecksum(value, table: 0, key: key), let row = EncodedRow(value) else {
            return .malformed
        }
        switch kind {
        case .counters:
            guard key.count == 1, let counters = OutboxCounters(row) else { return .malformed }
            self.counters = counters
        case .operation:
            guard let id = OutboxEntryKey.operationID(key), let operation = StoredOperation(id: id, row) else {
                return .malformed
            }
            return add(operation)
        default:
            guard key.count > 3, let alias = OutboxAlias(row) else { return .malformed }
            aliases += 1
            note(RecordKey(storageKey: key.slice(3..<key.count)))
            expected.insert(OutboxEntryKey.aliasTime(alias.at, Array(key)))
        }
        return .sound
    }

    private mutating func add(_ operation: StoredOperation) -> Entry {
        guard schema.catalog.entity(id: operation.entity) != nil else { return .unknownEntity(operation.entity) }
        lastOperation = max(lastOperation, operation.id)
        counts.count(operation, by: 1)
        note(operation.key)
        expected.insert(OutboxEntryKey.record(.own, operation.record(schema.catalog), operation.id))
        for record in operation.references(schema) {
            expected.insert(OutboxEntryKey.record(.reference, record, operation.id))
        }
        return .sound
    }

    private mutating func note(_ key: RecordKey?) {
        for case .int(let value)? in key?.components.map(Optional.some) ?? [] where value < Int64.min + (1 << 48) {
            lastTemporary = max(lastTemporary, UInt64(value &- Int64.min))
        }
    }

    /// Whether the counters were taken in.
    package var hasCounters: Bool { counters != nil }

    /// Whether any entry was taken in.
    package var hasEntries: Bool { counters != nil || !expected.isEmpty || !found.isEmpty }

    /// The index entries that operations and aliases must have and that are missing.
    package var missing: [[UInt8]] { expected.subtracting(found).sorted { $0.lexicographicallyPrecedes($1) } }
    /// The index entries that belong to no operation or alias.
    package var extra: [[UInt8]] { found.subtracting(expected).sorted { $0.lexicographicallyPrecedes($1) } }

    /// Whether any counter differs from the entries, or is below them.
    package var hasSoundCounters: Bool {
        guard let counters else { return expected.isEmpty && found.isEmpty }
        return counters.counts == counts && counters.aliases == aliases && counters.lastOperation >= lastOperation
            && counters.lastTemporary >= lastTemporary
    }

    /// The counters that fit the entries.
    ///
    /// Lost numbers are unknown: without the entry, the counters skip a million.
    var soundCounters: OutboxCounters {
        let skipped: UInt64 = counters == nil ? 1 << 20 : 0
        var sound = counters ?? OutboxCounters()
        sound.counts = counts
        sound.aliases = aliases
        sound.lastOperation = max(sound.lastOperation, lastOperation &+ skipped)
        sound.lastTemporary = max(sound.lastTemporary, lastTemporary &+ skipped)
        sound.revision &+= 1
        return sound
    }
}

extension StoreAccess {
    /// Removes malformed entries of the outbox, and makes the others consistent.
    ///
    /// - Returns: the number of removed entries, the operations among them, and whether anything
    ///   else was changed.
    func repairOutbox() throws -> (removed: Int, lost: [LostOperation], isChanged: Bool) {
        guard let table = state.outbox else { return (0, [], false) }
        var audit = OutboxAudit(state.outboxSchema), removed = 0, lost: Set<UInt64> = []
        let cursor = try raw.cursor(table)
        defer { cursor.close() }
        var entry = try cursor.first()
        while let (key, value) = entry {
            if audit.add(key, value) != .sound {
                if let id = OutboxEntryKey.operationID(key) { lost.insert(id) }
                try cursor.delete()
                removed += 1
            }
            entry = try cursor.next()
        }
        let missing = audit.missing, extra = audit.extra
        for key in extra { _ = try raw.delete(table, key) }
        for key in missing { try key.withUnsafeBytes { try raw.put(table, $0, .empty) } }
        // Revisions begin again without the counters: those of settled records would be later.
        if !audit.hasCounters {
            while let (key, _) = try OutboxEntryKey.settled(after: 0).withUnsafeBytes({ try cursor.seek($0) }),
                OutboxEntryKey.settled(key) != nil
            { try cursor.delete() }
        }
        let isSound = audit.hasSoundCounters
        if !isSound { try audit.soundCounters.store(raw, table, sequence: 0) }
        return (removed, LostOperation.all(lost, namedBy: extra), !missing.isEmpty || !extra.isEmpty || !isSound)
    }
}
