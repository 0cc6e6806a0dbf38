// Reading the outbox.

import Foundation
internal import LMDB

/// The outbox in a transaction, be it a snapshot or the writer's.
package struct OutboxTable {
    let access: StoreAccess

    init(_ access: StoreAccess) { self.access = access }

    /// The number of changes of the outbox so far: it differs after every change.
    package var revision: UInt64 { get throws { try counters.revision } }

    /// The numbers of operations by state, which are kept in the table.
    package var counts: OutboxCounts { get throws { try counters.counts } }

    /// Returns an operation; nil if it is not queued.
    package func operation(_ id: UInt64) throws -> OutboxOperation? { try stored(id).map { try decoded($0) } }

    /// Calls the closure with operations in the order of ids, until it returns false.
    ///
    /// - Throws: `StoreError.damagedEntry`, and the errors of the closure.
    package func forEach(
        in state: OutboxOperation.State? = nil, after id: UInt64 = 0, _ body: (OutboxOperation) throws -> Bool
    ) throws {
        try forEachStored(after: id) { operation in
            if let state, operation.state != state { return true }
            return try body(decoded(operation))
        }
    }

    /// Calls the closure with the records that operations change or refer to; one may come several
    /// times.
    package func forEachRecord(_ body: (ListedRecord) -> Void) throws {
        try forEachStored { operation in
            body(operation.record(access.catalog))
            for record in operation.references(access.state.outboxSchema) { body(record) }
            return true
        }
    }

    /// Returns the operations of a record behind a given one, in the order of ids.
    ///
    /// - Parameter id: an operation; 0 for all of the record.
    package func operations(
        of entity: String, _ key: RecordKey, after id: UInt64 = 0
    ) throws -> [OutboxOperation] {
        try ids(.own, record(entity, key)).filter { $0 > id }.compactMap { try operation($0) }
    }

    /// Returns the unsent changes of a record.
    package func status(of entity: String, _ key: RecordKey) throws -> OutboxRecordStatus {
        var status = OutboxRecordStatus()
        for id in try ids(.own, record(entity, key)) {
            guard let operation = try stored(id) else { continue }
            status.operations.append(id)
            status.counts.count(operation, by: 1)
            if let failure = operation.failure, failure.at >= status.failure?.at ?? failure.at {
                status.failure = failure
            }
        }
        return status
    }

    /// Returns the key that the server has assigned to a record with a temporary key; the key
    /// itself if it has no alias. Aliases are kept for 30 days.
    package func resolvedKey(_ entity: String, _ key: RecordKey) throws -> RecordKey {
        try resolved(access.state.entity(entity), key)
    }

    private func record(_ entity: String, _ key: RecordKey) throws -> ListedRecord {
        let entity = try access.state.entity(entity)
        try access.checkForm(of: key, entity)
        return ListedRecord(entity: entity.root, storageKey: try resolved(entity, key).storageKey)
    }

    // MARK: - Entries

    var counters: OutboxCounters {
        get throws {
            guard let table = access.state.outbox else { return OutboxCounters() }
            return try OutboxEntryKey.counters.withUnsafeBytes { key in
                guard let row = try row(of: key, in: table) else { return OutboxCounters() }
                guard let counters = OutboxCounters(row) else { throw damaged(key) }
                return counters
            }
        }
    }

    package func stored(_ id: UInt64) throws -> StoredOperation? {
        guard let table = access.state.outbox else { return nil }
        return try OutboxEntryKey.operation(id).withUnsafeBytes { key in
            guard let row = try row(of: key, in: table) else { return nil }
            guard let operation = StoredOperation(id: id, row) else { throw damaged(key) }
            return operation
        }
    }

    /// - Parameter skipsDead: whether dead operations are left out; the rest of them is not read.
    func forEachStored(
        after id: UInt64 = 0, without omitted: Set<UInt64> = [], skipsDead: Bool = false,
        _ body: (StoredOperation) throws -> Bool
    ) throws {
        guard let table = access.state.outbox, id < .max else { return }
        let cursor = try access.raw.cursor(table)
        defer { cursor.close() }
        var entry = try OutboxEntryKey.operation(id + 1).withUnsafeBytes { try cursor.seek($0) }
        while let (key, value) = entry, key.count > 0, key[0] == OutboxEntryKey.Kind.operation.rawValue {
            guard let id = OutboxEntryKey.operationID(key) else { throw damaged(key) }
            if !omitted.contains(id) {
                let row = try row(value, key)
                if !skipsDead || !StoredOperation.isDead(row) {
                    guard let operation = StoredOperation(id: id, row) else { throw damaged(key) }
                    guard try body(operation) else { return }
                }
            }
            entry = try cursor.next()
        }
    }

    private func row(of key: Bytes, in table: Table) throws -> EncodedRow? {
        try access.raw.get(table, key).map { bytes throws(StoreError) in try row(bytes, key) }
    }

    private func row(_ bytes: Bytes, _ key: Bytes) throws(StoreError) -> EncodedRow {
        guard EncodedRow.hasValidChecksum(bytes, table: 0, key: key), let row = EncodedRow(bytes) else {
            throw damaged(key)
        }
        return row
    }

    private func damaged(_ key: Bytes) -> StoreError {
        .damagedEntry(table: TableName.outbox, key: OutboxEntryKey.describe(key))
    }

    package func ids(_ kind: OutboxEntryKey.Kind, _ record: ListedRecord) throws -> [UInt64] {
        guard let table = access.state.outbox else { return [] }
        let cursor = try access.raw.cursor(table)
        defer { cursor.close() }
        var ids: [UInt64] = []
        try OutboxEntryKey.record(kind, record).withUnsafeBytes { start in
            var entry = try cursor.seek(start)
            while let (key, _) = entry, key.hasPrefix(start) {
                // The key of another record may begin with this one: a text with a NUL.
                if key.count == start.count + 8 { ids.append(key.loadBigEndian(start.count, UInt64.self)) }
                entry = try cursor.next()
            }
        }
        return ids
    }

    package func forEachID(of record: ListedRecord, before id: UInt64, _ body: (UInt64) throws -> Bool) throws {
        guard let table = access.state.outbox else { return }
        let cursor = try access.raw.cursor(table), start = OutboxEntryKey.record(.own, record)
        defer { cursor.close() }
        let behind = try OutboxEntryKey.record(.own, record, id).withUnsafeBytes { try cursor.seek($0) }
        var entry = behind == nil ? try cursor.last() : try cursor.previous()
        try start.withUnsafeBytes { start in
            while let (key, _) = entry, key.hasPrefix(start) {
                if key.count == start.count + 8 {
                    guard try body(key.loadBigEndian(start.count, UInt64.self)) else { return }
                }
                entry = try cursor.previous()
            }
        }
    }

    /// Returns the operations that change a record or one of its fields, in the order of ids.
    ///
    /// Those that are left out are not read: they may be large, or very many.
    ///
    /// - Parameters:
    ///   - omitted: an operation to leave out.
    ///   - first: the operation after which the others are.
    ///   - last: the operation before which the others are.
    func touching(
        _ record: ListedRecord, except omitted: UInt64 = 0, after first: UInt64 = 0, before last: UInt64 = .max
    ) throws -> [StoredOperation] {
        var result: [StoredOperation] = []
        let ids = try Set(ids(.own, record)).union(ids(.reference, record)).sorted()
        for id in ids where id != omitted && id > first && id < last {
            guard let operation = try stored(id) else { continue }
            if operation.touches(record, operation.record(access.catalog)) { result.append(operation) }
        }
        return result
    }

    /// Returns the dead operations before one that change a record or one of its fields, in the
    /// order of ids. The rest of others is not read.
    func deadOperations(touching record: ListedRecord, before id: UInt64) throws -> [StoredOperation] {
        guard let table = access.state.outbox else { return [] }
        var result: [StoredOperation] = []
        for other in try Set(ids(.own, record)).union(ids(.reference, record)).sorted() where other < id {
            let isDead = try OutboxEntryKey.operation(other).withUnsafeBytes { key in
                try row(of: key, in: table).map(StoredOperation.isDead) ?? false
            }
            guard isDead, let operation = try stored(other) else { continue }
            if operation.touches(record, operation.record(access.catalog)) { result.append(operation) }
        }
        return result
    }

    // MARK: - Aliases

    func alias(_ record: ListedRecord) throws -> OutboxAlias? {
        guard let table = access.state.outbox else { return nil }
        return try OutboxEntryKey.record(.alias, record).withUnsafeBytes { key in
            guard let row = try row(of: key, in: table) else { return nil }
            guard let alias = OutboxAlias(row) else { throw damaged(key) }
            return alias
        }
    }

    /// Returns the aliases that lead to a record, with their keys in the table.
    ///
    /// It reads all aliases of the entity: only for a key that leads to another record itself.
    func aliases(leadingTo record: ListedRecord) throws -> [(key: [UInt8], alias: OutboxAlias)] {
        guard let table = access.state.outbox else { return [] }
        let cursor = try access.raw.cursor(table)
        defer { cursor.close() }
        var result: [([UInt8], OutboxAlias)] = []
        try OutboxEntryKey.record(.alias, ListedRecord(entity: record.entity, storageKey: [])).withUnsafeBytes {
            start in
            var entry = try cursor.seek(start)
            while let (key, value) = entry, key.hasPrefix(start) {
                guard let alias = OutboxAlias(try row(value, key)) else { throw damaged(key) }
                if alias.key.storageKey == record.storageKey { result.append((Array(key), alias)) }
                entry = try cursor.next()
            }
        }
        return result
    }

    /// Whether the key of any record was replaced.
    var hasAliases: Bool {
        get throws {
            guard let table = access.state.outbox, try access.raw.statistics(table).entries > 0 else { return false }
            let cursor = try access.raw.cursor(table), kind = OutboxEntryKey.Kind.alias.rawValue
            defer { cursor.close() }
            return try [kind].withUnsafeBytes { try cursor.seek($0) }.map { $0.key.count > 0 && $0.key[0] == kind }
                ?? false
        }
    }

    /// Whether a record has had another key until an operation ended after a time.
    func isAdopted(_ record: ListedRecord, _ key: RecordKey, since time: Timestamp) throws -> Bool {
        guard let table = access.state.outbox else { return false }
        let cursor = try access.raw.cursor(table)
        defer { cursor.close() }
        var entry = try OutboxEntryKey.aliasTime(time, []).withUnsafeBytes { try cursor.seek($0) }
        while let (time, _) = entry, time.count > 12, time[0] == OutboxEntryKey.Kind.aliasTime.rawValue {
            // The time is before the key of the alias.
            let alias = time.slice(9..<time.count)
            if alias.loadBigEndian(1, UInt16.self) == record.entity,
                try row(of: alias, in: table).flatMap({ OutboxAlias($0) })?.key == key
            {
                return true
            }
            entry = try cursor.next()
        }
        return false
    }

    /// Returns the key that has replaced another one; that itself if a record has it.
    ///
    /// This is the rule for every key that a caller passes: of a record to read, to observe, to
    /// write, to mark or to queue a change of, and of the targets in conditions and in queued
    /// values. Keys that responses bring are the server's, and are not replaced.
    ///
    /// 1. A key that a record has, or an unsent change, is that record's.
    /// 2. A key with an alias leads to the record that has had it. The alias ends for good when
    ///    another record has the key: see `OutboxWriter.removeAlias(of:)`.
    /// 3. The key of a new record of an owner has the present key of that owner.
    ///
    /// - Parameter isAliased: whether an alias has led to the key. Its own alias is newer, so the
    ///   record was moved on, even if another one has the key by now.
    func resolved(
        _ entity: Catalog.Entity, _ key: RecordKey, isAliased: Bool = false
    ) throws -> RecordKey {
        var key = key, isAliased = isAliased
        for _ in 0..<OutboxAlias.longestChain {
            let record = ListedRecord(entity: entity.root, storageKey: key.storageKey), alias = try alias(record)
            let next = try alias?.key ?? withPresentOwners(key, entity)
            guard next != key, try (isAliased && alias != nil) || !isTaken(record) else { break }
            (key, isAliased) = (next, alias != nil)
        }
        return key
    }

    /// Returns a key whose owners' keys that were replaced are the present ones.
    func withPresentOwners(_ key: RecordKey, _ entity: Catalog.Entity) throws -> RecordKey {
        guard entity.hasOwner, !key.isDigest else { return key }
        var components: [KeyComponent] = [], rest = key.components[...]
        for part in entity.keyParts {
            let own = Array(rest.prefix(part.count))
            rest = rest.dropFirst(part.count)
            guard part.isReference, let root = access.state.outboxSchema.destinationRoot(entity.id, part.field),
                let owner = access.catalog.entity(id: root)
            else {
                components += own
                continue
            }
            components += try resolved(owner, RecordKey(own)).components
        }
        return RecordKey(components)
    }

    /// Returns the keys that have replaced that of a record, one after the other, also if another
    /// record has one of them now.
    func replacements(_ record: ListedRecord) throws -> [[UInt8]] {
        var keys: [[UInt8]] = [], record = record
        while keys.count < OutboxAlias.longestChain, let alias = try alias(record) {
            record.storageKey = alias.key.storageKey
            keys.append(record.storageKey)
        }
        return keys
    }

    /// Whether a record has a key that another one has had before: it is stored, or has unsent
    /// changes.
    ///
    /// The server may have a record with the key that the program had chosen for a new one, and
    /// that it has replaced.
    private func isTaken(_ record: ListedRecord) throws -> Bool {
        let table = try access.state.records(of: record.entity)
        return try record.storageKey.withUnsafeBytes { key in
            try access.raw.get(table, key) != nil || access.localChanges.mark(record.entity, key) != nil
        }
    }

    /// Returns the storage key that has replaced a temporary one; nil if there is none, or if a
    /// record has the key.
    ///
    /// Without entries in the table it costs one look at its size.
    func replacement(_ root: UInt16, _ storageKey: Bytes) throws(StoreError) -> [UInt8]? {
        try replacingKey(root, storageKey)?.storageKey
    }

    /// Returns the key that has replaced a temporary one: see ``replacement(_:_:)``.
    func replacingKey(_ root: UInt16, _ storageKey: Bytes) throws(StoreError) -> RecordKey? {
        guard let table = access.state.outbox else { return nil }
        do {
            guard try access.raw.statistics(table).entries > 0 else { return nil }
            let record = ListedRecord(root, storageKey)
            if let alias = try alias(record) {
                guard try !isTaken(record), let entity = access.catalog.entity(id: root) else { return nil }
                return try resolved(entity, alias.key, isAliased: true)
            }
            guard let entity = access.catalog.entity(id: root), entity.hasOwner,
                let key = RecordKey(storageKey: storageKey)
            else { return nil }
            let present = try resolved(entity, key)
            return present == key ? nil : present
        } catch let error as StoreError {
            throw error
        } catch let error as LMDBError {
            throw .lmdb(error)
        } catch {
            throw .damagedEntry(table: TableName.outbox, key: RecordKey.describe(storageKey: storageKey))
        }
    }

    /// Whether operations are queued that change a record: its own, or another one's deletion or
    /// change of members.
    ///
    /// - Parameter own: whether only the operations of the record itself count.
    package func hasOperations(_ root: UInt16, _ storageKey: Bytes, own: Bool = false) throws -> Bool {
        let record = ListedRecord(root, storageKey)
        if try !ids(.own, record).isEmpty { return true }
        // Operations of other records may be many, and each has marked the records that it changes.
        guard !own, try access.localChanges.mark(root, storageKey) != nil else { return false }
        return try ids(.reference, record).contains { id in
            guard let operation = try stored(id) else { return false }
            return operation.touches(record, operation.record(access.catalog))
        }
    }
}

extension OutboxEntryKey {
    /// The place of an entry, for messages.
    package static func describe(_ key: Bytes) -> String {
        guard key.count > 0, let kind = Kind(rawValue: key[0]) else { return RecordKey.describe(storageKey: key) }
        switch kind {
        case .counters: return "counters"
        case .operation: return operationID(key).map { "operation \($0)" } ?? RecordKey.describe(storageKey: key)
        case .alias where key.count > 3:
            return "alias \(RecordKey.describe(storageKey: key.slice(3..<key.count)))"
        default: return RecordKey.describe(storageKey: key)
        }
    }
}
