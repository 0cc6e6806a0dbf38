// The front of the import: documents in, one atomic change of the store out.

import Foundation
public import TarnStore

/// Turns responses into drafts and merges them into a store.
///
/// Documents are drafted outside the write transaction with ``add(_:records:entity:parent:)``, as many as make a unit, and
/// stored together by ``commit(into:)``. An importer is used by one thread at a time.
public final class Importer {
    private let catalog: Catalog
    let plan: ImportPlan
    let parser: JSONParser
    var drafter: Drafter
    private var listed = 0
    /// How much is read, and how much of it at once.
    public var limits = Limits()
    /// Whether records that have unique values of another one fail the unit. Otherwise each is left as it was, and reported.
    public var isStrict = false
    /// What is called on the way.
    public var hooks = ImportHooks()
    /// For what hooks make of JSON.
    private var editedParser: JSONParser?
    /// How many diagnostics a report holds; all are counted. 100 if nothing is said.
    public var diagnosticLimit: Int {
        get { drafter.diagnosticLimit }
        set { drafter.diagnosticLimit = max(0, newValue) }
    }

    /// - Throws: `ImportError.unknownEntity` or `.unknownField` if the mapping names what the catalog does not have.
    public init(_ mapping: Mapping, _ catalog: Catalog) throws(ImportError) {
        self.catalog = catalog
        plan = try ImportPlan(mapping, catalog)
        parser = try JSONParser()
        drafter = Drafter(plan, try DocumentValues(hasSources: !plan.documentSources.isEmpty))
    }

    /// What one document listed.
    public struct Added: Sendable {
        /// In the order of the document; records that were skipped are left out.
        public var listed: [ListedRecord]
        /// How many elements the list had.
        public var count: Int

        public init(listed: [ListedRecord], count: Int) {
            self.listed = listed
            self.count = count
        }
    }

    /// Parses a document and drafts its records, with everything nested in them.
    ///
    /// Of a key that stands twice in an object the last value counts, but for keys that identify a record: there the first does.
    ///
    /// A body beyond ``Limits/documentSize`` is read in parts, twice: drafted only when all of it is sound. Its drafts are kept
    /// until the commit all the same; ``addParts(records:entity:parent:next:part:)`` needs no more memory for a larger one.
    ///
    /// - Parameters:
    ///   - records: where the list is. An object there is one record.
    ///   - parent: a record that the listed ones belong to.
    ///   - context: what the mapping may take from beside the body.
    /// - Throws: `ImportError`; then nothing of this document is kept in the unit, and what was added before stays in it, but for
    ///   `.recordWithoutKey`, with which the unit has failed, and which ``commit(into:)`` throws again.
    ///   `.unknownField` if the parent's relationship is not a to-one that is stored in the listed records.
    public func add(
        _ body: [UInt8], records: KeyPath = KeyPath(keys: []), entity: String, parent: ParentReference? = nil,
        context: ImportContext = ImportContext()
    ) throws(ImportError) -> Added {
        let target = try target(entity, parent)
        guard body.count <= limits.bodySize else { throw .tooLarge(.body, limit: limits.bodySize) }
        guard body.count <= limits.documentSize else { return try addDivided(body, records, target, context) }
        let tape = try parse(body)
        let places = try locate(records, in: tape)
        drafter.begin(context, tape)
        let added = draft(tape, places, target)
        if let failure = drafter.failure { throw failure }
        return added
    }

    /// Whose records a document lists.
    struct Target {
        var plan: Int
        var parent: Parent?

        /// A record that the listed ones belong to, and the field that leads to it.
        struct Parent {
            var field: UInt16
            var plan: Int
            var key: [UInt8]
            var tuple: [UInt8]
        }
    }

    func target(_ entity: String, _ parent: ParentReference?) throws(ImportError) -> Target {
        guard let position = plan.position(of: entity) else { throw .unknownEntity(entity) }
        if hooks.beforeDraft != nil, editedParser == nil { editedParser = try JSONParser() }
        drafter.documentValues.keyInjection = hooks.injectKey
        drafter.injectsKeys = hooks.injectKey != nil
        guard let parent else { return Target(plan: position) }
        guard let field = plan.plans[position].entity.field(parent.relationship),
            case .reference(let reference) = field.kind, !reference.isToMany
        else {
            throw .unknownField(entity: entity, field: parent.relationship)
        }
        let itsPlan = plan.plans.firstIndex { $0.entity.id == reference.destination } ?? -1
        return Target(
            plan: position,
            parent: Target.Parent(field: field.id, plan: itsPlan, key: parent.storageKey, tuple: parent.tuple))
    }

    /// Drafts the records of several lists, as of one.
    func draft(_ tape: Tape, _ places: [Int], _ target: Target) -> Added {
        var added = Added(listed: [], count: 0)
        for place in places {
            let part = draft(tape, place, target, from: added.count)
            added.listed += part.listed
            added.count += part.count
        }
        return added
    }

    /// Drafts the records of a list, or the one record that stands there.
    ///
    /// - Parameter start: how many records the document listed before.
    func draft(_ tape: Tape, _ place: Int, _ target: Target, from start: Int) -> Added {
        var added = Added(listed: [], count: 0)
        let isList = tape.kind(place) == .array
        let list = tape.path(to: place), first = place == Tape.root ? parser.origin.firstElement : 0
        let entity = plan.plans[target.plan].entity
        func draft(_ index: Int) {
            added.count += 1
            let position = isList ? first + added.count - 1 : -1
            var (tape, index) = (tape, index)
            if let edit = hooks.beforeDraft, let editedParser {
                var json = JSONValue(tape, index)
                guard edit(entity.name, &json) else { return }
                guard let edited = ImportHooks.parsed(json, editedParser) else {
                    drafter.locate(list: list, position: position, place: index)
                    return drafter.reportInvalid(tape, index, target.plan)
                }
                (tape, index) = (edited, Tape.root)
            }
            drafter.locate(list: list, position: position, place: index)
            let ordinal = start + added.count - 1
            if let key = drafter.draft(tape, index, plan: target.plan, parent: target.parent, ordinal: ordinal) {
                added.listed.append(ListedRecord(entity: entity.root, storageKey: key))
            }
        }
        if isList {
            tape.forEachElement(place) { draft($0) }
        } else {
            draft(place)
        }
        listed += added.count
        return added
    }

    func parse(_ body: [UInt8]) throws(ImportError) -> Tape {
        let result: Result<Tape, ImportError> = body.withUnsafeBytes { bytes in
            do throws(ImportError) { return .success(try parser.parse(bytes)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// The diagnostics of the unit so far.
    public var diagnostics: [Diagnostic] { drafter.diagnostics }

    /// Forgets everything that was added since the last commit.
    public func discard() {
        drafter.reset()
        listed = 0
        for plan in plan.plans { _ = plan.takeUnmapped() }
    }

    /// Merges what was added into the store, and begins a new unit. Rows whose content does not change are not written.
    ///
    /// - Throws: `StoreError`; then the transaction must not be committed. `.notUnique` if ``isStrict``. `ImportError.recordWithoutKey` if
    ///   the unit has failed with it, until ``discard()``.
    public func commit(into writer: inout StoreWriter) throws -> ImportReport {
        if let failure = drafter.failure { throw failure }
        writer.remembersRecords = !isStrict
        defer { writer.remembersRecords = false }
        var report = ImportReport()
        report.listed = listed
        let order = drafter.list.sorted()
        let hasHook = hooks.afterDraft != nil
        var editedBody = ByteWriter()
        var tally = ImportTally(plans: plan.plans.count, drafts: drafter.list.count)
        var next = 0, deletions: [Int] = [], olderLists: Set<[UInt8]> = []
        while next < order.count {
            let planIndex = Int(drafter.list.drafts[order[next]].plan)
            let entity = plan.plans[planIndex].entity
            while next < order.count, Int(drafter.list.drafts[order[next]].plan) == planIndex {
                let index = order[next], draft = drafter.list.drafts[index]
                next += 1
                guard var body = drafter.list.body(draft) else { continue }
                if draft.isDeleted {
                    deletions.append(index)
                    continue
                }
                let key = drafter.list.key(draft)
                if hasHook {
                    let edited = hooks.edit(plan.plans[planIndex], key, body, isComplete: draft.isComplete, into: &editedBody) {
                        reportRefused(plan.plans[planIndex], key, $0, $1)
                    }
                    guard edited.isKept else {
                        tally.skipped(planIndex)
                        report.skipped += 1
                        let access = writer.access
                        if try access.lending({ try access.row(entity, key) == nil }) {
                            report.dropped.append(ListedRecord(entity: entity.root, storageKey: Array(key)))
                        }
                        continue
                    }
                    if let isWide = edited.isWide, let changed = RowBody(editedBody.bytes, isWide: isWide) { body = changed }
                }
                var outcome: StoreWriter.Outcome?
                if plan.plans[planIndex].policies.readsStored {
                    outcome = try merge(plan.plans[planIndex], key, body, draft, &writer)
                } else {
                    outcome = try writer.merge(entity, key, body, isComplete: draft.isComplete, isExact: draft.isExact)
                }
                guard let outcome else {
                    tally.older(planIndex)
                    olderLists.insert(Array("\(entity.root) ".utf8) + Array(key))
                    continue
                }
                tally.stored(planIndex, draft: index, outcome)
                if !draft.isComplete, case .created = outcome {
                    let access = writer.access
                    if try access.lending({ try access.row(entity, key)?.isPartial == true }) { tally.partial(planIndex) }
                }
            }
        }
        try connectDerived(&writer, &tally, except: olderLists)
        try delete(deletions, &writer, &tally)
        if isStrict {
            try writer.checkUnique()
        } else {
            try dropDoubles(&writer, &tally, &report)
        }
        for (index, plan) in plan.plans.enumerated() {
            if let count = drafter.skippedByEntity[plan.entity.name] { tally.skipped(index, count) }
        }
        for (index, counts) in tally.counts.enumerated() where counts != ImportReport.Counts() {
            report.entities[plan.plans[index].entity.name] = counts
        }
        report.diagnostics = drafter.diagnostics
        report.diagnosticCount = drafter.diagnosticCount
        report.skipped += drafter.skipped
        report.conflicts = drafter.list.conflicts
        for plan in plan.plans {
            for (path, count) in plan.takeUnmapped() {
                report.unmapped.append(ImportReport.UnmappedPath(entity: plan.entity.name, path: path, count: count))
            }
        }
        report.unmapped.sort { ($0.entity, $0.path) < ($1.entity, $1.path) }
        discard()
        try hooks.afterMerge?(report, &writer)
        return report
    }

    /// A value that a hook set and the attribute's type does not take.
    private func reportRefused(_ plan: EntityPlan, _ key: Bytes, _ field: String, _ json: JSONValue) {
        drafter.diagnosticCount += 1
        guard drafter.diagnostics.count < diagnosticLimit else { return }
        let text = json.text
        drafter.diagnostics.append(
            Diagnostic(
                code: .valueType, path: "$", entity: plan.entity.name, key: RecordKey(storageKey: key)?.description, field: field,
                message: "what a hook set is no value of this attribute; what the response says is taken",
                sample: text.count > 80 ? text.prefix(79) + "…" : text))
    }

    /// Merges a draft by what its entity says about versions and lists. Nil if it is older than what is stored.
    private func merge(
        _ plan: EntityPlan, _ key: Bytes, _ body: RowBody, _ draft: DraftList.Draft, _ writer: inout StoreWriter
    ) throws -> StoreWriter.Outcome? {
        let access = writer.access
        var combined = ByteWriter(), isOlder = false, isWide: Bool?
        try access.lending {
            guard let row = try access.row(plan.entity, key) else { return }
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
            return try writer.merge(plan.entity, key, body, isComplete: draft.isComplete, isExact: draft.isExact)
        }
        return try writer.merge(plan.entity, key, both, isComplete: draft.isComplete, isExact: draft.isExact)
    }

    /// Deletes what the response says is no more, by its delete rules, when everything else is stored.
    private func delete(_ deletions: [Int], _ writer: inout StoreWriter, _ tally: inout ImportTally) throws {
        for index in deletions {
            let draft = drafter.list.drafts[index], plan = plan.plans[Int(draft.plan)]
            guard let body = drafter.list.body(draft), let tuple = drafter.tombstones[index],
                let key = tuple.withUnsafeBytes({ RecordKey(tuple: $0) })
            else { continue }
            if plan.policies.version != 0 {
                let access = writer.access, storageKey = drafter.list.key(draft)
                let isOlder = try access.lending {
                    try access.row(plan.entity, storageKey).map { plan.policies.isOlder(body, than: $0.body) } ?? false
                }
                if isOlder {
                    tally.older(Int(draft.plan))
                    continue
                }
            }
            do {
                // Whatever kind of its tree is stored under the key: it is the one record.
                if try writer.delete(self.plan.plans[Int(draft.root)].entity.name, key) { tally.deleted(Int(draft.plan)) }
            } catch let error as StoreError {
                guard case .deleteDenied = error else { throw error }
                drafter.diagnosticCount += 1
                guard drafter.diagnostics.count < diagnosticLimit else { continue }
                drafter.diagnostics.append(
                    Diagnostic(
                        code: .deleteDenied, path: "$", entity: plan.entity.name, key: key.description, field: nil,
                        message: "it is no more at the server, and stays here: \(error)"))
            }
        }
    }

    /// Takes out what has unique values of another record, and reports it.
    private func dropDoubles(
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
            drafter.diagnosticCount += 1
            guard drafter.diagnostics.count < diagnosticLimit else { continue }
            func describe(_ key: [UInt8]) -> String { key.withUnsafeBytes { writer.access.describe($0) } }
            drafter.diagnostics.append(
                Diagnostic(
                    code: .notUnique, path: "$", entity: entity.name, key: describe(dropped.storageKey), field: dropped.index,
                    message:
                        "\(entity.name) \(describe(dropped.holder)) has the same \(dropped.index), which has to be unique; this one is left as it was"))
        }
    }
}
