// The fields of a draft: for each slot of the plan, the value at its place.

internal import TarnStore

extension Drafter {
    /// Appends the fields of a record.
    ///
    /// - Returns: whether all fields that the schema requires have a value.
    @inline(__always)
    mutating func appendFields(
        _ tape: Tape, _ pending: Pending, _ plan: EntityPlan, isTombstone: Bool
    ) -> Bool {
        var isComplete = true
        let rest = plan.policies.rest, version = plan.policies.version
        for position in plan.slots.indices {
            let slot = plan.slots[position], place = found[position]
            if slot.field == rest, !isTombstone {
                appendUnmapped(tape, pending, plan, slot.field)
                continue
            }
            // Other values of a deleted record are not used. A derived slot has field 0, which is
            // also the version of an entity without one.
            if isTombstone, !slot.isKey, version == 0 || slot.field != version { continue }
            if slot.field != 0, slot.field == pending.injectedField {
                appendInjected(pending)
                queueOwner(tape, place.value, position, slot.kind)
                continue
            }
            guard place.value >= 0 else {
                isComplete = absentField(tape, pending, plan, position, null: place.null) && isComplete
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
        return isComplete
    }

    /// Appends the JSON that no other field takes, if the record has all of it.
    private mutating func appendUnmapped(_ tape: Tape, _ pending: Pending, _ plan: EntityPlan, _ field: UInt16) {
        // A partial object does not have all of the record's keys.
        let hasAll =
            pending.isListed
            || plan.slots.indices.allSatisfy { position in
                let slot = plan.slots[position]
                return slot.isOptional || !slot.isDeclared || found[position].value >= 0
            }
        if hasAll {
            builder.field(field) { writer in
                writer.append(ValueTag.json)
                if tape.kind(pending.index) == .object {
                    _ = Drafter.appendRest(tape, pending.index, plan, node: 0, isNeeded: true, to: &writer)
                } else {
                    tape.appendText(pending.index, to: &writer)
                }
            }
        }
    }

    /// Appends the reference to the record that the object belongs to.
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

    /// Queues the owner's own JSON.
    ///
    /// The object's position determines its owner; the owner's own JSON is drafted all the same.
    private mutating func queueOwner(_ tape: Tape, _ value: Int, _ position: Int, _ kind: Slot.Kind) {
        if value >= 0, PlaceList.Place.kind(value) == .inside, tape.kind(value) == .object,
            case .toOne(let destination) = kind
        {
            children.append(
                Pending(
                    index: value, plan: destination, isListed: false,
                    around: remember(around(position, of: value, tape))))
        }
    }

    /// Applies the rules of a field without a value.
    ///
    /// - Parameter null: the place of a null; -1 if the field is absent.
    /// - Returns: false if the schema requires a value, and the description declares the field.
    @inline(__always)
    private mutating func absentField(
        _ tape: Tape, _ pending: Pending, _ plan: EntityPlan, _ position: Int, null: Int
    ) -> Bool {
        let slot = plan.slots[position]
        if null >= 0, !slot.ignoresNull, !ignoresNulls {
            setNull(tape, null, position, plan)
            return true
        }
        if null < 0, slot.clearsAbsent, pending.isListed { return absentAttribute(position, plan) }
        if slot.isOptional || !slot.isDeclared { return true }
        if pending.isListed, !slot.hasDefault, case .attribute = slot.kind {
            report(
                .valueAbsent, tape, pending.index, plan, keyText, plan.details[position].name,
                "absent, but the schema requires a value; a stored value is kept")
        }
        return false
    }
}
