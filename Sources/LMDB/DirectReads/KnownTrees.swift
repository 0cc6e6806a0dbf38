import CLMDB

/// A cache of the page trees of a snapshot: finding a tree takes longer than scanning a few rows.
struct KnownTrees {
    private static let capacity = 8
    private let trees = UnsafeMutablePointer<(Table, PageTree)>.allocate(capacity: capacity)
    private var count = 0, next = 0
    /// The number of single look-ups in tables whose trees are unknown.
    private var singles = 0
    private static let fewSingles = 8

    func deallocate() { trees.deallocate() }

    /// Empties the cache. Must be called before the transaction is renewed for another snapshot.
    mutating func forget() { (count, next, singles) = (0, 0, 0) }

    /// Counts a single look-up in a table whose tree is unknown.
    ///
    /// - Returns: Whether finding the tree pays: after a few look-ups, and if it stays known.
    mutating func countSingle() -> Bool {
        singles += 1
        return singles > KnownTrees.fewSingles && count < KnownTrees.capacity
    }

    /// Single look-ups of this snapshot do not try again: a tree cannot be read along its pages.
    mutating func giveUp() { singles = .min }

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
