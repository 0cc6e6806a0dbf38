// Changes of the schema while operations are queued.
//
// Operations name entities and fields by their ids, so that a renaming changes nothing. A field or
// an entity that an operation needs is not removed: the operation is sent or discarded first.

extension OutboxTable {
    /// Checks that no queued operation needs a field, or any record of an entity.
    ///
    /// - Throws: `StoreMaintenanceError.inUse`.
    func checkUnused(_ field: Catalog.Field?, of entity: Catalog.Entity) throws {
        let kinds = Set(access.catalog.entities.map(\.id).filter { access.catalog.isKind($0, of: entity.id) })
        var count = 0, first: UInt64 = 0
        try forEachStored { operation in
            if operation.uses(field?.id, kinds) {
                if count == 0 { first = operation.id }
                count += 1
            }
            return true
        }
        guard count > 0 else { return }
        throw StoreMaintenanceError.inUse(
            entity: entity.name, name: field?.name,
            by: "\(count) unsent operation\(count == 1 ? "" : "s") of the outbox, the first one is \(first)")
    }
}

extension StoredOperation {
    fileprivate func uses(_ field: UInt16?, _ kinds: Set<UInt16>) -> Bool {
        guard let field else {
            return kinds.contains(entity) || changes.contains { kinds.contains($0.kind) }
                || edits.contains { kinds.contains($0.kind) } || rows.contains { kinds.contains($0.kind) }
        }
        return changes.contains { kinds.contains($0.kind) && $0.field == field }
            || edits.contains { kinds.contains($0.kind) && $0.field == field }
            || relationship.map { kinds.contains($0.owner) && $0.field == field } ?? false
            || rows.contains { row in
                kinds.contains(row.kind)
                    && row.body.withUnsafeBytes { RowBody($0, isWide: row.isWide)?.value(of: field) != nil }
            }
    }
}
