// Cascades: the records that are deleted together with a record, by the delete rule `cascade`.

/// A record and all records that are deleted with it.
/// The record comes first, and every other one comes after one that leads to it. If they are
/// deleted from the end, each remaining one stays reachable from the record at every moment.
final class Cascade: @unchecked Sendable {
    // Created by one thread, then used by one thread at a time.
    private(set) var records = RecordSet()
    /// The records before this position have not been deleted yet.
    var end = 0

    /// Follows the delete rules from an existing record.
    ///
    /// - Throws: `StoreWriteError.deleteDenied` if a relationship with the rule `deny` leads to a
    ///   record that would remain.
    init(_ access: StoreAccess, _ entity: Catalog.Entity, _ key: Bytes, _ row: EncodedRow) throws {
        records.add(entity.root, key, entity: row.entity, origin: 0, version: row.version)
        var position = 0, current = ByteWriter()
        while position < records.count {
            current.removeAll()
            // Adding members may move the keys, so this one is copied.
            current.append(records.key(at: position))
            for relationship in access.state.deleteRules[records[position].entity]
            where relationship.deleteRule == .cascade {
                guard let destination = access.catalog.entity(id: relationship.destination) else { continue }
                try access.targets(of: current.bytes, relationship) { target in
                    try access.lending {
                        guard let row = try access.records.row(destination, target) else { return }
                        records.add(
                            destination.root, target, entity: row.entity, origin: position, version: row.version)
                    }
                    return true
                }
            }
            position += 1
        }
        end = records.count
        for position in 0..<end { try checkDenied(access, position) }
    }

    /// Checks the relationships of a member that have the rule `deny`.
    ///
    /// - Throws: `StoreWriteError.deleteDenied` if one of them leads to a record that would remain.
    func checkDenied(_ access: StoreAccess, _ position: Int) throws {
        let member = records[position], key = records.key(at: position)
        for relationship in access.state.deleteRules[member.entity] where relationship.deleteRule == .deny {
            guard let destination = access.catalog.entity(id: relationship.destination) else { continue }
            try access.targets(of: key, relationship) { target in
                guard records.find(destination.root, target) == nil else { return true }
                guard let row = try access.lending({ try access.name(destination, target) }) else { return true }
                let name = try access.catalog.entity(id: member.root).flatMap { root in
                    try access.lending { try access.name(root, key) }
                }
                throw StoreWriteError.deleteDenied(
                    entity: name?.entity ?? "", key: name?.key ?? access.describe(key), relationship: relationship.name,
                    by: "\(row.entity) \(row.key)")
            }
        }
    }

    /// Returns whether the own references of a member, and of those that led to it, still lead to
    /// the first one. False for a member that another record's list has led to.
    ///
    /// It finds that out without the other members of the cascade, which may be very many.
    func isStillReferring(_ access: StoreAccess, _ position: Int) throws -> Bool {
        var position = position
        while position > 0 {
            let isReferring = try access.lending { try isReferringToOrigin(access, position) }
            guard isReferring else { return false }
            position = Int(records[position].origin)
        }
        return true
    }

    private func isReferringToOrigin(_ access: StoreAccess, _ position: Int) throws -> Bool {
        let catalog = access.catalog, member = records[position], from = Int(member.origin)
        guard let root = catalog.entity(id: member.root), let fromRoot = catalog.entity(id: records[from].root),
            let row = try access.records.row(root, records.key(at: position)),
            let origin = try access.records.row(fromRoot, records.key(at: from))
        else { return false }
        return access.state.deleteRules[origin.entity].contains { relationship in
            relationship.deleteRule == .cascade && !relationship.isStored
                && catalog.isKind(row.entity, of: relationship.owner)
                && row.body.value(of: relationship.field)?.reference.map { Bytes.equal($0, records.key(at: from)) }
                    ?? false
        }
    }

    /// Returns whether the record that led to a member still exists and still leads to it.
    func isStillLed(_ access: StoreAccess, _ position: Int, _ row: EncodedRow) throws -> Bool {
        let member = records[position], origin = records[Int(member.origin)]
        guard let root = access.catalog.entity(id: origin.root) else { return false }
        let from = records.key(at: Int(member.origin))
        guard let parent = try access.records.row(root, from) else { return false }
        // Both rows are unchanged, so the relationship is, too: it is stored in one of them.
        if parent.version == origin.version, row.version == member.version { return true }
        var isLed = false
        for relationship in access.state.deleteRules[parent.entity] where relationship.deleteRule == .cascade && !isLed
        {
            guard access.catalog.entity(id: relationship.destination)?.root == member.root else { continue }
            try access.targets(of: from, relationship) { target in
                isLed = Bytes.equal(target, records.key(at: position))
                return !isLed
            }
        }
        return isLed
    }
}

extension StoreAccess {
    /// Returns the entity and the key of a record, for messages. Nil if it does not exist.
    fileprivate func name(_ entity: Catalog.Entity, _ storageKey: Bytes) throws -> (entity: String, key: String)? {
        guard let row = try records.row(entity, storageKey) else { return nil }
        let key = key(entity, storageKey, row)?.description ?? describe(storageKey)
        return ((catalog.entity(id: row.entity) ?? entity).name, key)
    }
}
