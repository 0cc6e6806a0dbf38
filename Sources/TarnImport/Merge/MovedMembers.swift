internal import TarnStore

/// Records whose reference was changed here, by the record to which it leads at the server, as far
/// as that is known.
struct MovedMembers {
    fileprivate var keys: [[UInt8]: [[UInt8]]] = [:]
}

/// The records with updates that have not reached the server, by the root of their entity.
///
/// They are read once for all relationships of a unit: there may be very many.
struct UpdatedRecords {
    fileprivate var changes: [UInt16: [LocalChange]] = [:]

    init(_ reader: StoreReader, _ catalog: Catalog) throws {
        try reader.forEachLocalChange { change in
            if change.operation == .update, let root = catalog.entity(change.entity)?.root {
                changes[root, default: []].append(change)
            }
            return true
        }
    }
}

extension Importer {
    /// Finds the records of a relationship that were moved here.
    ///
    /// - Parameter updated: the store's updated records; read if they are nil.
    func movedMembers(
        _ relationship: DerivedRelationship, _ updated: inout UpdatedRecords?, _ writer: inout StoreWriter
    ) throws -> MovedMembers {
        let known = try updated ?? UpdatedRecords(writer.reader(), catalog)
        updated = known
        let root = relationship.owner.root, name = relationship.field.name
        var moved = MovedMembers()
        for change in known.changes[root] ?? [] where change.fields.isEmpty || change.fields.contains(name) {
            let record = ListedRecord(entity: root, storageKey: change.key.storageKey)
            guard let target = try writer.access.outbox.serverTarget(of: relationship.field.id, record) else {
                continue
            }
            moved.keys[target, default: []].append(record.storageKey)
        }
        return moved
    }

    /// Notes that a list lacks records that were in it at the server, and that were moved out of it
    /// here: the server's list of the record to which they were moved does not tell.
    func noteMissing(
        from list: DerivedList, _ moved: MovedMembers, _ relationship: DerivedRelationship, _ writer: inout StoreWriter
    ) throws {
        let target = Array(drafter.derived.bytes(list.target))
        guard let keys = moved.keys[target] else { return }
        let members = Set(drafter.derived.members[list.members].map { Array(drafter.derived.bytes($0.key)) })
        for key in keys where !members.contains(key) {
            try key.withUnsafeBytes {
                try noteMissing($0, plan.plans[relationship.ownerPlan], relationship.field.id, from: target, &writer)
            }
        }
    }
}
