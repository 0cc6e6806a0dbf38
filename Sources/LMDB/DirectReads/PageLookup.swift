// Batched lookups of keys in a snapshot.

import CLMDB
import LMDBPages

/// A lookup of several keys at a time.
///
/// If pages are read directly, memory is prefetched before it is read: first the pages, then their
/// keys, then the values. Otherwise, and in a write transaction, liblmdb finds the values.
package struct PageLookup {
    /// The maximum number of keys of a lookup.
    package static let most = 8

    private let tree: PageTree?
    private let transaction: RawTransaction
    private let table: Table
    /// The branch above the leaf of the last key found, and the index of the leaf in it.
    private var last: (branch: PageView, index: Int)?
    /// The leaf of the last key found, and the index of its entry.
    private var place: (leaf: PageView, index: Int)?
    /// Whether the keys are searched page by page.
    var isAlongPages: Bool { tree != nil }

    /// - Parameter name: The table's name.
    package init(_ transaction: RawTransaction, _ table: Table, name: @autoclosure () -> String) throws(LMDBError) {
        tree = try PageTree.of(table, name(), transaction)
        self.transaction = transaction
        self.table = table
    }

    /// Finds the values of at most `most` keys; nil for each key that does not exist.
    ///
    /// A key beside the previous one, in either direction, is found without a search from the root.
    package mutating func find(
        _ keys: UnsafeBufferPointer<UnsafeRawBufferPointer>,
        _ values: UnsafeMutableBufferPointer<UnsafeRawBufferPointer?>
    ) throws(LMDBError) {
        precondition(keys.count <= PageLookup.most && values.count >= keys.count)
        guard let tree else {
            for index in keys.indices { values[index] = try transaction.get(table, keys[index]) }
            return
        }
        guard let root = tree.root else {
            for index in keys.indices { values[index] = nil }
            return
        }
        var found = 0
        while found < keys.count {
            let key = SoughtKey(keys[found])
            if let value = try value(beside: key, tree) {
                values[found] = value
            } else if let leaf = try leaf(near: key, tree) {
                values[found] = try value(of: key, in: leaf, tree)
            } else {
                break
            }
            found += 1
        }
        guard found < keys.count else { return }
        try withUnsafeTemporaryAllocation(of: PageSearch.self, capacity: PageLookup.most) { room throws(LMDBError) in
            let searches = UnsafeMutableBufferPointer(rebasing: room[..<(keys.count - found)])
            for index in searches.indices {
                searches.initializeElement(at: index, to: PageSearch(SoughtKey(keys[found + index]), root))
            }
            try tree.findLeaves(searches)
            for search in searches { PageLookup.askForKeys(of: search.page) }
            for index in searches.indices {
                values[found + index] = try value(of: searches[index].key, in: searches[index].page, tree)
            }
            last = searches[searches.count - 1].branch
        }
    }

    /// Returns the leaf that must contain a key, if it is that of the last key found or one beside
    /// it; nil if it may be another one.
    private mutating func leaf(near key: SoughtKey, _ tree: PageTree) throws(LMDBError) -> PageView? {
        guard let (branch, index) = last, let order = try branch.compare(key, withRangeAt: index) else { return nil }
        if order != 0 {
            guard try branch.compare(key, withRangeAt: index + order) == 0 else { return nil }
            last = (branch, index + order)
        }
        return try tree.child(branch, index + order)
    }

    /// Returns the value of the entry behind or before that of the last key, if it has this key.
    private mutating func value(beside key: SoughtKey, _ tree: PageTree) throws(LMDBError) -> UnsafeRawBufferPointer? {
        guard let (leaf, index) = place else { return nil }
        var next = index + 1
        if try !leaf.hasKey(key, at: next) {
            next = index - 1
            guard try leaf.hasKey(key, at: next) else { return nil }
        }
        place = (leaf, next)
        return try tree.value(at: next, in: leaf)
    }

    private mutating func value(
        of key: SoughtKey, in leaf: PageView, _ tree: PageTree
    ) throws(LMDBError) -> UnsafeRawBufferPointer? {
        guard let index = try tree.index(of: key, in: leaf) else { return nil }
        place = (leaf, index)
        return try tree.value(at: index, in: leaf)
    }

    private static func askForKeys(of leaf: PageView) {
        // Of many entries only a few are compared, and they are close together.
        let count = leaf.count
        guard count <= 6 else { return }
        for index in 0..<count { tarn_prefetch(leaf.start + min(leaf.offset(ofNode: index), leaf.size - 1)) }
    }
}
