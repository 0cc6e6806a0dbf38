// Where the values of an object stand: one pass over its keys, and over those of nested objects that a key path leads into.

internal import TarnStore

extension Drafter {
    /// Finds the place of every slot's value in an object: one pass over its keys, and over those of nested objects that a
    /// key path leads into.
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
                        // The first alternate that is present counts; of a key that occurs twice, the last. Only what
                        // identifies a record is taken from the first, since `locateKey` looks no further.
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
