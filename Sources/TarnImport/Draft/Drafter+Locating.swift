// The location of an object's values.

extension Drafter {
    /// Finds the place of every slot's value in an object.
    ///
    /// It is one pass over the object's keys, and over those of nested objects on a key path.
    static func locate(
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
                        found[taker.place].null = value
                    } else if taker.rank < found[taker.place].rank
                        || (taker.rank == found[taker.place].rank && !taker.isKey)
                    {
                        // The first alternate that is present wins. Of a key that occurs twice, the
                        // last one wins, except for keys of the record: `locateKey` stops at the
                        // first one.
                        found[taker.place].value = value
                        found[taker.place].rank = taker.rank
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

    /// Finds the places of the key only, without counting unmapped keys.
    ///
    /// Most objects have their key early; the rest is not scanned then.
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
                    guard taker.isKey, taker.rank < found[taker.place].rank, tape.kind(value) != .null else { continue }
                    found[taker.place].value = value
                    found[taker.place].rank = taker.rank
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
}
