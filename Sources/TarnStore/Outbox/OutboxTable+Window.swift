// The order of sending: which operations are ready, and which wait for what.

extension OutboxTable {
    /// Returns operations from the front of the queue with what they wait for. Dead ones are left
    /// out.
    ///
    /// - Parameters:
    ///   - limit: the largest number of operations to return.
    ///   - id: the operation after which the window begins; 0 for the front.
    ///   - now: the time with which the ends of back-offs are compared.
    ///   - omitted: operations to leave out.
    package func window(
        limit: Int, after id: UInt64 = 0, now: Timestamp = .now, without omitted: Set<UInt64> = []
    ) throws -> [OutboxQueueEntry] {
        var result: [OutboxQueueEntry] = []
        guard limit > 0 else { return result }
        try forEachStored(after: id, without: omitted, skipsDead: true) { operation in
            result.append(try entry(operation, now))
            return result.count < limit
        }
        return result
    }

    /// Returns an operation with what it waits for; nil if it is not queued.
    package func entry(_ id: UInt64, now: Timestamp = .now) throws -> OutboxQueueEntry? {
        try stored(id).map { try entry($0, now) }
    }

    /// The next end of a back-off; nil if no pending operation has one after `now`.
    package func nextBackOff(after now: Timestamp) throws -> Timestamp? {
        var next: Timestamp?
        // Only failed operations have one.
        guard try counts.failed > 0 else { return nil }
        try forEachStored(skipsDead: true) { operation in
            if operation.state == .pending, let end = operation.backOff(at: now) { next = min(next ?? end, end) }
            return true
        }
        return next
    }

    /// Finds the operation that deletes a record.
    func deletion(of record: ListedRecord) throws -> UInt64? {
        try ids(.own, record).first { try stored($0)?.kind == .delete }
    }

    /// Whether the last operation of a record is its creation, into which changes are folded.
    package func endsWithOpenCreation(_ name: String, _ key: RecordKey) throws -> Bool {
        let entity = try access.state.entity(name)
        let record = ListedRecord(entity: entity.root, storageKey: try resolved(entity, key).storageKey)
        guard let last = try ids(.own, record).last, let operation = try stored(last) else { return false }
        return operation.kind == .create && (operation.isUntouched || operation.isCorrectable)
    }
}
