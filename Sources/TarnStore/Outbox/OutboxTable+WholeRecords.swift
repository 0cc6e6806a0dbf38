// The order of requests that send whole records: their bodies also have the fields that operations
// of other records change.

extension OutboxTable {
    /// Returns the operations that an operation waits for because one of the two sends a whole
    /// record that the other one, of another record, changes.
    ///
    /// A deletion that removes a reference is an example. Dead operations are left out: the server
    /// does not have their changes, and neither have the bodies.
    ///
    /// - Parameter sendsWhole: whether updates of an entity send whole records.
    package func waitsForWholeRecords(
        of id: UInt64, sendsWhole: (String) -> Bool
    ) throws -> [OutboxQueueEntry.Wait] {
        guard let operation = try stored(id) else { return [] }
        let catalog = access.catalog, own = operation.record(catalog)
        var known: [UInt16: Bool] = [:], waits: [UInt64: OutboxQueueEntry.Wait] = [:]
        func isWhole(_ entity: UInt16) -> Bool {
            if let known = known[entity] { return known }
            let isWhole = catalog.entity(id: entity).map { sendsWhole($0.name) } ?? false
            known[entity] = isWhole
            return isWhole
        }
        if operation.kind == .update, isWhole(operation.entity) {
            try wait(for: ids(.reference, own), before: id, in: &waits) {
                $0.touchedRecords($0.record(catalog)).contains(own)
            }
        }
        var others: Set<ListedRecord> = []
        for change in operation.changes {
            if let record = change.record, isWhole(change.kind) { others.insert(record) }
        }
        for edit in operation.edits { if let record = edit.record, isWhole(edit.kind) { others.insert(record) } }
        for record in others { try wait(for: ids(.own, record), before: id, in: &waits) { $0.kind == .update } }
        return waits.values.sorted { $0.operation < $1.operation }
    }

    /// Adds those of some operations that are earlier than another one and not dead.
    func wait(
        for ids: [UInt64], before id: UInt64, in waits: inout [UInt64: OutboxQueueEntry.Wait],
        where isConcerned: (StoredOperation) -> Bool
    ) throws {
        for other in ids where other < id && waits[other] == nil {
            guard let earlier = try stored(other), earlier.state != .dead, isConcerned(earlier) else { continue }
            waits[other] = OutboxQueueEntry.Wait(operation: other, isDead: false, reason: .sameRecord)
        }
    }
}
