// Changes behind refused ones: the server has the value before the refused changes.

extension OutboxTable {
    /// Returns the values that the changed fields of an update had before the refused operations
    /// directly before it, by field, the latest first.
    ///
    /// The update is based on the value that a refused one has left here, and that the server has
    /// never had. An operation that is dead because of a conflict is none of them: the conflict is
    /// not decided yet.
    package func valuesBeforeRefused(of id: UInt64) throws -> [String: [Value]] {
        guard try counters.counts.dead > 0, let update = try stored(id),
            let entity = access.catalog.entity(id: update.entity)
        else { return [:] }
        let own = update.record(access.catalog), earlier = try touching(own, before: id)
        var result: [String: [Value]] = [:]
        for change in update.changes where change.record == nil {
            guard let name = entity.field(id: change.field)?.name else { continue }
            let place = RecordFieldPlace(record: own, field: change.field)
            var edited = EditedValue(change.before)
            for operation in earlier.reversed() {
                let record = operation.record(access.catalog)
                guard operation.touchedFields(record).contains(place) else { continue }
                guard operation.state == .dead, operation.failure?.kind != "conflict" else { break }
                operation.undo(&edited, place, record)
                result[name, default: []].append(
                    edited.value.flatMap { self.value($0, change.kind, change.field) } ?? .null)
            }
        }
        return result
    }
}
