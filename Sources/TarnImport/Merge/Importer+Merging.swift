// Merging of single drafts: versions, lists, deletions, and duplicates of unique values.

internal import TarnStore

extension Importer {
    /// Returns the topmost entity of a tree. It finds a record of any concrete entity.
    func root(of entity: Catalog.Entity) -> Catalog.Entity {
        entity.root == entity.id ? entity : catalog.entity(id: entity.root) ?? entity
    }

    /// Counts an update of a record by a reference, after its draft (if any) was stored.
    ///
    /// The update counts for the concrete entity of the draft.
    func countUpdated(_ plan: Int, _ key: [UInt8], in tally: inout ImportTally) {
        let draft = key.withUnsafeBytes { drafter.list.find(plan, $0) }
        let isCounted = tally.updated(
            draft.map { Int(drafter.list.drafts[$0].plan) } ?? plan, key, draft: draft)
        if isCounted, let last = connected.indices.last, connected[last].plan == plan, connected[last].record == key {
            connected[last].isCounted = true
        }
    }

    /// Counts a record as unchanged whose update by a reference was undone.
    func countUnchanged(_ plan: Int, _ key: [UInt8], in tally: inout ImportTally) {
        let draft = key.withUnsafeBytes { drafter.list.find(plan, $0) }
        tally.restored(draft.map { Int(drafter.list.drafts[$0].plan) } ?? plan, key, draft: draft)
    }

    /// Returns the path and the document of a record's first occurrence in the unit.
    ///
    /// - Parameter entity: the id of the record's root entity.
    func location(of key: Bytes, _ entity: UInt16) -> (path: String, source: String?) {
        for position in plan.plans.indices where plan.plans[position].entity.root == entity {
            guard let draft = drafter.list.find(position, key) else { continue }
            return drafter.location(of: drafter.list.drafts[draft])
        }
        return ("$", nil)
    }

    /// Reports a value from a hook that the attribute's type refuses.
    func reportRefused(_ plan: EntityPlan, _ key: Bytes, _ field: String, _ json: JSONValue) {
        guard drafter.diagnostics.keepsNext(.valueType, plan.entity.name, field) else { return }
        let text = json.text, (path, source) = location(of: key, plan.entity.root)
        var diagnostic = Diagnostic(
            code: .valueType, path: path, entity: plan.entity.name, key: RecordKey(storageKey: key)?.description,
            field: field,
            message: "a hook returned a value of another type; the value of the response is stored")
        diagnostic.sample = text.count > 80 ? text.prefix(79) + "…" : text
        diagnostic.source = source
        drafter.diagnostics.add(diagnostic)
    }

    /// Merges a draft by its entity's version and list policies.
    ///
    /// - Returns: nil if the draft is older than the stored record.
    func merge(
        _ plan: EntityPlan, _ key: Bytes, _ body: RowBody, isComplete: Bool, isExact: Bool, _ writer: inout StoreWriter
    ) throws -> StoreWriter.Outcome? {
        let access = writer.access
        var combined = ByteWriter(), isOlder = false, isWide: Bool?
        try access.lending {
            guard let row = try access.records.row(root(of: plan.entity), key) else { return }
            isOlder = plan.policies.isOlder(body, than: row.body)
            guard !isOlder, !plan.policies.lists.isEmpty else { return }
            isWide = try plan.policies.combined(body, with: row.body, into: &combined) { value, reference in
                _ = try access.forEachReference(value) {
                    reference($0)
                    return true
                }
            }
        }
        if isOlder { return nil }
        guard let isWide, let both = RowBody(combined.bytes, isWide: isWide) else {
            return try writer.merge(plan.entity, key, body, isComplete: isComplete, isExact: isExact)
        }
        return try writer.merge(plan.entity, key, both, isComplete: isComplete, isExact: isExact)
    }

    /// Deletes the records that the response reports as deleted, by their delete rules.
    ///
    /// This runs after everything else is stored. A denied delete is tried again after others: the
    /// record that forbids it may be deleted in the same unit.
    func delete(
        _ deletions: [Int], _ writer: inout StoreWriter, _ tally: inout ImportTally, _ report: inout ImportReport
    ) throws {
        var rest = deletions, rounds = 0
        while !rest.isEmpty {
            rounds += 1
            var denied: [(draft: Int, error: StoreWriteError)] = []
            for index in rest {
                if let error = try delete(index, &writer, &tally, &report) { denied.append((index, error)) }
            }
            guard denied.count < rest.count, rounds < Importer.longestDeletion else {
                for (index, error) in denied {
                    let draft = drafter.list.drafts[index], root = plan.plans[Int(draft.plan)].entity.root
                    leftOut.insert(ListedRecord(entity: root, storageKey: Array(drafter.list.key(draft))))
                    reportDenied(index, error)
                }
                return
            }
            // The other way round: a long chain needs two rounds in either order.
            rest = denied.map(\.draft).reversed()
        }
    }

    /// The maximum number of rounds: a response in a hostile order would need one for each record.
    private static let longestDeletion = 64

    /// Deletes the record of a draft.
    ///
    /// - Returns: the error if a delete rule forbids it.
    private func delete(
        _ index: Int, _ writer: inout StoreWriter, _ tally: inout ImportTally, _ report: inout ImportReport
    ) throws -> StoreWriteError? {
        let draft = drafter.list.drafts[index], plan = plan.plans[Int(draft.plan)]
        guard let body = drafter.list.body(draft), let tuple = drafter.tombstones[index],
            let key = tuple.withUnsafeBytes({ RecordKey(tuple: $0) })
        else { return nil }
        if plan.policies.version != 0 {
            let access = writer.access, storageKey = drafter.list.key(draft)
            let isOlder = try access.lending {
                try access.records.row(root(of: plan.entity), storageKey).map {
                    plan.policies.isOlder(body, than: $0.body)
                }
                    ?? false
            }
            if isOlder {
                tally.older(Int(draft.plan))
                return nil
            }
        }
        if try isKeptAsOvertaken(draft, plan, writer) {
            tally.older(Int(draft.plan))
            return nil
        }
        if try keepsDeleted(plan, drafter.list.key(draft), &writer) { return nil }
        do {
            // The root entity: the stored record may be of any concrete entity of the tree.
            if try writer.delete(root(of: plan.entity).name, key) {
                tally.deleted(Int(draft.plan), draft: index)
            } else {
                // An earlier response of the same unit may list it.
                report.dropped.append(
                    ListedRecord(entity: plan.entity.root, storageKey: Array(drafter.list.key(draft))))
            }
            return nil
        } catch let error as StoreWriteError {
            guard case .deleteDenied = error else { throw error }
            return error
        }
    }

    /// Returns whether a record that a response reports as deleted is stored, and the response may
    /// be older than a change that the server has.
    private func isKeptAsOvertaken(
        _ draft: DraftList.Draft, _ plan: EntityPlan, _ writer: borrowing StoreWriter
    ) throws -> Bool {
        guard !overtaken.isEmpty else { return false }
        let access = writer.access, key = drafter.list.key(draft)
        guard try access.lending({ try access.records.row(root(of: plan.entity), key) != nil }) else { return false }
        return isOvertaken(plan.entity.root, key)
    }

    private func reportDenied(_ index: Int, _ error: StoreWriteError) {
        let draft = drafter.list.drafts[index], entity = plan.plans[Int(draft.plan)].entity
        guard drafter.diagnostics.keepsNext(.deleteDenied, entity.name, nil),
            let key = drafter.tombstones[index]?.withUnsafeBytes({ RecordKey(tuple: $0) })
        else { return }
        let (path, source) = drafter.location(of: draft)
        var diagnostic = Diagnostic(
            code: .deleteDenied, path: path, entity: entity.name, key: key.description, field: nil,
            message: "deleted at the server, but kept in the store: \(error)")
        diagnostic.source = source
        drafter.diagnostics.add(diagnostic)
    }

    /// Removes records that have unique values of another record, and what follows from them.
    private func droppedDuplicates(
        _ writer: inout StoreWriter, _ tally: inout ImportTally
    ) throws -> [DroppedRecord] {
        var all = try writer.dropDuplicates(), dropped: Set<ListedRecord> = [], next = 0
        while next < all.count {
            try writer.yieldTargets(of: Array(all[next...]))
            dropped.formUnion(all[next...].map { ListedRecord(entity: $0.entity, storageKey: $0.storageKey) })
            next = all.count
            try undoConnections(of: dropped, &writer, &tally)
            // A reference may be part of a unique index.
            all += try writer.dropDuplicates()
        }
        for change in connected { if let conflict = change.conflict { report(conflict) } }
        return all
    }

    /// Removes records that have unique values of another record, and reports them.
    func dropDuplicates(
        _ writer: inout StoreWriter, _ tally: inout ImportTally, _ report: inout ImportReport
    ) throws {
        for dropped in try droppedDuplicates(&writer, &tally) {
            let plans = plan.plans.indices.filter { plan.plans[$0].entity.root == dropped.entity }
            let found = plans.lazy.compactMap { position in
                dropped.storageKey.withUnsafeBytes { self.drafter.list.find(position, $0) }.map { (position, $0) }
            }.first
            guard let position = found.map({ Int(drafter.list.drafts[$0.1].plan) }) ?? plans.first else { continue }
            let entity = plan.plans[position].entity
            tally.dropped(position, dropped.storageKey, draft: found?.1, dropped.outcome)
            let record = ListedRecord(entity: dropped.entity, storageKey: dropped.storageKey)
            leftOut.insert(record)
            report.skipped += 1
            tally.skipped(position)
            if case .created = dropped.outcome { report.dropped.append(record) } else { report.restored.insert(record) }
            guard drafter.diagnostics.keepsNext(.notUnique, entity.name, dropped.index) else { continue }
            func describe(_ key: [UInt8]) -> String { key.withUnsafeBytes { writer.access.describe($0) } }
            let (path, source) = found.map { drafter.location(of: drafter.list.drafts[$0.1]) } ?? ("$", nil)
            // An index that was removed from the description stays, and stays unique.
            let isNamed = entity.indexes.contains { $0.name == dropped.index }
            let hint = isNamed ? " (if the description no longer declares this index: declare it without unique)" : ""
            var diagnostic = Diagnostic(
                code: .notUnique, path: path, entity: entity.name, key: describe(dropped.storageKey),
                field: dropped.index,
                message:
                    "\(entity.name) \(describe(dropped.holder)) has the same \(dropped.index), which must be unique; this record was not changed\(hint)"
            )
            diagnostic.source = source
            drafter.diagnostics.add(diagnostic)
        }
    }
}
