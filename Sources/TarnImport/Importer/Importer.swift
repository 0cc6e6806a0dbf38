// The front of the import: documents in, one atomic change of the store out.

import Foundation
public import TarnStore

/// Turns responses into drafts and merges them into a store.
///
/// Documents are drafted outside the write transaction with ``add(_:records:entity:parent:)``, as many as make a unit, and
/// stored together by ``commit(into:)``. An importer is used by one thread at a time.
public final class Importer {
    let catalog: Catalog
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
    /// Asked while a unit is merged: whoever waits for it may have given up.
    var cancellation: Cancellation?
    /// Where records are claimed, once that is asked.
    var claimPlaces: [ClaimPlace: String]?
    /// For what hooks make of JSON.
    private var editedParser: JSONParser?
    /// How many diagnostics a report holds; all are counted. 100 if nothing is said.
    public var diagnosticLimit: Int {
        get { drafter.diagnostics.limit }
        set { drafter.diagnostics.limit = max(0, newValue) }
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
        /// Of them, the ones without a usable key, or of no kind that the rules know: what they stand for is not known.
        public var skipped: Int
        /// What was asked of the document beside.
        public var facts = DocumentFacts()

        public init(listed: [ListedRecord], count: Int, skipped: Int = 0) {
            self.listed = listed
            self.count = count
            self.skipped = skipped
        }

        mutating func append(_ other: Added) {
            listed += other.listed
            count += other.count
            skipped += other.skipped
            facts.records += other.facts.records
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
    ///   - questions: what else is asked of the document.
    /// - Throws: `ImportError`; then nothing of this document is kept in the unit, and what was added before stays in it, but for
    ///   `.recordWithoutKey`, with which the unit has failed, and which ``commit(into:)`` throws again.
    ///   `.unknownField` if the parent's relationship is not a to-one that is stored in the listed records.
    public func add(
        _ body: [UInt8], records: KeyPath = KeyPath(keys: []), entity: String, parent: ParentReference? = nil,
        context: ImportContext = ImportContext(), asking questions: DocumentQuestions = DocumentQuestions()
    ) throws(ImportError) -> Added {
        let target = try target(entity, parent)
        guard body.count <= limits.bodySize else { throw .tooLarge(.body, limit: limits.bodySize) }
        guard body.count <= limits.documentSize else { return try addDivided(body, records, target, context, questions) }
        let tape = try parser.parse(keeping: body)
        let places = try locate(records, in: tape)
        drafter.begin(context, tape)
        var added = draft(tape, places, target)
        if let failure = drafter.failure { throw failure }
        if !questions.isEmpty { added.facts = facts(questions, tape, places, lists: [records]) }
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
        for place in places { added.append(draft(tape, place, target, from: added.count)) }
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
                    added.skipped += 1
                    return drafter.reportInvalid(tape, index, target.plan)
                }
                (tape, index) = (edited, Tape.root)
            }
            drafter.locate(list: list, position: position, place: index)
            let skipped = drafter.skipped, ordinal = start + added.count - 1
            if let key = drafter.draft(tape, index, plan: target.plan, parent: target.parent, ordinal: ordinal) {
                added.listed.append(ListedRecord(entity: entity.root, storageKey: key))
            } else if drafter.skipped > skipped {
                added.skipped += 1
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

    /// The diagnostics of the unit so far.
    public var diagnostics: [Diagnostic] { drafter.diagnostics.diagnostics }

    /// Whether the unit has failed, and can only be discarded: a record has no key where ``KeylessPolicy/fail`` is said.
    public var hasFailed: Bool { drafter.failure != nil }

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
        let hasLocal = try writer.access.hasLocalChanges
        var editedBody = ByteWriter(), localBody = ByteWriter()
        var tally = ImportTally(plans: plan.plans.count, drafts: drafter.list.count)
        var next = 0, deletions: [Int] = [], olderLists: Set<[UInt8]> = []
        while next < order.count {
            let planIndex = Int(drafter.list.drafts[order[next]].plan)
            let entity = plan.plans[planIndex].entity
            while next < order.count, Int(drafter.list.drafts[order[next]].plan) == planIndex {
                let index = order[next], draft = drafter.list.drafts[index]
                next += 1
                if next % 1024 == 0 { try cancellation?.check() }
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
                        // Of whatever kind it is.
                        if try access.lending({ try access.row(root(of: entity), key) == nil }) {
                            report.dropped.append(ListedRecord(entity: entity.root, storageKey: Array(key)))
                        }
                        continue
                    }
                    if let isWide = edited.isWide, let changed = RowBody(editedBody.bytes, isWide: isWide) { body = changed }
                }
                var target = planIndex, isExact = draft.isExact
                if hasLocal {
                    switch try respectLocal(planIndex, key, body, into: &localBody, &writer) {
                    case .whole: break
                    case .nothing:
                        tally.skipped(planIndex)
                        report.skipped += 1
                        report.dropped.append(ListedRecord(entity: entity.root, storageKey: Array(key)))
                        continue
                    case .part(let isWide, let kept):
                        if let kept { (target, isExact) = (kept, false) }
                        if let rest = RowBody(localBody.bytes, isWide: isWide) { body = rest }
                    }
                }
                var outcome: StoreWriter.Outcome?
                if plan.plans[planIndex].policies.readsStored {
                    outcome = try merge(plan.plans[target], key, body, isComplete: draft.isComplete, isExact: isExact, &writer)
                } else {
                    outcome = try writer.merge(
                        plan.plans[target].entity, key, body, isComplete: draft.isComplete, isExact: isExact)
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
        try connectDerived(&writer, &tally, except: olderLists, hasLocal: hasLocal)
        try settleClaims(&writer, &tally)
        try delete(deletions, &writer, &tally, &report)
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
        report.diagnostics = drafter.diagnostics.diagnostics
        report.diagnosticCount = drafter.diagnostics.count
        report.diagnosticGroups = drafter.diagnostics.groups
        report.presence = drafter.presence.fields(plan.plans)
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
}
