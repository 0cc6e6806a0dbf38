/// A hash table of positions in a list that the caller owns.
struct PositionTable: ~Copyable {
    private var slots: [Int32]

    /// Creates a table.
    ///
    /// - Parameter count: the maximum number of positions.
    init(count: Int) {
        var size = 16
        while size < count * 2 { size *= 2 }
        slots = Array(repeating: -1, count: size)
    }

    /// Inserts a position unless an equal one exists.
    ///
    /// - Parameter isEqual: returns whether the element at a position equals the new one; called
    ///   even if the hashes differ.
    /// - Returns: the existing position; nil if the new one was inserted.
    mutating func insert(_ position: Int, hash: UInt64, isEqual: (Int) -> Bool) -> Int? {
        let place = place(hash, isEqual)
        if slots[place] >= 0 { return Int(slots[place]) }
        slots[place] = Int32(position)
        return nil
    }

    /// Inserts a position, or replaces an equal one.
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
