// The conversion of a parsed document into drafts: every distinct object once, iteratively, in
// document order.

internal import TarnStore

struct Drafter: ~Copyable {
    let plan: ImportPlan
    var list = DraftList()
    var derived = DerivedLists()
    var diagnostics = DiagnosticLog()
    /// The attributes that no object had yet.
    var presence: SlotPresence
    /// The number of skipped records: without a usable key or entity, or made invalid by a hook.
    var skipped = 0
    /// The number of skipped records by entity.
    var skippedByEntity: [String: Int] = [:]
    /// The error that fails the unit.
    var failure: ImportError?
    /// The whole keys of deleted records, by draft.
    var tombstones: [Int: [UInt8]] = [:]
    /// The storage key of the last listed record if it is marked as deleted; nil otherwise.
    private(set) var deletedKey: [UInt8]?
    private var isMarkedDeleted = false
    /// The meaning of the next listed record.
    var message = Message.record
    /// The meaning of a listed record.
    enum Message {
        case record
        /// The record is known by its key only.
        case key
        /// The record is reported as deleted.
        case deletion
        /// The element of the list has no record where one is expected.
        case nothing
    }
    /// One-to-one references that the drafts store, in document order.
    var claims: [ReferenceConflict] = []
    /// An object that waits to be drafted.
    struct Pending {
        var index: Int
        var plan: Int
        var isListed: Bool
        /// Whether the list reports the record as deleted.
        var isDeleted = false
        /// Whether a rule chooses exactly the plan's entity.
        var isExact = false
        /// The index of the object's surroundings; -1 if no source needs them.
        var around: Int32 = -1
        /// A reference field that the object's position determines, not its JSON; 0 for none.
        var injectedField: UInt16 = 0
        /// The key of the record that the object belongs to.
        ///
        /// Without an injected field, it is set only if the plan may use it.
        var injectedKey = KeptBytes()
        /// The whole encoding of that key.
        var injectedTuple = KeptBytes()
        var position: UInt32?
        /// The draft of the same record that existed when the object was found.
        var draft: Int?
    }

    /// The location of the current listed record: its list, its position, its place on the tape.
    var origin = (list: "$", position: -1, place: Tape.root)
    /// The remaining number of tape words to scan for the paths of lists and diagnostics in a unit.
    ///
    /// Lists are many. After that, paths end at the listed record.
    var pathBudget = Drafter.pathBudget
    static let pathBudget = 1 << 24
    /// The limit on the drafts of the current document, and the size of all drafts at that limit.
    private var draftLimit = (bytes: Int.max, end: Int.max)

    /// The lists of the unit's documents, as far as records were drafted from them.
    private(set) var lists: [DocumentList] = []
    /// The name of the current document.
    private(set) var source: String?
    /// The number of the member name of the current list, or record; -1 for none.
    private var listName: Int32 = -1
    private var stack: [Pending] = []
    /// The surroundings of waiting objects; empty if no source needs them.
    private var surroundings: [Surroundings] = []
    var children: [Pending] = []
    var found = PlaceList()
    var keyFound = PlaceList()
    /// The current tape, object and plan, and the enclosing record's key if the plan may use it.
    private(set) var main: Tape?
    private(set) var current = Tape.root
    private(set) var currentPlan = 0
    private(set) var ownerKey = KeptBytes()
    /// The current record's key and its whole encoding, once they are kept.
    private var ownKey: (key: KeptBytes, tuple: KeptBytes)?
    /// The path of the current listed record, once it is kept.
    private var originPath: KeptBytes?
    /// The values of the current document.
    let documentValues: DocumentValues
    /// An unretained reference to `documentValues`.
    let values: DocumentValues.Reference
    /// Whether the listed objects of the current document are partial records.
    private(set) var listsExcerpts = false
    /// See ``ImportContext/ignoresNulls``.
    private(set) var ignoresNulls = false
    /// Whether a hook may complete keys.
    var injectsKeys = false
    private var prefix: [String] = []
    var key = ByteWriter(), childKey = ByteWriter()
    /// The whole encoding of the key, if it is longer than a storage key can hold.
    private(set) var longKey: [UInt8] = []
    var builder = BodyBuilder()
    private var body = ByteWriter(capacity: 8192)
    private var combined = ByteWriter()
    /// The parsers of transformed values, and of lists whose elements are not adjacent.
    var transformed: JSONParser?, joined: JSONParser?

    init(_ plan: ImportPlan, _ documentValues: DocumentValues) {
        self.plan = plan
        self.documentValues = documentValues
        values = Unmanaged.passUnretained(documentValues)
        presence = plan.presence
        list.kinds = plan.kinds
        list.plans = plan.plans
    }

    mutating func reset() {
        list.removeAll()
        derived.removeAll()
        diagnostics.removeAll()
        presence.removeAll()
        skipped = 0
        pathBudget = Drafter.pathBudget
        draftLimit = (.max, .max)
        skippedByEntity.removeAll()
        failure = nil
        tombstones.removeAll()
        claims.removeAll()
        lists.removeAll()
        originPath = nil
    }

    /// Collects the document values that its records may use.
    ///
    /// - Parameter document: the whole document; nil if it is read in parts.
    mutating func begin(_ context: ImportContext, _ document: Tape?) {
        source = context.source
        listsExcerpts = context.listsExcerpts
        ignoresNulls = context.ignoresNulls
        documentValues.fill(plan.documentSources, context, document)
    }

    /// Limits the bytes that are written for drafts, until the next call or ``reset()``.
    mutating func limitDrafts(to bytes: Int) { draftLimit = (bytes, list.writtenCount + bytes) }

    /// Begins a list of the current document.
    ///
    /// - Parameter name: the number of the name of the member in which it was found; -1 for none.
    mutating func beginList(_ path: String, name: Int32 = -1) {
        lists.append(DocumentList(path: path, source: source))
        listName = name
    }

    /// Returns the path and the document of a draft's first occurrence.
    func location(of draft: DraftList.Draft) -> (path: String, source: String?) {
        let location = draft.location
        guard lists.indices.contains(Int(location.list)) else { return ("$", nil) }
        let list = lists[Int(location.list)]
        let record = location.position < 0 ? list.path : "\(list.path)[\(location.position)]"
        return (location.isNested ? record + "…" : record, list.source)
    }

    /// Sets the location of the next listed record. The position is -1 if the record is in no list.
    mutating func locate(list: String, position: Int, place: Int) {
        origin = (list, position, place)
        originPath = nil
        // The tape of the record before may be of a hook's JSON, which is gone.
        main = nil
    }

    /// Drafts one listed record with everything nested in it.
    ///
    /// - Parameters:
    ///   - parent: the record that it belongs to according to the request.
    ///   - ordinal: its position in its list; -1 if it is in no list.
    /// - Returns: the listed record's storage key, or nil if it was skipped.
    mutating func draft(
        _ tape: Tape, _ index: Int, plan position: Int, parent: Importer.Target.Parent?, ordinal: Int = -1
    ) -> [UInt8]? {
        main = tape
        current = index
        deletedKey = nil
        guard list.writtenCount <= draftLimit.end else { return nil }
        guard message != .nothing, plan.mayBeRecord(tape.kind(index), of: position) else {
            report(
                .keyMissing, tape, index, plan.plans[position], nil, nil,
                message == .nothing
                    ? "the element has no record at the declared location"
                    : "expected a record, found \(tape.describe(index))")
            return nil
        }
        stack.removeAll(keepingCapacity: true)
        surroundings.removeAll(keepingCapacity: true)
        stack.append(
            Pending(
                index: index, plan: position, isListed: !listsExcerpts && message != .key,
                isDeleted: message == .deletion,
                around: remember(
                    Surroundings(
                        parentPlan: Int32(parent?.plan ?? -1),
                        position: ordinal < 0 ? -1 : ordinal + documentValues.firstPosition, name: listName)),
                injectedField: parent?.field ?? 0, injectedKey: derived.keep(parent?.key ?? []),
                injectedTuple: derived.keep(parent?.tuple ?? [])))
        list.location = DraftLocation(
            list: Int32(lists.count - 1), position: Int32(truncatingIfNeeded: origin.position))
        var listedKey: [UInt8]?, isFirst = true
        while var next = stack.popLast() {
            children.removeAll(keepingCapacity: true)
            if plan.hasChoices, plan.plans[next.plan].hasChoice {
                current = next.index
                switch chosen(next.plan, tape, next.index) {
                case .plan(let plan, let isExact): (next.plan, next.isExact) = (plan, isExact)
                // A deleted record need not have a kind.
                case .none where next.isDeleted: break
                case .none(let reason):
                    reportUnknown(tape, next.index, plan.plans[next.plan], reason)
                    isFirst = false
                    continue
                }
            }
            let hasKey = draft(tape, next)
            guard list.writtenCount <= draftLimit.end else {
                failure = failure ?? .tooLarge(.drafts, limit: draftLimit.bytes)
                return nil
            }
            if isFirst {
                isFirst = false
                if hasKey {
                    listedKey = Array(key.bytes)
                } else if isMarkedDeleted {
                    deletedKey = Array(key.bytes)
                }
                list.location.isNested = true
            }
            // The first child is on top of the stack: later values win in document order. Children
            // were found in the order of the slots.
            children.sort { $0.index < $1.index }
            stack.append(contentsOf: children.reversed())
        }
        return listedKey
    }

    /// Keeps the surroundings of a waiting object.
    ///
    /// - Returns: their index; -1 if no source needs them.
    mutating func remember(_ around: Surroundings) -> Int32 {
        guard plan.takesSurroundings || injectsKeys else { return -1 }
        surroundings.append(around)
        return Int32(surroundings.count - 1)
    }

    private mutating func draft(_ tape: Tape, _ pending: Pending) -> Bool {
        // Checked only now: objects drafted earlier may change the draft, or delete its record.
        if let draft = pending.draft, pending.injectedField == 0, tombstones.isEmpty,
            list.isKnown(tape, pending.index, of: pending.plan, isExact: pending.isExact, for: draft)
        {
            list.noteKnown(draft)
            return true
        }
        let plan = plan.plans[pending.plan]
        let unmappedBefore = plan.unmappedTotal, reportedBefore = diagnostics.count, derivedBefore = derived.count
        current = pending.index
        currentPlan = pending.plan
        ownKey = nil
        isMarkedDeleted = false
        locateValues(tape, pending, plan)
        guard appendWholeKey(tape, pending, plan) else { return false }
        let isTombstone =
            pending.isDeleted
            || plan.policies.hasTombstone && plan.policies.tombstone?.matches(tape, pending.index) == true
        isMarkedDeleted = isTombstone
        let tombstone = isTombstone ? Array(key.bytes) : []
        if !isTombstone { presence.note(pending.plan, isListed: pending.isListed, found) }
        longKey = key.count > StorageKey.longest ? Array(key.bytes) : []
        key.finishStorageKey(from: 0)
        builder.removeAll()
        // Passing the entity copies it.
        if !longKey.isEmpty { builder.wholeKey(plan.entity, key.bytes) { longKey } }
        let hasFields = appendFields(tape, pending, plan, isTombstone: isTombstone)
        let isComplete = pending.isListed || hasFields
        body.removeAll()
        let isWide = builder.isWide
        builder.finish(into: &body)
        // A record that the unit has deleted before may come again.
        guard !plan.policies.isPlain || isTombstone || !tombstones.isEmpty else {
            let repeated = list.add(
                pending.plan, key.bytes, body: body.bytes, isWide: isWide, isComplete: isComplete,
                isExact: pending.isExact)
            keepRepeated(
                tape, pending, repeated, plan.unmappedTotal == unmappedBefore, diagnostics.count == reportedBefore,
                derived.count == derivedBefore)
            return true
        }
        let isLosing = addByPolicies(pending, plan, isWide: isWide, isComplete: isComplete, tombstone: tombstone)
        if isLosing { derived.lose(from: derivedBefore) }
        return !isTombstone
    }

    @inline(__always)
    private mutating func locateValues(_ tape: Tape, _ pending: Pending, _ plan: EntityPlan) {
        found.reset(plan.placeCount)
        prefix.removeAll(keepingCapacity: true)
        if tape.kind(pending.index) == .object {
            Drafter.locate(tape, pending.index, plan, node: 0, &found, &prefix)
        }
        if plan.hasExtras || injectsKeys {
            let around = pending.around < 0 ? Surroundings() : surroundings[Int(pending.around)]
            Drafter.resolve(tape, self.plan.plans, plan, pending.index, around, values, keyOnly: false, &found)
            if plan.takesOwner { ownerKey = pending.injectedKey }
        }
    }

    /// Writes the whole key into `key`; false, with a report, if the record has no usable key.
    @inline(__always)
    private mutating func appendWholeKey(_ tape: Tape, _ pending: Pending, _ plan: EntityPlan) -> Bool {
        key.removeAll()
        let owner =
            pending.injectedTuple.isEmpty
            ? nil : KeyOwner(field: pending.injectedField, tuple: derived.bytes(pending.injectedTuple))
        guard Drafter.appendKey(tape, self.plan.plans, plan, pending.index, found, owner, values, to: &key) else {
            reportKeyless(tape, pending.index, plan, ownerField: owner?.field)
            return false
        }
        return true
    }

    /// Adds the body by the entity's policies on duplicates, versions, lists and tombstones.
    ///
    /// - Returns: whether an earlier occurrence of the record takes precedence.
    private mutating func addByPolicies(
        _ pending: Pending, _ plan: EntityPlan, isWide: Bool, isComplete: Bool, tombstone: [UInt8]
    ) -> Bool {
        let policies = plan.policies
        var knownWins = policies.firstWins, isOlder = false, isRepeated = false, combinedIsWide: Bool?
        var isDecided = false
        if let index = list.find(pending.plan, key.bytes), let known = list.body(list.drafts[index]),
            let said = RowBody(body.bytes, isWide: isWide)
        {
            isRepeated = true
            isOlder = policies.isOlder(said, than: known)
            if isOlder {
                knownWins = true
            } else if policies.isOlder(known, than: said) {
                knownWins = false
            }
            // The first occurrence counts. But a partial object says nothing about a deletion.
            isDecided = knownWins && (list.drafts[index].isDeleted || list.drafts[index].isComplete)
            if !knownWins {
                combinedIsWide = policies.combined(
                    said, with: known, into: &combined,
                    references: { value, reference in
                        value.forEachReference { reference($0) }
                    })
            }
        }
        // An older version neither deletes nor restores a record; a partial object does not restore
        // one.
        let deletion: Bool? = isOlder || isDecided ? nil : !tombstone.isEmpty ? true : isComplete ? false : nil
        _ = list.add(
            pending.plan, key.bytes, body: combinedIsWide == nil ? body.bytes : combined.bytes,
            isWide: combinedIsWide ?? isWide,
            isComplete: isComplete, isExact: pending.isExact, knownWins: knownWins, deletion: deletion)
        if deletion == true, let index = list.find(pending.plan, key.bytes) { tombstones[index] = tombstone }
        return isRepeated && knownWins
    }

    private mutating func keepRepeated(
        _ tape: Tape, _ pending: Pending, _ repeated: Int?, _ isMapped: Bool, _ isUnreported: Bool, _ isUnderived: Bool
    ) {
        // A repeated object may occur many times. It can be skipped then only if its sole effect is
        // its draft.
        if let repeated, !pending.isListed, pending.injectedField == 0, children.isEmpty,
            tape.kind(pending.index) == .object,
            !plan.plans[pending.plan].isContextual, !injectsKeys,
            isMapped, isUnreported, isUnderived
        {
            list.keep(tape, pending.index, for: repeated)
        }
    }

    // MARK: Kept for nested objects and lists

    /// Keeps the current record's key and its whole encoding, for the objects nested in it.
    mutating func keepOwnKey() -> (key: KeptBytes, tuple: KeptBytes) {
        if let ownKey { return ownKey }
        let kept = derived.keep(key.bytes)
        let own = (kept, longKey.isEmpty ? kept : derived.keep(longKey))
        ownKey = own
        return own
    }

    /// Keeps the path of a value as two parts: that of the listed record, and the rest.
    ///
    /// The result is equivalent to ``path(_:_:)``. A text is created only if a diagnostic needs it.
    mutating func keepPath(_ tape: Tape, _ index: Int) -> (record: KeptBytes, rest: KeptBytes) {
        if let main, tape.words.baseAddress != main.words.baseAddress { return keepPath(main, current) }
        let origin = origin
        let record =
            originPath
            ?? derived.keep { writer in
                writer.append(origin.list)
                if origin.position >= 0 { writer.append("[\(origin.position)]") }
            }
        originPath = record
        guard pathBudget > 0 else { return (record, derived.keep { $0.append("…") }) }
        pathBudget -= index - origin.place
        return (record, derived.keep { tape.appendPath(to: index, from: origin.place, into: &$0) })
    }
}
