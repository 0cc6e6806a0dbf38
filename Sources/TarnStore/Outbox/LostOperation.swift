// Operations that cannot be read any more: their index entries still name the records.

internal import LMDB

/// An unreadable operation of the outbox.
package struct LostOperation: Sendable, Hashable {
    package let id: UInt64
    /// The record of the operation; nil if no index entry names it.
    package private(set) var record: ListedRecord?
    /// The records that the operation refers to.
    private var others: [ListedRecord] = []

    private init(_ id: UInt64) { self.id = id }

    /// Returns the operations with their records, in the order of ids.
    ///
    /// - Parameter entries: keys of index entries; those of other operations are left out.
    package static func all(_ ids: Set<UInt64>, namedBy entries: [[UInt8]]) -> [LostOperation] {
        var operations = Dictionary(uniqueKeysWithValues: ids.map { ($0, LostOperation($0)) })
        for key in entries {
            guard let (kind, record, id) = OutboxEntryKey.indexEntry(key), operations[id] != nil else { continue }
            if kind == .own { operations[id]?.record = record } else { operations[id]?.others.append(record) }
        }
        return operations.values.sorted { $0.id < $1.id }
    }

    /// The effect of the loss on the records.
    package enum Effect: Sendable, Hashable {
        /// The operation had deleted records, which come back with the next sync.
        case restores(count: Int)
        /// The changed fields stay local changes; nil if no mark names them.
        case keeps(fields: String?)
    }

    /// Takes back the deletion of records that only this operation has deleted.
    ///
    /// Their marks would keep them out of the store, and neither could a request be queued again
    /// for a record that is not there, nor could the change be discarded.
    fileprivate func settle(_ access: StoreAccess) throws -> Effect {
        guard let record, let mark = try access.mark(of: record) else { return .keeps(fields: nil) }
        guard mark.operation == .delete else { return .keeps(fields: mark.changedFields(access.catalog)) }
        var count = 0
        for deleted in [record] + others {
            // One operation marks all of its records at once.
            guard let known = try access.mark(of: deleted), known.operation == .delete, known.since == mark.since,
                try access.outbox.touching(deleted).isEmpty, try !access.isStored(deleted)
            else { continue }
            _ = try deleted.storageKey.withUnsafeBytes { try access.localChanges.remove(deleted.entity, $0) }
            count += 1
        }
        return count > 0 ? .restores(count: count) : .keeps(fields: nil)
    }
}

extension StoreAccess {
    /// Whether a row of a record is stored, readable or not.
    func isStored(_ record: ListedRecord) throws -> Bool {
        guard catalog.entity(id: record.entity)?.root == record.entity else { return false }
        return try raw.get(state.records(of: record.entity), record.storageKey) != nil
    }

    /// Takes back the deletions of unreadable operations.
    ///
    /// - Returns: the effect of each loss. Operations that are there after all are left out.
    func settle(_ lost: [LostOperation]) throws -> [(operation: LostOperation, effect: LostOperation.Effect)] {
        try lost.compactMap { operation in
            try outbox.stored(operation.id) == nil ? (operation, operation.settle(self)) : nil
        }
    }
}

extension StoreWriter {
    /// Takes back the deletions of unreadable operations: see ``StoreAccess/settle(_:)``.
    ///
    /// - Returns: the number of records that come back with the next sync.
    package mutating func settle(_ lost: [LostOperation]) throws -> Int {
        try access.settle(lost).reduce(0) { if case .restores(let count) = $1.effect { $0 + count } else { $0 } }
    }
}

extension OutboxEntryKey {
    /// Returns the id of the operation in the key of an index entry; nil for other keys.
    package static func operationID(ofIndexEntry key: Bytes) -> UInt64? { indexEntry(Array(key))?.id }

    /// Returns the parts of the key of an index entry; nil for other keys.
    fileprivate static func indexEntry(_ key: [UInt8]) -> (kind: Kind, record: ListedRecord, id: UInt64)? {
        guard key.count > 11, let kind = Kind(rawValue: key[0]), kind == .own || kind == .reference else { return nil }
        let (entity, id) = key.withUnsafeBytes {
            ($0.loadBigEndian(1, UInt16.self), $0.loadBigEndian(key.count - 8, UInt64.self))
        }
        return (kind, ListedRecord(entity: entity, storageKey: Array(key[3..<key.count - 8])), id)
    }
}
