// From a parsed document to drafts: every distinct object once, iteratively, in document order.

internal import TarnStore

struct Drafter: ~Copyable {
    let plan: ImportPlan
    var list = DraftList()
    var derived = DerivedLists()
    var diagnostics = DiagnosticLog()
    /// Attributes that no object had yet.
    var presence: SlotPresence
    /// Records without a usable key.
    var skipped = 0
    /// The same by entity.
    var skippedByEntity: [String: Int] = [:]
    /// What makes the unit fail.
    var failure: ImportError?
    /// Keys, as a whole, of drafts of records that are no more.
    var tombstones: [Int: [UInt8]] = [:]
    /// References of one-to-one relationships that are stored here, in the order of the document.
    var claims: [Claim] = []
    /// An object that waits for its turn.
    struct Pending {
        var index: Int
        var plan: Int
        var isListed: Bool
        /// Whether a rule says that it is of exactly the plan's entity.
        var isExact = false
        /// What is known of it from where it stands, among the surroundings; -1 if nobody asks.
        var around: Int32 = -1
        /// A reference that comes from where the object stands, not from its JSON.
        var injectedField: UInt16 = 0
        /// The key of the record that it belongs to; where no field is injected, only if the plan may take it.
        var injectedKey = KeptBytes()
        /// The whole encoding of that key.
        var injectedTuple = KeptBytes()
        var position: UInt32?
        /// The draft of the same record that was there when the object was found.
        var draft: Int?
    }

    /// Where the listed record that is drafted stands: its list, its position there, its place on the tape.
    var origin = (list: "$", position: -1, place: Tape.root)
    /// Words of tapes that a unit may still walk for the paths of lists, which are many: beyond it the record's path must do.
    var pathBudget = Drafter.pathBudget
    static let pathBudget = 1 << 24

    private var stack: [Pending] = []
    /// Of objects that wait for their turn; empty if no source asks for them.
    private var surroundings: [Surroundings] = []
    var children: [Pending] = []
    var found = PlaceList()
    var keyFound = PlaceList()
    /// What is drafted now: on which tape, where, by which plan, and the key of what it belongs to, for plans that may take it.
    private(set) var main: Tape?
    private(set) var current = Tape.root
    private(set) var currentPlan = 0
    private(set) var ownerKey = KeptBytes()
    /// The key of what is drafted now, and its whole encoding, once they are kept.
    private var ownKey: (key: KeptBytes, tuple: KeptBytes)?
    /// The path of the listed record that is drafted, once it is kept.
    private var originPath: KeptBytes?
    /// Of the document that the records are from.
    let documentValues: DocumentValues
    /// The same, uncounted.
    let values: DocumentValues.Reference
    /// Whether code may say keys.
    var injectsKeys = false
    private var prefix: [String] = []
    var key = ByteWriter(), childKey = ByteWriter()
    /// The whole encoding of the key, if it is longer than a storage key shows.
    private(set) var longKey: [UInt8] = []
    var builder = BodyBuilder()
    private var body = ByteWriter(capacity: 8192)
    private var combined = ByteWriter()
    /// For what transformers make, and for lists whose elements stand apart from each other.
    var transformed: JSONParser?, joined: JSONParser?

    init(_ plan: ImportPlan, _ documentValues: DocumentValues) {
        self.plan = plan
        self.documentValues = documentValues
        values = Unmanaged.passUnretained(documentValues)
        presence = SlotPresence(plan.plans)
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
        skippedByEntity.removeAll()
        failure = nil
        tombstones.removeAll()
        claims.removeAll()
        originPath = nil
    }

    /// Takes from a document, and from beside it, what its records may take.
    ///
    /// - Parameter document: nil if it is read in parts.
    mutating func begin(_ context: ImportContext, _ document: Tape?) {
        documentValues.fill(plan.documentSources, context, document)
    }

    /// Says where the next listed record stands. The position is -1 if it is in no list.
    mutating func locate(list: String, position: Int, place: Int) {
        origin = (list, position, place)
        originPath = nil
    }

    /// Drafts one listed record with everything nested in it.
    ///
    /// - Parameters:
    ///   - parent: what it belongs to, by how it was asked for.
    ///   - ordinal: its place in its list; -1 if it is in none.
    /// - Returns: the listed record's storage key, or nil if it was skipped.
    mutating func draft(
        _ tape: Tape, _ index: Int, plan position: Int, parent: Importer.Target.Parent?, ordinal: Int = -1
    ) -> [UInt8]? {
        main = tape
        current = index
        guard tape.kind(index) == .object else {
            report(.keyMissing, tape, index, plan.plans[position], nil, nil, "a record is expected, and there is \(tape.describe(index))")
            return nil
        }
        stack.removeAll(keepingCapacity: true)
        surroundings.removeAll(keepingCapacity: true)
        stack.append(
            Pending(
                index: index, plan: position, isListed: true,
                around: remember(
                    Surroundings(
                        parentPlan: Int32(parent?.plan ?? -1), position: ordinal < 0 ? -1 : ordinal + documentValues.firstPosition)),
                injectedField: parent?.field ?? 0, injectedKey: derived.keep(parent?.key ?? []), injectedTuple: derived.keep(parent?.tuple ?? [])))
        var listedKey: [UInt8]?, isFirst = true
        while var next = stack.popLast() {
            children.removeAll(keepingCapacity: true)
            if plan.hasChoices, plan.plans[next.plan].hasChoice {
                current = next.index
                guard let chosen = chosen(next.plan, tape, next.index) else {
                    reportUnknown(tape, next.index, plan.plans[next.plan])
                    isFirst = false
                    continue
                }
                (next.plan, next.isExact) = chosen
            }
            let hasKey = draft(tape, next)
            if isFirst {
                isFirst = false
                if hasKey { listedKey = Array(key.bytes) }
            }
            // The first child is on top: the order of the document is the order in which later values count. Children were
            // met in the order of the slots.
            children.sort { $0.index < $1.index }
            stack.append(contentsOf: children.reversed())
        }
        return listedKey
    }

    /// Keeps what is known of an object that waits for its turn, if a source may ask for it.
    mutating func remember(_ around: Surroundings) -> Int32 {
        guard plan.takesSurroundings || injectsKeys else { return -1 }
        surroundings.append(around)
        return Int32(surroundings.count - 1)
    }

    private mutating func draft(_ tape: Tape, _ pending: Pending) -> Bool {
        // Not before its turn: objects that come first may change the draft.
        if let draft = pending.draft, pending.injectedField == 0, list.isKnown(tape, pending.index, for: draft) { return true }
        let plan = plan.plans[pending.plan]
        let unmappedBefore = plan.unmappedTotal, reportedBefore = diagnostics.count, derivedBefore = derived.count
        current = pending.index
        currentPlan = pending.plan
        ownKey = nil
        found.reset(plan.placeCount)
        prefix.removeAll(keepingCapacity: true)
        Drafter.locate(tape, pending.index, plan, node: 0, &found, &prefix)
        if plan.hasExtras || injectsKeys {
            let around = pending.around < 0 ? Surroundings() : surroundings[Int(pending.around)]
            Drafter.resolve(tape, self.plan.plans, plan, pending.index, around, values, keyOnly: false, &found)
            if plan.takesOwner { ownerKey = pending.injectedKey }
        }
        key.removeAll()
        let owner = pending.injectedTuple.isEmpty ? nil : KeyOwner(field: pending.injectedField, tuple: derived.bytes(pending.injectedTuple))
        guard Drafter.appendKey(tape, self.plan.plans, plan, pending.index, found, owner, values, to: &key) else {
            let missing =
                plan.keySlots.first { found[$0].value < 0 && plan.slots[$0].field != owner?.field } ?? plan.keySlots.first
            let field = missing.map { plan.details[$0].name }
            report(
                .keyMissing, tape, pending.index, plan, nil, field,
                "a record without a usable key (\(plan.keySlots.map { plan.details[$0].name }.joined(separator: ", "))) is skipped")
            return false
        }
        let isTombstone = plan.policies.hasTombstone && plan.policies.tombstone?.matches(tape, pending.index) == true
        let tombstone = isTombstone ? Array(key.bytes) : []
        if !isTombstone { presence.note(pending.plan, isListed: pending.isListed, found) }
        longKey = key.count > StorageKey.longest ? Array(key.bytes) : []
        key.finishStorageKey(from: 0)
        builder.removeAll()
        builder.wholeKey(plan.entity, key.bytes) { longKey }
        var isComplete = true
        let rest = plan.policies.rest, version = plan.policies.version
        for position in plan.slots.indices {
            let slot = plan.slots[position], place = found[position]
            if slot.field == rest, !isTombstone {
                // An excerpt says nothing about what else there is.
                if pending.isListed || plan.slots.indices.allSatisfy({ plan.slots[$0].isOptional || found[$0].value >= 0 }) {
                    builder.field(slot.field) { writer in
                        writer.append(ValueTag.json)
                        _ = Drafter.appendRest(tape, pending.index, plan, node: 0, isNeeded: true, to: &writer)
                    }
                }
                continue
            }
            // What a record that is no more says of itself is of no use.
            if isTombstone, !slot.isKey, slot.field != version { continue }
            if slot.field != 0, slot.field == pending.injectedField {
                appendInjected(pending)
                // Where the object stands says what it belongs to; what it says of that record counts all the same.
                if place.value >= 0, PlaceList.Place.kind(place.value) == .inside, tape.kind(place.value) == .object,
                    case .toOne(let destination) = slot.kind
                {
                    children.append(Pending(index: place.value, plan: destination, isListed: false, around: remember(around(position))))
                }
                continue
            }
            guard place.value >= 0 else {
                if place.null >= 0, !slot.ignoresNull {
                    setNull(tape, place.null, position, plan)
                } else if place.null < 0, slot.clearsAbsent, pending.isListed {
                    isComplete = absentAttribute(position, plan) && isComplete
                } else if !slot.isOptional {
                    isComplete = false
                    if pending.isListed, !slot.hasDefault, case .attribute = slot.kind { reportAbsent(tape, pending.index, position, plan) }
                }
                continue
            }
            switch slot.kind {
            case .attribute:
                let isTaken = attribute(at: place.value, tape, position, plan)
                isComplete = isComplete && (isTaken || slot.isOptional)
            case .toOne(let destination): toOne(tape, place.value, position, destination, plan)
            case .toMany(let destination): toMany(tape, place.value, position, destination, plan)
            case .derived(let derived): derivedList(tape, place.value, position, plan, derived)
            }
        }
        body.removeAll()
        let isWide = builder.isWide
        builder.finish(into: &body)
        guard !plan.policies.isPlain else {
            let repeated = list.add(
                pending.plan, key.bytes, body: body.bytes, isWide: isWide, isComplete: pending.isListed || isComplete,
                isExact: pending.isExact)
            keepRepeated(
                tape, pending, repeated, plan.unmappedTotal == unmappedBefore, diagnostics.count == reportedBefore,
                derived.count == derivedBefore)
            return true
        }
        addByPolicies(pending, plan, isWide: isWide, isComplete: pending.isListed || isComplete, tombstone: tombstone)
        return !isTombstone
    }

    /// Adds the body by what the entity says about duplicates, versions, lists and tombstones.
    private mutating func addByPolicies(
        _ pending: Pending, _ plan: EntityPlan, isWide: Bool, isComplete: Bool, tombstone: [UInt8]
    ) {
        let policies = plan.policies
        var knownWins = policies.firstWins, isOlder = false, combinedIsWide: Bool?
        if let index = list.find(pending.plan, key.bytes), let known = list.body(list.drafts[index]),
            let said = RowBody(body.bytes, isWide: isWide)
        {
            isOlder = policies.isOlder(said, than: known)
            if isOlder {
                knownWins = true
            } else if policies.isOlder(known, than: said) {
                knownWins = false
            }
            if !knownWins {
                combinedIsWide = policies.combined(said, with: known, into: &combined, references: { value, reference in
                    value.forEachReference { reference($0) }
                })
            }
        }
        // An older answer neither ends a record nor brings it back, and an excerpt does not bring one back either.
        let deletion: Bool? = isOlder ? nil : !tombstone.isEmpty ? true : isComplete ? false : nil
        _ = list.add(
            pending.plan, key.bytes, body: combinedIsWide == nil ? body.bytes : combined.bytes, isWide: combinedIsWide ?? isWide,
            isComplete: isComplete, isExact: pending.isExact, knownWins: knownWins, deletion: deletion)
        if deletion == true, let index = list.find(pending.plan, key.bytes) { tombstones[index] = tombstone }
    }

    private mutating func keepRepeated(
        _ tape: Tape, _ pending: Pending, _ repeated: Int?, _ isMapped: Bool, _ isUnreported: Bool, _ isUnderived: Bool
    ) {
        // What comes a second time may come a hundredth time. Only an object that does nothing but say what its draft says
        // can be left out then.
        if let repeated, !pending.isListed, pending.injectedField == 0, children.isEmpty, !plan.plans[pending.plan].isContextual, !injectsKeys,
            isMapped, isUnreported, isUnderived
        {
            list.keep(tape, pending.index, for: repeated)
        }
    }

    // MARK: Kept for others

    /// The key of what is drafted now, for what is nested in it, and its whole encoding.
    mutating func keepOwnKey() -> (key: KeptBytes, tuple: KeptBytes) {
        if let ownKey { return ownKey }
        let kept = derived.keep(key.bytes)
        let own = (kept, longKey.isEmpty ? kept : derived.keep(longKey))
        ownKey = own
        return own
    }

    /// As ``path(_:_:)``, as the path of the listed record and how that leads on, which are texts when somebody asks for them.
    mutating func keepPath(_ tape: Tape, _ index: Int) -> (record: KeptBytes, rest: KeptBytes) {
        if let main, tape.words.baseAddress != main.words.baseAddress { return keepPath(main, current) }
        let origin = origin
        let record = originPath ?? derived.keep { writer in
            writer.append(origin.list)
            if origin.position >= 0 { writer.append("[\(origin.position)]") }
        }
        originPath = record
        guard pathBudget > 0 else { return (record, derived.keep { $0.append("…") }) }
        pathBudget -= index - origin.place
        return (record, derived.keep { tape.appendPath(to: index, from: origin.place, into: &$0) })
    }

    // MARK: Fields

    private mutating func appendInjected(_ pending: Pending) {
        let key = derived.bytes(pending.injectedKey)
        builder.field(pending.injectedField) { writer in
            if let position = pending.position {
                writer.append(ValueTag.positionedReference)
                writer.appendLittleEndian(position)
                writer.append(key)
            } else {
                writer.appendValue(tag: ValueTag.reference, key)
            }
        }
    }
}
