// The merge of a unit's drafts into the store: record by record, then what connects them.

internal import TarnStore

extension Importer {
    /// Merges the drafts of the unit into the store, and discards the unit.
    func merge(_ writer: inout StoreWriter) throws -> ImportReport {
        leftOut = []
        connected = []
        writer.remembersRecords = !isStrict
        defer { writer.remembersRecords = false }
        // The claims of the drafts are settled together, in the order of the document.
        writer.claimsOwners = lacksOneToOne(of: writer.access.catalog)
        defer { writer.claimsOwners = true }
        var merge = UnitMerge(
            tally: ImportTally(plans: plan.plans.count, drafts: drafter.list.count, keyLimit: keyLimit),
            hasLocal: try !overtaken.isEmpty || writer.access.localChanges.hasMarks)
        // If the merge fails, the unit may be merged again, in another transaction.
        let diagnostics = drafter.diagnostics
        do {
            try mergeDrafts(&merge, &writer)
            try mergeRest(&merge, &writer)
        } catch {
            drafter.diagnostics = diagnostics
            throw error
        }
        finish(&merge)
        discard()
        writer.claimsOwners = true
        try hooks.afterMerge?(merge.report, &writer)
        return merge.report
    }

    /// Whether a catalog has one-to-one relationships that the plans take for many-to-one: another
    /// program has declared an inverse since.
    private func lacksOneToOne(of current: Catalog) -> Bool {
        guard current != catalog else { return false }
        return current.entities.contains { entity in
            entity.fields.contains { field in
                guard case .reference(let reference) = field.kind, reference.isOneToOne else { return false }
                let known = catalog.entity(id: entity.id)?.field(id: field.id)?.kind
                return if case .reference(let known)? = known { !known.isOneToOne } else { true }
            }
        }
    }

    /// Merges what connects the drafts, deletions, and what unique indexes leave of both.
    private func mergeRest(_ merge: inout UnitMerge, _ writer: inout StoreWriter) throws {
        try connectDerived(&writer, &merge.tally, except: merge.withoutLists, hasLocal: merge.hasLocal)
        try settleConflicts(&writer, &merge.tally, hasLocal: merge.hasLocal)
        try delete(merge.deletions, &writer, &merge.tally, &merge.report)
        if isStrict {
            try writer.checkUnique()
        } else {
            try dropDuplicates(&writer, &merge.tally, &merge.report)
        }
    }

    /// Merges the drafts that are no deletions, in the order of their plans and keys.
    private func mergeDrafts(_ merge: inout UnitMerge, _ writer: inout StoreWriter) throws {
        let order = drafter.list.sorted()
        var next = 0
        while next < order.count {
            let planIndex = Int(drafter.list.drafts[order[next]].plan)
            let owner = plan.plans[planIndex]
            while next < order.count, Int(drafter.list.drafts[order[next]].plan) == planIndex {
                let index = order[next], draft = drafter.list.drafts[index]
                next += 1
                if next % 1024 == 0 { try cancellation?.check() }
                guard let body = drafter.list.body(draft) else { continue }
                if draft.isDeleted {
                    merge.deletions.append(index)
                } else {
                    try mergeDraft(index, draft, body, of: owner, planIndex, &merge, &writer)
                }
            }
        }
    }

    private func mergeDraft(
        _ index: Int, _ draft: DraftList.Draft, _ body: RowBody, of owner: EntityPlan, _ planIndex: Int,
        _ merge: inout UnitMerge, _ writer: inout StoreWriter
    ) throws {
        var body = body, target = owner, isExact = draft.isExact
        let key = drafter.list.key(draft), isComplete = draft.isComplete
        if hooks.afterDraft != nil {
            guard let edited = edited(body, key, isComplete: isComplete, of: owner, into: &merge.editedBody) else {
                return try skip(key, of: owner, planIndex, &merge, writer)
            }
            body = edited
        }
        if merge.hasLocal {
            switch try respectLocal(planIndex, key, body, into: &merge.localBody, &writer) {
            case .whole: break
            case .older:
                merge.tally.older(planIndex)
                merge.withoutLists.insert(Array("\(owner.entity.root) ".utf8) + Array(key))
                return
            case .nothing:
                // A diagnostic says so. The record is not lost: the operation to delete it waits.
                merge.report.dropped.append(ListedRecord(entity: owner.entity.root, storageKey: Array(key)))
                return
            case .part(let isWide, let kept):
                if let kept { (target, isExact) = (plan.plans[kept], false) }
                if let rest = RowBody(merge.localBody.bytes, isWide: isWide) { body = rest }
            }
        }
        let outcome =
            try owner.policies.readsStored
            ? self.merge(target, key, body, isComplete: isComplete, isExact: isExact, &writer)
            : writer.merge(target.entity, key, body, isComplete: isComplete, isExact: isExact)
        guard let outcome else {
            merge.tally.older(planIndex)
            merge.withoutLists.insert(Array("\(owner.entity.root) ".utf8) + Array(key))
            return
        }
        merge.tally.stored(planIndex, draft: index, outcome)
        if !isComplete, case .created = outcome {
            let access = writer.access
            if try access.lending({ try access.records.row(owner.entity, key)?.isPartial == true }) {
                merge.tally.partial(planIndex)
            }
        }
    }

    /// The body of a draft after the hook; nil if the hook drops the record.
    private func edited(
        _ body: RowBody, _ key: Bytes, isComplete: Bool, of owner: EntityPlan, into bytes: inout ByteWriter
    ) -> RowBody? {
        let edited = hooks.edit(owner, key, body, isComplete: isComplete, into: &bytes) {
            reportRefused(owner, key, $0, $1)
        }
        guard edited.isKept else { return nil }
        return edited.isWide.flatMap { RowBody(bytes.bytes, isWide: $0) } ?? body
    }

    /// Skips a record that a hook drops. It stays listed if the store has it.
    private func skip(
        _ key: Bytes, of owner: EntityPlan, _ planIndex: Int, _ merge: inout UnitMerge, _ writer: borrowing StoreWriter
    ) throws {
        merge.tally.skipped(planIndex)
        merge.report.skipped += 1
        merge.withoutLists.insert(Array("\(owner.entity.root) ".utf8) + Array(key))
        let access = writer.access
        // The root entity: the stored record may be of any concrete entity of the tree.
        if try access.lending({ try access.records.row(root(of: owner.entity), key) == nil }) {
            merge.report.dropped.append(ListedRecord(entity: owner.entity.root, storageKey: Array(key)))
        }
    }

    /// Completes the report of a merge.
    private func finish(_ merge: inout UnitMerge) {
        for (index, plan) in plan.plans.enumerated() {
            if let count = drafter.skippedByEntity[plan.entity.name] { merge.tally.skipped(index, count) }
        }
        for (index, counts) in merge.tally.counts.enumerated() where counts != ImportReport.Counts() {
            merge.report.entities[plan.plans[index].entity.name] = counts
        }
        merge.report.listed = listed
        merge.report.leftOut = leftOut
        merge.report.diagnostics = drafter.diagnostics.diagnostics
        merge.report.diagnosticCount = drafter.diagnostics.count
        merge.report.diagnosticGroups = drafter.diagnostics.groups
        merge.report.presence = drafter.presence.fields(plan.plans)
        merge.report.skipped += drafter.skipped
        merge.report.conflicts = drafter.list.conflicts
        noteKeys(&merge)
        for plan in plan.plans {
            for (path, count) in plan.takeUnmapped() {
                merge.report.unmapped.append(
                    ImportReport.UnmappedPath(entity: plan.entity.name, path: path, count: count))
            }
        }
        merge.report.unmapped.sort { ($0.entity, $0.path) < ($1.entity, $1.path) }
        conceal(in: &merge.report)
    }

    /// Notes the keys of the report, up to the limit: drafts in document order, then the records
    /// that only references have changed.
    private func noteKeys(_ merge: inout UnitMerge) {
        merge.report.keyLimit = keyLimit
        var total = ImportReport.Counts()
        for counts in merge.tally.counts { total.add(counts) }
        var created = min(keyLimit, total.created), updated = min(keyLimit, total.updated)
        var deleted = min(keyLimit, total.deleted)
        for (index, outcome) in merge.tally.outcomes.enumerated() {
            if created + updated + deleted == 0 { return }
            switch outcome {
            case .created where created > 0:
                created -= 1
                note(index, &merge.report.outcomeKeys.created)
            case .updated where updated > 0:
                updated -= 1
                note(index, &merge.report.outcomeKeys.updated)
            case .deleted where deleted > 0:
                deleted -= 1
                note(index, &merge.report.outcomeKeys.deleted)
            default: break
            }
        }
        for other in merge.tally.otherUpdates.prefix(updated) {
            other.key.withUnsafeBytes {
                merge.report.outcomeKeys.updated.append($0, of: plan.plans[other.plan].entity.name)
            }
        }
    }

    private func note(_ index: Int, _ keys: inout KeyList) {
        let draft = drafter.list.drafts[index], key = drafter.list.key(draft)
        let entity = plan.plans[Int(draft.plan)].entity
        keys.append(key, of: entity.name) { drafter.list.body(draft)?.key(of: entity) }
    }
}
