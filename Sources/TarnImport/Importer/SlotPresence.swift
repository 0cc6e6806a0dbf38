internal import TarnStore

/// For each plan, the slots that no drafted object had yet.
struct SlotPresence {
    private var plans: [Entry]
    private let expected: [[Int]]

    private struct Entry {
        var records = 0
        /// The absent slots: mostly none after a few records.
        var absent: [Int]
    }

    init(_ plans: [EntityPlan]) {
        expected = plans.map { plan in
            plan.slots.indices.filter { position in
                let slot = plan.slots[position]
                guard case .attribute = slot.kind, !slot.isKey, slot.field != plan.policies.rest else { return false }
                return slot.isDeclared && slot.absentValue < 0 && !slot.hasDefault
            }
        }
        self.plans = expected.map { Entry(absent: $0) }
    }

    /// Registers the attributes of one object.
    mutating func note(_ plan: Int, isListed: Bool, _ found: borrowing PlaceList) {
        if isListed { plans[plan].records += 1 }
        guard !plans[plan].absent.isEmpty else { return }
        var kept = 0
        for index in plans[plan].absent.indices {
            let slot = plans[plan].absent[index]
            guard found[slot].value < 0, found[slot].null < 0 else { continue }
            plans[plan].absent[kept] = slot
            kept += 1
        }
        plans[plan].absent.removeLast(plans[plan].absent.count - kept)
    }

    mutating func removeAll() {
        for index in plans.indices { plans[index] = Entry(absent: expected[index]) }
    }

    /// Returns the absent attributes by entity, for entities with drafted objects.
    func fields(_ entities: [EntityPlan]) -> [String: FieldPresence] {
        var fields: [String: FieldPresence] = [:]
        for (index, plan) in plans.enumerated() where plan.records > 0 || plan.absent.count < expected[index].count {
            let names = plan.absent.map { entities[index].details[$0].name }
            fields[entities[index].entity.name] = FieldPresence(records: plan.records, absent: Set(names))
        }
        return fields
    }
}
