// References in stored records that follow from other records of the unit, and their undoing.

internal import TarnStore

extension Importer {
    /// Sets or clears a to-one reference of a stored record.
    ///
    /// - Parameters:
    ///   - plan: the plan of the entity with the field.
    ///   - cause: the record of the unit from which the reference follows.
    /// - Returns: nil if the record is not stored.
    func connect(
        _ field: Catalog.Field, to target: [UInt8]?, position: UInt32?, of plan: Int, _ record: [UInt8],
        for cause: ListedRecord, _ writer: inout StoreWriter
    ) throws -> StoreWriter.Outcome? {
        let entity = self.plan.plans[plan].entity
        guard mayBeDropped(cause) else {
            return try set(field, to: target, position: position, of: entity, record, &writer)
        }
        let before = try value(of: field.id, entity, record, writer.access)
        writer.remembersAllRecords = true
        defer { writer.remembersAllRecords = false }
        let outcome = try set(field, to: target, position: position, of: entity, record, &writer)
        guard case .updated? = outcome else { return outcome }
        let after = try value(of: field.id, entity, record, writer.access)
        connected.append(
            ConnectedReference(
                cause: cause, plan: plan, field: field.id, record: record, before: before, after: after))
        return outcome
    }

    /// Returns whether a unique index may drop a record.
    func mayBeDropped(_ record: ListedRecord) -> Bool {
        !isStrict && plan.plans.contains { $0.hasUnique && $0.entity.root == record.entity }
    }

    private func value(
        of field: UInt16, _ entity: Catalog.Entity, _ record: [UInt8], _ access: StoreAccess
    ) throws -> [UInt8]? {
        try access.lending {
            try record.withUnsafeBytes { key in
                try access.records.row(entity, key)?.body.value(of: field).map { Array($0.bytes) }
            }
        }
    }

    /// Undoes the references that follow from dropped records, the last ones first.
    ///
    /// A reference that was changed again stays, and so does a record that was undone itself. A
    /// record that has nothing else of the unit is as if the unit had not been.
    func undoConnections(
        of dropped: Set<ListedRecord>, _ writer: inout StoreWriter, _ tally: inout ImportTally
    ) throws {
        for change in connected.reversed() where dropped.contains(change.cause) {
            let entity = plan.plans[change.plan].entity
            let record = ListedRecord(entity: entity.root, storageKey: change.record)
            guard !dropped.contains(record), let field = entity.field(id: change.field),
                try value(of: field.id, entity, change.record, writer.access) == change.after
            else { continue }
            // A one-to-one reference is null if its target has another owner by now.
            let isTaken = try isTaken(change, field, &writer), before = isTaken ? nil : change.before
            if try !isTaken && writer.restore(record, changedIn: change.field, from: before) {
                if change.isCounted { countUnchanged(change.plan, change.record, in: &tally) }
                continue
            }
            var builder = BodyBuilder(), bytes = ByteWriter()
            builder.field(field.id) { value in
                if let before { value.append(before) } else { value.appendValueNull() }
            }
            builder.finish(into: &bytes)
            guard let body = RowBody(bytes.bytes, isWide: false) else { continue }
            _ = try change.record.withUnsafeBytes { try writer.merge(entity, $0, body, isComplete: false) }
        }
        connected.removeAll { dropped.contains($0.cause) }
    }

    /// Returns whether another record has the target that a one-to-one reference had.
    private func isTaken(
        _ change: ConnectedReference, _ field: Catalog.Field, _ writer: inout StoreWriter
    ) throws -> Bool {
        guard case .reference(let reference) = field.kind, reference.isOneToOne, let index = field.index,
            let target = change.before?.withUnsafeBytes({ EncodedValue($0).reference.map { Array($0) } })
        else { return false }
        try writer.applyIndexChanges()
        var isTaken = false
        try target.withUnsafeBytes { target in
            try writer.access.indexes.forEachReferrer(of: target, through: index, positioned: false) { referrer in
                isTaken = !change.record.withUnsafeBytes { Bytes.equal($0, referrer) }
                return !isTaken
            }
        }
        return isTaken
    }
}
