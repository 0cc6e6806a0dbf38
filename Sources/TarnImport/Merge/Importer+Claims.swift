// Conflicts between records that refer to one record exclusively. Reports name both locations.

internal import TarnStore

extension Importer {
    /// A member of a list that belongs to another owner.
    struct LostMember: Hashable {
        var list: Int
        var member: [UInt8]
    }

    private struct ClaimedMember: Hashable {
        var plan: Int
        var field: UInt16
        var member: [UInt8]
    }

    /// Finds members that several records list as their own, and reports them.
    ///
    /// - Parameter counts: whether each list is in effect, see `countingLists()`.
    /// - Returns: the members that lists lose to another list.
    func lostMembers(_ counts: [Bool]) -> Set<LostMember> {
        var lost: Set<LostMember> = []
        let lists = drafter.derived.lists, members = drafter.derived.members
        var holders = PositionTable(count: members.count)
        for (number, list) in lists.enumerated() where counts[number] {
            guard case .derived(let slot) = plan.plans[Int(list.plan)].slots[Int(list.slot)].kind, !slot.isListed else {
                continue
            }
            for place in list.members {
                func isSame(_ other: Int) -> Bool {
                    members[other].hash == members[place].hash
                        && Bytes.equal(
                            drafter.derived.bytes(members[other].key), drafter.derived.bytes(members[place].key))
                        && seed(of: lists[Int(members[other].list)]) == slot.seed
                }
                guard let holder = holders.insert(place, hash: members[place].hash, isEqual: isSame) else { continue }
                // Lists follow the entity's duplicate policy, too.
                let firstWins = plan.plans[Int(slot.owner)].policies.firstWins
                let otherNumber = Int(members[holder].list), other = lists[otherNumber]
                let isOwn = Bytes.equal(drafter.derived.bytes(other.target), drafter.derived.bytes(list.target))
                if isOwn || !firstWins { holders.replace(with: place, hash: members[place].hash, isEqual: isSame) }
                guard !isOwn else { continue }
                let member = Array(drafter.derived.bytes(members[place].key))
                lost.insert(LostMember(list: firstWins ? number : otherNumber, member: member))
                report(
                    conflict(
                        plan.plans[Int(slot.owner)].entity, member,
                        plan.plans[Int(list.plan)].details[Int(list.slot)].derived?.field.name ?? "",
                        described(other), described(list), firstWins: firstWins))
            }
        }
        return lost
    }

    private func described(_ list: DerivedList) -> (entity: String, key: [UInt8], path: String) {
        (plan.plans[Int(list.plan)].entity.name, Array(drafter.derived.bytes(list.target)), path(of: list))
    }

    /// Resolves one-to-one references: of several to one record, the latest wins.
    ///
    /// The others are cleared, including stored ones. But one that was changed locally keeps its
    /// reference until the server has it.
    func settleConflicts(_ writer: inout StoreWriter, _ tally: inout ImportTally, hasLocal: Bool) throws {
        guard !drafter.claims.isEmpty else { return }
        try writer.applyIndexChanges()
        conflictPlaces = nil
        var isSettled: Set<ClaimedMember> = []
        for claim in drafter.claims.reversed() {
            let claimed = ClaimedMember(plan: claim.plan, field: claim.field, member: claim.target)
            guard !isSettled.contains(claimed), try leads(claim, writer.access) else { continue }
            isSettled.insert(claimed)
            try settle(claim, &writer, &tally, hasLocal: hasLocal)
        }
    }

    /// Returns whether a reference is the stored one.
    ///
    /// A later draft may replace it, or its record may not be stored.
    private func leads(_ claim: ReferenceConflict, _ access: StoreAccess) throws -> Bool {
        let entity = plan.plans[claim.plan].entity
        return try access.lending {
            try claim.owner.withUnsafeBytes { owner in
                guard let target = try access.records.row(entity, owner)?.body.value(of: claim.field)?.reference else {
                    return false
                }
                return claim.target.withUnsafeBytes { Bytes.equal($0, target) }
            }
        }
    }

    private func settle(
        _ claim: ReferenceConflict, _ writer: inout StoreWriter, _ tally: inout ImportTally, hasLocal: Bool
    ) throws {
        let entity = plan.plans[claim.plan].entity
        guard let field = entity.field(id: claim.field), let index = field.index, !entity.key.contains(field.id) else {
            return
        }
        var others: [[UInt8]] = []
        try claim.target.withUnsafeBytes { target in
            try writer.access.indexes.forEachReferrer(of: target, through: index, positioned: false) { referrer in
                if !claim.owner.withUnsafeBytes({ Bytes.equal($0, referrer) }) { others.append(Array(referrer)) }
                return true
            }
        }
        if hasLocal, try yields(claim, field, entity, to: others, &writer) { return }
        // In the order of the unit, stored ones first: the last one gets the reference back if the
        // record of the claim is dropped.
        let places = others.map { (owner: $0, claim: place(of: claim, by: $0) ?? -1) }.sorted { $0.claim < $1.claim }
        let cause = ListedRecord(entity: entity.root, storageKey: claim.owner)
        for (other, earlier) in places {
            let outcome = try connect(field, to: nil, position: nil, of: claim.plan, other, for: cause, &writer)
            guard case .updated? = outcome else { continue }
            countUpdated(claim.plan, other, in: &tally)
            // No conflict is reported for a reference from an earlier unit: this unit is newer.
            guard earlier >= 0, case .reference(let reference) = field.kind,
                let destination = catalog.entity(id: reference.destination)
            else { continue }
            let conflict = conflict(
                destination, claim.target, reference.inverse ?? field.name,
                (entity.name, other, drafter.claims[earlier].path), (entity.name, claim.owner, claim.path),
                firstWins: false)
            if mayBeDropped(cause) { connected[connected.count - 1].conflict = conflict } else { report(conflict) }
        }
    }

    /// Clears the reference of a claim if another record has it by a local change.
    private func yields(
        _ claim: ReferenceConflict, _ field: Catalog.Field, _ entity: Catalog.Entity, to others: [[UInt8]],
        _ writer: inout StoreWriter
    ) throws -> Bool {
        func isLocal(_ owner: [UInt8]) throws -> Bool {
            try owner.withUnsafeBytes { key in
                guard let mark = try writer.access.localChanges.mark(entity.root, key), mark.covers(field.id) else {
                    return false
                }
                return try !yieldsToServer(plan.plans[claim.plan], key, writer)
            }
        }
        guard try !isLocal(claim.owner) else { return false }
        var isKept = false
        for other in others where !isKept { isKept = try isLocal(other) }
        guard isKept else { return false }
        guard try set(field, to: nil, position: nil, of: entity, claim.owner, &writer) != nil else { return false }
        // The response tells it again once the server has decided.
        leftOut.insert(ListedRecord(entity: entity.root, storageKey: claim.owner))
        claim.owner.withUnsafeBytes { key in
            reportKept(
                entity, key, field.name,
                "another record has its target by a local change, which is not yet at the server; \(field.name) is null"
            )
        }
        return true
    }

    /// Returns the position of another record's reference to the same target in this unit, if any.
    ///
    /// The first call builds the table of all references.
    private func place(of claim: ReferenceConflict, by owner: [UInt8]) -> Int? {
        let places =
            conflictPlaces
            ?? {
                var places: [ConflictPlace: Int] = [:]
                for (position, claim) in drafter.claims.enumerated() {
                    places[ConflictPlace(claim, claim.owner)] = position
                }
                return places
            }()
        conflictPlaces = places
        return places[ConflictPlace(claim, owner)]
    }

    private func conflict(
        _ entity: Catalog.Entity, _ key: [UInt8], _ field: String,
        _ first: (entity: String, key: [UInt8], path: String),
        _ second: (entity: String, key: [UInt8], path: String), firstWins: Bool
    ) -> Diagnostic {
        func describe(_ key: [UInt8]) -> String {
            key.withUnsafeBytes { RecordKey(storageKey: $0)?.description ?? "…" }
        }
        var diagnostic = Diagnostic(
            code: .relationshipConflict, path: second.path, entity: entity.name,
            key: key.withUnsafeBytes { RecordKey(storageKey: $0)?.description }, field: field,
            message:
                "\(second.entity) \(describe(second.key)) refers to it here, but \(first.entity) \(describe(first.key)) does at \(first.path); the \(firstWins ? "earlier" : "later") reference is kept"
        )
        let root = catalog.entities.first { $0.name == second.entity }?.root
        diagnostic.source = root.flatMap { root in second.key.withUnsafeBytes { location(of: $0, root).source } }
        return diagnostic
    }
}
