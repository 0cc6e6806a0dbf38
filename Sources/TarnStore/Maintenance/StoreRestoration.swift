// The restoration of a store from readable rows: rows keep their versions, derived data is rebuilt.

import Foundation
internal import LMDB

/// The writer of a restored store, which appears when `finish` returns.
package final class StoreRestoration {
    private let target: NewDirectory
    private var store: Store?
    private let durability = Environment.Durability.volatile
    /// The quota, which begins with the finished store: a store may be larger than its quota.
    private let quota: [UInt8]?

    /// Creates the store under a temporary name.
    ///
    /// - Parameters:
    ///   - path: the final path of the store.
    ///   - catalog: the catalog of the store.
    ///   - settings: entries of `meta` to carry over: dictionaries, options of the change log.
    /// - Throws: `StoreMaintenanceError.destinationExists`, `StoreError.lmdb`.
    package init(at path: String, catalog: Catalog, settings: [(key: [UInt8], value: [UInt8])]) throws {
        target = NewDirectory(path)
        let quotaKey = Array("\(MetaKey.quota)".utf8)
        quota = settings.last { $0.key == quotaKey }?.value
        try target.make()
        do {
            try make(catalog, settings.filter { $0.key != quotaKey })
            store = try Store.open(at: target.unfinished, options: Store.Options(durability: durability))
        } catch {
            target.remove()
            if let error = error as? LMDBError { throw StoreError.lmdb(error) }
            throw error
        }
    }

    private func make(_ catalog: Catalog, _ settings: [(key: [UInt8], value: [UInt8])]) throws {
        let environment = try Environment.open(
            at: target.unfinished, options: Environment.Options(durability: durability, maximumTables: TableName.limit))
        try environment.writeOpeningTables { transaction in
            let meta = ChecksummedTable.meta(try transaction.table(TableName.meta), format: Store.format)
            for name in TableName.all { _ = try transaction.table(name) }
            for entity in catalog.entities where entity.root == entity.id {
                _ = try transaction.table(TableName.records(entity.id))
            }
            for index in catalog.indexIDs { _ = try transaction.table(TableName.index(index)) }
            try transaction.raw.putNewSettings(meta, catalog: catalog)
            for (key, value) in settings {
                try transaction.raw.put(meta, key, value)
            }
        }
    }

    /// Writes in one of many transactions.
    package func write<Result>(_ body: (inout StoreWriter) throws -> Result) throws -> Result {
        guard let store else { preconditionFailure("the store is already finished") }
        return try store.write(alone: true, body)
    }

    /// Flushes the store to the disk, and gives it its name.
    ///
    /// - Parameter sequence: the commit sequence of the store. The change log begins after it.
    package func finish(sequence: UInt64) throws {
        try write { writer in
            let raw = writer.access.raw, meta = writer.access.state.meta
            try raw.put(meta, key: MetaKey.sequence, number: sequence)
            try raw.put(meta, key: MetaKey.trimmedChanges, number: sequence)
            guard let quota, quota.contains(where: { $0 != 0 }) else { return }
            try raw.put(meta, Array("\(MetaKey.quota)".utf8), quota)
            try raw.put(meta, key: MetaKey.quotaBase, number: UInt64(try raw.fileSize(meta)))
        }
        store = nil
        let file = open(target.unfinished + "/data.mdb", O_RDONLY | O_CLOEXEC)
        defer { if file >= 0 { close(file) } }
        guard file >= 0, fsync(file) == 0 else {
            throw StoreError.lmdb(LMDBError(code: errno, operation: "flush", path: target.unfinished))
        }
        try target.finish()
    }

    /// Removes the unfinished store.
    package func abandon() {
        store = nil
        target.remove()
    }
}

extension StoreWriter {
    /// Stores a row of another store, with its version and all derived data but the change log.
    ///
    /// - Parameter body: the body of the row, with long lists in the form of short ones.
    /// - Returns: whether the record is new. Otherwise the newer one of both stays.
    package mutating func restore(
        _ entity: Catalog.Entity, _ key: Bytes, _ body: RowBody, isPartial: Bool, version: UInt64
    ) throws -> Bool {
        let rules = try access.state.rules(of: entity.id), table = try access.state.records(of: entity.root)
        let mark = access.rowMark
        defer { access.release(to: mark) }
        var isNew = true
        if let known = try access.raw.get(table, key) {
            let old = try access.records.view(known, entity, key), oldRules = try access.state.rules(of: old.entity)
            if old.version >= version { return false }
            isNew = false
            edges.removeAll()
            try index(key, old: old.body, oldRules, new: nil, oldRules)
            try edges.indexRemoved(oldRules.entity, key, old.body, access, into: &indexChanges)
            _ = try access.raw.delete(table, key)
            try edges.store(access)
        }
        remembersRecords = true
        hasUnknownOwners = true
        if rules.hasUnique { try remember(key, rules.root, nil, .created) }
        let body = try edges.replacing(body, old: nil, rules, access)
        try index(key, old: nil, rules, new: body, rules)
        try edges.index(entity, entity, key, access, into: &indexChanges)
        try put(table, rules, key, body, isPartial: isPartial, version: version)
        try edges.store(access)
        return isNew
    }

    /// Stores a record of another store, with its version and all derived data but the change log.
    ///
    /// - Returns: whether the record is new. Otherwise the newer one of both stays.
    /// - Throws: `StoreError.unknownEntity`, `.unknownField`, `.wrongKey`, `.wrongType`: then
    ///   nothing is changed.
    package mutating func restore(
        _ entity: String, _ key: RecordKey, _ values: [Record.Field], isPartial: Bool, version: UInt64
    ) throws -> Bool {
        try StoreWriter.withBody(entity, key, values, access, isStored: true) {
            try restore($0, $1, $2, isPartial: isPartial, version: version)
        }
    }

    /// Makes the counters and index entries of the outbox fit its operations.
    package mutating func repairOutbox() throws { _ = try access.repairOutbox() }

    /// Stores an entry unchanged: a checkpoint, a mark, a scan member, an entry of the outbox or of
    /// `meta`.
    package func restore(_ table: String, _ key: Bytes, _ value: Bytes) throws {
        if table == TableName.scans { return try access.raw.put(access.state.scanTable(), key, value) }
        if table == TableName.meta { return try access.raw.put(access.state.meta, key, value) }
        try access.raw.put(ownTable(table), key, value)
    }

    /// Whether a checkpoint, a mark or an entry of the outbox is stored.
    package func hasOwnRow(_ table: String, _ key: Bytes) throws -> Bool {
        try access.raw.get(ownTable(table), key) != nil
    }

    /// Removes the mark of a record whose row is lost; see `StoreAccess.removeMarkOfLostRow`.
    ///
    /// - Returns: whether there was one.
    package func removeMarkOfLostRow(_ record: ListedRecord) throws -> Bool {
        try access.removeMarkOfLostRow(record)
    }

    private func ownTable(_ name: String) -> Table {
        let state = access.state
        let tables = [
            TableName.checkpoints: state.checkpoints, TableName.local: state.local, TableName.outbox: state.outbox,
        ]
        guard let table = tables[name] ?? nil else {
            preconditionFailure("not a table of the store's own rows: \(name)")
        }
        return table
    }

    /// Whether a record of an entity, or of its tree, is stored.
    package func has(_ entity: Catalog.Entity, _ key: RecordKey) throws -> Bool {
        try has(ListedRecord(entity: entity.root, storageKey: key.storageKey))
    }

    /// Whether a record is stored.
    package func has(_ record: ListedRecord) throws -> Bool {
        guard catalog.entity(id: record.entity)?.root == record.entity else { return false }
        return try access.raw.get(access.state.records(of: record.entity), record.storageKey) != nil
    }
}

extension StoreAccess {
    /// Removes the mark of a record whose row, and with it the local values, is lost.
    ///
    /// It would keep the server's values of the changed fields out of the record. If operations of
    /// the outbox change the record, they have the local values, and the mark stays until they are
    /// finished.
    ///
    /// - Returns: whether there was one.
    func removeMarkOfLostRow(_ record: ListedRecord) throws -> Bool {
        try record.storageKey.withUnsafeBytes { key in
            // In a damaged outbox, operations may be unreadable.
            guard let hasOperations = try? outbox.hasOperations(record.entity, key), !hasOperations else {
                return false
            }
            return try localChanges.remove(record.entity, key)
        }
    }
}
