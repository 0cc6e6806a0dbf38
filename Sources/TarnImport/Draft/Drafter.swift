// From a parsed document to drafts: every distinct object once, iteratively, in document order.

public import TarnStore

/// A record that listed records belong to, as when a list was asked for by its parent.
public struct ParentReference: Sendable, Hashable {
    /// The to-one relationship of the listed entity that leads to the parent.
    public var relationship: String
    public var storageKey: [UInt8]

    public init(relationship: String, key: RecordKey) {
        self.relationship = relationship
        storageKey = key.storageKey
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
    /// For diagnostics.
    var entity: String
    var name: String
    var path: String
}

struct Drafter: ~Copyable {
    private let plan: ImportPlan
    var list = DraftList()
    var derived: [DerivedList] = []
    var diagnostics: [Diagnostic] = []
    var diagnosticCount = 0

    /// An object that waits for its turn.
    private struct Pending {
        var index: Int
        var plan: Int
        var isListed: Bool
        /// A reference that comes from where the object stands, not from its JSON.
        var injectedField: UInt16 = 0
        var injectedKey: [UInt8] = []
        var position: UInt32?
    }

    private var stack: [Pending] = []
    private var children: [Pending] = []
    /// For each slot of the entity at hand: the place of the best value so far, its rank, and the place of a null.
    private var found: [(value: Int, rank: Int, null: Int)] = []
    private var keyFound: [(value: Int, rank: Int, null: Int)] = []
    private var prefix: [String] = []
    private var key = ByteWriter(), childKey = ByteWriter()
    private var builder = BodyBuilder()
    private var body = ByteWriter(capacity: 8192)

    init(_ plan: ImportPlan) { self.plan = plan }

    mutating func reset() {
        list.removeAll()
        derived.removeAll()
        diagnostics.removeAll()
        diagnosticCount = 0
    }

    /// Drafts one listed record with everything nested in it.
    ///
    /// - Returns: the listed record's storage key, or nil if it was skipped.
    mutating func draft(_ tape: Tape, _ index: Int, plan position: Int, parent: (field: UInt16, key: [UInt8])?) -> [UInt8]? {
        guard tape.kind(index) == .object else {
            report(.keyMissing, tape, index, plan.plans[position], nil, nil, "a record is expected, and there is \(tape.describe(index))")
            return nil
        }
        stack.removeAll(keepingCapacity: true)
        stack.append(
            Pending(
                index: index, plan: position, isListed: true, injectedField: parent?.field ?? 0,
                injectedKey: parent?.key ?? []))
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
        let plan = plan.plans[pending.plan]
        found.removeAll(keepingCapacity: true)
        for _ in plan.slots { found.append((-1, .max, -1)) }
        prefix.removeAll(keepingCapacity: true)
        Drafter.locate(tape, pending.index, plan, node: 0, &found, &prefix)
        key.removeAll()
        guard Drafter.encodeKey(tape, plan, found, into: &key) else {
            let missing = plan.keySlots.first { found[$0].value < 0 } ?? plan.keySlots.first
            let field = missing.map { plan.slots[$0].name }
            report(
                .keyMissing, tape, pending.index, plan, nil, field,
                "a record without a usable key (\(plan.keySlots.map { plan.slots[$0].name }.joined(separator: ", "))) is skipped")
            return false
        }
        builder.removeAll()
        var isComplete = true
        for (position, slot) in plan.slots.enumerated() {
            let place = found[position]
            if slot.field != 0, slot.field == pending.injectedField {
                appendInjected(pending)
                // Where the object stands says what it belongs to; what it says of that record counts all the same.
                if place.value >= 0, tape.kind(place.value) == .object, case .toOne(let destination) = slot.kind {
                    children.append(Pending(index: place.value, plan: destination, isListed: false))
                }
                continue
            }
            guard place.value >= 0 else {
                if place.null >= 0 {
                    setNull(tape, place.null, slot, plan)
                } else if !slot.isOptional {
                    isComplete = false
                }
                continue
            }
            switch slot.kind {
            case .attribute(let type, let epoch):
                let isTaken = attribute(tape, place.value, slot, type, epoch, plan)
                isComplete = isComplete && (isTaken || slot.isOptional)
            case .toOne(let destination): toOne(tape, place.value, slot, destination, plan)
            case .toMany(let destination): toMany(tape, place.value, slot, destination, plan)
            case .derived(let owner, let field, let reference, let isToMany):
                derivedList(tape, place.value, slot, owner, field, reference, isToMany, plan)
            }
        }
        body.removeAll()
        let isWide = builder.isWide
        builder.finish(into: &body)
        list.add(pending.plan, key.bytes, body: body.bytes, isWide: isWide, isComplete: pending.isListed || isComplete)
        return true
    }

    /// Finds the place of every slot's value in an object: one pass over its keys, and over those of nested objects that a
    /// key path leads into.
    private static func locate(
        _ tape: Tape, _ object: Int, _ plan: EntityPlan, node: Int, _ found: inout [(value: Int, rank: Int, null: Int)],
        _ prefix: inout [String]
    ) {
        let end = tape.end(object)
        var index = object + 1
        while index < end {
            let key = tape.string(index), value = index + 1
            if let position = plan.nodes[node].table.find(key) {
                let entry = plan.nodes[node].entries[position]
                for taker in entry.takers {
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
                if let child = entry.child, tape.kind(value) == .object {
                    prefix.append(String(decoding: key, as: UTF8.self))
                    locate(tape, value, plan, node: child, &found, &prefix)
                    prefix.removeLast()
                }
                if let unmapped = entry.unmapped { plan.countUnmapped(unmapped) }
            } else {
                plan.meet(key, in: node, prefix: prefix)
            }
            index = tape.next(value)
        }
    }

    /// Encodes the key of an object whose slots were located. False if a component is missing or of a wrong type.
    private static func encodeKey(
        _ tape: Tape, _ plan: EntityPlan, _ found: [(value: Int, rank: Int, null: Int)], into writer: inout ByteWriter
    ) -> Bool {
        let start = writer.count
        for position in plan.keySlots {
            guard found[position].value >= 0, case .attribute(let type, _) = plan.slots[position].kind,
                tape.appendKeyComponent(found[position].value, as: type, to: &writer)
            else { return false }
        }
        writer.finishStorageKey(from: start)
        return true
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

    private mutating func setNull(_ tape: Tape, _ index: Int, _ slot: Slot, _ plan: EntityPlan) {
        if slot.field == 0 {
            if case .derived(let owner, let field, let reference, let isToMany) = slot.kind {
                derivedList(tape, index, slot, owner, field, reference, isToMany, plan)
            }
            return
        }
        if !slot.isOptional {
            report(.valueNull, tape, index, plan, keyText, slot.name, "null, and the description says there is always a value")
        }
        builder.field(slot.field) { $0.appendValueNull() }
    }

    private mutating func attribute(
        _ tape: Tape, _ index: Int, _ slot: Slot, _ type: AttributeType, _ epoch: EpochUnit?, _ plan: EntityPlan
    ) -> Bool {
        var isTaken = true
        builder.field(slot.field) { isTaken = tape.appendValue(index, as: type, epoch: epoch, to: &$0) }
        if !isTaken {
            report(.valueType, tape, index, plan, keyText, slot.name, "\(tape.describe(index)) is no \(type); the old value is kept")
        }
        return isTaken
    }

    /// Puts the storage key that an object or a bare key stands for into `childKey`. An object is added to the children.
    private mutating func reference(_ tape: Tape, _ index: Int, _ destination: Int) -> Bool {
        let target = plan.plans[destination]
        childKey.removeAll()
        switch tape.kind(index) {
        case .object:
            keyFound.removeAll(keepingCapacity: true)
            for _ in target.slots { keyFound.append((-1, .max, -1)) }
            Drafter.locateKey(tape, index, target, &keyFound)
            guard Drafter.encodeKey(tape, target, keyFound, into: &childKey) else {
                // The object gets its turn all the same, and is reported there.
                children.append(Pending(index: index, plan: destination, isListed: false))
                return false
            }
            children.append(Pending(index: index, plan: destination, isListed: false))
            return true
        case .string, .int, .uint, .double:
            guard target.keySlots.count == 1, case .attribute(let type, _) = target.slots[target.keySlots[0]].kind,
                tape.appendKeyComponent(index, as: type, to: &childKey)
            else { return false }
            childKey.finishStorageKey(from: 0)
            return true
        default: return false
        }
    }

    /// As `locate`, for the key alone: most objects say their key early, and then the rest is not looked at. Counts nothing.
    private static func locateKey(
        _ tape: Tape, _ object: Int, _ plan: EntityPlan, node: Int = 0, _ found: inout [(value: Int, rank: Int, null: Int)]
    ) {
        let end = tape.end(object)
        var index = object + 1
        while index < end {
            let value = index + 1
            if let position = plan.nodes[node].table.find(tape.string(index)) {
                let entry = plan.nodes[node].entries[position]
                var isBest = false
                for taker in entry.takers where plan.slots[taker.slot].isKey && taker.rank < found[taker.slot].rank {
                    guard tape.kind(value) != .null else { continue }
                    found[taker.slot].value = value
                    found[taker.slot].rank = taker.rank
                    isBest = isBest || taker.rank == 0
                }
                if isBest, plan.keySlots.allSatisfy({ found[$0].rank == 0 }) { return }
                if let child = entry.child, tape.kind(value) == .object {
                    locateKey(tape, value, plan, node: child, &found)
                }
            }
            index = tape.next(value)
        }
    }

    private mutating func toOne(_ tape: Tape, _ index: Int, _ slot: Slot, _ destination: Int, _ plan: EntityPlan) {
        guard reference(tape, index, destination) else {
            if tape.kind(index) != .object { reportRelationship(tape, index, slot, plan) }
            return
        }
        let target = childKey.bytes
        builder.field(slot.field) { $0.appendValue(tag: ValueTag.reference, target) }
    }

    private mutating func toMany(_ tape: Tape, _ index: Int, _ slot: Slot, _ destination: Int, _ plan: EntityPlan) {
        guard tape.kind(index) == .array else { return reportRelationship(tape, index, slot, plan) }
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
                    reportRelationship(tape, element, slot, plan)
                    isSound = false
                }
            }
            element = tape.next(element)
        }
        guard isSound else { return }
        let value = listed.bytes
        builder.field(slot.field) { $0.append(value) }
    }

    /// A relationship whose references stand in the other records: nested objects get theirs from here, and the whole list is
    /// noted, so that records that left it lose theirs.
    private mutating func derivedList(
        _ tape: Tape, _ index: Int, _ slot: Slot, _ owner: Int, _ field: Catalog.Field, _ reference: Catalog.Reference,
        _ isToMany: Bool, _ plan: EntityPlan
    ) {
        var note = DerivedList(
            ownerPlan: owner, field: field, isOrdered: reference.inverseIsOrdered, target: Array(key.bytes), members: [],
            unsetMembers: [], entity: plan.entity.name, name: slot.name, path: tape.path(to: index))
        func inject(_ position: Int) {
            let last = children.count - 1
            children[last].injectedField = field.id
            children[last].injectedKey = note.target
            children[last].position = reference.inverseIsOrdered ? UInt32(position) : nil
        }
        var elements: [Int] = []
        switch tape.kind(index) {
        case .array where isToMany: tape.forEachElement(index) { elements.append($0) }
        case .null: break
        case .array: return reportRelationship(tape, index, slot, plan)
        default:
            guard !isToMany else { return reportRelationship(tape, index, slot, plan) }
            elements = [index]
        }
        for element in elements where tape.kind(element) != .null {
            guard self.reference(tape, element, owner) else {
                if tape.kind(element) != .object { return reportRelationship(tape, element, slot, plan) }
                continue
            }
            let member = Array(childKey.bytes)
            if tape.kind(element) == .object, !reference.isToMany {
                inject(note.members.count)
            } else {
                note.unsetMembers.insert(member)
            }
            note.members.append(member)
        }
        derived.append(note)
    }

    // MARK: Diagnostics

    private var keyText: String? { RecordKey(storageKey: key.bytes)?.description }

    private mutating func reportRelationship(_ tape: Tape, _ index: Int, _ slot: Slot, _ plan: EntityPlan) {
        report(
            .relationshipType, tape, index, plan, keyText, slot.name,
            "\(tape.describe(index)) is neither a record nor a key; the old value is kept")
    }

    private mutating func report(
        _ code: Diagnostic.Code, _ tape: Tape, _ index: Int, _ plan: EntityPlan, _ key: String?, _ field: String?,
        _ message: String
    ) {
        diagnosticCount += 1
        // Finding the path walks the document: not for the millionth of a kind.
        guard diagnostics.count < ImportReport.diagnosticLimit else { return }
        diagnostics.append(
            Diagnostic(
                code: code, path: tape.path(to: index), entity: plan.entity.name, key: key, field: field, message: message))
    }
}
