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
        do { return try await updates(query, set: values, step: step) } catch let error as PartlyQueuedError {
            throw error.reason
        }
    }

    /// Changes all records of a query as ``update(_:set:step:)`` does, and their members.
    ///
    /// - Parameters:
    ///   - members: the members that each record gets or loses, in this order.
    ///   - isDryRun: whether every step is rolled back.
    /// - Throws: ``PartlyQueuedError`` if earlier steps have queued changes.
    package func updates(
        _ query: Query, set values: [String: Value], _ members: [MemberEdit] = [], step: Int = 1000,
        isDryRun: Bool = false
    ) async throws -> (matched: Int, operations: [UInt64]) {
        let fields = values.sorted { $0.key < $1.key }.map { Record.Field($0.key, $0.value) }
        let (matched, operations) = try await queue(query, step, isDryRun: isDryRun) { record, writer -> [UInt64]? in
            var operations: [UInt64] = []
            if !fields.isEmpty { operations += try queueUpdates(record.entity, record.key, fields, &writer) }
            for edit in members {
                operations += try change(
                    edit.isAddition ? .add : .remove, edit.members, edit.relationship, record.entity, record.key,
                    &writer)
            }
            return operations.isEmpty ? nil : operations
        }
        return (matched, operations.flatMap(\.self))
    }

    /// Deletes all records of a query locally, and queues a deletion for each.
    ///
    /// - Parameter step: the number of records in one transaction. An error leaves earlier steps
    ///   queued.
    /// - Returns: the number of records that were found, and the operations that were queued.
    /// - Throws: as ``delete(_:_:)`` and as `StoreReader.fetch`.
    public func delete(_ query: Query, step: Int = 1000) async throws -> (matched: Int, operations: [UInt64]) {
        do {
            let result = try await deletions(query, step: step)
            return (result.matched, result.operations)
        } catch let error as PartlyQueuedError {
            throw error.reason
        }
    }

    /// Deletes all records of a query as ``delete(_:step:)`` does, and returns what else changes.
    ///
    /// - Parameter isDryRun: whether every step is rolled back.
    /// - Throws: ``PartlyQueuedError`` if earlier steps have queued changes.
    package func deletions(_ query: Query, step: Int = 1000, isDryRun: Bool = false) async throws -> QueuedDeletions {
        let (matched, receipts) = try await queue(query, step, isDryRun: isDryRun) { record, writer -> OutboxReceipt? in
            // A delete rule may have deleted it with another one of this step.
            guard try writer.reader().record(record.entity, record.key) != nil else { return nil }
            return try queueDeletion(record.entity, record.key, &writer)
        }
        return QueuedDeletions(matched: matched, receipts)
    }

    /// The end of a dry run, which rolls its transaction back.
    private struct DryRun<Change: Sendable>: Error {
        var changes: [Change]
    }

    private func queue<Change: Sendable>(
        _ query: Query, _ step: Int, isDryRun: Bool = false,
        _ change: @escaping @Sendable (OutboxRecord, inout StoreWriter) throws -> Change?
    ) async throws -> (matched: Int, changes: [Change]) {
        // Only the keys: the records may be many.
        let records = try store.read { reader in
            var records: [OutboxRecord] = []
            try reader.forEach(query) { record in
                records.append(OutboxRecord(record.entity, record.key))
                return true
            }
            return records
        }
        let condition = Query(query.entity, where: query.condition, partials: query.partials)
        // A dry run is one write, which is rolled back: a later step depends on the earlier ones.
        let step = isDryRun ? max(1, records.count) : step
        var changes: [Change] = [], steps = 0
        for start in stride(from: 0, to: records.count, by: max(1, step)) {
            let part = records[start..<min(start + max(1, step), records.count)]
            let write: @Sendable (inout StoreWriter) throws -> [Change] = { writer in
                try writer.applyIndexChanges()
                let access = writer.access, check = try RecordCheck(access, condition)
                // All are checked before the first is changed: a condition may read other records.
                let admitted = try part.filter { record in
                    let key = try access.outbox.resolvedKey(record.entity, record.key)
                    let root = try access.state.entity(record.entity).root
                    return try check.admits(ListedRecord(entity: root, storageKey: key.storageKey))
                }
                var queued: [Change] = []
                for record in admitted {
                    if let change = try change(record, &writer) { queued.append(change) }
                }
                if isDryRun { throw DryRun(changes: queued) }
                return queued
            }
            do {
                changes += try await store.write(write)
                steps += 1
            } catch let end as DryRun<Change> {
                changes += end.changes
            } catch {
                guard !changes.isEmpty else { throw error }
                throw PartlyQueuedError(records: changes.count, steps: steps, reason: error)
            }
        }
        return (records.count, changes)
    }
}
