internal import TarnStore

/// A hash table of positions in a list that somebody else has.
struct PositionTable: ~Copyable {
    private var slots: [Int32]

    /// - Parameter count: how many positions there may be.
    init(count: Int) {
        var size = 16
        while size < count * 2 { size *= 2 }
        slots = Array(repeating: -1, count: size)
    }

    /// Puts a position in unless an equal one is there.
    ///
    /// - Parameter isEqual: whether what stands at a position that has perhaps the same hash is the same.
    /// - Returns: the position that is there; nil if it is the new one.
    mutating func insert(_ position: Int, hash: UInt64, isEqual: (Int) -> Bool) -> Int? {
        let place = place(hash, isEqual)
        if slots[place] >= 0 { return Int(slots[place]) }
        slots[place] = Int32(position)
        return nil
    }

    /// The same, in the place of an equal one.
    mutating func replace(with position: Int, hash: UInt64, isEqual: (Int) -> Bool) {
        slots[place(hash, isEqual)] = Int32(position)
    }

    private func place(_ hash: UInt64, _ isEqual: (Int) -> Bool) -> Int {
        let mask = slots.count - 1
        var place = Int(truncatingIfNeeded: hash ^ hash >> 32) & mask
        while slots[place] >= 0, !isEqual(Int(slots[place])) { place = (place + 1) & mask }
        return place
    }
}
