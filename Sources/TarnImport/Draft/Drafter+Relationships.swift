// The relationships of a draft: references to the records of nested objects and bare keys.

internal import TarnStore

extension Drafter {
    /// A value of a relationship as a reference.
    private enum Reference {
        /// The key is in `childKey`.
        case key
        /// The value names no record, and the description declares that it counts as null.
        case null
        case unusable
    }

    /// Returns the surroundings of a record that is nested in the current one.
    ///
    /// - Parameters:
    ///   - slot: the relationship in which it is nested.
    ///   - ordinal: its position in its list; -1 if it is in no list.
    ///   - value: its place on the tape; nil if that is not in the record's own JSON. Then it may
    ///     be on another tape, where names have other places.
    func around(_ slot: Int, _ ordinal: Int = -1, of value: Int?, _ tape: Tape) -> Surroundings {
        var name: Int32 = -1
        if let value, documentValues.takesNames { name = documentValues.keepName(found.name(of: value), tape) }
        return Surroundings(
            parent: current, parentPlan: Int32(currentPlan), relationship: Int32(slot), position: ordinal, name: name)
    }

    /// Writes the storage key of an object or a bare key into `childKey`, and queues the object.
    ///
    /// - Parameters:
    ///   - owner: the part of the key that the position determines.
    ///   - isInside: whether the value is in the record's own JSON. Other values are not drafted
    ///     here.
    private mutating func reference(
        _ tape: Tape, _ index: Int, _ destination: Int, _ around: Surroundings, owner: KeyOwner? = nil,
        isInside: Bool = true
    ) -> Reference {
        var destination = destination, isExact = false
        childKey.removeAll()
        switch tape.kind(index) {
        case .object:
            if plan.hasChoices, plan.plans[destination].hasChoice {
                guard case .plan(let kind, let isNamed) = chosen(destination, tape, index) else {
                    // Drafting the queued object reports this.
                    if isInside {
                        children.append(
                            Pending(index: index, plan: destination, isListed: false, around: remember(around)))
                    }
                    return .unusable
                }
                (destination, isExact) = (kind, isNamed)
            }
            let target = plan.plans[destination]
            let own = target.takesOwner ? keepOwnKey() : nil
            keyFound.reset(target.placeCount)
            Drafter.locateKey(tape, index, target, &keyFound)
            if target.hasKeyExtras || injectsKeys {
                Drafter.resolve(
                    tape, plan.plans, target, index, isInside ? around : Surroundings(), values, keyOnly: true,
                    &keyFound)
            }
            let known = owner ?? own.map { KeyOwner(field: 0, tuple: derived.bytes($0.tuple)) }
            let hasKey = Drafter.appendKey(tape, plan.plans, target, index, keyFound, known, values, to: &childKey)
            childKey.finishStorageKey(from: 0)
            if !hasKey, target.policies.ignoresKeyless, lacksKey(tape, target, except: known?.field) { return .null }
            guard isInside else { return hasKey ? .key : .unusable }
            // An object without a key is queued all the same: drafting it reports this.
            var child = Pending(
                index: index, plan: destination, isListed: false, isExact: isExact, around: remember(around))
            if let own { (child.injectedKey, child.injectedTuple) = own }
            if hasKey { child.draft = list.find(destination, childKey.bytes) }
            children.append(child)
            return hasKey ? .key : .unusable
        case .string, .int, .uint, .double:
            if owner == nil, plan.plans[currentPlan].hasReferenceURLs, tape.kind(index) == .string,
                let url = plan.plans[currentPlan].url(ofReference: Int(around.relationship))
            {
                let outcome = url.appendKey(tape, index, to: &childKey)
                guard outcome == .notURL else {
                    if outcome == .matched { childKey.finishStorageKey(from: 0) }
                    return outcome == .matched ? .key : .unusable
                }
            }
            guard Drafter.appendBareKey(tape, index, plan.plans[destination], owner, to: &childKey) else {
                return .unusable
            }
            childKey.finishStorageKey(from: 0)
            return .key
        default: return .unusable
        }
    }

    /// Whether a part of an object's key is absent or null. A part of another type, and a URL that
    /// is none of the API's, are faults. The slots must be located in `keyFound`.
    private func lacksKey(_ tape: Tape, _ plan: EntityPlan, except ownerField: UInt16?) -> Bool {
        let lacking = plan.keySlots.contains { slot in
            keyFound[slot].value < 0 && plan.slots[slot].field != ownerField
        }
        return lacking && urlHint(plan, keyFound).isEmpty
    }

    mutating func toOne(_ tape: Tape, _ value: Int, _ position: Int, _ destination: Int, _ plan: EntityPlan) {
        if PlaceList.Place.isInside(value) {
            switch reference(tape, value, destination, around(position, of: value, tape)) {
            case .key: refer(to: childKey.bytes, tape, value, position, plan)
            case .null: if !plan.slots[position].ignoresNull { setNull(tape, value, position, plan) }
            case .unusable: if tape.kind(value) != .object { reportRelationship(tape, value, position, plan) }
            }
            return
        }
        if PlaceList.Place.kind(value) == .owner {
            guard !ownerKey.isEmpty else { return }
            return refer(to: derived.bytes(ownerKey), tape, current, position, plan)
        }
        let (source, index) = found.at(value, tape)
        // An object outside has no draft from here, so a missing key is reported here.
        switch reference(source, index, destination, around(position, of: nil, source), isInside: false) {
        case .key: refer(to: childKey.bytes, tape, current, position, plan)
        case .null: if !plan.slots[position].ignoresNull { setNull(tape, current, position, plan) }
        case .unusable: reportRelationship(source, index, position, plan)
        }
    }

    /// Sets a reference.
    ///
    /// - Parameter place: the location of the reference, for diagnostics.
    private mutating func refer(to target: Bytes, _ tape: Tape, _ place: Int, _ position: Int, _ plan: EntityPlan) {
        let slot = plan.slots[position]
        builder.field(slot.field) { $0.appendValue(tag: ValueTag.reference, target) }
        guard slot.claims >= 0 else { return }
        claims.append(
            ReferenceConflict(
                plan: Int(slot.claims), field: slot.field, owner: Array(key.bytes), target: Array(target),
                path: path(tape, place)))
    }

    mutating func toMany(_ tape: Tape, _ value: Int, _ position: Int, _ destination: Int, _ plan: EntityPlan) {
        let kind = PlaceList.Place.kind(value)
        var listed = ByteWriter(capacity: 256), isSound = true
        var members = MemberSet()
        listed.append(ValueTag.references)
        if kind == .list || kind == .outerList {
            for (ordinal, element) in found.list(value).enumerated() {
                let isTaken = add(
                    tape, found.elements[element], ordinal, position, destination, plan, isInside: kind == .list,
                    to: &listed, &members)
                isSound = isTaken && isSound
            }
        } else {
            let (source, index) = found.at(value, tape)
            guard source.kind(index) == .array else { return reportRelationship(source, index, position, plan) }
            let end = source.end(index)
            var element = index + 1, ordinal = 0
            while element < end {
                let isTaken = add(
                    source, element, ordinal, position, destination, plan, isInside: kind == .inside, to: &listed,
                    &members)
                isSound = isTaken && isSound
                element = source.next(element)
                ordinal += 1
            }
        }
        guard isSound else { return }
        let references = listed.bytes
        builder.field(plan.slots[position].field) { $0.append(references) }
    }

    /// Adds an element to a list. Returns false if the element makes the list unusable.
    private mutating func add(
        _ tape: Tape, _ element: Int, _ ordinal: Int, _ position: Int, _ destination: Int, _ plan: EntityPlan,
        isInside: Bool,
        to listed: inout ByteWriter, _ members: inout MemberSet
    ) -> Bool {
        let kind = tape.kind(element)
        if kind == .null { return !ignoresNulls }
        let around = around(position, ordinal, of: isInside ? element : nil, tape)
        switch reference(tape, element, destination, around, isInside: isInside) {
        case .key:
            if members.insert(childKey.bytes, among: listed) { listed.appendReferenceElement(childKey.bytes) }
            return true
        case .null: return true
        case .unusable:
            if kind != .object { reportRelationship(tape, element, position, plan) }
            return kind == .object
        }
    }

    /// Adds a list of a derived relationship: its references are stored in its members.
    ///
    /// Nested objects get their reference here. The list is kept for the merge, which clears the
    /// references of former members.
    mutating func derivedList(_ tape: Tape, _ value: Int, _ position: Int, _ plan: EntityPlan, _ slot: Slot.Derived) {
        let kind = PlaceList.Place.kind(value)
        let (source, index) = found.at(value, tape)
        var note = DerivedList(
            plan: Int32(currentPlan), slot: Int32(position), target: keepOwnKey().key,
            keepsOthers: slot.isToMany && plan.slots[position].toMany != .replace)
        let first = derived.members.count
        var isSound = true
        if kind == .list || kind == .outerList {
            let elements = found.list(value)
            for (ordinal, element) in elements.enumerated() {
                let isTaken = addDerived(
                    source, found.elements[element], ordinal, position, plan, slot, isInside: kind == .list,
                    from: first, &note)
                isSound = isTaken && isSound
            }
        } else {
            let isInside = kind == .inside
            switch source.kind(index) {
            case .array where slot.isToMany:
                let end = source.end(index)
                var element = index + 1, ordinal = 0
                // The objects of an unusable list are records all the same.
                while element < end {
                    let isTaken = addDerived(
                        source, element, ordinal, position, plan, slot, isInside: isInside, from: first, &note)
                    isSound = isTaken && isSound
                    element = source.next(element)
                    ordinal += 1
                }
            case .null: break
            case .array: return reportRelationship(source, index, position, plan)
            default:
                guard !slot.isToMany else { return reportRelationship(source, index, position, plan) }
                isSound = addDerived(source, index, -1, position, plan, slot, isInside: isInside, from: first, &note)
            }
        }
        guard isSound else { return derived.dropMembers(from: first) }
        note.members = first..<derived.members.count
        if note.hasUnset || (!slot.isListed && !note.members.isEmpty) {
            (note.record, note.path) = keepPath(source, kind == .inside ? index : current)
        }
        derived.add(note, seed: slot.seed)
    }

    /// Adds an empty list for a derived relationship that is absent from a listed record.
    mutating func absentList(_ position: Int, _ plan: EntityPlan, _ slot: Slot.Derived) {
        let first = derived.members.count
        let list = DerivedList(
            plan: Int32(currentPlan), slot: Int32(position), target: keepOwnKey().key, members: first..<first,
            keepsOthers: slot.isToMany && plan.slots[position].toMany != .replace)
        derived.add(list, seed: slot.seed)
    }

    /// Adds an element to a derived list. Returns false if the element makes the list unusable.
    private mutating func addDerived(
        _ tape: Tape, _ element: Int, _ ordinal: Int, _ position: Int, _ plan: EntityPlan, _ slot: Slot.Derived,
        isInside: Bool,
        from first: Int, _ note: inout DerivedList
    ) -> Bool {
        let kind = tape.kind(element)
        guard kind != .null else { return !ignoresNulls }
        let own = keepOwnKey()
        // A reference in a list of the member is not part of its key.
        let owner = slot.isListed ? nil : KeyOwner(field: slot.field, tuple: derived.bytes(own.tuple))
        let around = around(position, slot.isToMany ? ordinal : -1, of: isInside ? element : nil, tape)
        let outcome = reference(tape, element, Int(slot.owner), around, owner: owner, isInside: isInside)
        if outcome == .null { return true }
        let isReference = outcome == .key
        guard isReference || kind == .object else {
            reportRelationship(tape, element, position, plan)
            return false
        }
        // Of a record with a version or a duplicate policy, only the merge knows whether its list
        // counts; so it does whether a record with unique values is stored. A reference in the key
        // of the member is part of the member all the same.
        let isUncertain =
            plan.policies.version != 0 || plan.policies.firstWins || plan.hasUnique && !slot.isToMany
        let isInjected =
            kind == .object && !slot.isListed && isInside && (!isUncertain || isKey(slot, of: self.plan))
        if isInjected {
            let last = children.count - 1
            children[last].injectedField = slot.field
            children[last].injectedKey = own.key
            children[last].injectedTuple = own.tuple
            // Drafting reports an object without a key: the key lacks more than its owner.
            children[last].position = slot.isOrdered ? UInt32(isReference ? derived.members.count - first : 0) : nil
        }
        guard isReference else { return true }
        note.hasUnset = note.hasUnset || !isInjected
        derived.addMember(
            childKey.bytes, isUnset: !isInjected, isNested: kind == .object && isInside, seed: slot.seed)
        return true
    }

    /// Returns whether the reference of a derived relationship is part of its record's key.
    private func isKey(_ slot: Slot.Derived, of plan: ImportPlan) -> Bool {
        plan.plans[Int(slot.owner)].entity.key.contains(slot.field)
    }
}
