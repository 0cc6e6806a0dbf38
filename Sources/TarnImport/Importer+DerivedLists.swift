// Lists whose references stand in the records that they lead to, set and cleared there when the drafts are merged.

internal import TarnStore

extension Importer {
    /// Lists whose references stand in their members: members that came as bare keys get theirs, members that left lose it.
    /// Of members whose references are a list, both is done here.
    ///
    /// - Parameter older: records, by the root of their entity and key, whose answer is older than what is stored.
    func connectDerived(
        _ writer: inout StoreWriter, _ tally: inout ImportTally, except older: Set<[UInt8]>, hasLocal: Bool
    ) throws {
        guard !drafter.derived.isEmpty else { return }
        // The last list that is said of a relationship of a record counts.
        var last: [[UInt8]: Int] = [:]
        for (index, note) in drafter.derived.enumerated() { last[note.identity] = index }
        let lost = lostMembers { drafter.derived[$0].keepsOthers || last[drafter.derived[$0].identity] == $0 }
        for (index, note) in drafter.derived.enumerated() where note.keepsOthers || last[note.identity] == index {
            try cancellation?.check()
            if !older.isEmpty, older.contains(Array("\(note.root) ".utf8) + note.target) { continue }
            let owner = plan.plans[note.ownerPlan].entity
            guard let indexID = note.field.index else { continue }
            for (position, member) in note.members.enumerated() where note.unsetMembers.contains(member) {
                if !lost.isEmpty, lost.contains(LostMember(note: index, member: member)) { continue }
                if hasLocal, !note.isListed,
                    try member.withUnsafeBytes({
                        try keepsLocalReference(plan.plans[note.ownerPlan], $0, note.field.id, to: note.target, &writer)
                    })
                {
                    continue
                }
                let outcome =
                    note.isListed
                    ? try set(note.field, contains: note.target, true, of: owner, member, &writer)
                    : try set(
                        note.field, to: note.target, position: note.isOrdered ? UInt32(position) : nil, of: owner, member,
                        &writer)
                guard let outcome else {
                    drafter.diagnosticCount += 1
                    if drafter.diagnostics.count < diagnosticLimit {
                        drafter.diagnostics.append(note.unstorable(member, owner: owner.name))
                    }
                    continue
                }
                if case .updated = outcome { countUpdated(note.ownerPlan, member, in: &tally) }
            }
            if note.keepsOthers { continue }
            try writer.applyIndexChanges()
            let members = Set(note.members)
            // A key that holds the reference cannot let go of it.
            if owner.key.contains(note.field.id) { continue }
            var left: [[UInt8]] = []
            try note.target.withUnsafeBytes { target in
                try writer.access.referrers(of: target, through: indexID, positioned: note.isOrdered) { referrer in
                    if !members.contains(Array(referrer)) { left.append(Array(referrer)) }
                    return true
                }
            }
            for referrer in left {
                if hasLocal, !note.isListed,
                    try referrer.withUnsafeBytes({
                        try keepsLocalReference(plan.plans[note.ownerPlan], $0, note.field.id, to: nil, &writer)
                    })
                {
                    continue
                }
                let outcome =
                    note.isListed
                    ? try set(note.field, contains: note.target, false, of: owner, referrer, &writer)
                    : try set(note.field, to: nil, position: nil, of: owner, referrer, &writer)
                if case .updated? = outcome {
                    countUpdated(note.ownerPlan, referrer, in: &tally)
                }
            }
        }
    }

    /// Sets or clears the reference of a record that is there. Nil if it is not.
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
            guard try writer.access.row(entity, key) != nil else { return nil }
            return try writer.merge(entity, key, body, isComplete: false)
        }
    }

    /// Adds a reference at the end of a list of a record that is there, or takes it out; the others stay as they are. Nil if
    /// there is no such record.
    private func set(
        _ field: Catalog.Field, contains target: [UInt8], _ isWanted: Bool, of entity: Catalog.Entity, _ key: [UInt8],
        _ writer: inout StoreWriter
    ) throws -> StoreWriter.Outcome? {
        try key.withUnsafeBytes { key in
            guard let row = try writer.access.row(entity, key) else { return nil }
            var list = ByteWriter(), isThere = false
            list.append(ValueTag.references)
            if let value = row.body.value(of: field.id) {
                try writer.access.forEachReference(value) { reference in
                    let isTarget = target.withUnsafeBytes { Bytes.equal($0, reference) }
                    isThere = isThere || isTarget
                    if !isTarget || isWanted { list.appendReferenceElement(reference) }
                    return true
                }
            }
            guard isThere != isWanted else { return .unchanged }
            if isWanted { target.withUnsafeBytes { list.appendReferenceElement($0) } }
            var builder = BodyBuilder(), bytes = ByteWriter()
            builder.field(field.id, EncodedValue(list.bytes))
            let isWide = builder.isWide
            builder.finish(into: &bytes)
            guard let body = RowBody(bytes.bytes, isWide: isWide) else { return nil }
            return try writer.merge(entity, key, body, isComplete: false)
        }
    }
}

extension DerivedList {
    /// Whether the references at the other side are lists.
    fileprivate var isListed: Bool {
        if case .reference(let reference) = field.kind { reference.isToMany } else { false }
    }

    /// Which relationship of which record.
    fileprivate var identity: [UInt8] {
        target + [0xFF, UInt8(truncatingIfNeeded: ownerPlan), UInt8(field.id & 0xFF), UInt8(field.id >> 8)]
    }

    fileprivate func unstorable(_ member: [UInt8], owner: String) -> Diagnostic {
        Diagnostic(
            code: .referenceUnstorable, path: path, entity: entity,
            key: target.withUnsafeBytes { RecordKey(storageKey: $0) }?.description, field: name,
            message:
                "\(owner) \(member.withUnsafeBytes { RecordKey(storageKey: $0) }?.description ?? "") is not there, and its \(field.name) would stand in it; fetch it first")
    }
}
