// How single drafts of a unit get into the store: by versions and lists, by deleting, and not at all where values have to be unique.

internal import TarnStore

extension Importer {
    /// The topmost entity of a tree: by it a record is found whatever kind it is.
    func root(of entity: Catalog.Entity) -> Catalog.Entity {
        entity.root == entity.id ? entity : catalog.entity(id: entity.root) ?? entity
    }

    /// Counts a record that got or lost a reference after its draft, if it has one, was stored: as the kind that the draft is of.
    func countUpdated(_ plan: Int, _ key: [UInt8], in tally: inout ImportTally) {
        let draft = key.withUnsafeBytes { drafter.list.find(plan, $0) }
        tally.updated(draft.map { Int(drafter.list.drafts[$0].plan) } ?? plan, key, draft: draft)
    }

    /// A value that a hook set and the attribute's type does not take.
    func reportRefused(_ plan: EntityPlan, _ key: Bytes, _ field: String, _ json: JSONValue) {
        guard drafter.diagnostics.keepsNext(.valueType, plan.entity.name, field) else { return }
        let text = json.text
        drafter.diagnostics.add(
            Diagnostic(
                code: .valueType, path: "$", entity: plan.entity.name, key: RecordKey(storageKey: key)?.description, field: field,
                message: "what a hook set is no value of this attribute; what the response says is taken",
                sample: text.count > 80 ? text.prefix(79) + "…" : text))
    }

    /// Merges a draft by what its entity says about versions and lists. Nil if it is older than what is stored.
    func merge(
        _ plan: EntityPlan, _ key: Bytes, _ body: RowBody, isComplete: Bool, isExact: Bool, _ writer: inout StoreWriter
    ) throws -> StoreWriter.Outcome? {
        let access = writer.access
        var combined = ByteWriter(), isOlder = false, isWide: Bool?
        try access.lending {
            guard let row = try access.row(root(of: plan.entity), key) else { return }
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

    /// Deletes what the response says is no more, by its delete rules, when everything else is stored.
    func delete(
        _ deletions: [Int], _ writer: inout StoreWriter, _ tally: inout ImportTally, _ report: inout ImportReport
    ) throws {
        for index in deletions {
            let draft = drafter.list.drafts[index], plan = plan.plans[Int(draft.plan)]
            guard let body = drafter.list.body(draft), let tuple = drafter.tombstones[index],
                let key = tuple.withUnsafeBytes({ RecordKey(tuple: $0) })
            else { continue }
            if plan.policies.version != 0 {
                let access = writer.access, storageKey = drafter.list.key(draft)
                let isOlder = try access.lending {
                    try access.row(root(of: plan.entity), storageKey).map { plan.policies.isOlder(body, than: $0.body) } ?? false
                }
                if isOlder {
                    tally.older(Int(draft.plan))
                    continue
                }
            }
            if try keepsDeleted(plan, drafter.list.key(draft), &writer) { continue }
            do {
                // Whatever kind of its tree is stored under the key: it is the one record.
                if try writer.delete(root(of: plan.entity).name, key) {
                    tally.deleted(Int(draft.plan))
                } else {
                    // The same unit may have listed it before.
                    report.dropped.append(ListedRecord(entity: plan.entity.root, storageKey: Array(drafter.list.key(draft))))
                }
            } catch let error as StoreError {
                guard case .deleteDenied = error else { throw error }
                guard drafter.diagnostics.keepsNext(.deleteDenied, plan.entity.name, nil) else { continue }
                drafter.diagnostics.add(
                    Diagnostic(
                        code: .deleteDenied, path: "$", entity: plan.entity.name, key: key.description, field: nil,
                        message: "it is no more at the server, and stays here: \(error)"))
            }
        }
    }

    /// Takes out what has unique values of another record, and reports it.
    func dropDoubles(
        _ writer: inout StoreWriter, _ tally: inout ImportTally, _ report: inout ImportReport
    ) throws {
        for dropped in try writer.dropDoubles() {
            let plans = plan.plans.indices.filter { plan.plans[$0].entity.root == dropped.entity }
            let found = plans.lazy.compactMap { position in
                dropped.storageKey.withUnsafeBytes { self.drafter.list.find(position, $0) }.map { (position, $0) }
            }.first
            guard let position = found.map({ Int(drafter.list.drafts[$0.1].plan) }) ?? plans.first else { continue }
            let entity = plan.plans[position].entity
            tally.dropped(position, draft: found?.1, dropped.outcome)
            report.skipped += 1
            tally.skipped(position)
            if case .created = dropped.outcome {
                report.dropped.append(ListedRecord(entity: dropped.entity, storageKey: dropped.storageKey))
            }
            guard drafter.diagnostics.keepsNext(.notUnique, entity.name, dropped.index) else { continue }
            func describe(_ key: [UInt8]) -> String { key.withUnsafeBytes { writer.access.describe($0) } }
            drafter.diagnostics.add(
                Diagnostic(
                    code: .notUnique, path: "$", entity: entity.name, key: describe(dropped.storageKey), field: dropped.index,
                    message:
                        "\(entity.name) \(describe(dropped.holder)) has the same \(dropped.index), which has to be unique; this one is left as it was"))
        }
    }
}
