// Queueing changes of all records that meet a condition.

public import TarnStore

extension Outbox {
    /// Changes all records of a query locally, and queues an update for each that differs.
    ///
    /// - Parameters:
    ///   - values: the new values, by field.
    ///   - step: the number of records in one transaction. An error leaves earlier steps queued.
    ///     Records that no longer meet the condition then are left out.
    /// - Returns: the number of records that were found, and the operations that were queued.
    /// - Throws: as ``update(_:_:_:)`` and as `StoreReader.fetch`.
    public func update(
        _ query: Query, set values: [String: Value], step: Int = 1000
    ) async throws -> (matched: Int, operations: [UInt64]) {
        let fields = values.sorted { $0.key < $1.key }.map { Record.Field($0.key, $0.value) }
        return try await queue(query, step) { record, writer in
            try update(record.entity, record.key, fields, in: &writer)
        }
    }

    /// Deletes all records of a query locally, and queues a deletion for each.
    ///
    /// - Parameter step: the number of records in one transaction. An error leaves earlier steps
    ///   queued.
    /// - Returns: the number of records that were found, and the operations that were queued.
    /// - Throws: as ``delete(_:_:)`` and as `StoreReader.fetch`.
    public func delete(_ query: Query, step: Int = 1000) async throws -> (matched: Int, operations: [UInt64]) {
        try await queue(query, step) { record, writer in
            // A delete rule may have deleted it with another one of this step.
            guard try writer.reader().record(record.entity, record.key) != nil else { return nil }
            return try delete(record.entity, record.key, in: &writer)
        }
    }

    private func queue(
        _ query: Query, _ step: Int,
        _ change: @escaping @Sendable (OutboxRecord, inout StoreWriter) throws -> UInt64?
    ) async throws -> (matched: Int, operations: [UInt64]) {
        let records = try store.read { reader in
            try reader.fetch(query).map { OutboxRecord($0.entity, $0.key) }
        }
        let condition = Query(query.entity, where: query.condition, partials: query.partials)
        var operations: [UInt64] = []
        for start in stride(from: 0, to: records.count, by: max(1, step)) {
            let part = records[start..<min(start + max(1, step), records.count)]
            operations += try await store.write { writer in
                try writer.applyIndexChanges()
                let access = writer.access, check = try RecordCheck(access, condition)
                // All are checked before the first is changed: a condition may read other records.
                let admitted = try part.filter { record in
                    let key = try access.outbox.resolvedKey(record.entity, record.key)
                    let root = try access.state.entity(record.entity).root
                    return try check.admits(ListedRecord(entity: root, storageKey: key.storageKey))
                }
                var queued: [UInt64] = []
                for record in admitted {
                    if let operation = try change(record, &writer) { queued.append(operation) }
                }
                return queued
            }
        }
        return (records.count, operations)
    }
}
