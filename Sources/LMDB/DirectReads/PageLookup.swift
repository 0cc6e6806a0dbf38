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
    /// Whether the keys are searched page by page.
    var isAlongPages: Bool { tree != nil }

    /// - Parameter name: The table's name.
    package init(_ transaction: RawTransaction, _ table: Table, name: @autoclosure () -> String) throws(LMDBError) {
        tree = try PageTree.of(table, name(), transaction)
        self.transaction = transaction
        self.table = table
    }

    /// Finds the values of at most `most` keys; nil for each key that does not exist.
    package func find(
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
        try withUnsafeTemporaryAllocation(of: PageSearch.self, capacity: PageLookup.most) { room throws(LMDBError) in
            for index in keys.indices {
                room.initializeElement(at: index, to: PageSearch(SoughtKey(keys[index]), root))
            }
            let searches = UnsafeMutableBufferPointer(rebasing: room[..<keys.count])
            try tree.findLeaves(searches)
            for search in searches { PageLookup.askForKeys(of: search.page) }
            for index in searches.indices {
                values[index] = try tree.value(of: searches[index].key, in: searches[index].page)
            }
        }
    }

    private static func askForKeys(of leaf: PageView) {
        // Of many entries only a few are compared, and they are close together.
        let count = leaf.count
        guard count <= 6 else { return }
        for index in 0..<count { tarn_prefetch(leaf.start + min(leaf.offset(ofNode: index), leaf.size - 1)) }
    }
}
