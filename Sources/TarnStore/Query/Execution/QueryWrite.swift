// The change or deletion of a query's records: found in a snapshot, checked again and written in
// steps.

/// A write by query in progress.
final class QueryWrite: @unchecked Sendable {
    // `@unchecked Sendable`: one thread creates it, then one thread at a time uses it.
    enum Action {
        case update(RecordChange)
        case delete
    }

    private let condition: Query
    private let action: Action
    /// Whether records are marked as changed locally.
    private let isLocal: Bool
    /// The storage keys of the records found.
    private let keys: StorageKeys
    /// The number of records done.
    private var position = 0
    /// The cascade of the record at the position, if it is larger than one step.
    private var cascade: Cascade?
    private(set) var report = QueryWriteReport()

    /// Finds the records.
    ///
    /// All keys are collected before the first record is written. So no change can move a record to
    /// where it would be found again or skipped.
    init(_ query: Query, isLocal: Bool, _ action: (StoreAccess, Catalog.Entity) throws -> Action, _ access: StoreAccess)
        throws
    {
        let compiled = try CompiledQuery(query, access.state)
        var keys = StorageKeys()
        try QueryRun(access, compiled).forEach { key, _ in
            keys.append(key)
            return true
        }
        self.action = try action(access, compiled.entity)
        self.isLocal = isLocal
        self.keys = keys
        condition = Query(query.entity, where: query.condition, partials: query.partials)
        report.matched = keys.count
    }

    var isDone: Bool { position == keys.count }

    /// The result of a step, applied with `take` after its commit.
    struct Step {
        var position: Int
        var changed = 0
        var cascade: Cascade?
        var cascadeEnd = 0
    }

    func take(_ step: Step) {
        position = step.position
        cascade = step.cascade
        cascade?.end = step.cascadeEnd
        report.changed += step.changed
        report.steps += 1
    }

    /// Writes the next records that still meet the condition, about `limit` of them.
    func step(_ writer: inout StoreWriter, limit: Int) throws -> Step {
        // Conditions and delete rules read indexes.
        try writer.applyIndexChanges()
        let access = writer.access, compiled = try CompiledQuery(condition, access.state), entity = compiled.entity
        let check = try RecordCheck(access, compiled)
        // All records are checked before the first is changed: a condition may read other records.
        let range = position..<position + min(limit, keys.count - position)
        var admitted: [Int] = []
        for index in range where try keys.with(index, { key in try access.lending { try check.row(key) != nil } }) {
            admitted.append(index)
        }
        switch action {
        case .update(let change):
            return try update(admitted, range, entity, change.renewed(entity, access), &writer)
        case .delete: return try delete(admitted, range, entity, limit, &writer)
        }
    }

    private func update(
        _ admitted: [Int], _ range: Range<Int>, _ entity: Catalog.Entity, _ change: RecordChange,
        _ writer: inout StoreWriter
    ) throws -> Step {
        var step = Step(position: range.upperBound)
        for index in admitted {
            if isLocal { writer.beginClearing() }
            let outcome = try keys.with(index) { key in
                try change.withBody { body in try writer.merge(entity, key, body, isComplete: false) }
            }
            guard outcome == .updated else { continue }
            step.changed += 1
            if isLocal {
                try writer.markUpdated(writer.endClearing())
                try keys.with(index) { key in _ = try change.withFields { try writer.markUpdated(entity, key, $0) } }
            }
        }
        return step
    }

    private func delete(
        _ admitted: [Int], _ range: Range<Int>, _ entity: Catalog.Entity, _ limit: Int, _ writer: inout StoreWriter
    ) throws -> Step {
        var step = Step(position: range.upperBound)
        if let cascade, admitted.first == position, cascade.end > limit {
            return try delete(cascade, at: position, limit, &writer)
        }
        var references = DeletedReferences(), large: (cascade: Cascade, index: Int)?
        do {
            for index in admitted {
                // Cascades of earlier records may have filled the step.
                guard step.changed < limit else {
                    step.position = index
                    break
                }
                let found = try keys.with(index) { key in
                    try delete(key, entity, limit, &step, &references, &writer)
                }
                guard let found else { continue }
                step.position = index
                large = (found, index)
                break
            }
        } catch {
            // No reference to a deleted record stays, should the caller keep the write.
            try writer.letGo(&references)
            throw error
        }
        try writer.letGo(&references)
        // A large cascade is deleted in steps of its own.
        if let large, step.changed == 0 { return try delete(large.cascade, at: large.index, limit, &writer) }
        return step
    }

    /// Deletes the end of a record's cascade, but not yet the record.
    private func delete(_ cascade: Cascade, at index: Int, _ limit: Int, _ writer: inout StoreWriter) throws -> Step {
        let changed = try writer.deleteStep(cascade, count: limit)
        return Step(position: index, changed: changed, cascade: cascade, cascadeEnd: cascade.end - limit)
    }

    /// Deletes a record and its cascade, without the records that stay for their queued operations.
    ///
    /// - Returns: the cascade if it is larger than a step; then nothing is deleted.
    private func delete(
        _ key: Bytes, _ entity: Catalog.Entity, _ limit: Int, _ step: inout Step,
        _ references: inout DeletedReferences, _ writer: inout StoreWriter
    ) throws -> Cascade? {
        let mark = writer.access.rowMark
        defer { writer.access.release(to: mark) }
        // The cascade of an earlier record may have deleted it.
        guard let row = try writer.access.records.row(entity, key) else { return nil }
        let whole = try isLocal && StorageKey.isDigest(key) ? writer.access.wholeKey(entity, row.body)?.tuple : nil
        let known = try isLocal ? writer.access.localChanges.mark(entity.root, key) : nil, kind = row.entity
        let isMarked = try isLocal && !writer.isUnknownToServer(ListedRecord(entity.root, key), known)
        func markLocally() throws {
            if isMarked { try writer.markDeleted(kind, key, known, whole: whole) }
        }
        guard !writer.access.state.deleteRules[row.entity].isEmpty else {
            try writer.remove(key, row)
            try markLocally()
            step.changed += 1
            return nil
        }
        try writer.applyIndexChanges()
        let cascade = try Cascade(writer.access, entity, key, row)
        // Once the end of a large cascade was deleted in steps, the rest fits in one.
        if try writer.exceeds(limit, cascade) { return cascade }
        step.changed += try writer.delete(cascade, &references)
        try markLocally()
        return nil
    }
}
