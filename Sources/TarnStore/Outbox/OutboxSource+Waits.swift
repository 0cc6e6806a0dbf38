// The operations that an operation waits for, and the end of its back-off.

extension OutboxSource {
    /// Returns an operation with what it waits for.
    package func entry(_ operation: StoredOperation, _ now: Timestamp) throws -> OutboxQueueEntry {
        OutboxQueueEntry(
            operation: try decoded(operation), waitsFor: try waits(of: operation),
            notBefore: operation.backOff(at: now))
    }

    func waits(of operation: StoredOperation) throws -> [OutboxQueueEntry.Wait] {
        var waits: [UInt64: OutboxQueueEntry.Wait] = [:]
        func wait(for other: StoredOperation, _ reason: OutboxQueueEntry.Reason) {
            guard waits[other.id] == nil else { return }
            waits[other.id] = OutboxQueueEntry.Wait(
                operation: other.id, isDead: other.state == .dead, reason: reason)
        }
        let own = operation.record(records.catalog)
        try waitForSameRecord(operation, own, wait)
        for needed in operation.neededRecords(schema) {
            if let creation = try creation(of: needed, before: operation.id) { wait(for: creation, .creation) }
        }
        for row in operation.rows { try waitForReferrers(of: row.record, operation, own, wait) }
        return waits.values.sorted { $0.operation < $1.operation }
    }

    /// Finds the operation that creates a record.
    func creation(of record: ListedRecord, before id: UInt64 = .max) throws -> StoredOperation? {
        for other in try ids(.own, record) where other < id {
            if let operation = try stored(other), operation.kind == .create { return operation }
        }
        return nil
    }

    /// Adds the last earlier operation of the record that is not dead: it waits for the others.
    private func waitForSameRecord(
        _ operation: StoredOperation, _ own: ListedRecord,
        _ wait: (StoredOperation, OutboxQueueEntry.Reason) -> Void
    ) throws {
        // Those of one record may be many, and the last one is near.
        try forEachID(of: own, before: operation.id) { id in
            guard let other = try stored(id) else { return true }
            if other.kind == .create { wait(other, .creation) }
            if other.state != .dead { wait(other, .sameRecord) }
            return other.state == .dead
        }
        // Fields of a record may be changed by operations of other records, too.
        let fields = operation.touchedFields(own)
        for record in operation.touchedRecords(own) {
            let others = try record == own ? ids(.reference, own) : ids(.own, record) + ids(.reference, record)
            for id in Set(others) where id < operation.id {
                guard let other = try stored(id), other.state != .dead,
                    !other.touchedFields(other.record(records.catalog)).isDisjoint(with: fields)
                else { continue }
                wait(other, .sameRecord)
            }
        }
    }

    /// Adds the earlier operations that refer to a deleted record, or have referred to it: sent
    /// afterwards, a change that moves a record out of the deleted one would find it deleted.
    private func waitForReferrers(
        of deleted: ListedRecord, _ operation: StoredOperation, _ own: ListedRecord,
        _ wait: (StoredOperation, OutboxQueueEntry.Reason) -> Void
    ) throws {
        for id in try Set(ids(.own, deleted) + ids(.reference, deleted)) where id < operation.id {
            guard let other = try stored(id), other.state != .dead else { continue }
            if other.record(records.catalog) != own { wait(other, .deletion) }
        }
    }
}

extension StoredOperation {
    /// The longest time that an operation waits: beyond all limits of servers.
    private static let longestWait: Int64 = 32 * 86_400 * 1_000_000
    /// The difference of clocks that means nothing.
    private static let tolerance: Int64 = 60 * 1_000_000

    /// The end of the operation's back-off; nil if it is over.
    ///
    /// An attempt in the future, or an end that is too far away, was noted while the clock was
    /// ahead: the wait would last until then.
    func backOff(at now: Timestamp) -> Timestamp? {
        guard let end = notBefore, end > now else { return nil }
        func isAhead(_ time: Timestamp, by limit: Int64) -> Bool {
            let (ahead, isFar) = time.microseconds.subtractingReportingOverflow(now.microseconds)
            return isFar || ahead > limit
        }
        let last = attemptedAt ?? queuedAt
        return isAhead(last, by: Self.tolerance) || isAhead(end, by: Self.longestWait) ? nil : end
    }
}
