// What goes when a record is deleted: the record, what its relationships with the rule `cascade` lead to, and so on.

internal import LMDB

/// A record and all that go with it, the record first, each behind one that leads to it: whoever deletes them from the end
/// leaves, at every moment, a path from the record to each that is still there.
final class Cascade: @unchecked Sendable {
    // Made by one thread, then used by one at a time.
    private(set) var records = RecordSet()
    /// The records before this position have not been deleted.
    var end = 0

    /// Follows the rules from a record that is there.
    ///
    /// - Throws: `StoreError.deleteDenied` if a record that would stay is in the way.
    init(_ access: StoreAccess, _ entity: Catalog.Entity, _ key: Bytes, _ row: RowView) throws {
        records.add(entity.root, key, entity: row.entity, origin: 0, version: row.version)
        var position = 0, current = ByteWriter()
        while position < records.count {
            current.removeAll()
            // What is added may move the keys.
            current.append(records.key(at: position))
            for relationship in access.state.deleteRules[records[position].entity] where relationship.deleteRule == .cascade {
                guard let destination = access.catalog.entity(id: relationship.destination) else { continue }
                try access.targets(of: current.bytes, relationship) { target in
                    try access.lending {
                        guard let row = try access.row(destination, target) else { return }
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

    /// - Throws: `StoreError.deleteDenied` if a relationship with that rule leads to a record that does not go as well.
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
                throw StoreError.deleteDenied(
                    entity: name?.entity ?? "", key: name?.key ?? access.describe(key), relationship: relationship.name,
                    by: "\(row.entity) \(row.key)")
            }
        }
    }

    /// Whether the record that led to another one is there and leads to it still.
    func isStillLed(_ access: StoreAccess, _ position: Int, _ row: RowView) throws -> Bool {
        let member = records[position], origin = records[Int(member.origin)]
        guard let root = access.catalog.entity(id: origin.root) else { return false }
        let from = records.key(at: Int(member.origin))
        guard let parent = try access.row(root, from) else { return false }
        // What stands in neither row has not changed either.
        if parent.version == origin.version, row.version == member.version { return true }
        var isLed = false
        for relationship in access.state.deleteRules[parent.entity] where relationship.deleteRule == .cascade && !isLed {
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
    /// For messages: the entity and the key of a record; nil if it is not there.
    fileprivate func name(_ entity: Catalog.Entity, _ storageKey: Bytes) throws -> (entity: String, key: String)? {
        guard let row = try row(entity, storageKey) else { return nil }
        let key = key(entity, storageKey, row)?.description ?? describe(storageKey)
        return ((catalog.entity(id: row.entity) ?? entity).name, key)
    }
}
