// Records that were deleted and have come back, as the change log tells.

extension StoreAccess {
    /// Returns the last commit that has created a record whose earlier deletion is in the log, too.
    ///
    /// A record that was deleted again does not count: it has not come back.
    ///
    /// - Parameters:
    ///   - entities: the entities of the records, with their descendants.
    ///   - excluded: the entity whose records do not count, nor those of its descendants.
    ///   - sequence: the first commit whose creations count.
    /// - Returns: nil if the log has none.
    /// - Throws: `ChangeLogError.damagedChange`; `StoreError.unknownEntity`.
    package func lastReturn(
        of entities: [String], except excluded: UInt16? = nil, from sequence: UInt64
    ) throws -> UInt64? {
        let oldest = try oldestChangeToken
        guard !entities.isEmpty else { return nil }
        let others = Set(
            catalog.entities.map(\.id).filter { id in excluded.map { catalog.isKind(id, of: $0) } ?? false })
        let roots = Dictionary(catalog.entities.map { ($0.id, $0.root) }) { first, _ in first }
        func place(_ entry: ChangeEntry) -> RecordPlace {
            RecordPlace(root: roots[entry.entity] ?? entry.entity, key: Array(entry.storageKey))
        }
        var created: [RecordPlace: UInt64] = [:], last: UInt64?
        // The log may have been trimmed since then.
        let first =
            sequence > oldest.sequence
            ? ChangeToken(incarnation: oldest.incarnation, sequence: sequence - 1) : oldest
        try forEachChange(since: first, of: entities, withValues: false) { entry, _ in
            switch entry.operation {
            case .create where others.contains(entry.entity): break
            case .create: created[place(entry)] = entry.sequence
            case .delete: created[place(entry)] = nil
            case .update: break
            }
            return true
        }
        guard !created.isEmpty else { return nil }
        try forEachChange(since: oldest, of: entities, withValues: false) { entry, _ in
            if entry.operation == .delete, let time = created[place(entry)], time >= entry.sequence {
                last = max(last ?? time, time)
            }
            return true
        }
        return last
    }
}
