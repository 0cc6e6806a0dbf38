// The encoding of a record's key, which may contain the key of another record.

internal import TarnStore

extension Drafter {
    /// Appends the whole encoding of an object's key. The slots must be located.
    ///
    /// - Returns: false if a part is missing or has a wrong type.
    static func appendKey(
        _ tape: Tape, _ plans: [EntityPlan], _ plan: EntityPlan, _ object: Int, _ found: borrowing PlaceList,
        _ owner: KeyOwner?,
        _ values: DocumentValues.Reference, to writer: inout ByteWriter
    ) -> Bool {
        for position in plan.keySlots {
            let value = found[position].value
            switch plan.slots[position].kind {
            case .toOne(let destination):
                if let owner, owner.field == plan.slots[position].field {
                    writer.append(owner.tuple)
                } else if PlaceList.Place.kind(value) == .owner {
                    guard let owner else { return false }
                    writer.append(owner.tuple)
                } else {
                    guard value >= 0 else { return false }
                    let (source, index) = found.at(value, tape)
                    let parent = PlaceList.Place.kind(value) == .inside ? object : -1
                    guard appendOwnerKey(source, plans, index, plans[destination], parent, values, to: &writer) else {
                        return false
                    }
                }
            default:
                let type = plan.details[position].rule.type
                if PlaceList.Place.isInside(value) {
                    guard tape.appendKeyComponent(value, as: type, to: &writer) else { return false }
                } else {
                    guard value >= 0 else { return false }
                    let (source, index) = found.at(value, tape)
                    guard source.appendKeyComponent(index, as: type, to: &writer) else { return false }
                }
            }
        }
        return true
    }

    /// Appends the key of the record that another record's key contains, from its JSON.
    ///
    /// - Parameter parent: the object of that other record; -1 if this record is not nested in it.
    private static func appendOwnerKey(
        _ tape: Tape, _ plans: [EntityPlan], _ index: Int, _ plan: EntityPlan, _ parent: Int,
        _ values: DocumentValues.Reference,
        to writer: inout ByteWriter
    ) -> Bool {
        guard tape.kind(index) == .object else { return appendBareKey(tape, index, plan, nil, to: &writer) }
        var found = PlaceList()
        found.reset(plan.placeCount)
        Drafter.locateKey(tape, index, plan, &found)
        if plan.hasKeyExtras || values._withUnsafeGuaranteedRef({ $0.keyInjection != nil }) {
            Drafter.resolve(tape, plans, plan, index, Surroundings(parent: parent), values, keyOnly: true, &found)
        }
        // The recursion is bounded by the nesting of keys in the schema.
        return appendKey(tape, plans, plan, index, found, nil, values, to: &writer)
    }

    /// Appends the encoding of a key from a bare component, completed by the owner's key.
    ///
    /// - Returns: false if the key has further components, or the component has a wrong type.
    static func appendBareKey(
        _ tape: Tape, _ index: Int, _ plan: EntityPlan, _ owner: KeyOwner?, to writer: inout ByteWriter
    ) -> Bool {
        guard let owner, plan.keySlots.contains(where: { plan.slots[$0].field == owner.field }) else {
            if plan.hasURL, let url = plan.url, tape.kind(index) == .string {
                switch url.appendKey(tape, index, to: &writer) {
                case .matched: return true
                case .foreign: return false
                case .notURL: break
                }
            }
            guard plan.entity.keyTypes.count == 1 else { return false }
            return tape.appendKeyComponent(index, as: plan.entity.keyTypes[0], to: &writer)
        }
        var isTaken = false
        for position in plan.keySlots {
            if plan.slots[position].field == owner.field {
                writer.append(owner.tuple)
            } else {
                guard !isTaken, case .attribute = plan.slots[position].kind,
                    tape.appendKeyComponent(index, as: plan.details[position].rule.type, to: &writer)
                else { return false }
                isTaken = true
            }
        }
        return isTaken
    }
}
