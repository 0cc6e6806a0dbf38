// The order of requests whose URLs have fields of other records.

extension OutboxTable {
    /// Returns the operations that an operation waits for because the URL of one of the two has a
    /// field of another record, which the other one changes.
    ///
    /// An example is the new name of a project beside a change under `/projects/{project.name}`:
    /// sent at the same time, either of them may be the first. Dead operations are left out.
    ///
    /// - Parameter isInURLs: whether the URL of a request has a field of this name of another
    ///   record.
    package func waitsForURLs(
        of id: UInt64, isInURLs: (String) -> Bool
    ) throws -> [OutboxQueueEntry.Wait] {
        guard let operation = try stored(id) else { return [] }
        let catalog = access.catalog, own = operation.record(catalog)
        var waits: [UInt64: OutboxQueueEntry.Wait] = [:]
        func changesURLs(_ operation: StoredOperation) -> Bool {
            operation.kind == .update
                && operation.changes.contains { change in
                    change.record == nil
                        && catalog.entity(id: change.kind)?.field(id: change.field).map { isInURLs($0.name) } ?? false
                }
        }
        for record in operation.related where record != own {
            try wait(for: ids(.own, record), before: id, in: &waits, where: changesURLs)
        }
        if changesURLs(operation) {
            try wait(for: ids(.reference, own), before: id, in: &waits) { $0.related.contains(own) }
        }
        return waits.values.sorted { $0.operation < $1.operation }
    }
}
