// From a parsed document to drafts: every distinct object once, iteratively, in document order.

public import TarnStore

/// A record that listed records belong to, as when a list was asked for by its parent.
public struct ParentReference: Sendable, Hashable {
    /// The to-one relationship of the listed entity that leads to the parent.
    public var relationship: String
    public var storageKey: [UInt8]
    /// The whole key, for records whose own key holds it.
    let tuple: [UInt8]

    public init(relationship: String, key: RecordKey) {
        self.relationship = relationship
        storageKey = key.storageKey
        tuple = key.tuple
    }
}

/// What a response says about the other end of relationships that are stored there: applied when the batch is merged.
struct DerivedList {
    var ownerPlan: Int
    var field: Catalog.Field
    var isOrdered: Bool
    /// The record that has the relationship.
    var target: [UInt8]
    /// The records that it leads to, by storage key; those that came as objects are in the drafts.
    var members: [[UInt8]]
    /// Those whose reference has to be set when the drafts are stored: that came as bare keys, or whose reference stands in
    /// a list, to which a draft cannot add.
    var unsetMembers: Set<[UInt8]>
    /// Whether members that are not listed stay.
    var keepsOthers: Bool
    /// For diagnostics.
    var entity: String
    var name: String
    /// Only where there may be one: of lists with bare keys.
    var path: String
}

struct Drafter: ~Copyable {
    let plan: ImportPlan
    var list = DraftList()
    var derived: [DerivedList] = []
    var diagnostics: [Diagnostic] = []
    var diagnosticCount = 0
    var diagnosticLimit = ImportReport.diagnosticLimit
    /// Of them, records without a usable key.
    var skipped = 0
    /// The same by entity.
    var skippedByEntity: [String: Int] = [:]
    /// Keys, as a whole, of drafts of records that are no more.
    var tombstones: [Int: [UInt8]] = [:]
    /// References of one-to-one relationships that are stored here, in the order of the document.
    var claims: [Claim] = []
    /// Entities, by id, and fields of such references.
    private let oneToOne: Set<OneToOneField>
    /// Asked for every reference; most APIs have none.
    private let hasOneToOne: Bool

    private struct OneToOneField: Hashable {
        var entity: UInt16
        var field: UInt16
    }

    /// An object that waits for its turn.
    private struct Pending {
        var index: Int
        var plan: Int
        var isListed: Bool
        /// A reference that comes from where the object stands, not from its JSON.
        var injectedField: UInt16 = 0
        var injectedKey: [UInt8] = []
        /// The whole encoding of that key.
        var injectedTuple: [UInt8] = []
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
    private var children: [Pending] = []
    private var found = PlaceList(), keyFound = PlaceList()
    private var prefix: [String] = []
    var key = ByteWriter(), childKey = ByteWriter()
    /// The whole encoding of the key, if it is longer than a storage key shows.
    private var longKey: [UInt8] = []
    var builder = BodyBuilder()
    private var body = ByteWriter(capacity: 8192)
    private var combined = ByteWriter()
    /// For what transformers make.
    var transformed: JSONParser?

    init(_ plan: ImportPlan) {
        self.plan = plan
        var oneToOne: Set<OneToOneField> = []
        for plan in plan.plans {
            for field in plan.entity.fields {
                guard case .reference(let reference) = field.kind, !reference.isToMany, reference.inverse != nil,
                    !reference.inverseIsToMany
                else { continue }
                oneToOne.insert(OneToOneField(entity: plan.entity.id, field: field.id))
            }
        }
        self.oneToOne = oneToOne
        hasOneToOne = !oneToOne.isEmpty
    }

    mutating func reset() {
        list.removeAll()
        derived.removeAll()
        diagnostics.removeAll()
        diagnosticCount = 0
        skipped = 0
        pathBudget = Drafter.pathBudget
        skippedByEntity.removeAll()
        tombstones.removeAll()
        claims.removeAll()
    }

    /// Says where the next listed record stands. The position is -1 if it is in no list.
    mutating func locate(list: String, position: Int, place: Int) { origin = (list, position, place) }

    /// Drafts one listed record with everything nested in it.
    ///
    /// - Returns: the listed record's storage key, or nil if it was skipped.
    mutating func draft(_ tape: Tape, _ index: Int, plan position: Int, parent: (field: UInt16, key: [UInt8], tuple: [UInt8])?) -> [UInt8]? {
        guard tape.kind(index) == .object else {
            report(.keyMissing, tape, index, plan.plans[position], nil, nil, "a record is expected, and there is \(tape.describe(index))")
            return nil
        }
        stack.removeAll(keepingCapacity: true)
        stack.append(
            Pending(
                index: index, plan: position, isListed: true, injectedField: parent?.field ?? 0,
                injectedKey: parent?.key ?? [], injectedTuple: parent?.tuple ?? []))
        var listedKey: [UInt8]?, isFirst = true
        while let next = stack.popLast() {
            children.removeAll(keepingCapacity: true)
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

    private mutating func draft(_ tape: Tape, _ pending: Pending) -> Bool {
        // Not before its turn: objects that come first may change the draft.
        if let draft = pending.draft, pending.injectedField == 0, list.isKnown(tape, pending.index, for: draft) { return true }
        let plan = plan.plans[pending.plan]
        let unmappedBefore = plan.unmappedTotal, reportedBefore = diagnosticCount, derivedBefore = derived.count
        found.reset(plan.slots.count)
        prefix.removeAll(keepingCapacity: true)
        Drafter.locate(tape, pending.index, plan, node: 0, &found, &prefix)
        key.removeAll()
        let owner = pending.injectedField == 0 ? nil : KeyOwner(field: pending.injectedField, tuple: pending.injectedTuple)
        guard Drafter.appendKey(tape, self.plan.plans, plan, found, owner, to: &key) else {
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
                if place.value >= 0, tape.kind(place.value) == .object, case .toOne(let destination) = slot.kind {
                    children.append(Pending(index: place.value, plan: destination, isListed: false))
                }
                continue
            }
            guard place.value >= 0 else {
                if place.null >= 0, !slot.ignoresNull {
                    setNull(tape, place.null, position, plan)
                } else if place.null < 0, slot.clearsAbsent, pending.isListed {
                    builder.field(slot.field) { $0.appendValueNull() }
                } else if !slot.isOptional {
                    isComplete = false
                }
                continue
            }
            switch slot.kind {
            case .attribute:
                let isTaken = attribute(tape, place.value, position, plan)
                isComplete = isComplete && (isTaken || slot.isOptional)
            case .toOne(let destination): toOne(tape, place.value, position, destination, plan)
            case .toMany(let destination): toMany(tape, place.value, position, destination, plan)
            case .derived: derivedList(tape, place.value, position, plan)
            }
        }
        body.removeAll()
        let isWide = builder.isWide
        builder.finish(into: &body)
        guard !plan.policies.isPlain else {
            let repeated = list.add(
                pending.plan, key.bytes, body: body.bytes, isWide: isWide, isComplete: pending.isListed || isComplete)
            keepRepeated(
                tape, pending, repeated, plan.unmappedTotal == unmappedBefore, diagnosticCount == reportedBefore,
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
            isComplete: isComplete, knownWins: knownWins, deletion: deletion)
        if deletion == true, let index = list.find(pending.plan, key.bytes) { tombstones[index] = tombstone }
    }

    private mutating func keepRepeated(
        _ tape: Tape, _ pending: Pending, _ repeated: Int?, _ isMapped: Bool, _ isUnreported: Bool, _ isUnderived: Bool
    ) {
        // What comes a second time may come a hundredth time. Only an object that does nothing but say what its draft says
        // can be left out then.
        if let repeated, !pending.isListed, pending.injectedField == 0, children.isEmpty,
            isMapped, isUnreported, isUnderived
        {
            list.keep(tape, pending.index, for: repeated)
        }
    }

    /// Finds the place of every slot's value in an object: one pass over its keys, and over those of nested objects that a
    /// key path leads into.
    private static func locate(
        _ tape: Tape, _ object: Int, _ plan: EntityPlan, node: Int, _ found: inout PlaceList,
        _ prefix: inout [String]
    ) {
        let end = tape.end(object)
        var index = object + 1
        while index < end {
            let key = tape.string(index), value = index + 1
            if let position = plan.nodes[node].table.find(key) {
                let entry = plan.nodes[node].entries[position]
                var next = entry.taker
                while next >= 0 {
                    let taker = plan.takers[Int(next)]
                    next = taker.next
                    if tape.kind(value) == .null {
                        found[taker.slot].null = value
                    } else if taker.rank < found[taker.slot].rank
                        || (taker.rank == found[taker.slot].rank && !plan.slots[taker.slot].isKey)
                    {
                        // The first alternate that is present counts; of a key that occurs twice, the last. Only what
                        // identifies a record is taken from the first, since `locateKey` looks no further.
                        found[taker.slot].value = value
                        found[taker.slot].rank = taker.rank
                    }
                }
                if entry.child >= 0, tape.kind(value) == .object {
                    prefix.append(String(decoding: key, as: UTF8.self))
                    locate(tape, value, plan, node: Int(entry.child), &found, &prefix)
                    prefix.removeLast()
                }
                if entry.unmapped >= 0 { plan.countUnmapped(Int(entry.unmapped)) }
            } else {
                plan.meet(key, in: node, prefix: prefix)
            }
            index = tape.next(value)
        }
    }

    // MARK: Fields

    private mutating func appendInjected(_ pending: Pending) {
        builder.field(pending.injectedField) { writer in
            pending.injectedKey.withUnsafeBytes { key in
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

    /// Puts the storage key that an object or a bare key stands for into `childKey`. An object is added to the children.
    ///
    /// - Parameter owner: what is known of the key from where the object or the bare key stands.
    private mutating func reference(_ tape: Tape, _ index: Int, _ destination: Int, _ owner: KeyOwner? = nil) -> Bool {
        let target = plan.plans[destination]
        childKey.removeAll()
        switch tape.kind(index) {
        case .object:
            keyFound.reset(target.slots.count)
            Drafter.locateKey(tape, index, target, &keyFound)
            let hasKey = Drafter.appendKey(tape, plan.plans, target, keyFound, owner, to: &childKey)
            childKey.finishStorageKey(from: 0)
            // One without a key gets its turn all the same, and is reported there.
            var child = Pending(index: index, plan: destination, isListed: false)
            if hasKey { child.draft = list.find(destination, childKey.bytes) }
            children.append(child)
            return hasKey
        case .string, .int, .uint, .double:
            guard Drafter.appendBareKey(tape, index, target, owner, to: &childKey) else { return false }
            childKey.finishStorageKey(from: 0)
            return true
        default: return false
        }
    }

    /// As `locate`, for the key alone: most objects say their key early, and then the rest is not looked at. Counts nothing.
    static func locateKey(
        _ tape: Tape, _ object: Int, _ plan: EntityPlan, node: Int = 0, _ found: inout PlaceList
    ) {
        let end = tape.end(object)
        var index = object + 1
        while index < end {
            let value = index + 1
            if let position = plan.nodes[node].table.find(tape.string(index)) {
                let entry = plan.nodes[node].entries[position]
                var isBest = false, next = entry.taker
                while next >= 0 {
                    let taker = plan.takers[Int(next)]
                    next = taker.next
                    guard plan.slots[taker.slot].isKey, taker.rank < found[taker.slot].rank, tape.kind(value) != .null else {
                        continue
                    }
                    found[taker.slot].value = value
                    found[taker.slot].rank = taker.rank
                    isBest = isBest || taker.rank == 0
                }
                if isBest, plan.hasBestKey(found) { return }
                if entry.child >= 0, tape.kind(value) == .object {
                    locateKey(tape, value, plan, node: Int(entry.child), &found)
                }
            }
            index = tape.next(value)
        }
    }

    private mutating func toOne(_ tape: Tape, _ index: Int, _ position: Int, _ destination: Int, _ plan: EntityPlan) {
        guard reference(tape, index, destination) else {
            if tape.kind(index) != .object { reportRelationship(tape, index, position, plan) }
            return
        }
        let target = childKey.bytes, field = plan.slots[position].field
        builder.field(field) { $0.appendValue(tag: ValueTag.reference, target) }
        guard hasOneToOne, oneToOne.contains(OneToOneField(entity: plan.entity.id, field: field)),
            let owner = self.plan.plans.firstIndex(where: { $0 === plan })
        else { return }
        claims.append(
            Claim(plan: owner, field: field, owner: Array(key.bytes), target: Array(target), path: path(tape, index)))
    }

    private mutating func toMany(_ tape: Tape, _ index: Int, _ position: Int, _ destination: Int, _ plan: EntityPlan) {
        guard tape.kind(index) == .array else { return reportRelationship(tape, index, position, plan) }
        var listed = ByteWriter(capacity: 256), isSound = true
        var members = MemberSet()
        listed.append(ValueTag.references)
        let end = tape.end(index)
        var element = index + 1
        while element < end {
            if tape.kind(element) != .null {
                if reference(tape, element, destination) {
                    if members.insert(childKey.bytes, among: listed) { listed.appendReferenceElement(childKey.bytes) }
                } else if tape.kind(element) != .object {
                    reportRelationship(tape, element, position, plan)
                    isSound = false
                }
            }
            element = tape.next(element)
        }
        guard isSound else { return }
        let value = listed.bytes
        builder.field(plan.slots[position].field) { $0.append(value) }
    }

    /// A relationship whose references stand in the other records: nested objects get theirs from here, and the whole list is
    /// noted, so that records that left it lose theirs.
    mutating func derivedList(_ tape: Tape, _ index: Int, _ position: Int, _ plan: EntityPlan) {
        guard let derived = plan.details[position].derived else { return }
        let isToMany = derived.isToMany
        var note = DerivedList(
            ownerPlan: derived.owner, field: derived.field, isOrdered: derived.reference.inverseIsOrdered,
            target: Array(key.bytes), members: [], unsetMembers: [], keepsOthers: isToMany && plan.slots[position].toMany != .replace,
            entity: plan.entity.name, name: plan.details[position].name, path: "")
        let tuple = longKey.isEmpty ? note.target : longKey
        // A reference in a list of the other record is no part of its key.
        let owner = derived.reference.isToMany ? nil : KeyOwner(field: derived.field.id, tuple: tuple)
        func inject(_ ordinal: Int) {
            let last = children.count - 1
            children[last].injectedField = derived.field.id
            children[last].injectedKey = note.target
            children[last].injectedTuple = tuple
            children[last].position = derived.reference.inverseIsOrdered ? UInt32(ordinal) : nil
        }
        var elements: [Int] = []
        switch tape.kind(index) {
        case .array where isToMany: tape.forEachElement(index) { elements.append($0) }
        case .null: break
        case .array: return reportRelationship(tape, index, position, plan)
        default:
            guard !isToMany else { return reportRelationship(tape, index, position, plan) }
            elements = [index]
        }
        for element in elements where tape.kind(element) != .null {
            guard reference(tape, element, derived.owner, owner) else {
                guard tape.kind(element) == .object else { return reportRelationship(tape, element, position, plan) }
                // It is reported in its turn: what it lacks is not its owner.
                if owner != nil { inject(0) }
                continue
            }
            let member = Array(childKey.bytes)
            if tape.kind(element) == .object, !derived.reference.isToMany {
                inject(note.members.count)
            } else {
                note.unsetMembers.insert(member)
            }
            note.members.append(member)
        }
        if !note.unsetMembers.isEmpty || (!derived.reference.isToMany && !note.members.isEmpty) { note.path = path(tape, index) }
        self.derived.append(note)
    }
}
