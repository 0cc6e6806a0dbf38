// One-to-one relationships: a record that gets such a reference takes it from the one that has it.

internal import LMDB

/// A one-to-one reference that a write sets.
struct TakenReference {
    /// The target of a one-to-one relationship.
    struct Target: Hashable {
        /// The index of the reference's targets.
        var index: UInt32
        var key: [UInt8]
    }

    var target: Target
    var field: UInt16
    /// The record that gets the reference.
    var owner: [UInt8]
}

extension StoreWriter {
    /// The number of owners to remember before their index entries are written.
    private static let mostPendingOwners = 1 << 16

    /// Returns the one-to-one references that a record gets with a new body.
    ///
    /// Called before the row is written, which may invalidate the old one.
    func takenReferences(_ key: Bytes, old: RowBody?, _ new: RowBody, _ rules: EntityRules) -> [TakenReference] {
        var result: [TakenReference] = []
        for (field, index) in rules.exclusive {
            guard let target = new.value(of: field)?.reference else { continue }
            if let before = old?.value(of: field)?.reference, Bytes.equal(before, target) { continue }
            result.append(
                TakenReference(
                    target: TakenReference.Target(index: index, key: Array(target)), field: field, owner: Array(key)))
        }
        return result
    }

    /// Clears the references of other records to targets that have a new owner.
    mutating func takeOver(_ references: [TakenReference], _ rules: EntityRules) throws {
        for taken in references {
            guard claimsOwners else {
                hasUnknownOwners = true
                continue
            }
            if hasUnknownOwners || pendingOwners.count >= StoreWriter.mostPendingOwners {
                try applyIndexChanges()
                pendingOwners.removeAll(keepingCapacity: true)
                hasUnknownOwners = false
            }
            let others = try otherOwners(taken, rules)
            pendingOwners[taken.target] = taken.owner
            guard !others.isEmpty else { continue }
            let isAppending = tail.isAppending
            tail.endAppending()
            if restoresOwners {
                // Any present owner is newer than a former value.
                try clear(taken.field, of: taken.owner, rules)
                hasUnknownOwners = true
            } else {
                for other in others { try clear(taken.field, of: other, rules) }
            }
            if isAppending {
                try tail.beginAppending(rules.root, access.raw, access.state.records(of: rules.root))
            }
        }
    }

    /// The other records that have a reference, in the order of their keys.
    ///
    /// The index lacks the entries of this transaction that are not written yet, and has those that
    /// are not removed yet.
    private func otherOwners(_ taken: TakenReference, _ rules: EntityRules) throws -> [[UInt8]] {
        let access = access
        guard let root = access.catalog.entity(id: rules.root) else { return [] }
        var found: [[UInt8]] = []
        try taken.target.key.withUnsafeBytes { target in
            try access.indexes.forEachReferrer(of: target, through: taken.target.index, positioned: false) { referrer in
                found.append(Array(referrer))
                return true
            }
        }
        if let pending = pendingOwners[taken.target], !found.contains(pending) {
            found.append(pending)
            found.sort { $0.lexicographicallyPrecedes($1) }
        }
        var others: [[UInt8]] = []
        for other in found where other != taken.owner {
            let isOwner = try access.lending {
                try other.withUnsafeBytes { key in
                    guard let target = try access.records.row(root, key)?.body.value(of: taken.field)?.reference
                    else { return false }
                    return taken.target.key.withUnsafeBytes { Bytes.equal($0, target) }
                }
            }
            if isOwner { others.append(other) }
        }
        return others
    }

    /// Clears the one-to-one references of undone records whose targets have other owners.
    ///
    /// An undone record has its former references again. This transaction may have set one of them
    /// in another record in the meantime.
    package mutating func yieldTargets(of undone: [DroppedRecord]) throws {
        let (didRestore, didClaim) = (restoresOwners, claimsOwners)
        (restoresOwners, claimsOwners) = (true, true)
        defer { (restoresOwners, claimsOwners) = (didRestore, didClaim) }
        for record in undone {
            let listed = ListedRecord(entity: record.entity, storageKey: record.storageKey)
            guard let row = try access.wholeRow(listed) else { continue }
            let rules = try access.state.rules(of: row.kind)
            var references: [TakenReference] = []
            for (field, index) in rules.exclusive {
                let target = row.value(of: field)?.withUnsafeBytes { EncodedValue($0).reference.map { Array($0) } }
                guard let target else { continue }
                references.append(
                    TakenReference(
                        target: TakenReference.Target(index: index, key: target), field: field,
                        owner: record.storageKey))
            }
            if !references.isEmpty { try takeOver(references, rules) }
        }
    }

    private mutating func clear(_ field: UInt16, of owner: [UInt8], _ rules: EntityRules) throws {
        let record = ListedRecord(entity: rules.root, storageKey: owner)
        guard let row = try access.wholeRow(record), let before = row.value(of: field),
            let kind = access.catalog.entity(id: row.kind)
        else { return }
        clearedOwners?.append(
            StoredOperation.FieldChange(
                record: record, kind: row.kind, field: field, before: before, after: [ValueTag.null]))
        _ = try clear(field, of: record, kind)
    }

    // MARK: - Local changes

    /// Begins to collect the references that writes clear in other records.
    mutating func beginClearing() { clearedOwners = [] }

    /// Returns the references that were cleared since ``beginClearing()``.
    mutating func endClearing() -> [StoredOperation.FieldChange] {
        defer { clearedOwners = nil }
        return clearedOwners ?? []
    }

    /// Marks the records that a local change has taken a reference from.
    mutating func markUpdated(_ cleared: [StoredOperation.FieldChange]) throws {
        for change in cleared {
            guard let record = change.record, let kind = access.catalog.entity(id: change.kind) else { continue }
            try record.storageKey.withUnsafeBytes { try markUpdated(kind, $0, [change.field]) }
        }
    }

    /// Gives other records back the references that an operation has taken from them with some of
    /// its fields, and takes these changes out of the operation.
    ///
    /// - Returns: the operation that is stored now.
    mutating func releaseOwners(of operation: StoredOperation, _ fields: Set<UInt16>) throws -> StoredOperation {
        let wasRestoring = restoresOwners
        restoresOwners = true
        defer { restoresOwners = wasRestoring }
        var left = operation
        for place in operation.takenFields where fields.contains(place.field) {
            let record = place.record
            _ = try rollBack(place, of: left)
            guard let change = left.changes.first(where: { $0.record == record && $0.field == place.field }) else {
                continue
            }
            var next = left
            next.changes.removeAll { $0.record == record && $0.field == place.field }
            try operations.replace(left, by: next)
            left = next
            try responses.removeValidators(ofResponsesListing: record)
            var part = operation
            (part.id, part.changes, part.edits, part.rows) = (0, [change], [], [])
            try renewMark(record, after: part)
        }
        return left
    }
}
