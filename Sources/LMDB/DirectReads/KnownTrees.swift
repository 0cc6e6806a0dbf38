import CLMDB

/// A cache of the page trees of a snapshot: finding a tree takes longer than scanning a few rows.
struct KnownTrees {
    private static let capacity = 8
    private let trees = UnsafeMutablePointer<(Table, PageTree)>.allocate(capacity: capacity)
    private var count = 0, next = 0
    /// The table of the last single look-ups, and their number in it so far.
    private var single: (table: Table, times: Int)?

    func deallocate() { trees.deallocate() }

    /// Empties the cache. Must be called before the transaction is renewed for another snapshot.
    mutating func forget() { (count, next, single) = (0, 0, nil) }

    /// Counts a single look-up in a table.
    ///
    /// - Returns: Whether finding the table's tree pays: after a few look-ups in a row.
    mutating func isFrequent(_ table: Table) -> Bool {
        guard let single, single.table == table else {
            single = (table, 1)
            return false
        }
        self.single = (table, single.times + 1)
        return single.times > 8
    }

    subscript(table: Table) -> PageTree? {
        get {
            for index in 0..<count where trees[index].0 == table { return trees[index].1 }
            return nil
        }
        set {
            guard let newValue else { return }
            (trees + next).initialize(to: (table, newValue))
            next = (next + 1) % KnownTrees.capacity
            count = max(count, next == 0 ? KnownTrees.capacity : next)
        }
    }
}
