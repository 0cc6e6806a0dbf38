// Lists of derived relationships: their references are set and cleared in the members.

internal import TarnStore

extension Importer {
    /// Sets the missing references of members of derived lists, and clears those of former members.
    ///
    /// A member that is a nested object already has its reference from its draft, unless its
    /// references are a list.
    ///
    /// - Parameter others: the records whose lists do not count, by root entity and key.
    func connectDerived(
        _ writer: inout StoreWriter, _ tally: inout ImportTally, except others: Set<[UInt8]>, hasLocal: Bool
    ) throws {
        guard !drafter.derived.isEmpty else { return }
        let counts = countingLists(except: others)
        let lost = lostMembers(counts)
        var current: (plan: Int32, slot: Int32) = (-1, -1), relationship: DerivedRelationship?
        // By relationship.
        var moved: [UInt64: MovedMembers] = [:], updated: UpdatedRecords?, listed = ListedMembers()
        for (number, list) in drafter.derived.lists.enumerated() where counts[number] {
            try cancellation?.check()
            // Consecutive lists are mostly of the same relationship.
            if list.plan != current.plan || list.slot != current.slot {
                current = (list.plan, list.slot)
                relationship = self.relationship(of: list)
            }
            guard let relationship, let index = relationship.field.index else { continue }
            if list.hasUnset {
                try setMembers(list, number, relationship, lost, hasLocal: hasLocal, &listed, &writer, &tally)
            }
            // A reference that is part of a key cannot be cleared.
            if list.keepsOthers || relationship.isKey { continue }
            if hasLocal, !relationship.isListed {
                let seed = seed(of: list)
                if moved[seed] == nil { moved[seed] = try movedMembers(relationship, &updated, &writer) }
                if let known = moved[seed] { try noteMissing(from: list, known, relationship, &writer) }
            }
            try writer.applyIndexChanges()
            try clearFormer(list, relationship, through: index, hasLocal: hasLocal, &listed, &writer, &tally)
        }
        try change(listed, &writer, &tally)
    }

    /// Clears the references of records that are no longer in a list.
    private func clearFormer(
        _ list: DerivedList, _ relationship: DerivedRelationship, through index: UInt32, hasLocal: Bool,
        _ listed: inout ListedMembers, _ writer: inout StoreWriter, _ tally: inout ImportTally
    ) throws {
        let target = Array(drafter.derived.bytes(list.target))
        // The index does not have them yet.
        let added = listed.members(of: target, relationship)
        for referrer in try left(list, relationship, through: index, and: added, writer.access) {
            if relationship.isListed, !hasLocal {
                listed.remove(target, from: referrer, relationship)
                continue
            }
            if hasLocal, relationship.isListed,
                try keepsLocalList(of: referrer, relationship, contains: target, false, writer)
            {
                continue
            }
            if hasLocal, !relationship.isListed,
                try referrer.withUnsafeBytes({
                    try keepsLocalReference(
                        plan.plans[relationship.ownerPlan], $0, relationship.field.id, to: nil, leaving: target,
                        &writer)
                })
            {
                continue
            }
            let outcome =
                relationship.isListed
                ? try change(referrer, of: relationship, adding: [], removing: [target], &writer)
                : try connect(
                    relationship.field, to: nil, position: nil, of: relationship.ownerPlan, referrer,
                    for: ListedRecord(entity: relationship.root, storageKey: target), &writer)
            if case .updated? = outcome { countUpdated(relationship.ownerPlan, referrer, in: &tally) }
        }
    }

    /// Returns for each list whether it is in effect: the last one of its record and relationship.
    ///
    /// Lists that keep other members are all in effect. As for a field, a list of an occurrence
    /// that loses counts only if no other has one: the first of them.
    private func countingLists(except others: Set<[UInt8]>) -> [Bool] {
        let lists = drafter.derived.lists
        var table = PositionTable(count: lists.count), counts = Array(repeating: false, count: lists.count)
        let order = lists.indices.reversed().filter { !lists[$0].loses } + lists.indices.filter { lists[$0].loses }
        for number in order {
            let isFirst = table.insert(number, hash: lists[number].hash) { isSame(lists[$0], lists[number]) } == nil
            counts[number] = isFirst || (lists[number].keepsOthers && !lists[number].loses)
        }
        guard !others.isEmpty else { return counts }
        for (number, list) in lists.enumerated() where counts[number] {
            let root = plan.plans[Int(list.plan)].entity.root
            counts[number] = !others.contains(Array("\(root) ".utf8) + Array(drafter.derived.bytes(list.target)))
        }
        return counts
    }

    /// Returns whether two lists are of the same record and relationship.
    private func isSame(_ a: DerivedList, _ b: DerivedList) -> Bool {
        guard a.hash == b.hash, a.plan == b.plan && a.slot == b.slot || seed(of: a) == seed(of: b) else { return false }
        return Bytes.equal(drafter.derived.bytes(a.target), drafter.derived.bytes(b.target))
    }

    /// Returns the identity of a list's relationship, shared by all entities that inherit it.
    func seed(of list: DerivedList) -> UInt64 {
        if case .derived(let slot) = plan.plans[Int(list.plan)].slots[Int(list.slot)].kind { slot.seed } else { 0 }
    }

    private func relationship(of list: DerivedList) -> DerivedRelationship? {
        let from = plan.plans[Int(list.plan)], details = from.details[Int(list.slot)]
        return details.derived.map {
            DerivedRelationship(
                $0, owner: plan.plans[$0.owner].entity, root: from.entity.root, entity: from.entity.name,
                name: details.name)
        }
    }

    /// Sets the references of members that are bare keys, or whose references are a list.
    private func setMembers(
        _ list: DerivedList, _ number: Int, _ relationship: DerivedRelationship, _ lost: Set<LostMember>,
        hasLocal: Bool, _ listed: inout ListedMembers,
        _ writer: inout StoreWriter, _ tally: inout ImportTally
    ) throws {
        let target = Array(drafter.derived.bytes(list.target)), ownerPlan = relationship.ownerPlan
        for (position, place) in list.members.enumerated() where drafter.derived.members[place].isUnset {
            let member = Array(drafter.derived.bytes(drafter.derived.members[place].key))
            if !lost.isEmpty, lost.contains(LostMember(list: number, member: member)) { continue }
            if hasLocal, relationship.isListed,
                try keepsLocalList(of: member, relationship, contains: target, true, writer)
            {
                continue
            }
            if hasLocal, !relationship.isListed,
                try member.withUnsafeBytes({
                    try keepsLocalReference(plan.plans[ownerPlan], $0, relationship.field.id, to: target, &writer)
                })
            {
                continue
            }
            if relationship.isListed, !hasLocal,
                try listed.adds(to: member, relationship) || isStored(member, relationship.owner, writer.access)
            {
                listed.add(target, to: member, relationship, keepsOthers: list.keepsOthers)
                continue
            }
            let outcome =
                relationship.isListed
                ? try change(member, of: relationship, adding: [target], removing: [], &writer)
                : try connect(
                    relationship.field, to: target, position: relationship.isOrdered ? UInt32(position) : nil,
                    of: ownerPlan, member, for: ListedRecord(entity: relationship.root, storageKey: target), &writer)
            guard let outcome else {
                // An object's own draft was not stored, because the record was deleted or left out.
                if drafter.derived.members[place].isNested, !relationship.isListed { continue }
                leftOut.insert(ListedRecord(entity: relationship.root, storageKey: target))
                var diagnostic = relationship.unstorable(member, of: target, path: path(of: list))
                diagnostic.source = target.withUnsafeBytes { location(of: $0, relationship.root).source }
                report(diagnostic)
                continue
            }
            if case .updated = outcome { countUpdated(ownerPlan, member, in: &tally) }
        }
    }

    private func isStored(_ member: [UInt8], _ entity: Catalog.Entity, _ access: StoreAccess) throws -> Bool {
        // A compressed row is kept until the closure returns, and a unit may have many members.
        try access.lending { try member.withUnsafeBytes { try access.records.row(entity, $0) != nil } }
    }

    func path(of list: DerivedList) -> String { drafter.derived.text(list.record) + drafter.derived.text(list.path) }

    /// Returns the records that refer to a list's record and are not in the list.
    ///
    /// - Parameter others: records that will refer to it.
    private func left(
        _ list: DerivedList, _ relationship: DerivedRelationship, through index: UInt32, and others: [[UInt8]],
        _ access: StoreAccess
    ) throws -> [[UInt8]] {
        let members = drafter.derived.members[list.members]
        var known: Set<[UInt8]>?, left: [[UInt8]] = []
        func take(_ referrer: Bytes) {
            if members.count > 16 {
                let set = known ?? Set(members.map { Array(drafter.derived.bytes($0.key)) })
                known = set
                if !set.contains(Array(referrer)) { left.append(Array(referrer)) }
            } else if !members.contains(where: { Bytes.equal(drafter.derived.bytes($0.key), referrer) }) {
                left.append(Array(referrer))
            }
        }
        try access.indexes.forEachReferrer(
            of: drafter.derived.bytes(list.target), through: index, positioned: relationship.isOrdered
        ) { referrer in
            take(referrer)
            return true
        }
        for other in others { other.withUnsafeBytes(take) }
        return left
    }

    /// Sets or clears the reference of a stored record. Nil if the record is not stored.
    func set(
        _ field: Catalog.Field, to target: [UInt8]?, position: UInt32?, of entity: Catalog.Entity, _ key: [UInt8],
        _ writer: inout StoreWriter
    ) throws -> StoreWriter.Outcome? {
        var builder = BodyBuilder(), bytes = ByteWriter()
        builder.field(field.id) { value in
            if let target, let position {
                value.append(ValueTag.positionedReference)
                value.appendLittleEndian(position)
                value.append(target)
            } else if let target {
                value.append(ValueTag.reference)
                value.append(target)
            } else {
                value.appendValueNull()
            }
        }
        builder.finish(into: &bytes)
        guard let body = RowBody(bytes.bytes, isWide: false) else { return nil }
        return try key.withUnsafeBytes { key in
            guard try writer.access.records.row(entity, key) != nil else { return nil }
            return try writer.merge(entity, key, body, isComplete: false)
        }
    }
}
