// Bulk writes: each record once, in key order, appended if it is past the last key of the table.

internal import LMDB

extension StoreWriter {
    /// Stores records in the order of their keys, each as ``put(_:ifVersion:)`` does.
    ///
    /// In this order neighbours in the file are written together, and records past the last key are
    /// appended. Of several records with the same key, the last one is stored.
    ///
    /// Records that arrive in key order and are past the last key are stored at once. The others
    /// are held in memory in encoded form, up to 64 MiB at a time.
    ///
    /// - Returns: the number of records created or changed; a key that occurs again after it was
    ///   stored counts again.
    /// - Throws: as ``put(_:ifVersion:)``. A record that cannot be stored stops the call, and
    ///   earlier ones may be stored by then. Let the error leave the closure of `write`, or they
    ///   are committed.
    @discardableResult
    @inlinable
    public mutating func put<Record: StoredRecord>(contentsOf records: some Sequence<Record>) throws -> Int {
        let buffers = takeRowBuffers()
        var encoder: RowEncoder<Record> = try encoder(buffers), bulk = try beginBulk(encoder.plan)
        defer { endBulk(buffers) }
        // In contiguous memory a record is encoded where it is. Copies count references.
        let areAdded: Void? = try records.withContiguousStorageIfAvailable { records in
            for index in records.indices {
                encoder.removeAll()
                records[index].encode(into: &encoder)
                try add(buffers, to: &bulk)
            }
        }
        if areAdded == nil {
            for record in records {
                encoder.removeAll()
                record.encode(into: &encoder)
                try add(buffers, to: &bulk)
            }
        }
        return try finish(&bulk)
    }

    // MARK: - Entry points of inlined code

    @usableFromInline
    func encoder<Record: StoredRecord>(_ buffers: RowBuffers) throws -> RowEncoder<Record> {
        try RowEncoder(access, buffers)
    }

    @usableFromInline
    mutating func beginBulk(_ plan: RowPlan) throws -> BulkWrite {
        let table = try access.state.records(of: plan.rules.root)
        let hasAliases = try operations.hasAliases()
        try tail.beginAppending(plan.rules.root, access.raw, table)
        return BulkWrite(plan, table, hasAliases: hasAliases)
    }

    @usableFromInline
    mutating func endBulk(_ buffers: RowBuffers) {
        tail.endAppending()
        rowBuffers = buffers
    }

    @usableFromInline
    mutating func add(_ buffers: RowBuffers, to bulk: inout BulkWrite) throws {
        let plan = bulk.plan, rules = plan.rules
        var body = try buffers.finish(plan, access, key: nil)
        if bulk.hasAliases, let present = try access.outbox.replacingKey(rules.root, buffers.storageKey.bytes) {
            body = try buffers.finish(plan, access, replacingKeyBy: present)
        }
        let key = buffers.storageKey.bytes
        // Once a record is held, later ones have to follow it.
        if bulk.batch.count == 0, try tail.isPast(key, rules.root, access.raw, bulk.table) {
            _ = try mergeResolving(rules, key, body, isComplete: plan.isComplete)
            bulk.changed += 1
            return
        }
        bulk.batch.add(key, body, isComplete: plan.isComplete)
        guard bulk.batch.byteCount > RecordBatch.limit else { return }
        bulk.changed += try store(&bulk.batch, rules)
        try tail.beginAppending(rules.root, access.raw, bulk.table)
    }

    @usableFromInline
    mutating func finish(_ bulk: inout BulkWrite) throws -> Int {
        try bulk.changed + store(&bulk.batch, bulk.plan.rules)
    }

    private mutating func store(_ batch: inout RecordBatch, _ rules: EntityRules) throws -> Int {
        tail.endAppending()
        batch.sort()
        var changed = 0
        for position in 0..<batch.count {
            let (key, body, isComplete) = batch.record(at: position)
            guard let body else { continue }
            if case .unchanged = try mergeResolving(rules, key, body, isComplete: isComplete) { continue }
            changed += 1
        }
        batch.removeAll()
        return changed
    }
}
